// What a hub is opened with, and what its calls take and give.
import type { Logger, Redactor, ToolCallOptions, ToolCallResult } from "@trunkline/core";
import type { SignIn } from "../auth/sign-in.js";
import type { Abilities, Channel, Root } from "../channel/channel.js";
import type { AskPolicy } from "../channel/in-flight.js";
import type { ClientInfo } from "../connection/connection-options.js";
import type { TaskWish } from "../connection/task-calls.js";
import type { ToolKey } from "../names/name-styles.js";
import type { CatalogueListener } from "./hub-events.js";

/** Everything is optional: without it the hub is silent and on its own. */
export interface HubOptions {
  logger?: Logger;
  /** How we introduce ourselves to servers. */
  clientInfo?: ClientInfo;
  /** Our environment, of which a server gets only what programs cannot do without. Without it: PATH and HOME of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Aborting it closes the hub. */
  signal?: AbortSignal;
  /** Connect every server at its first use, whatever its entry says. */
  lazy?: boolean;
  /** No server may take longer to connect than this, whatever its entry allows. */
  connectLimitMs?: number;
  /** Gets every secret the hub learns of, and takes them out of what the hub reports. */
  redactor?: Redactor;
  /** Makes the calls that are made in no other channel's scope, and is asked what is asked outside any call. */
  channel?: Channel;
  /**
   * What the channels of this hub can answer, as servers are told when they connect. Default: what `channel` can. Give it
   * where channels come later, with `withChannel`.
   */
  answers?: Abilities;
  /** What to do when several channels use one legacy stdio server, which cannot say whom it asks. Default `serialize`. */
  askPolicy?: AskPolicy;
  /** More questions than this during one call end the call. Default 50. */
  maxQuestions?: number;
  /** The folders servers may work in, for channels that have none of their own. */
  roots?: readonly Root[];
  /** The level from which servers send log messages. Default: what each server thinks right. */
  logLevel?: string;
  /** Where sign-ins are kept, so that they outlive the hub. */
  home?: string;
  /** How a person gets to see the address of a sign-in. Without it nobody is asked, and the error says how to sign in. */
  signIn?: SignIn;
  /** How long a person may take to sign in. Default 5 minutes. */
  signInTimeoutMs?: number;
  /** The https address of a client-id metadata document that stands for the program, where it has one. */
  clientMetadataUrl?: string;
  /** The tools, resources or prompts of some server have changed. */
  onCatalogChanged?: CatalogueListener;
  /** The state of some server has changed. */
  onStatusChanged?: () => void;
}

/** Options of one call of a tool. */
export interface HubCallOptions extends ToolCallOptions {
  /**
   * Make the call as a task where the server offers it: `true`, or how long it should be kept. A tool that demands a task
   * gets one anyway, and a modern server makes one when it likes, unless this is `false`. The result is the same.
   */
  task?: boolean | TaskWish;
  /** `_meta` of the request, beside what the protocol itself keeps there. */
  meta?: Readonly<Record<string, unknown>>;
  /**
   * Who makes the call: the same as making it within {@link Hub.withChannel}, and quicker, because no scope has to be kept.
   */
  channel?: Channel;
}

/** What a call came back with: the server's own result, and its text. */
export interface CallResult extends ToolCallResult, ToolKey {
  readonly text: string;
}

/** Something that did not go as configured. */
export interface HubWarning {
  readonly message: string;
  readonly server?: string;
  readonly hint?: string;
}
