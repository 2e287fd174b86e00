// A server as a hub uses it: a connection of its own, or its part of a connection that several hubs share.

import type { ServerDefinition } from "@trunkline/config";
import type { TrunklineError } from "@trunkline/core";
import type { SignInReport } from "../auth/sign-in-report.js";
import type { SignIn } from "../channel/channel.js";
import type { ServerState } from "./connection-options.js";
import type { OutgoingRequest } from "./outgoing.js";
import type { RequestOptions } from "./server-conversation.js";
import type { Subscription, SubscriptionFilter } from "./subscriptions.js";

/** A request, or a function that builds it once the server is connected and its era is known. */
export type RequestSource = OutgoingRequest | (() => OutgoingRequest);

export interface ServerLink {
  readonly definition: ServerDefinition;
  readonly state: ServerState;
  /** Why the server is not connected. */
  readonly error: TrunklineError | undefined;
  /** When the current generation connected, in milliseconds since 1970. */
  readonly connectedAtMs: number | undefined;
  /** How long the last list request took. */
  readonly roundTripMs: number | undefined;
  /** How long the last attempt to connect took, including listing. */
  readonly tookMs: number | undefined;
  readonly era: "legacy" | "modern" | undefined;
  readonly revision: string | undefined;
  /** The server's own name and version. */
  readonly serverInfo: { name: string; version: string } | undefined;
  /** The server's instructions to the model. */
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly stderrTail: readonly string[];
  /** The process id of a stdio server. */
  readonly pid: number | undefined;
  /** The state of the sign-in, for a server that may need one. */
  readonly signIn: SignInReport | undefined;
  /** The minimum log level. A modern server gets it with each call. */
  readonly logLevel: string | undefined;

  connect(signal?: AbortSignal): Promise<void>;
  authenticate(signal?: AbortSignal, signIn?: SignIn): Promise<"completed" | "cancelled">;
  request(source: RequestSource, options?: RequestOptions): Promise<Record<string, unknown>>;
  listAll(method: string, key: string, options?: { signal?: AbortSignal }): Promise<Record<string, unknown>[]>;
  /** Opens a stream on which a modern server reports changes. */
  listen(filter: SubscriptionFilter, signal?: AbortSignal): Promise<Subscription>;
  /** Subscribes to a resource of a legacy server. */
  subscribe(uri: string, options?: RequestOptions): Promise<void>;
  unsubscribe(uri: string, options?: RequestOptions): Promise<void>;
  /** Sets the minimum log level for calls to a modern server. */
  setLogLevel(level: string): void;
  /** Tells a legacy server the level. */
  sendLogLevel(level: string, options?: RequestOptions): Promise<void>;
  /** Tells a legacy server that its roots have changed. */
  rootsChanged(): Promise<void>;
  /** A channel's party has left, so that it no longer counts as one that uses the server. */
  forget(party: object): void;
  /** Stops a server that no one else uses, until its next use. */
  rest(): Promise<void>;
  /** Stops a server until its next use, for everyone who uses it. Requests in flight fail. */
  halt(): Promise<void>;
  close(): Promise<void>;
}
