// What the endpoints serve. The protocol itself (handshake, discovery, ping, cancellation, tasks, streams of
// notifications) is theirs; tools, prompts, resources and completions are the service's.
import type { Root } from "@trunkline/client";
import type { LIST_CHANGES } from "@trunkline/protocol";
import type { Caller, Exchange } from "./exchange.js";

/** How the server introduces itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** A change that clients may be notified of. */
export interface ServiceEvent {
  readonly kind: keyof typeof LIST_CHANGES;
}

/**
 * How a tool stands to being called as a task. `required`, `optional` and `forbidden` are the protocol's own words
 * (`execution.taskSupport`). With `required` a client that knows no tasks is refused; a service that can answer it anyway says
 * `preferred`: a task from the start for whoever knows tasks, an ordinary call for everybody else.
 */
export type TaskSupport = "required" | "preferred" | "optional" | "forbidden";

/** A server without its wire. */
export interface McpService {
  readonly info: ServerInfo;
  /** What a client's model is told at the handshake. */
  readonly instructions?: string | undefined;
  /** Capabilities in the words of this revision; tasks are added by the endpoints. */
  capabilities(revision: string): Readonly<Record<string, unknown>>;
  /**
   * Answers one request: `tools/…`, `prompts/…`, `resources/…` (but for subscriptions), `completion/complete`. Rejects
   * with an `RpcError` for what the protocol calls an error (an unknown method is `methodNotFound`); everything else that
   * goes wrong is part of the result.
   */
  handle(
    method: string,
    params: Readonly<Record<string, unknown>>,
    exchange: Exchange,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Whether a call of this tool may be made a task. Absent or undefined: nobody said; the call is then made a task where a
   * client asks for that, or, for a client of the modern era that knows tasks, where it takes very long.
   */
  taskSupport?(tool: string): TaskSupport | undefined;
  /**
   * The input schema of a tool, as far as it is known without waiting: some of its arguments may have to be repeated in
   * headers (`x-mcp-header`), which the HTTP endpoint then checks. The same object as long as the tool is the same.
   */
  inputSchema?(tool: string): Readonly<Record<string, unknown>> | undefined;
  /** Tells of changes until the function it returns is called. */
  onEvent(listener: (event: ServiceEvent) => void): () => void;
  /** Tells whenever a resource has changed, until the function that it resolves with is called. */
  subscribe(uri: string, listener: () => void, options: { signal?: AbortSignal }): Promise<() => Promise<void>>;
  /** The client asks for log messages from this level on. Legacy only; a modern client says so with each call. */
  setLogLevel(caller: Caller, level: string): Promise<void>;
  /** The client tells its roots, at the beginning or because they have changed. Legacy over stdio only. Never rejects. */
  rootsChanged?(caller: Caller, roots: readonly Root[]): Promise<void>;
  /**
   * The client has gone: what it had to itself is given up. Never rejects. Called for callers that are `lasting`; the others
   * have nothing to themselves.
   */
  release(caller: Caller): Promise<void>;
}
