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

/** A server's question as it came: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface Question {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
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

/** What a channel can answer, in the protocol's words: exactly this is advertised to servers. */
export interface Abilities {
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly sampling?: { readonly tools?: object };
  readonly roots?: { readonly listChanged?: boolean };
}

/**
 * Who makes calls and can be asked during them: a terminal, a web page, a downstream MCP client. `ask` takes and returns
 * what is on the wire, so a gateway loses nothing; `createChannel` makes a channel out of typed answers.
 */
export interface Channel {
  /** For logs. */
  readonly name?: string;
  /**
   * Whom the channel speaks for; the channel itself by default. A host that makes one channel per call gives those of one
   * person the same party: for a server that cannot say whom it asks they count as one.
   */
  readonly party?: object;
  /** The questions it answers. It is asked nothing else. */
  readonly abilities?: Abilities;
  /** Answers a question with the result that the protocol defines for it. A rejection is a refusal to answer. */
  ask?(question: Question, context: QuestionContext): Promise<Readonly<Record<string, unknown>>>;
  log?(message: ServerLog): void;
  /** The level from which it wants log messages of modern servers, which are told with each call. Default: the hub's. */
  readonly logLevel?: string;
  progress?(progress: CallProgress): void;
}

/** Whom a channel speaks for. */
export function partyOf(channel: Channel | undefined): object | undefined {
  return channel?.party ?? channel;
}

/** Whether there is any question at all that this channel can answer. */
export function canAnswer(channel: Channel | undefined): boolean {
  return Object.keys(channel?.abilities ?? {}).length > 0;
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
