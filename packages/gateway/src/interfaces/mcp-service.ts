// The service behind the endpoints. The endpoints handle the protocol itself (handshake, discovery, ping, cancellation,
// tasks, notification streams); the service handles tools, prompts, resources and completions.
import type { Root } from "@trunkline/client";
import type { LIST_CHANGES } from "@trunkline/protocol";
import type { Caller, Exchange } from "./exchange.js";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** A change that clients can be notified of. */
export interface ServiceEvent {
  readonly kind: keyof typeof LIST_CHANGES;
}

/**
 * Whether a tool can be called as a task. `required`, `optional` and `forbidden` are the protocol's values
 * (`execution.taskSupport`). With `required`, a client without task support is rejected. A service that can answer such
 * a client anyway uses `preferred`: a task from the start for clients that support tasks, an ordinary call for all
 * others.
 */
export type TaskSupport = "required" | "preferred" | "optional" | "forbidden";

/** An MCP server independent of its transport. */
export interface McpService {
  readonly info: ServerInfo;
  /**
   * Instructions for the client's model, sent at the handshake, which begins the client's session. Never rejects, and
   * waits for no upstream server.
   */
  instructions?(caller: Caller): Promise<string | undefined>;
  /** Capabilities as this revision defines them; the endpoints add tasks. */
  capabilities(revision: string): Readonly<Record<string, unknown>>;
  /**
   * Handles one request: `tools/…`, `prompts/…`, `resources/…` (except subscriptions), `completion/complete`. Rejects
   * with an `RpcError` for protocol errors (an unknown method is `methodNotFound`); all other failures are part of the
   * result.
   */
  handle(
    method: string,
    params: Readonly<Record<string, unknown>>,
    exchange: Exchange,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Whether a call of this tool can become a task. Absent or undefined means unknown: the call then becomes a task if
   * the client asks for one, or if it takes very long and the client is a modern one that supports tasks.
   */
  taskSupport?(tool: string): TaskSupport | undefined;
  /**
   * The input schema of a tool, if it is known without waiting. Some arguments may have to be repeated in headers
   * (`x-mcp-header`), which the HTTP endpoint then checks. Returns the same object until the tool changes.
   */
  inputSchema?(tool: string): Readonly<Record<string, unknown>> | undefined;
  /**
   * Returns the arguments of a tool in the form that will run, for a host that asks for approval first and then calls
   * the tool with them. Rejects with `INVALID_ARGUMENT` if they are ambiguous.
   */
  canonicalArguments?(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: { signal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Reports changes until the returned function is called. */
  onEvent(listener: (event: ServiceEvent) => void): () => void;
  /** Reports changes to a resource that the principal can see until the function it resolves with is called. */
  subscribe(
    uri: string,
    listener: () => void,
    options: { principal: string; signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /** The client asks for log messages of at least this level. Legacy only; a modern client sets it with each call. */
  setLogLevel(caller: Caller, level: string): Promise<void>;
  /** The client reports its roots, at the start or after a change. Legacy over stdio only. Never rejects. */
  rootsChanged?(caller: Caller, roots: readonly Root[]): Promise<void>;
  /**
   * Releases the state of a client that has disconnected. Never rejects. Only called for `lasting` callers; others have
   * no state.
   */
  release(caller: Caller): Promise<void>;
}
