// The exchange on one connection: our requests, and the server's questions during them. Every question goes to the
// channel whose call caused it. If that channel is unknown, the question is declined, never routed by guessing.
import { setMaxListeners } from "node:events";
import { isInputRequiredResult, ProtocolError } from "@modelcontextprotocol/client";
import {
  abortError,
  isRecord,
  type Logger,
  messageOf,
  sleep,
  startDeadline,
  type ToolCallOptions,
  type ToolProgress,
  TrunklineError,
} from "@trunkline/core";
import { z } from "zod";
import { Answering } from "../channel/answering.js";
import { type Channel, currentChannel, type Question } from "../channel/channel.js";
import { type Call, currentCall, InFlightTable, runInCall } from "../channel/in-flight.js";
import { vetElicitation } from "../channel/vetted-elicitation.js";
import { callTimeoutOf, type ServerDefinition } from "../config/loaded-config.js";
import { claimLarge, wholeResult } from "../results/large-messages.js";
import type { AskingOptions } from "./connection-options.js";
import type { Generation } from "./generation.js";
import { Notices, noticeKeyOf, progressKey } from "./notices.js";
import { checkRevision, type OutgoingRequest, paramsFor } from "./outgoing.js";
import { PROGRESS_TOKEN_PREFIX, restoreItems, STREAM_ENDED_CODE } from "./raw-answers.js";
import { createdTask, followTask, relatedTaskOf, statusText, type TaskState } from "./task-calls.js";
import { UrlVisits, visitIdsIn } from "./url-visits.js";

interface ConversationOptions extends AskingOptions {
  definition: ServerDefinition;
  logger: Logger;
}

export interface RequestOptions extends ToolCallOptions {
  /** The calling channel. Default: the channel in scope. */
  channel?: Channel | undefined;
}

/** A call and the receiver of its progress. */
interface Round {
  readonly call: Call;
  readonly onProgress: (progress: ToolProgress) => void;
}

/** Requests during which a server may ask questions. */
const ASKING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** The longest possible timer: the call's own deadline enforces its timeout, because it can pause during a question. */
const NEVER_MS = 2_147_483_647;

/** If more pages than this are being visited, the first ones are forgotten. */
const MOST_VISITS = 100;

/** A server that returns only its state wants to be asked again, but not immediately. */
const STATE_ONLY_PAUSE_MS = 250;

/** How long a server may take to acknowledge that a task is no longer wanted. */
const CANCEL_TIMEOUT_MS = 2_000;

/** Requests whose callers can deal with a result whose large fields are elsewhere. */
const MAY_BE_LARGE: ReadonlySet<string> = new Set([
  ...ASKING_METHODS,
  "tasks/result",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
]);

/** Results pass through unchanged: the SDK's typed calls would strip unknown fields. */
const untouched = z.looseObject({});

/** The exchange with one server, across all generations of its connection. */
export class Conversation {
  readonly #table = new InFlightTable();
  readonly #options: ConversationOptions;
  readonly #server: string;
  readonly #answering: Answering;
  readonly #notices = new Notices();
  /** Calls that became tasks, by task id. */
  readonly #tasks = new Map<string, Call>();
  /** Who was asked to visit a page, by the id of the question. */
  readonly #visitors = new Map<string, Channel>();
  #lastToken = 0;
  /** Whether the server has asked for a person or a model during a call. From then on, channels take turns. */
  #hasAsked = false;
  /** The level set for this server only. */
  #logLevel: string | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#server = options.definition.name;
    this.#answering = new Answering({ ...options, server: this.#server });
  }

  get logLevel(): string | undefined {
    return this.#logLevel ?? this.#options.logLevel;
  }

  /** Sets the level for this server. A modern server gets it with each call; a legacy one needs a request. */
  setLogLevel(level: string): void {
    this.#logLevel = level;
  }

  /** Sends a request, answers the server's questions during it, and returns the result as the server sent it. */
  async send(
    generation: Generation,
    request: OutgoingRequest,
    options: RequestOptions,
  ): Promise<Record<string, unknown>> {
    const { signal } = options;
    const timeoutMs = callTimeoutOf(this.#options.definition, options.timeoutMs);
    const what = this.describe(request.method);
    if (signal?.aborted) throw abortError(signal, what);
    checkRevision(generation, request.method);
    // One signal can stop a hundred calls, so many listeners are not a leak.
    if (signal !== undefined) setMaxListeners(0, signal);
    const channel = options.channel ?? currentChannel() ?? this.#options.channel;
    const asking = ASKING_METHODS.has(request.method);
    using _turn = asking && this.#mayTakeTurns(generation) ? await this.#turn(channel, signal, what) : undefined;
    using deadline = startDeadline({
      what,
      timeoutMs,
      signal,
      hint: 'Raise "callTimeout" in the server\'s entry to allow more seconds.',
    });
    const tool = request.method === "tools/call" ? String(request.params.name) : undefined;
    const call: Call = { channel, tool, deadline, questions: 0, open: new Set() };
    using _listed = asking ? this.#table.add(call) : undefined;
    const onProgress = (progress: ToolProgress) => {
      deadline.extend();
      options.onProgress?.(progress);
      channel?.progress?.({ server: this.#server, ...(tool === undefined ? {} : { tool }), ...progress });
    };
    try {
      return await this.#rounds(generation, request, { call, onProgress });
    } catch (error) {
      // The SDK has one code for timeout and abort; the deadline knows which it was.
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    }
  }

  /** Answers a request from the server: the legacy way of asking. */
  async answer(question: Question, signal: AbortSignal): Promise<Record<string, unknown>> {
    // A task's question names its task. Over HTTP a call's question arrives on the call's own stream; elsewhere only
    // the table can tell.
    if (question.method !== "roots/list") this.#hasAsked = true;
    const owner = this.#tasks.get(relatedTaskOf(question) ?? "") ?? currentCall() ?? this.#table.owner();
    if (owner === "several") {
      this.#options.logger.warn("declined a question that arrived while several channels had calls in flight", {
        server: this.#server,
        method: question.method,
      });
      return this.#answering.decline(question.method);
    }
    this.#expectVisit(question.params?.elicitationId, owner === "none" ? this.#options.channel : owner.channel);
    return owner === "none"
      ? await this.#answering.askOutside(this.#options.channel, question, signal)
      : await this.#answering.ask(owner, question, signal);
  }

  /** Remembers whom to tell when the visit of a page is complete. */
  #expectVisit(elicitationId: unknown, channel: Channel | undefined): void {
    if (typeof elicitationId !== "string" || channel?.visited === undefined) return;
    this.#visitors.delete(elicitationId);
    this.#visitors.set(elicitationId, channel);
    const [oldest] = this.#visitors.keys();
    if (oldest !== undefined && this.#visitors.size > MOST_VISITS) this.#visitors.delete(oldest);
  }

  #visited(elicitationId: unknown): void {
    if (typeof elicitationId !== "string") return;
    this.#visitors.get(elicitationId)?.visited?.({ server: this.#server, elicitationId });
    this.#visitors.delete(elicitationId);
  }

  /** Passes a notification to the call that waits for it, and a log message to the call's channel. */
  notice(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === "notifications/message") this.#log(params);
    if (method === "notifications/elicitation/complete") this.#visited(params.elicitationId);
    const key = noticeKeyOf(method, params);
    if (key !== undefined) this.#notices.tell(key, params);
  }

  /** How messages refer to a request. */
  describe(method: string): string {
    return `${method} on "${this.#server}"`;
  }

  /** Log messages outside any call go to the default channel. */
  #log({ level, logger, data }: Readonly<Record<string, unknown>>): void {
    const owner = currentCall() ?? this.#table.owner();
    const channel = typeof owner === "string" ? this.#options.channel : owner.channel;
    const source = typeof logger === "string" ? { logger } : {};
    channel?.log?.({ server: this.#server, level: String(level), data, ...source });
  }

  /**
   * Handles the modern way of asking: the server answers with a list of questions, and the request is repeated with the
   * answers. Also follows a task returned instead of a result to its end, and shows the caller pages that must be
   * visited first.
   */
  async #rounds(generation: Generation, request: OutgoingRequest, round: Round): Promise<Record<string, unknown>> {
    const { call } = round;
    const { deadline } = call;
    const visits = new UrlVisits({
      what: this.describe(request.method),
      deadline,
      notices: this.#notices,
      vetted: (page) => {
        const vetted = vetElicitation({ ...page, mode: "url" }, this.#server);
        return "params" in vetted ? vetted.params : {};
      },
      ask: (question) => this.#answering.ask(call, question, deadline.signal),
    });
    // Our own token: the SDK would lose progress that arrives together with the answer, or after it.
    using token = this.#progressToken(round);
    let answered: Record<string, unknown> = {};
    for (;;) {
      const params = {
        ...this.#params(generation, request, { channel: call.channel, progressToken: token.value }),
        ...answered,
      };
      let result: Record<string, unknown>;
      try {
        result = await this.#exchange(generation, { ...request, params }, round);
      } catch (error) {
        for (const id of visitIdsIn(error)) this.#expectVisit(id, call.channel);
        if (await visits.settle(error)) continue;
        throw error;
      }
      const task = request.method === "tools/call" ? createdTask(result) : undefined;
      if (task !== undefined) return await this.#follow(generation, task, round);
      if (!isInputRequiredResult(result)) return result;
      const { inputRequests = {}, requestState } = result;
      const questions = Object.entries(inputRequests);
      if (questions.length === 0) {
        this.#answering.count(call);
        await sleep(STATE_ONLY_PAUSE_MS, deadline.signal);
      }
      const answers = await Promise.all(
        questions.map(
          async ([key, question]) => [key, await this.#answering.ask(call, question, deadline.signal, key)] as const,
        ),
      );
      deadline.signal.throwIfAborted();
      answered = {
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState }),
      };
    }
  }

  async #exchange(generation: Generation, request: OutgoingRequest, round: Round): Promise<Record<string, unknown>> {
    const { method, params, headers } = request;
    const { call, onProgress } = round;
    const hasOwnToken = isRecord(params._meta) && params._meta.progressToken !== undefined;
    try {
      const send = () =>
        generation.client.request({ method, params }, untouched, {
          signal: call.deadline.signal,
          timeout: NEVER_MS,
          allowInputRequired: true,
          ...(headers === undefined ? {} : { headers: { ...headers } }),
          // A progress token is sent only if a handler is set, and without one a server cannot ask for more time.
          ...(hasOwnToken ? {} : { onprogress: onProgress }),
        });
      // On a pipe the scope carries no information, and maintaining one slows down every promise in the process.
      const received = restoreItems(await (generation.hasOwnStreams ? runInCall(call, send) : send()));
      const result = claimLarge(received);
      return MAY_BE_LARGE.has(method) ? result : await wholeResult(result);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== STREAM_ENDED_CODE) throw error;
      throw new TrunklineError(
        "SERVER_EXITED",
        `${this.describe(method)} failed: the stream ended without an answer.`,
        {
          hint: "It may or may not have taken effect.",
        },
      );
    }
  }

  async #follow(generation: Generation, task: TaskState, round: Round): Promise<Record<string, unknown>> {
    const { call, onProgress } = round;
    const { signal } = call.deadline;
    const { taskId } = task;
    let said: string | undefined;
    let changes = 0;
    this.#tasks.set(taskId, call);
    try {
      return await followTask(task, {
        era: generation.era,
        what: this.describe("tools/call"),
        signal,
        notices: this.#notices,
        request: (method, params) =>
          this.#exchange(generation, { method, params: this.#params(generation, { method, params }, call) }, round),
        cancel: () => this.#cancelTask(generation, taskId),
        ask: (question, key) => this.#answering.ask(call, question, signal, key),
        onStatus: (current) => {
          // A task can take a long time: the call stays alive as long as its server keeps reporting on it.
          call.deadline.extend();
          const text = statusText(current);
          if (text === said) return;
          said = text;
          onProgress({ progress: changes++, message: text });
        },
      });
    } finally {
      this.#tasks.delete(taskId);
    }
  }

  /** Tells the server that a task is no longer wanted. Has its own timeout, because the call's has passed. */
  async #cancelTask(generation: Generation, taskId: string): Promise<void> {
    const { era, client } = generation;
    const { tasks } = client.getServerCapabilities() ?? {};
    if (generation.closed || (era === "legacy" && tasks?.cancel === undefined)) return;
    const request = { method: "tasks/cancel", params: { taskId } };
    await client
      .request({ ...request, params: this.#params(generation, request, {}) }, untouched, { timeout: CANCEL_TIMEOUT_MS })
      .catch((error: unknown) =>
        this.#options.logger.debug("a task was not cancelled", {
          server: this.#server,
          error: messageOf(error),
        }),
      );
  }

  /** Creates a progress token. Its listener outlives the answer, because a task continues after it. */
  #progressToken({ onProgress }: Round): Disposable & { value: string } {
    const value = `${PROGRESS_TOKEN_PREFIX}${++this.#lastToken}`;
    const listening = this.#notices.listen(progressKey(value), ({ progress, total, message }) => {
      if (typeof progress !== "number") return;
      onProgress({
        progress,
        ...(typeof total === "number" ? { total } : {}),
        ...(typeof message === "string" ? { message } : {}),
      });
    });
    return { value, [Symbol.dispose]: () => listening[Symbol.dispose]() };
  }

  /**
   * Whether calls may have to take turns: a legacy server without a stream per request cannot say which call its
   * question belongs to.
   */
  #mayTakeTurns(generation: Generation): boolean {
    const { policy, definition } = this.#options;
    return (
      policy === "serialize" && definition.asks !== false && !generation.hasOwnStreams && generation.era === "legacy"
    );
  }

  async #turn(channel: Channel | undefined, signal: AbortSignal | undefined, what: string): Promise<Disposable> {
    const { definition, waitMs } = this.#options;
    try {
      return await this.#table.turn(channel, {
        signal: signal ?? new AbortController().signal,
        waits: this.#hasAsked || definition.asks === true,
        waitMs,
        onBusy: (question) =>
          new TrunklineError("BUSY", `Server "${this.#server}" waits for another client's answer to "${question}".`, {
            hint: "Try again when that question is answered. With `--ask-policy isolate`, each client gets its own process of the server.",
          }),
      });
    } catch (error) {
      throw signal?.aborted ? abortError(signal, what) : error;
    }
  }

  #params(
    generation: Generation,
    request: OutgoingRequest,
    { channel, progressToken }: { channel?: Channel | undefined; progressToken?: string | undefined },
  ): Record<string, unknown> {
    const wantsLogs = channel?.log !== undefined || this.#logLevel !== undefined;
    return paramsFor(generation, request, {
      channel,
      progressToken,
      logLevel: wantsLogs ? (channel?.logLevel ?? this.logLevel) : undefined,
      hasRoots: this.#options.roots() !== undefined,
    });
  }
}
