// One client request while it is handled: who asks, and how to talk back. The endpoints create exchanges for every
// revision and transport; the code below them only knows these two types.
import type { Channel, Question, QuestionContext } from "@trunkline/client";
import type { Ending, ToolProgress } from "@trunkline/core";
import type { Era } from "@trunkline/protocol";

/** The principal of an HTTP endpoint's own token, which only the user can read. */
export const DEFAULT_PRINCIPAL = "default";

/** What is known about a client. */
export interface Caller {
  /**
   * Unique among the clients of this process. Identifies the current session and the state to release when the client
   * disconnects.
   */
  readonly id: string;
  /**
   * Whose client this is: `local` for stdio and the terminal, the name of the token over HTTP. Everything that outlives
   * a request (stored results, sessions, idempotency keys, tasks, limits) belongs to the principal, never to `name`.
   */
  readonly principal: string;
  /**
   * Name and version as reported by the client. A client can claim any name: for the journal, and for how tools are
   * listed, never for what a client may do.
   */
  readonly name: string;
  readonly era: Era;
  readonly revision: string;
  readonly endpoint: "stdio" | "http";
  /** Whether the connection outlives the request (stdio, legacy sessions). Otherwise there is no current session. */
  readonly lasting: boolean;
  /** The person at the terminal, whose own commands are not confined to the allowed folders. Never true for a client. */
  readonly trusted?: boolean;
  /** The client's capabilities, as in the protocol. */
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export interface Exchange {
  readonly caller: Caller;
  /** Receives the requests, log messages and progress of upstream servers. Has the client's capabilities. */
  readonly channel: Channel;
  /** Aborted when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** The same as `signal`, at less cost; absent if there is only the signal. */
  readonly ending?: Ending;
  /** `_meta` of the request, without the protocol's own fields. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** A person reads the answer, not a model; see `readerOf`. */
  readonly isForPerson?: boolean;
  /** Reports progress to the client; absent if it did not ask for progress. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** A question on its way to a client. */
export interface AskedClient {
  /** Whose call caused it. */
  readonly caller: Pick<Caller, "name">;
  readonly question: Question;
  readonly context: QuestionContext;
}

/**
 * Takes part in questions to clients: it sees each of them, and may answer in the client's place. `askClient` asks the
 * client, until its signal is aborted.
 */
export type AskThrough = (
  asked: AskedClient,
  askClient: (signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>,
) => Promise<Readonly<Record<string, unknown>>>;

/** Lets `through` take part in the questions of an exchange. */
export function withAskThrough(exchange: Exchange, through: AskThrough): Exchange {
  const { channel, caller } = exchange;
  const shared = channelThrough(channel, caller, through);
  return shared === channel ? exchange : new SharedExchange(exchange, shared);
}

/** An exchange with another channel. Not a copy: an exchange may create its signal only when it is asked for. */
class SharedExchange implements Exchange {
  readonly caller: Caller;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly onProgress: Exchange["onProgress"];
  readonly isForPerson: boolean | undefined;
  readonly channel: Channel;
  readonly #given: Exchange;

  constructor(given: Exchange, channel: Channel) {
    this.caller = given.caller;
    this.meta = given.meta;
    this.onProgress = given.onProgress;
    this.isForPerson = given.isForPerson;
    this.channel = channel;
    this.#given = given;
  }

  get signal(): AbortSignal {
    return this.#given.signal;
  }

  get ending(): Ending | undefined {
    return this.#given.ending;
  }
}

/** Lets `through` take part in the questions to a channel. */
export function channelThrough<C extends Channel>(channel: C, caller: Pick<Caller, "name">, through: AskThrough): C {
  if (channel.ask === undefined) return channel;
  const ask: NonNullable<Channel["ask"]> = (question, context) =>
    through({ caller, question, context }, async (signal) => {
      const answer = await channel.ask?.(question, { ...context, signal });
      return answer ?? {};
    });
  const party = channel.party ?? channel;
  // The channel can be of any class, with state of its own, so it is neither copied nor inherited from.
  return new Proxy(channel, {
    get: (target, key) => {
      if (key === "ask") return ask;
      if (key === "party") return party;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
