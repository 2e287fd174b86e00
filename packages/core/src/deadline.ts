// Deadlines and linked signals. A timeout stops the work: it aborts the signal given to the work, so that sockets close
// and child processes end, instead of only rejecting the promise.
import { setMaxListeners } from "node:events";
import { TrunklineError } from "./errors.js";

/**
 * The end of something that others depend on. Does what an AbortSignal does, which is only created if someone needs it:
 * that costs more than the rest of a call's administration together.
 */
export interface Ending {
  readonly signal: AbortSignal;
  /** Whether the work has to end. */
  readonly hasPassed: boolean;
  /** Why the work has to end, once it has to. */
  readonly reason: unknown;
  /** Calls the listener when the work has to end. */
  onPassed(listener: () => void): void;
  /** Forgets a listener. */
  offPassed(listener: () => void): void;
}

/** An {@link Ending} that its owner brings about. */
export class Endable implements Ending {
  #controller: AbortController | undefined;
  #listeners: (() => void)[] | undefined;
  hasPassed = false;
  reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.hasPassed) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  onPassed(listener: () => void): void {
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  offPassed(listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }

  /** Ends the work with this reason. Only the first one counts. */
  fail(reason: unknown): void {
    if (this.hasPassed) return;
    this.hasPassed = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners?.slice() ?? []) listener();
  }
}

/** The signal of work that may have been given either. */
export function signalOf(options: { signal?: AbortSignal; ending?: Ending }): AbortSignal | undefined {
  return options.signal ?? options.ending?.signal;
}

interface DeadlineOptions {
  /** How long the work may take. Default: no limit. */
  timeoutMs?: number;
  /** The caller's signal; its abort ends the work at once. */
  signal?: AbortSignal;
  /** The same, at less cost. */
  ending?: Ending;
  /** What is being done, for the message: "connecting to docs". */
  what: string;
  /** The error's hint if it takes too long. */
  hint?: string;
}

/** Ends work on the caller's abort (`ABORTED`) or when time is up (`TIMEOUT`), and can be extended. */
export interface Deadline extends Ending, Disposable {
  /** Restarts the clock; an expired deadline stays expired. */
  extend(): void;
  /** Stops the clock while waiting for someone else, until `resume` has been called as many times as `pause`. */
  pause(): void;
  /** Restarts the clock after `pause`. */
  resume(): void;
  /** Ends the work at once with this reason. */
  fail(reason: unknown): void;
  /** Stops the clock and releases the caller's signal. Idempotent. */
  [Symbol.dispose](): void;
}

/** Starts a deadline. Dispose of it when the work has ended, or the timer keeps running. */
export function startDeadline(options: DeadlineOptions): Deadline {
  return new RunningDeadline(options);
}

/** Node runs a timer with a longer time at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Every call has a deadline and almost none passes, so it costs a timer and nothing else until something happens. */
class RunningDeadline extends Endable implements Deadline {
  readonly #options: DeadlineOptions;
  #timer: NodeJS.Timeout | undefined;
  #onParentEnd: (() => void) | undefined;
  #pauses = 0;
  #isOver = false;

  constructor(options: DeadlineOptions) {
    super();
    this.#options = options;
    const { signal, ending, what } = options;
    const ended = signal?.aborted ? signal : ending?.hasPassed ? ending : undefined;
    if (ended !== undefined) {
      this.fail(abortError(ended, what));
      return;
    }
    if (signal !== undefined || ending !== undefined) {
      this.#onParentEnd = () => this.fail(abortError(signal?.aborted ? signal : (ending as Ending), what));
      if (signal !== undefined) listenOnce(signal, this.#onParentEnd);
      ending?.onPassed(this.#onParentEnd);
    }
    this.#start();
  }

  extend(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
  }

  pause(): void {
    this.#pauses++;
    this.#stop();
  }

  resume(): void {
    this.#pauses--;
    this.#start();
  }

  override fail(reason: unknown): void {
    this[Symbol.dispose]();
    super.fail(reason);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stop();
    if (this.#onParentEnd === undefined) return;
    this.#options.signal?.removeEventListener("abort", this.#onParentEnd);
    this.#options.ending?.offPassed(this.#onParentEnd);
    this.#onParentEnd = undefined;
  }

  #start(): void {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined || !Number.isFinite(timeoutMs) || this.#pauses > 0 || this.#isOver) return;
    this.#stop();
    this.#timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS), this);
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Time is up. */
  expire(): void {
    const { what, timeoutMs, hint } = this.#options;
    this.fail(
      new TrunklineError(
        "TIMEOUT",
        `${what} took longer than ${formatMs(timeoutMs ?? 0)}.`,
        hint === undefined ? {} : { hint },
      ),
    );
  }
}

function onTimeout(deadline: RunningDeadline): void {
  deadline.expire();
}

/** Runs `work` under a deadline and disposes of the deadline afterwards. */
export async function withDeadline<T>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using deadline = startDeadline(options);
  return await abortable(deadline.signal, work(deadline.signal));
}

/**
 * Waits for `promise` until `signal` aborts, then rejects with the signal's reason. The work should watch the same
 * signal; this only keeps work that ignores it from blocking its caller.
 */
export async function abortable<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else listenOnce(signal, onAbort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
    // The loser of the race must not become an unhandled rejection.
    promise.catch(() => {});
  }
}

/** Waits `ms`, or rejects with the signal's reason when it aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal !== undefined) listenOnce(signal, onAbort);
  });
}

/** Waits for work up to a limit, or until the signal aborts: undefined if it is not done by then. The work goes on. */
export async function atMost<T>(limitMs: number, work: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
  let giveUp = () => {};
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = setTimeout(giveUp, limitMs);
  if (signal?.aborted) giveUp();
  else if (signal !== undefined) listenOnce(signal, giveUp);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** Marks signals that have a listener of ours, and those that may have any number of them. */
const LISTENERS = Symbol("listeners");

/** One signal can stop a hundred pieces of work, so many listeners are not a leak for Node to warn about. */
function listenOnce(signal: AbortSignal & { [LISTENERS]?: "one" | "many" }, listener: () => void): void {
  // Most signals never get a second one, and lifting the limit costs more than listening.
  if (signal[LISTENERS] === "one") setMaxListeners(0, signal);
  signal[LISTENERS] = signal[LISTENERS] === undefined ? "one" : "many";
  signal.addEventListener("abort", listener, { once: true });
}

/** Builds the error for work stopped by the caller's signal; a reason that is already a TrunklineError is kept. */
export function abortError({ reason }: { readonly reason: unknown }, what: string): TrunklineError {
  if (reason instanceof TrunklineError) return reason;
  return new TrunklineError("ABORTED", `${what} was cancelled.`, { cause: reason });
}

/** Formats milliseconds for people: `250 ms`, `1.5 s`, `2 min`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`;
  return `${Number((ms / 60_000).toFixed(1))} min`;
}
