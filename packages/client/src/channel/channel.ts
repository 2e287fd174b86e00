// Routes a server's questions. A server asks during a call; the channel is the caller.
import { AsyncLocalStorage } from "node:async_hooks";

/** The context of a question. */
export interface QuestionContext {
  readonly server: string;
  /** Trunkline itself asks, about a call of this server: whether a tool may run. No server can set it. */
  readonly isOwn?: boolean;
  /** The tool being called, if known. */
  readonly tool?: string;
  /** The server's key for a question asked inside a result; keep it when passing the question on. */
  readonly key?: string;
  /** Aborts when the question no longer matters: the call was cancelled or the server is gone. */
  readonly signal: AbortSignal;
}

/** A server's question. An elicitation is vetted and names the server; the others are as received: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface Question {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A folder a server can work in. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface ServerLog {
  readonly server: string;
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
}

export interface CallProgress {
  readonly server: string;
  readonly tool?: string;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A page that a server asked for, by the id of its question. */
export interface CompletedVisit {
  readonly server: string;
  readonly elicitationId: string;
}

/** The questions a channel can answer, in protocol terms. Exactly this is advertised to servers. */
export interface Abilities {
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly sampling?: { readonly tools?: object };
  readonly roots?: { readonly listChanged?: boolean };
}

/** What a user needs to sign in. */
export interface SignInRequest {
  readonly server: string;
  /** Where to sign in. Show its host so the user can judge it. */
  readonly url: string;
  /**
   * For a browser that cannot reach this machine: takes the final redirect URL, pasted by the user. Rejects with
   * `INVALID_ARGUMENT` if it is not from this sign-in; the user can try again.
   */
  readonly submit: (redirectUrl: string) => Promise<void>;
  /** Aborts when the sign-in is over, so a prompt for a pasted URL can close. */
  readonly signal: AbortSignal;
}

/**
 * Shows the sign-in URL to the user. `completed`: the user was sent there, and the browser will come back or already
 * has; `cancelled`: the user declined. Throwing fails the connection.
 */
export type SignIn = (request: SignInRequest) => Promise<"completed" | "cancelled">;

/**
 * Makes calls and can be asked questions during them: a terminal, a web page, a downstream MCP client. `ask` takes and
 * returns wire values, so a gateway loses nothing; `createChannel` builds a channel from typed answers.
 */
export interface Channel {
  /** For logs. */
  readonly name?: string;
  /**
   * Who the channel represents; the channel itself by default. A host that creates one channel per call gives all
   * channels of one user the same party, so a server that cannot say which channel it asks treats them as one.
   */
  readonly party?: object;
  /** The questions it answers. It is never asked any others. */
  readonly abilities?: Abilities;
  /** Answers a question with the result the protocol defines for it. A rejection means it refuses to answer. */
  ask?(question: Question, context: QuestionContext): Promise<Readonly<Record<string, unknown>>>;
  log?(message: ServerLog): void;
  /** The minimum log level from modern servers, sent with each call. Default: the hub's. */
  readonly logLevel?: string;
  progress?(progress: CallProgress): void;
  /** Lets its user sign in when a call of `authenticate` comes through this channel. Default: the hub's `signIn`. */
  signIn?: SignIn;
  /** Called when the server reports that the visit of a page is complete. The call that asked for it may have ended. */
  visited?(visit: CompletedVisit): void;
}

export function partyOf(channel: Channel | undefined): object | undefined {
  return channel?.party ?? channel;
}

/** Whether this channel can answer any question at all. */
export function canAnswer(channel: Channel | undefined): boolean {
  return Object.values(channel?.abilities ?? {}).some((ability) => ability !== undefined);
}

const channels = new AsyncLocalStorage<Channel>();

/** Runs `work` with a channel in scope: all calls made inside belong to that channel. */
export function runWithChannel<T>(channel: Channel, work: () => T): T {
  return channels.run(channel, work);
}

/** Runs `work` outside every scope: a connection serves many channels and must not belong to one of them. */
export function runOutsideChannels<T>(work: () => T): T {
  return channels.exit(work);
}

export function currentChannel(): Channel | undefined {
  return channels.getStore();
}
