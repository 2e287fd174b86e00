// The options of a hub, and the options and results of its calls.

import type { ToolKey } from "@trunkline/config";
import type { Logger, Redactor, ToolCallOptions, ToolCallResult } from "@trunkline/core";
import type { Abilities, Channel, Root, SignIn } from "../channel/channel.js";
import type { AskPolicy } from "../channel/in-flight.js";
import type { ClientInfo } from "../connection/connection-options.js";
import type { TaskWish } from "../connection/task-calls.js";
import type { ConnectionPool } from "../pool/connection-pool.js";
import type { CatalogueListener } from "./hub-events.js";

/** Everything is optional. By default the hub is silent and cannot ask the user anything. */
export interface HubOptions {
  logger?: Logger | undefined;
  /** How the client identifies itself to servers. */
  clientInfo?: ClientInfo | undefined;
  /**
   * Our environment. Servers get only the variables that programs cannot do without. Default: PATH and HOME of this
   * process.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Aborting it closes the hub. */
  signal?: AbortSignal | undefined;
  /** Connect every server on first use, whatever its entry says. */
  lazy?: boolean | undefined;
  /** Upper limit for the connect time of every server, whatever its entry allows. */
  connectLimitMs?: number | undefined;
  /** Receives every secret the hub learns, and redacts them from everything the hub reports. */
  redactor?: Redactor | undefined;
  /** The channel for calls outside any other channel's scope, and for questions that servers ask outside a call. */
  channel?: Channel | undefined;
  /**
   * The kinds of questions the channels of this hub can answer, declared to servers when they connect. Default: those
   * of `channel`. Set it if channels are added later with `withChannel`.
   */
  answers?: Abilities | undefined;
  /**
   * What to do when several channels use one legacy stdio server, which cannot say which call a question belongs to.
   * Default `serialize`.
   */
  askPolicy?: AskPolicy | undefined;
  /**
   * With the policy `serialize`: how long a call waits behind a question that another channel has not answered, before
   * it fails with `BUSY`. Default 10 seconds.
   */
  askWaitMs?: number | undefined;
  /** A call with more questions than this fails. Default 50. */
  maxQuestions?: number | undefined;
  /**
   * The size limit for one message of a server, for entries that set none. A larger answer fails its call with
   * `RESULT_TOO_LARGE`. Default 64 MB.
   */
  maxMessageBytes?: number | undefined;
  /** The folders servers may work in, for channels that set none. */
  roots?: readonly Root[] | undefined;
  /** The minimum level of servers' log messages. Default: each server decides. */
  logLevel?: string | undefined;
  /** Where sign-ins and accepted definitions are saved, so they outlive the hub. */
  home?: string | undefined;
  /** Whether tools are offered under their own names, without the server's: then two servers can have the same one. */
  plainNames?: boolean | undefined;
  /** Shows the user the URL for signing in. Without it the user is not asked, and the error explains how to sign in. */
  signIn?: SignIn | undefined;
  /** How long the user may take to sign in. Default 5 minutes. */
  signInTimeoutMs?: number | undefined;
  /** The https URL of the program's client-id metadata document, if it has one. */
  clientMetadataUrl?: string | undefined;
  /**
   * Connections to share with other hubs of this process. Closing the hub leaves them to the pool. Default: the hub has
   * its own.
   */
  connections?: ConnectionPool | undefined;
  /** With `connections`: servers shared by workspace are shared by hubs with the same one. Default: the folder. */
  workspace?: string | undefined;
  /** With `connections`: the hub's name in the status of the pool. */
  label?: string | undefined;
  /** Called when the tools, resources or prompts of a server have changed. */
  onCatalogChanged?: CatalogueListener | undefined;
  /** Called when the state of a server has changed. */
  onStatusChanged?: (() => void) | undefined;
}

/** Options for a tool call. */
export interface HubCallOptions extends ToolCallOptions {
  /**
   * Run the call as a task if the server offers it: `true`, or how long to retain it. A tool that requires a task gets
   * one anyway, and a modern server may create one at any time, unless this is `false`. The result is the same.
   */
  task?: boolean | TaskWish | undefined;
  /** `_meta` of the request, in addition to the protocol's own fields. */
  meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Whether the large fields of a large result may stay on another thread, under `large`, instead of being built here.
   * Default false.
   */
  acceptLarge?: boolean | undefined;
  /**
   * The calling channel. Equivalent to calling within {@link Hub.withChannel}, but faster, because there is no scope to
   * maintain.
   */
  channel?: Channel | undefined;
}

/** The result of a call: the server's raw result, and its text. */
export interface CallResult extends ToolCallResult, ToolKey {
  readonly text: string;
}

/** Something that did not work as configured. */
export interface HubWarning {
  readonly message: string;
  readonly server?: string;
  readonly hint?: string;
}
