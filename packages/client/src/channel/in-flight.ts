// The table of calls that are under way on one connection, and whose question a server's request is.
//
// A legacy server over stdio asks without saying during which call. With one channel in flight the answer is plain; with
// several there is none, so the table sees to it that there is only one (`serialize`), or the question is declined.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Deadline } from "@trunkline/core";
import { type Channel, canAnswer, partyOf, runOutsideChannels } from "./channel.js";

/** What to do when several channels use one legacy stdio server, which cannot say whom it asks. */
export type AskPolicy = "serialize" | "isolate" | "decline";

/** One call that is under way. */
export interface Call {
  readonly channel: Channel | undefined;
  readonly tool?: string | undefined;
  readonly deadline: Deadline;
  /** How many questions it has caused. */
  questions: number;
}

interface Waiting {
  readonly channel: Channel | undefined;
  readonly admit: () => void;
}

/** The calls of one connection. */
export class InFlightTable {
  readonly #calls = new Set<Call>();
  readonly #admitted = new Map<Channel | undefined, number>();
  readonly #waiting: Waiting[] = [];

  /** Puts a call on the table until the disposable is disposed of. */
  add(call: Call): Disposable {
    this.#calls.add(call);
    return { [Symbol.dispose]: () => void this.#calls.delete(call) };
  }

  /** The only call or channel that a question without an address can belong to; `several` where there is no telling. */
  owner(): Call | "none" | "several" {
    const [first, ...others] = this.#calls;
    if (first === undefined) return "none";
    return others.every(({ channel }) => partyOf(channel) === partyOf(first.channel)) ? first : "several";
  }

  /**
   * Waits until no other channel is in flight, as far as any of them could be asked. Channels take turns in the order in
   * which they came, so that a busy one does not keep the others out.
   */
  async turn(channel: Channel | undefined, signal: AbortSignal): Promise<Disposable> {
    if (!this.#mayEnter(channel)) {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { channel, admit: () => settle(resolve) };
        const settle = (end: () => void) => {
          signal.removeEventListener("abort", onAbort);
          end();
        };
        const onAbort = () => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          settle(() => reject(signal.reason));
        };
        this.#waiting.push(waiting);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
      });
    } else this.#count(channel, 1);
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        this.#count(channel, -1);
        this.#admitNext();
      },
    };
  }

  #mayEnter(channel: Channel | undefined): boolean {
    const present = [...this.#admitted.keys(), ...this.#waiting.map((waiting) => waiting.channel)];
    if (present.every((other) => partyOf(other) === partyOf(channel))) return true;
    return !canAnswer(channel) && !present.some(canAnswer);
  }

  /** Lets in everybody who waits with the channel whose turn it is. Counted here, so that nobody slips in between. */
  #admitNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#admitted.size > 0) return;
    for (const waiting of this.#waiting.filter(({ channel }) => partyOf(channel) === partyOf(next.channel))) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#count(waiting.channel, 1);
      waiting.admit();
    }
  }

  #count(channel: Channel | undefined, change: 1 | -1): void {
    const count = (this.#admitted.get(channel) ?? 0) + change;
    if (count === 0) this.#admitted.delete(channel);
    else this.#admitted.set(channel, count);
  }
}

const callScope = new AsyncLocalStorage<Call>();

/** Sends a request in the scope of its call: over HTTP, what arrives on the answer's own stream is then known to be its. */
export function runInCall<T>(call: Call, send: () => T): T {
  return callScope.run(call, send);
}

/** The call on whose stream the present message came; none over stdio and on a stream of its own. */
export function currentCall(): Call | undefined {
  return callScope.getStore();
}

/** Runs `work` outside every call and every channel: what lasts must not seem to belong to whoever happened to begin it. */
export function runOutsideScopes<T>(work: () => T): T {
  return callScope.exit(() => runOutsideChannels(work));
}
