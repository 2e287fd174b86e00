// One client request while it is handled: who asks, and how to talk back. The endpoints create exchanges for every
// revision and transport; the code below them only knows these two types.
import type { Channel } from "@trunkline/client";
import type { Ending, ToolProgress } from "@trunkline/core";
import type { Era } from "@trunkline/protocol";

/** The principal of an HTTP endpoint's own token, which only the user can read. */
export const DEFAULT_PRINCIPAL = "default";

/** What is known about a client. */
export interface Caller {
  /**
   * Unique among the clients of this process. Identifies the current session and the state to release when the client
   * disconnects.
   */
  readonly id: string;
  /**
   * Whose client this is: `local` for stdio and the terminal, the name of the token over HTTP. Everything that outlives
   * a request (stored results, sessions, idempotency keys, tasks, limits) belongs to the principal, never to `name`.
   */
  readonly principal: string;
  /**
   * Name and version as reported by the client. A client can claim any name: for the journal, and for how tools are
   * listed, never for what a client may do.
   */
  readonly name: string;
  readonly era: Era;
  readonly revision: string;
  readonly endpoint: "stdio" | "http";
  /** Whether the connection outlives the request (stdio, legacy sessions). Otherwise there is no current session. */
  readonly lasting: boolean;
  /** The person at the terminal, whose own commands are not confined to the allowed folders. Never true for a client. */
  readonly trusted?: boolean | undefined;
  /** The client's capabilities, as in the protocol. */
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export interface Exchange {
  readonly caller: Caller;
  /** Receives the requests, log messages and progress of upstream servers. Has the client's capabilities. */
  readonly channel: Channel;
  /** Aborted when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** The same as `signal`, at less cost; absent if there is only the signal. */
  readonly ending?: Ending | undefined;
  /** `_meta` of the request, without the protocol's own fields. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Reports progress to the client; absent if it did not ask for progress. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}
