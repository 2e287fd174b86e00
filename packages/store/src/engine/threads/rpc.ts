// Calls between threads: typed by a table of handlers, with progress, cancellation and errors that keep their code. An
// abort is sent twice: as a flag in shared memory that synchronous work polls, and as a message for asynchronous work.
import { type ErrorCode, isTrunklineError, messageOf, type ToolProgress, TrunklineError } from "@trunkline/core";

/** Passed to a handler in addition to its parameters. */
export interface Call {
  /** Throws `ABORTED` if the caller has cancelled. Cheap enough for inner loops. */
  check(): void;
  progress(progress: ToolProgress): void;
  /** Cancels asynchronous work. */
  readonly signal: AbortSignal;
  /** For whom the call reads, unless for `local`. */
  readonly viewer?: string | undefined;
}

/**
 * A table of all handlers that one side offers. Uses `never` because the table alone does not say what a handler takes.
 */
export type Handlers = Record<string, (params: never, call: Call) => unknown>;

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
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

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

interface Request {
  readonly id: number;
  readonly slot: number;
  readonly method: string;
  readonly params: unknown;
  readonly viewer?: string | undefined;
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
  readonly slot: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** The calling side of a wire. */
export class RpcClient {
  readonly #wire: Wire;
  readonly #flags: Int32Array;
  readonly #pending = new Map<number, Pending>();
  readonly #freeSlots: number[] = Array.from({ length: SLOTS }, (_, slot) => SLOTS - 1 - slot);
  #nextId = 1;
  #broken: TrunklineError | undefined;
  /** Called when the first call starts and when the last one ends. */
  onBusy: ((busy: boolean) => void) | undefined;

  constructor(wire: Wire, flags: SharedArrayBuffer) {
    this.#wire = wire;
    this.#flags = new Int32Array(flags);
    wire.on("message", (message) => this.#receive(message as Reply));
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Makes a call. On abort it rejects with `ABORTED` immediately; the other side stops at its next check. */
  async call(method: string, params: unknown, options: RpcOptions = {}): Promise<unknown> {
    const { signal, onProgress, transfer, viewer } = options;
    if (signal?.aborted) throw aborted(signal, method);
    if (this.#broken) throw this.#broken;
    const slot = this.#freeSlots.pop();
    if (slot === undefined) {
      throw new TrunklineError("INTERNAL", "Too many calls to the store are in progress.", { retryable: true });
    }
    const id = this.#nextId++;
    Atomics.store(this.#flags, slot, 0);
    if (this.#pending.size === 0) this.onBusy?.(true);
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, { slot, resolve, reject, onProgress });
        onAbort = () => {
          Atomics.store(this.#flags, slot, 1);
          this.#wire.postMessage({ cancel: id });
          reject(aborted(signal as AbortSignal, method));
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#wire.postMessage({ id, slot, method, params, viewer } satisfies Request, transfer);
      });
    } finally {
      if (onAbort) signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Rejects all pending calls and every later one, and tells the other side to stop. */
  break(error: TrunklineError): void {
    this.#broken ??= error;
    for (const [id, { reject, slot }] of this.#pending) {
      Atomics.store(this.#flags, slot, 1);
      this.#wire.postMessage({ cancel: id });
      reject(this.#broken);
    }
    if (this.#pending.size > 0) this.onBusy?.(false);
    this.#pending.clear();
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if ("progress" in reply) {
      pending.onProgress?.(reply.progress);
      return;
    }
    this.#pending.delete(reply.id);
    this.#freeSlots.push(pending.slot);
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

function aborted(signal: AbortSignal, method: string): TrunklineError {
  if (signal.reason instanceof TrunklineError) return signal.reason;
  return new TrunklineError("ABORTED", `The store's ${method} was cancelled.`, { cause: signal.reason });
}

/** Answers the calls that arrive on a wire. */
export function serveRpc(wire: Wire, handlers: Handlers, shared: SharedArrayBuffer): void {
  const flags = new Int32Array(shared);
  const controllers = new Map<number, AbortController>();
  wire.on("message", (message) => {
    if (typeof message !== "object" || message === null) return;
    if ("cancel" in message) {
      controllers.get(message.cancel as number)?.abort();
      return;
    }
    if (!("method" in message)) return;
    // Messages with a method come from the RpcClient at the other end.
    void answer(message as Request);
  });

  const answer = async ({ id, slot, method, params, viewer }: Request) => {
    const controller = new AbortController();
    controllers.set(id, controller);
    const call: Call = {
      check() {
        if (Atomics.load(flags, slot) !== 0)
          throw new TrunklineError("ABORTED", `The store's ${method} was cancelled.`);
      },
      progress: (progress) => wire.postMessage({ id, progress } satisfies Reply),
      signal: controller.signal,
      viewer,
    };
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (handler === undefined) throw new TrunklineError("INTERNAL", `The store's worker has no method "${method}".`);
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

function toWire(error: unknown): WireError {
  const { code, message, hint, retryable, data, cause } = isTrunklineError(error) ? error : unexpected(error);
  return { code, message, hint, retryable, data, cause: cause === undefined ? undefined : messageOf(cause) };
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "No such file or folder",
  EACCES: "Access denied",
  EPERM: "Operation not permitted",
  ENOSPC: "The disk is full",
  EROFS: "The file system is read-only",
  EISDIR: "It is a folder",
  ENOTDIR: "It is not a folder",
  ELOOP: "Symbolic links form a loop",
};

function unexpected(error: unknown): TrunklineError {
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown };
  if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) {
    const what = FILE_ERRORS[code] ?? messageOf(error);
    const message = typeof path === "string" ? `${what}: ${path}` : what;
    return new TrunklineError(code === "ENOENT" ? "NOT_FOUND" : "IO", message, {
      cause: error,
      data: { system: code },
    });
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return new TrunklineError("INTERNAL", messageOf(error), { cause: stack ?? error });
}

function fromWire(error: WireError): TrunklineError {
  return new TrunklineError(error.code, error.message, {
    retryable: error.retryable,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.data === undefined ? {} : { data: error.data }),
    ...(error.cause === undefined ? {} : { cause: new Error(error.cause) }),
  });
}
