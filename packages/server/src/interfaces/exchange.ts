// One request of one client, while it is being answered: who asks, and how to talk back meanwhile. The endpoints make
// exchanges out of whatever revision and transport a client speaks; everything behind them knows only these two shapes.
import type { Channel } from "@trunkline/client";
import type { ToolProgress } from "@trunkline/core";
import type { Era } from "@trunkline/protocol";

/** A client, as far as it is known. */
export interface Caller {
  /** Unique among the clients of this process. The current session, and what is freed when the client goes, go by it. */
  readonly id: string;
  /** Name and version, as the client gives them: for the journal. */
  readonly name: string;
  readonly era: Era;
  readonly revision: string;
  readonly endpoint: "stdio" | "http";
  /** Whether the connection outlives the request (stdio, legacy sessions): without it there is no current session. */
  readonly lasting: boolean;
  /** What the client says it can do, in the protocol's words. */
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** One request under way. */
export interface Exchange {
  readonly caller: Caller;
  /** Where the questions, the log messages and the progress of upstream servers go. It can do what the client can. */
  readonly channel: Channel;
  /** Aborted when the client cancels or goes. */
  readonly signal: AbortSignal;
  /** `_meta` of the request, without what the protocol itself keeps there. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Tells the client how far the work has come; absent where it did not ask for that. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}
