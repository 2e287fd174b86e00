// What the endpoints serve. The protocol itself (handshake, discovery, ping, cancellation, tasks, streams of
// notifications) is theirs; tools, prompts, resources and completions are the service's.
import type { Caller, Exchange } from "../exchange.js";

/** How the server introduces itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** Something that clients may want to hear of without having asked at that moment. */
export type ServiceEvent =
  | { readonly kind: "tools_list_changed" }
  | { readonly kind: "prompts_list_changed" }
  | { readonly kind: "resources_list_changed" };

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
  /** Tells of changes until the function it returns is called. */
  onEvent(listener: (event: ServiceEvent) => void): () => void;
  /** Tells whenever a resource has changed, until the function that it resolves with is called. */
  subscribe(uri: string, listener: () => void, options: { signal?: AbortSignal }): Promise<() => Promise<void>>;
  /** The client asks for log messages from this level on. Legacy only; a modern client says so with each call. */
  setLogLevel(caller: Caller, level: string): Promise<void>;
  /** The client has gone: what it had to itself is given up. Never rejects. */
  release(caller: Caller): Promise<void>;
}
