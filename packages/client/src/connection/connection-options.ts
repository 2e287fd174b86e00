// The options and states of a connection.
import type { Logger } from "@trunkline/core";
import type { AuthOptions } from "../auth/server-auth.js";
import type { Abilities, Channel, Root, SignIn } from "../channel/channel.js";
import type { AskPolicy } from "../channel/in-flight.js";
import type { Leaseholder } from "../channel/leaseholder.js";
import type { RunPlaces } from "./run-folder.js";

export type ServerState = "pending" | "connected" | "failed" | "needs-auth" | "disabled" | "untrusted";

/** Whether a server in this state can be connected at all. */
export function isConnectable(state: ServerState): boolean {
  return state !== "disabled" && state !== "untrusted";
}

/** The lists whose changes a server can report. */
export type ListKind = "tools" | "prompts" | "resources";

/** How this program identifies itself to servers. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** What a connection needs to know, whoever uses it. */
export interface ConnectionOptions {
  clientInfo: ClientInfo;
  logger: Logger;
  env: Readonly<Record<string, string | undefined>>;
  places: RunPlaces;
  /** The upper limit for connecting, whatever the entry allows. */
  connectLimitMs?: number;
  /** The size limit for one message of a server whose entry sets none. */
  maxMessageBytes?: number;
  /** Receives values looked up at launch that must not be shown. */
  onSecrets: (values: readonly string[]) => void;
  /** Removes all secrets known so far from a text. */
  redact: (text: string) => string;
  onState: () => void;
  /** Called with each new generation; the connection counts as connected once this has settled. */
  onConnected: (signal: AbortSignal) => Promise<void>;
  onListChanged: (kind: ListKind) => void;
  asking: Pick<AskingOptions, "policy" | "abilities">;
  signingIn: AuthOptions;
  /** The hubs that use it now. */
  holders: () => readonly Leaseholder[];
  /**
   * Called when the server asks for roots, with the holders that have calls in flight. Returns false if those have
   * different roots, so the server must not get any.
   */
  onRootsAsked: (busy: ReadonlySet<Leaseholder>) => boolean;
  /** Called when a request begins and when it ends. */
  onUsed: () => void;
}

/** What a hub brings along for a connection that it leases. */
export interface LeaseOptions extends Omit<ConnectionOptions, "holders" | "onRootsAsked" | "onUsed"> {
  /** Receives every notification not handled here: updated resources, finished elicitations, extensions. */
  onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  asking: AskingOptions;
  /** With how the hub's user is asked. Absent if there is no user. */
  signingIn: AuthOptions & { readonly signIn?: SignIn };
}

/** Options for questions from servers. */
interface AskingOptions {
  /** The channel for calls without their own, and for questions outside any call. */
  channel: Channel | undefined;
  policy: AskPolicy;
  /** With the policy `serialize`: how long a call waits behind another channel's unanswered question. */
  waitMs: number;
  abilities: Abilities;
  /** A server that asks more questions than this during one call is assumed to ask forever. */
  maxQuestions: number;
  /** The roots for channels without their own. */
  roots: () => readonly Root[] | undefined;
  /** The minimum log level for messages to channels that accept them. */
  logLevel: string | undefined;
}
