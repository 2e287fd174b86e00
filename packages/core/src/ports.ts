// The ports: what one layer needs of another, without knowing who provides it. Each comment states the contract that an
// implementation has to keep.
import type { ContentId } from "./content-id.js";

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

/**
 * Content by its hash. `put` answers only when the bytes are durable; `get` verifies what it read against the id and
 * never returns bytes that do not match. Putting the same bytes twice stores them once. Several processes may use one
 * store at the same time.
 */
export interface ContentStore extends AsyncDisposable {
  put(bytes: Uint8Array, options?: { signal?: AbortSignal }): Promise<ContentId>;
  /** The bytes, or a part of them. Rejects with `NOT_FOUND` where there is no such content. */
  get(id: ContentId, options?: { signal?: AbortSignal; start?: number; end?: number }): Promise<Uint8Array>;
  has(id: ContentId, options?: { signal?: AbortSignal }): Promise<boolean>;
  /** Every id that begins with these digits, sorted. */
  resolve(prefix: string, options?: { signal?: AbortSignal }): Promise<readonly ContentId[]>;
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
