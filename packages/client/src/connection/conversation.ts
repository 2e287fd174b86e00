// What goes back and forth on one connection: our requests, and what the server asks while they are under way. Every
// question goes to the channel whose call caused it; where that cannot be known, it is declined, never guessed.
import { setMaxListeners } from "node:events";
import { CLIENT_CAPABILITIES_META_KEY, isInputRequiredResult, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { abortError, type Logger, sleep, startDeadline, type ToolCallOptions, TrunklineError } from "@trunkline/core";
import { z } from "zod";
import {
  abilitiesOf,
  type Channel,
  currentChannel,
  type QuestionContext,
  type Root,
  type ServerLog,
} from "../channel/channel.js";
import { type AskPolicy, type Call, currentCall, InFlightTable, runInCall } from "../channel/in-flight.js";
import { answerQuestion, declinedAnswer, type Question } from "../channel/questions.js";
import { requireMethod, revisionsDefining } from "../revisions.js";
import type { Generation } from "./generation.js";

/** How questions are handled. */
export interface ConversationOptions {
  server: string;
  logger: Logger;
  /** Makes the calls that nobody in particular makes, and is asked what is asked outside any call. */
  defaultChannel: Channel | undefined;
  policy: AskPolicy;
  /** False: the server never asks, so that its calls need not wait for one another. */
  asks: boolean;
  callTimeoutMs: number;
  /** More questions than this during one call are a server that asks for ever. */
  maxQuestions: number;
  /** What there is for channels that have no roots of their own. */
  roots: () => readonly Root[] | undefined;
  /** The level from which servers are to send log messages to channels that take them. */
  logLevel: string | undefined;
}

/** A request and what it needs beside its parameters. */
export interface OutgoingRequest {
  method: string;
  params: Record<string, unknown>;
  /** Headers of this request alone, where the transport has headers. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The requests during which a server may ask something back. */
const ASKING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** The longest time a timer knows: the time of a call is kept by its deadline, which stands still during a question. */
const NEVER_MS = 2_147_483_647;

/** A server that sends only its state back wants to be asked again, but not at once. */
const STATE_ONLY_PAUSE_MS = 250;

/** Results pass through as they are: the typed calls of the SDK would strip what they do not know. */
const untouched = z.looseObject({});

/** The conversation with one server, through all generations of its connection. */
export class Conversation {
  readonly #table = new InFlightTable();
  readonly #options: ConversationOptions;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Sends a request, answers what the server asks during it, and returns the result as the server sent it. */
  async send(
    generation: Generation,
    request: OutgoingRequest,
    options: ToolCallOptions,
  ): Promise<Record<string, unknown>> {
    const { signal, timeoutMs = this.#options.callTimeoutMs } = options;
    const what = this.describe(request.method);
    if (signal?.aborted) throw abortError(signal, what);
    checkRevision(generation, request.method);
    // One signal may well stop a hundred calls: that is no leak to warn of.
    if (signal !== undefined) setMaxListeners(0, signal);
    const channel = currentChannel() ?? this.#options.defaultChannel;
    const asking = ASKING_METHODS.has(request.method);
    using _turn = asking && this.#takesTurns(generation) ? await this.#turn(channel, signal, what) : undefined;
    using deadline = startDeadline({
      what,
      timeoutMs,
      signal,
      hint: '"callTimeout" in the server\'s entry allows more seconds.',
    });
    const tool = request.method === "tools/call" ? String(request.params.name) : undefined;
    const call: Call = { channel, tool, deadline, questions: 0 };
    using _listed = asking ? this.#table.add(call) : undefined;
    try {
      return await this.#rounds(generation, request, { call, onProgress: options.onProgress });
    } catch (error) {
      // The SDK has one code for a timeout and for an abort; the deadline knows which it was.
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    }
  }

  /** A request of the server's own: the legacy way of asking. */
  async answer(question: Question, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { server, logger, defaultChannel } = this.#options;
    // Over HTTP the question comes on the stream of the call's own answer; elsewhere only the table can tell.
    const owner = currentCall() ?? this.#table.owner();
    if (owner === "several") {
      logger.warn("a question came while several channels had calls under way; it was declined", {
        server,
        method: question.method,
      });
      return declinedAnswer(question.method);
    }
    if (owner !== "none") return await this.#ask(owner, question, signal);
    return await this.#put(question, defaultChannel, { server, signal });
  }

  /** A log message goes where the call came from; one outside any call to the default channel. */
  log(message: Omit<ServerLog, "server">): void {
    const owner = currentCall() ?? this.#table.owner();
    const channel = typeof owner === "string" ? this.#options.defaultChannel : owner.channel;
    channel?.log?.({ server: this.#options.server, ...message });
  }

  /** How a request is called in messages. */
  describe(method: string): string {
    return `${method} on "${this.#options.server}"`;
  }

  /** The modern way of asking: the answer is a list of questions, and the request is repeated with the answers. */
  async #rounds(
    generation: Generation,
    request: OutgoingRequest,
    { call, onProgress }: { call: Call; onProgress: ToolCallOptions["onProgress"] },
  ): Promise<Record<string, unknown>> {
    const { deadline, channel, tool } = call;
    const { server } = this.#options;
    let params = this.#withMeta(generation, request.params, channel);
    for (;;) {
      const result = await runInCall(call, () =>
        generation.client.request({ method: request.method, params }, untouched, {
          signal: deadline.signal,
          timeout: NEVER_MS,
          allowInputRequired: true,
          ...(request.headers === undefined ? {} : { headers: { ...request.headers } }),
          // A progress token is sent only where a handler is set, and without one a server has no way to ask for more time.
          onprogress: (progress) => {
            deadline.extend();
            onProgress?.(progress);
            channel?.progress?.({ server, ...(tool === undefined ? {} : { tool }), ...progress });
          },
        }),
      );
      if (!isInputRequiredResult(result)) return result;
      const { inputRequests = {}, requestState } = result;
      const questions = Object.entries(inputRequests);
      if (questions.length === 0) {
        this.#countQuestion(call);
        await sleep(STATE_ONLY_PAUSE_MS, deadline.signal);
      }
      const answers = await Promise.all(
        questions.map(async ([key, question]) => [key, await this.#ask(call, question, deadline.signal)] as const),
      );
      deadline.signal.throwIfAborted();
      params = {
        ...this.#withMeta(generation, request.params, channel),
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState }),
      };
    }
  }

  /** Puts a question to the channel of a call. The call's own time stands still meanwhile. */
  async #ask(call: Call, question: Question, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { server } = this.#options;
    this.#countQuestion(call);
    call.deadline.pause();
    try {
      const context = { server, signal, ...(call.tool === undefined ? {} : { tool: call.tool }) };
      return await this.#put(question, call.channel, context);
    } finally {
      call.deadline.resume();
    }
  }

  async #put(
    question: Question,
    channel: Channel | undefined,
    context: QuestionContext,
  ): Promise<Record<string, unknown>> {
    const roots = question.method === "roots/list" && channel?.roots === undefined ? this.#options.roots() : undefined;
    if (roots !== undefined) return { roots };
    if (channel === undefined) return declinedAnswer(question.method);
    return await answerQuestion(channel, question, { ...context, logger: this.#options.logger });
  }

  #countQuestion(call: Call): void {
    const { server, maxQuestions } = this.#options;
    call.questions++;
    if (call.questions <= maxQuestions) return;
    const error = new TrunklineError(
      "PROTOCOL",
      `Server "${server}" asked more than ${maxQuestions} times during one call.`,
      {
        hint: "The call was ended: a server that never stops asking would hold it for ever.",
      },
    );
    call.deadline.fail(error);
    throw error;
  }

  /** Only a legacy server on one shared channel cannot say whom it asks. */
  #takesTurns(generation: Generation): boolean {
    const { policy, asks } = this.#options;
    return policy === "serialize" && asks && !generation.hasOwnStreams && generation.era === "legacy";
  }

  async #turn(channel: Channel | undefined, signal: AbortSignal | undefined, what: string): Promise<Disposable> {
    try {
      return await this.#table.turn(channel, signal ?? new AbortController().signal);
    } catch (error) {
      throw signal?.aborted ? abortError(signal, what) : error;
    }
  }

  /** A modern server learns with each request what this caller, and no other, can answer. */
  #withMeta(
    generation: Generation,
    params: Record<string, unknown>,
    channel: Channel | undefined,
  ): Record<string, unknown> {
    if (generation.era !== "modern") return params;
    const { logLevel } = this.#options;
    const own = typeof params._meta === "object" ? params._meta : {};
    return {
      ...params,
      _meta: {
        [CLIENT_CAPABILITIES_META_KEY]: {
          ...(this.#options.roots() === undefined ? {} : { roots: {} }),
          ...abilitiesOf(channel),
        },
        ...(channel?.log === undefined || logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
        ...own,
      },
    };
  }
}

function checkRevision(generation: Generation, method: string): void {
  const { revision } = generation;
  // What no revision knows is the method of an extension, and the server's business.
  if (revision === undefined || revisionsDefining(method).length === 0) return;
  requireMethod(revision, method, "client-to-server");
}
