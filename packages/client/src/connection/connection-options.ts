// What a connection is opened with, and the states it goes through.
import type { Logger } from "@trunkline/core";
import type { AuthOptions } from "../auth/server-auth.js";
import type { Abilities, Channel, Root } from "../channel/channel.js";
import type { AskPolicy } from "../channel/in-flight.js";

/** The states of a server, visible while they happen. */
export type ServerState = "pending" | "connected" | "failed" | "needs-auth" | "disabled" | "untrusted";

/** Whether a server in this state may be connected at all. */
export function isConnectable(state: ServerState): boolean {
  return state !== "disabled" && state !== "untrusted";
}

/** The lists a server may tell us have changed. */
export type ListKind = "tools" | "prompts" | "resources";

/** How this program introduces itself to servers. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** What a connection needs besides its definition, and whom it tells. */
export interface ConnectionOptions {
  clientInfo: ClientInfo;
  logger: Logger;
  env: Readonly<Record<string, string | undefined>>;
  workspaceFolder: string;
  /** Connecting may take no longer than this, whatever the entry allows. */
  connectLimitMs?: number | undefined;
  /** Values that were looked up at launch and must not be shown. */
  onSecrets: (values: readonly string[]) => void;
  /** The state has changed. */
  onState: () => void;
  /** A new generation is there; the connection counts as connected when this has settled. */
  onConnected: (signal: AbortSignal) => Promise<void>;
  onListChanged: (kind: ListKind) => void;
  /** Every notification that is not handled here: updated resources, finished elicitations, those of extensions. */
  onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Who is asked, and how. */
  asking: AskingOptions;
  /** How to sign in where a server wants it. */
  signingIn: AuthOptions;
}

/** What the hub lets servers ask. */
export interface AskingOptions {
  /** Makes the calls that nobody in particular makes, and is asked what is asked outside any call. */
  channel: Channel | undefined;
  policy: AskPolicy;
  abilities: Abilities;
  /** More questions than this during one call are a server that asks for ever. */
  maxQuestions: number;
  /** What there is for channels that have no roots of their own. */
  roots: () => readonly Root[] | undefined;
  /** The level from which servers are to send log messages to channels that take them. */
  logLevel: string | undefined;
}
