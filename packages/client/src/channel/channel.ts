// Where a question to a person or a model goes. A server asks during somebody's call; the channel is that somebody.
import { AsyncLocalStorage } from "node:async_hooks";

/** What a question carries besides its own content. */
export interface QuestionContext {
  /** The server that asks. */
  readonly server: string;
  /** The tool during whose call it asks, where that is known. */
  readonly tool?: string;
  /** The name that the server gave the question, where it asked within a result: whoever passes it on keeps it. */
  readonly key?: string;
  /** Aborted when the question no longer matters: the call was cancelled, or the server has gone. */
  readonly signal: AbortSignal;
}

/** A server asks for facts, by a form. */
export interface FormElicitation {
  readonly mode: "form";
  readonly message: string;
  /** A flat JSON Schema of the fields. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  /** The request as the server sent it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A server asks a person to do something at an address. */
export interface UrlElicitation {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** What a server asks a person. */
export type Elicitation = FormElicitation | UrlElicitation;

/** What a person answers. `content` goes with `accept` of a form only. */
export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** A folder that a server may work in. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** A log message of a server. */
export interface ServerLog {
  readonly server: string;
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
}

/** How far a call has come. */
export interface CallProgress {
  readonly server: string;
  readonly tool?: string;
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Somebody who makes calls and can be asked during them: a terminal, a web page, a downstream MCP client. What a channel
 * cannot do it leaves out, and servers are not told that it could. A rejection counts as a refusal to answer.
 */
export interface Channel {
  /** For logs. */
  readonly name?: string;
  /**
   * Whom the channel speaks for; the channel itself where it is absent. A host that makes one channel for each call gives
   * those of one person the same party: towards a server that cannot say whom it asks they count as one.
   */
  readonly party?: object;
  /** The modes of elicitation it can show. Default: both, where there is `elicit`. */
  readonly elicitationModes?: readonly ("form" | "url")[];
  elicit?(elicitation: Elicitation, context: QuestionContext): Promise<ElicitationAnswer>;
  /** Lets a model complete the messages; takes and gives what the protocol has for it. */
  sample?(
    params: Readonly<Record<string, unknown>>,
    context: QuestionContext,
  ): Promise<Readonly<Record<string, unknown>>>;
  roots?(context: QuestionContext): Promise<readonly Root[]>;
  log?(message: ServerLog): void;
  /** The level from which it wants log messages of modern servers, which are told with each call. Default: the hub's. */
  readonly logLevel?: string;
  progress?(progress: CallProgress): void;
}

/** What channels can answer, in the protocol's words: what a client may advertise. */
export interface Abilities {
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly sampling?: { readonly tools?: object };
  readonly roots?: { readonly listChanged?: boolean };
}

/** What this channel can answer. */
export function abilitiesOf(channel: Channel | undefined): Abilities {
  if (channel === undefined) return {};
  const modes = channel.elicit === undefined ? [] : (channel.elicitationModes ?? ["form", "url"]);
  return {
    ...(modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
    ...(channel.sample === undefined ? {} : { sampling: { tools: {} } }),
    ...(channel.roots === undefined ? {} : { roots: { listChanged: true } }),
  };
}

/** Whom a channel speaks for. */
export function partyOf(channel: Channel | undefined): object | undefined {
  return channel?.party ?? channel;
}

/** Whether there is any question at all that this channel can answer. */
export function canAnswer(channel: Channel | undefined): boolean {
  return Object.keys(abilitiesOf(channel)).length > 0;
}

const channels = new AsyncLocalStorage<Channel>();

/** Runs `work` with a channel in scope: calls made in it, however deep, are made by that channel. */
export function runWithChannel<T>(channel: Channel, work: () => T): T {
  return channels.run(channel, work);
}

/** Runs `work` outside every scope: a connection serves many channels, and must not be born into one of them. */
export function runOutsideChannels<T>(work: () => T): T {
  return channels.exit(work);
}

/** The channel in scope. */
export function currentChannel(): Channel | undefined {
  return channels.getStore();
}
