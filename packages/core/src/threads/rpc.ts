// Calls between threads: typed by a table of handlers, with progress, cancellation and errors that keep their code. An
// abort is sent twice: as a flag in shared memory that synchronous work polls, and as a message for asynchronous work.
import type { MessagePort } from "node:worker_threads";
import { type ErrorCode, isTrunklineError, messageOf, TrunklineError, toTrunklineError } from "../errors.js";
import type { ToolProgress } from "../ports.js";

/** Passed to a handler in addition to its parameters. */
export interface Call {
  /** Throws `ABORTED` if the caller has cancelled. Cheap enough for inner loops. */
  check(): void;
  progress(progress: ToolProgress): void;
  /** Cancels asynchronous work. */
  readonly signal: AbortSignal;
  /** For whom the call reads, unless for `local`. */
  readonly viewer?: string;
}

/**
 * A table of all handlers that one side offers. Uses `never` because the table alone does not say what a handler takes.
 */
export type Handlers = Record<string, Handler>;

type Handler = (params: never, call: Call) => unknown;

/** A handler as its caller sees it: without the environment, which belongs to the thread it runs in. */
type Remote<F> = F extends (env: never, params: infer P, call: Call) => infer R
  ? (params: P, options?: RpcOptions) => Promise<Unwrapped<Awaited<R>>>
  : never;

/**
 * A table of handlers as its callers see it. A feature declares only the handlers it calls; the full table is
 * assignable to that.
 */
export type Remotes<T> = { readonly [M in keyof T]: Remote<T[M]> };

type Unwrapped<R> = R extends Transferred<infer T> ? T : R;

/** A worker or a message port. */
export interface Wire {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

type Transferable = ArrayBuffer | MessagePort;

/** A result whose buffers are transferred instead of copied. */
export class Transferred<T> {
  readonly value: T;
  readonly buffers: readonly ArrayBuffer[];
  constructor(value: T, buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

export interface RpcOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  /** For whom the call reads, unless for `local`. */
  readonly viewer?: string | undefined;
}

/** What both ends of a wire agree on. */
export interface RpcSetup {
  /** Whose thread it is, for messages: "store". */
  readonly owner: string;
  /** From {@link makeAbortFlags}. Without them, only work that waits for something notices an abort. */
  readonly flags?: SharedArrayBuffer;
}

interface Request {
  /** Without one, nothing is answered. */
  readonly id?: number;
  /** The flag of the call, if there are flags. */
  readonly slot?: number;
  readonly method: string;
  readonly params: unknown;
  readonly viewer?: string;
}

type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: WireError }
  | { readonly id: number; readonly progress: ToolProgress };

interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly cause: string | undefined;
}

const SLOTS = 4096;

/** Creates the shared flags of a wire. */
export function makeAbortFlags(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS * 4);
}

interface Pending {
  readonly slot: number | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** The calling side of a wire. */
export class RpcClient {
  readonly #wire: Wire;
  readonly #owner: string;
  readonly #flags: Int32Array | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #freeSlots: number[] = [];
  #usedSlots = 0;
  #nextId = 1;
  #broken: TrunklineError | undefined;
  /** Called when the first call starts and when the last one ends. */
  onBusy: ((busy: boolean) => void) | undefined;

  constructor(wire: Wire, { owner, flags }: RpcSetup) {
    this.#wire = wire;
    this.#owner = owner;
    this.#flags = flags === undefined ? undefined : new Int32Array(flags);
    wire.on("message", (message) => this.#receive(message as Reply));
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Whether no more calls can be made. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** Makes a call. On abort it rejects with `ABORTED` immediately; the other side stops at its next check. */
  async call(method: string, params: unknown, options: RpcOptions = {}): Promise<unknown> {
    const { signal, onProgress, transfer, viewer } = options;
    if (signal?.aborted) throw this.#aborted(signal, method);
    if (this.#broken) throw this.#broken;
    const slot = this.#takeSlot();
    const id = this.#nextId++;
    if (this.#pending.size === 0) this.onBusy?.(true);
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, { slot, resolve, reject, onProgress });
        onAbort = () => {
          this.#cancel(id, slot);
          reject(this.#aborted(signal as AbortSignal, method));
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#wire.postMessage({ id, slot, method, params, viewer } satisfies Request, transfer);
      });
    } finally {
      if (onAbort) signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Calls a handler without waiting for it. */
  notify(method: string, params?: unknown, transfer?: readonly Transferable[]): void {
    this.#wire.postMessage({ method, params } satisfies Request, transfer);
  }

  /** Rejects all pending calls and every later one, and tells the other side to stop. */
  break(error: TrunklineError): void {
    this.#broken ??= error;
    for (const [id, { reject, slot }] of this.#pending) {
      this.#cancel(id, slot);
      reject(this.#broken);
    }
    if (this.#pending.size > 0) this.onBusy?.(false);
    this.#pending.clear();
  }

  #takeSlot(): number | undefined {
    if (this.#flags === undefined) return undefined;
    const slot = this.#freeSlots.pop() ?? this.#usedSlots++;
    if (slot >= SLOTS) {
      this.#usedSlots = SLOTS;
      throw new TrunklineError("INTERNAL", `Too many calls to the ${this.#owner} are in progress.`, {
        retryable: true,
      });
    }
    Atomics.store(this.#flags, slot, 0);
    return slot;
  }

  #cancel(id: number, slot: number | undefined): void {
    if (slot !== undefined && this.#flags !== undefined) Atomics.store(this.#flags, slot, 1);
    this.#wire.postMessage({ cancel: id });
  }

  #aborted({ reason }: AbortSignal, method: string): TrunklineError {
    if (reason instanceof TrunklineError) return reason;
    return cancelled(this.#owner, method, reason);
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if ("progress" in reply) {
      pending.onProgress?.(reply.progress);
      return;
    }
    this.#pending.delete(reply.id);
    if (pending.slot !== undefined) this.#freeSlots.push(pending.slot);
    if ("error" in reply) pending.reject(fromWire(reply.error));
    else pending.resolve(reply.result);
    if (this.#pending.size === 0) this.onBusy?.(false);
  }
}

/**
 * Makes calls by name: `remotes.list(params, options)` sends "list". The caller must make sure that `T` matches the
 * other end.
 */
export function remotesOf<T>(
  call: (method: string, params: unknown, options?: RpcOptions) => Promise<unknown>,
): Remotes<T> {
  return new Proxy({} as Remotes<T>, {
    get: (_target, method: string) => (params: unknown, options?: RpcOptions) => call(method, params, options),
  });
}

function cancelled(owner: string, method: string, cause?: unknown): TrunklineError {
  return new TrunklineError("ABORTED", `The ${owner}'s ${method} was cancelled.`, { cause });
}

/** Answers the calls that arrive on a wire. `handlers` can also find the handler of a method itself. */
export function serveRpc(
  wire: Wire,
  handlers: Handlers | ((method: string) => Handler | undefined),
  { owner, flags: shared }: RpcSetup,
): void {
  const flags = shared === undefined ? undefined : new Int32Array(shared);
  const controllers = new Map<number, AbortController>();
  const find =
    typeof handlers === "function"
      ? handlers
      : (method: string) => (Object.hasOwn(handlers, method) ? handlers[method] : undefined);
  wire.on("message", (message) => {
    if (typeof message !== "object" || message === null) return;
    if ("cancel" in message) {
      controllers.get(message.cancel as number)?.abort();
      return;
    }
    if (!("method" in message)) return;
    // Messages with a method come from the RpcClient at the other end.
    const { id, ...request } = message as Request;
    if (id === undefined) find(request.method)?.(request.params as never, NOTIFIED);
    else void answer(id, request);
  });

  const answer = async (id: number, { slot, method, params, viewer }: Request) => {
    const controller = new AbortController();
    controllers.set(id, controller);
    const { signal } = controller;
    const call: Call = {
      check() {
        if (slot === undefined || flags === undefined ? signal.aborted : Atomics.load(flags, slot) !== 0)
          throw cancelled(owner, method);
      },
      progress: (progress) => wire.postMessage({ id, progress } satisfies Reply),
      signal,
      viewer,
    };
    try {
      const handler = find(method);
      if (handler === undefined) throw noMethod(owner, method);
      call.check();
      // The other end's remotes are typed by the same table, so these are this handler's parameters.
      const result = await handler(params as never, call);
      if (result instanceof Transferred) wire.postMessage({ id, result: result.value }, result.buffers);
      else wire.postMessage({ id, result });
    } catch (error) {
      wire.postMessage({ id, error: toWire(error) } satisfies Reply);
    } finally {
      controllers.delete(id);
    }
  };
}

/** The call of a handler whose caller does not wait. */
const NOTIFIED: Call = { check: () => {}, progress: () => {}, signal: new AbortController().signal };

/** For a method that the other end does not have. */
export function noMethod(owner: string, method: string): TrunklineError {
  return new TrunklineError("INTERNAL", `The ${owner}'s worker has no method "${method}".`);
}

function toWire(error: unknown): WireError {
  const { code, message, hint, retryable, data, cause } = isTrunklineError(error) ? error : unexpected(error);
  return { code, message, hint, retryable, data, cause: cause === undefined ? undefined : messageOf(cause) };
}

function unexpected(error: unknown): TrunklineError {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) {
    const { message, hint } = toTrunklineError(error);
    const data = { system: code };
    return new TrunklineError(code === "ENOENT" ? "NOT_FOUND" : "IO", message, { cause: error, hint, data });
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return new TrunklineError("INTERNAL", messageOf(error), { cause: stack ?? error });
}

function fromWire({ code, message, cause, ...details }: WireError): TrunklineError {
  return new TrunklineError(code, message, { ...details, cause: cause === undefined ? undefined : new Error(cause) });
}
