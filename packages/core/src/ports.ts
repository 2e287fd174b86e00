// The ports: what one layer needs of another, without knowing who provides it. Each comment states the contract that an
// implementation has to keep.
import type { ContentId } from "./content-id.js";
import type { ParameterSet } from "./parameters.js";

/** Severity of a log line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Facts that go with a log line. Never arguments or results of tool calls, which may hold anything. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go. A constant message and fields; never throws. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same logger with fields on every line. */
  child(fields: LogFields): Logger;
}

/** The time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds from some fixed point, never going back: for durations. */
  monotonicMs(): number;
}

/** The system's clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonicMs: () => performance.now() };

/** One tool of one server, as the server describes it. */
export interface SourcedTool {
  /** The pair that identifies a tool. */
  readonly server: string;
  readonly tool: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** The tool as the server listed it, with everything nobody here knows. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** What a call to a tool came back with. `raw` is the server's own result, untouched. */
export interface ToolCallResult {
  readonly isError: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** How far a call has come. */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Options of one call. */
export interface ToolCallOptions {
  signal?: AbortSignal;
  /** How long the call may take without progress. */
  timeoutMs?: number;
  onProgress?: (progress: ToolProgress) => void;
}

/**
 * Somewhere tools come from: a hub of MCP servers, or anything a program registers. `tools` is what is known now and
 * does not wait; `callTool` connects what has to be connected and rejects with a `TrunklineError`. A failure that the
 * tool itself reports is a result with `isError`, not a rejection.
 */
export interface ToolSource {
  tools(): readonly SourcedTool[];
  callTool(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options?: ToolCallOptions,
  ): Promise<ToolCallResult>;
}

/** `local` operations are for programs and the command line; a server offers them to no client. */
export type StoreOperationKind = "read" | "write" | "session" | "local";

/** One operation of a store: what it is called, what it takes, what it is for. Names are those of the wire. */
export interface StoreOperation {
  readonly name: string;
  readonly kind: StoreOperationKind;
  /** One line: what a model reads first. */
  readonly summary: string;
  readonly params: ParameterSet;
  /** Parameters that work. */
  readonly example: Readonly<Record<string, unknown>>;
  /** `atomic` can undo it. */
  readonly undoable?: boolean;
  /** The documents it adds or removes belong to the session that it runs in. */
  readonly inSession?: boolean;
}

/** Options of one operation of a store. */
export interface StoreOperationOptions {
  signal?: AbortSignal;
  onProgress?: (progress: ToolProgress) => void;
  /** Who is asking: each client has its own current session. */
  client?: string;
  /** Folders that `get` may write to. Default: none. */
  allowWrite?: readonly string[];
  /** Lets `download` reach addresses that are not public. Default: no. */
  allowPrivateAddresses?: boolean;
}

/**
 * What the server needs of a store: content by its hash, and operations by their names on the wire.
 *
 * `put` answers only when the bytes are durable; `get` verifies what it read and never returns bytes that do not match.
 * Putting the same bytes twice stores them once; content without a document is kept for seven days. `run` answers with
 * a result as the contract describes it and rejects with a `TrunklineError`: `INVALID_ARGUMENT` for parameters that
 * cannot be used and for an operation that this store does not have (`operations` lists those it has), `NOT_FOUND`,
 * `AMBIGUOUS`, `ABORTED` within 100 ms of the signal. What a changing operation answered is durable and can be found.
 * Several processes may use one store at the same time.
 */
export interface ContentStore extends AsyncDisposable {
  put(bytes: Uint8Array, options?: { signal?: AbortSignal }): Promise<ContentId>;
  /** The bytes, or a part of them. Rejects with `NOT_FOUND` where there is no such content. */
  get(id: ContentId, options?: { signal?: AbortSignal; start?: number; end?: number }): Promise<Uint8Array>;
  has(id: ContentId, options?: { signal?: AbortSignal }): Promise<boolean>;
  /** Every id that begins with these digits (at least 8), sorted. */
  resolve(prefix: string, options?: { signal?: AbortSignal }): Promise<readonly ContentId[]>;
  readonly operations: readonly StoreOperation[];
  run(
    operation: string,
    params: Readonly<Record<string, unknown>>,
    options?: StoreOperationOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Tells the path of each document that `watch` has taken up or found gone, until the function it returns is called. */
  onDocumentChanged?(listener: (path: string) => void): () => void;
}

/**
 * Turns text into vectors of one fixed length. Equal text gives equal vectors, whatever it is embedded together with.
 * `model` names weights and preprocessing: vectors of different models are never compared.
 */
export interface Embedder extends AsyncDisposable {
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], options?: { signal?: AbortSignal }): Promise<readonly Float32Array[]>;
}
