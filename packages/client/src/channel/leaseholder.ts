// A hub as a connection sees it that it has leased. Several hubs can share one connection.
import type { Logger } from "@trunkline/core";
import type { Channel, Root, SignIn } from "./channel.js";

export interface Leaseholder {
  /** The channel for calls without their own, and for questions outside any call. */
  readonly channel: Channel | undefined;
  /** Stands in for the channel of this holder's calls that have none, so that two holders' calls can be told apart. */
  readonly noChannel: Channel;
  /** With the policy `serialize`: how long a call waits behind another channel's unanswered question. */
  readonly waitMs: number;
  /** A server that asks more questions than this during one call is assumed to ask forever. */
  readonly maxQuestions: number;
  /** The roots for channels without their own. */
  readonly roots: () => readonly Root[] | undefined;
  /** The minimum log level for messages to channels that accept them. */
  readonly logLevel: string | undefined;
  /** The level set for this server only. A modern server gets it with each call; a legacy one needs a request. */
  ownLogLevel: string | undefined;
  readonly logger: Logger;
  /** Asks the holder's user to sign in. */
  readonly signIn: SignIn | undefined;
  /** Removes all secrets that the holder knows from a text. */
  readonly redact: (text: string) => string;
  /** Receives every notification that concerns the holder and is not handled by the connection. */
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Waits until the holder has listed a server that has just connected. Default: connecting includes it. */
  readonly listed?: (signal: AbortSignal | undefined) => Promise<void>;
}
