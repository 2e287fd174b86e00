// The ports: what one layer needs from another, independent of the implementation. Each comment states the contract
// that implementations have to fulfil.
import type { ContentId } from "./content-id.js";
import type { Ending } from "./deadline.js";
import type { LargeResult } from "./large-value.js";
import type { ParameterSet } from "./parameters.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields of a log line. Never the arguments or results of tool calls, which may contain anything. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receives log lines: a constant message and fields. Never throws. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns the same logger with these fields on every line. */
  child(fields: LogFields): Logger;
}

/** The time, replaceable in tests. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds from a fixed point, never going back: for durations. */
  monotonicMs(): number;
}

/** The principal of everything that runs as the person at this machine: the terminal and stdio clients. */
export const LOCAL_PRINCIPAL = "local";

/** The system's clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonicMs: () => performance.now() };

/** One tool of one server, as the server describes it. */
export interface SourcedTool {
  /** The pair that identifies a tool. */
  readonly server: string;
  readonly tool: string;
  /** The dotted name, `server.tool`: what to call it by. */
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** The tool as the server listed it, including unknown fields. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** The result of a tool call. `raw` is the server's result, unmodified. */
export interface ToolCallResult {
  readonly isError: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
  /** The fields that `raw` lacks because they are large, if the caller accepts that. */
  readonly large?: LargeResult;
}

export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ToolCallOptions {
  signal?: AbortSignal | undefined;
  /** The same as `signal`, at less cost, for a program that makes very many calls. */
  ending?: Ending | undefined;
  /** How long the call may take without progress. 0: the default. */
  timeoutMs?: number | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/**
 * A source of tools: a hub of MCP servers, or anything a program registers. `tools` returns what is known now and does
 * not wait; `callTool` connects if necessary and rejects with a `TrunklineError`. A failure that the tool itself
 * reports is a result with `isError`, not a rejection.
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

/** `local` operations are for programs and the command line; a server does not offer them to clients. */
type StoreOperationKind = "read" | "write" | "session" | "local";

/** One operation of a store: its name, parameters and purpose. Names are wire names. */
export interface StoreOperation {
  readonly name: string;
  readonly kind: StoreOperationKind;
  /** One line that a model reads first. */
  readonly summary: string;
  readonly params: ParameterSet;
  /** Working example parameters. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Whether `atomic` can undo it. */
  readonly undoable?: boolean;
  /** Whether the documents it adds or removes belong to its session. */
  readonly inSession?: boolean;
}

/**
 * What a store operation may do with files on behalf of a client that is confined to allowed folders. The server has
 * checked the paths in the parameters; the store makes sure that they still lead to the same place, and judges the
 * files that `restore` would write.
 */
export interface FileLimits {
  /** The real path of each path in the parameters, as it was checked. */
  readonly realPaths: Readonly<Record<string, string>>;
  /** The allowed folder that contains the output. Names below it decide whether other programs obey a file. */
  readonly outputRoot?: string;
  /** Other folders whose files programs execute or obey, such as a repository's own hooks. */
  readonly obeyed?: readonly string[];
  /** Files that the user has allowed to be written, as real paths. If set, `restore` writes only these. */
  readonly approved?: readonly string[];
}

interface StoreOperationOptions {
  signal?: AbortSignal;
  onProgress?: (progress: ToolProgress) => void;
  /** The calling client: each has its own current session. */
  client?: string;
  /** Limits for a client. Default: none, for a person's own commands and programs. */
  limits?: FileLimits;
  /** Lets `download` reach addresses that are not public. Default: false. */
  allowPrivateAddresses?: boolean;
}

/**
 * What the server needs from a store: content by hash, and operations by wire name.
 *
 * `put` resolves only when the bytes are durable; `get` verifies what it reads and never returns bytes that do not
 * match. Putting the same bytes twice stores them once; content without a document is retained for seven days. `run`
 * resolves with a result as described by the contract and rejects with a `TrunklineError`: `INVALID_ARGUMENT` for
 * invalid parameters and for an operation that this store does not have (`operations` lists those it has), `NOT_FOUND`,
 * `AMBIGUOUS`, `ABORTED` within 100 ms of the signal. Once a changing operation resolves, its changes are durable and
 * searchable. Several processes may use one store at the same time.
 */
export interface ContentStore extends AsyncDisposable {
  put(bytes: Uint8Array, options?: { signal?: AbortSignal }): Promise<ContentId>;
  /** All or part of the bytes. Rejects with `NOT_FOUND` for unknown content. */
  get(id: ContentId, options?: { signal?: AbortSignal; start?: number; end?: number }): Promise<Uint8Array>;
  has(id: ContentId, options?: { signal?: AbortSignal }): Promise<boolean>;
  /** Every id that starts with these digits (at least 8), sorted. */
  resolve(prefix: string, options?: { signal?: AbortSignal }): Promise<readonly ContentId[]>;
  readonly operations: readonly StoreOperation[];
  /**
   * The same store as this principal sees it. Stored results (the collection `results`) and sessions belong to the
   * principal that made them, whatever names or hashes others know; everything else is shared. `local` sees everything.
   */
  viewedBy(principal: string): ContentStore;
  run(
    operation: string,
    params: Readonly<Record<string, unknown>>,
    options?: StoreOperationOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Reports the path of each document that `watch` has indexed or found missing, until the returned function is called. A
   * store that several gateways share reports every change, through whichever of them.
   */
  onDocumentChanged?(listener: (path: string) => void): Promise<() => void>;
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
