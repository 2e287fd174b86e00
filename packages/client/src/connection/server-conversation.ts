// The exchange on one connection: our requests, and the server's questions during them. Every question goes to the
// channel whose call caused it. If that channel is unknown, the question is declined, never routed by guessing.

import { callTimeoutOf, type ServerDefinition } from "@trunkline/config";
import {
  abortError,
  isRecord,
  type Logger,
  messageOf,
  printable,
  signalOf,
  sleep,
  startDeadline,
  type ToolCallOptions,
  type ToolProgress,
  TrunklineError,
} from "@trunkline/core";
import { Answering } from "../channel/answering.js";
import { type Channel, currentChannel, type Question } from "../channel/channel.js";
import { type AskPolicy, type Call, InFlightTable } from "../channel/in-flight.js";
import type { Leaseholder } from "../channel/leaseholder.js";
import { vetElicitation } from "../channel/vetted-elicitation.js";
import { largeOf, wholeResult } from "../results/large-messages.js";
import type { ConnectionOptions } from "./connection-options.js";
import type { Generation } from "./generation.js";
import { Notices, noticeKeyOf } from "./notices.js";
import { checkRevision, type OutgoingRequest, paramsFor } from "./outgoing.js";
import { createdTask, followTask, relatedTaskOf, statusText, type TaskState } from "./task-calls.js";
import { UrlVisits, visitIdsIn } from "./url-visits.js";

interface ConversationOptions {
  readonly definition: ServerDefinition;
  readonly policy: AskPolicy;
  readonly logger: Logger;
  readonly holders: ConnectionOptions["holders"];
  readonly onRootsAsked: ConnectionOptions["onRootsAsked"];
}

export interface RequestOptions extends ToolCallOptions {
  /** The calling channel. Default: the channel in scope. */
  channel?: Channel;
}

/** What the parameters of a request depend on. */
interface ParamsContext {
  readonly holder: Leaseholder;
  readonly channel?: Channel;
  readonly progressToken?: string;
}

/** A call, and what it needs to receive progress. */
interface Round {
  readonly call: Call;
  readonly token: string;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** Requests during which a server may ask questions. */
const ASKING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

const TIMEOUT_HINT = 'Allow more time: the timeout of the call, or "callTimeout" in the server\'s entry.';

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
  readonly #visitors = new Map<string, { readonly holder: Leaseholder; readonly channel: Channel }>();
  /** Who receives progress, by token. A token outlives the answer, because a task continues after it. */
  readonly #progress = new Map<string, Round>();
  #lastToken = 0;
  /** Whether the server has asked for a person or a model during a call. From then on, channels take turns. */
  #hasAsked = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#server = options.definition.name;
    this.#answering = new Answering(this.#server);
  }

  /**
   * Sends a request, answers the server's questions during it, and returns the result as the server sent it. The holder
   * is a parameter of its own because copying the options would cost every call something.
   */
  async send(
    generation: Generation,
    request: OutgoingRequest,
    options: RequestOptions,
    holder: Leaseholder,
  ): Promise<Record<string, unknown>> {
    const { signal, ending } = options;
    const { method } = request;
    const timeoutMs = callTimeoutOf(this.#options.definition, options.timeoutMs);
    const what = this.describe(method);
    if (signal?.aborted) throw abortError(signal, what);
    if (ending?.hasPassed) throw abortError(ending, what);
    checkRevision(generation, method);
    const channel = options.channel ?? currentChannel() ?? holder.channel;
    const turn = channel ?? holder.noChannel;
    const asking = ASKING_METHODS.has(method);
    const takesTurns = asking && this.#mayTakeTurns(generation);
    if (takesTurns) {
      if (this.#hasAsked || this.#options.definition.asks === true)
        await this.#takeTurn(turn, { holder, signal: signalOf(options) }, what);
      else this.#table.begin(turn);
    }
    const deadline = startDeadline({ what, timeoutMs, signal, ending, hint: TIMEOUT_HINT });
    const tool = method === "tools/call" ? String(request.params.name) : undefined;
    const call: Call = { holder, channel, tool, deadline, questions: 0, open: new Set() };
    const token = `trunkline-${++this.#lastToken}`;
    const round: Round = { call, token, onProgress: options.onProgress };
    if (asking) this.#table.add(call);
    this.#progress.set(token, round);
    try {
      return await this.#rounds(generation, request, round);
    } catch (error) {
      // What ended the call says more than how the request failed.
      throw deadline.hasPassed ? deadline.reason : error;
    } finally {
      this.#progress.delete(token);
      if (asking) this.#table.remove(call);
      deadline[Symbol.dispose]();
      if (takesTurns) this.#table.end(turn);
    }
  }

  /** Answers a request from the server: the legacy way of asking. */
  async answer(
    question: Question,
    { call, signal }: { call: Call | undefined; signal: AbortSignal },
  ): Promise<Record<string, unknown>> {
    // A task's question names its task. Over HTTP a call's question arrives on the call's own stream; elsewhere only
    // the table can tell.
    const isRoots = question.method === "roots/list";
    if (!isRoots) this.#hasAsked = true;
    else if (!this.#options.onRootsAsked(this.#table.holders())) return this.#answering.notAsked(question.method);
    const owner = this.#tasks.get(relatedTaskOf(question) ?? "") ?? call;
    if (owner !== undefined) {
      this.#expectVisit(question.params?.elicitationId, owner);
      return await this.#answering.ask(owner, question, signal);
    }
    const owners = this.#table.owners();
    const last = owners === "several" ? undefined : owners.at(-1);
    if (owners === "several" || last === undefined)
      return await this.#answerOutside(question, owners === "several" ? owners : "none", signal);
    this.#expectVisit(question.params?.elicitationId, last);
    return await this.#answering.askFor(() => this.#table.remaining(owners), question, signal);
  }

  /** Answers a question that belongs to no call, or to one of several. */
  async #answerOutside(
    question: Question,
    owner: "none" | "several",
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const [holder, ...others] = this.#options.holders();
    const { method } = question;
    // The holders' roots are the same, so it does not matter whose they are, unless a channel has its own.
    if (method === "roots/list" && holder !== undefined && (owner === "several" || others.length > 0)) {
      const isSure = !this.#table.some(({ channel }) => channel?.abilities?.roots !== undefined);
      if (isSure) return await this.#answering.askOutside({ holder, channel: undefined }, question, signal);
    }
    if (owner === "several" || holder === undefined || others.length > 0) {
      const message =
        owner === "several"
          ? "did not answer a question that arrived while several channels had calls in flight"
          : "did not answer a question that belongs to no call of the clients that share the server";
      this.#options.logger.warn(message, { server: this.#server, method });
      return this.#answering.notAsked(method);
    }
    const { channel } = holder;
    this.#expectVisit(question.params?.elicitationId, { holder, channel });
    return await this.#answering.askOutside({ holder, channel }, question, signal);
  }

  /** Remembers whom to tell when the visit of a page is complete. */
  #expectVisit(elicitationId: unknown, { holder, channel }: Pick<Call, "holder" | "channel">): void {
    if (typeof elicitationId !== "string" || channel?.visited === undefined) return;
    this.#visitors.delete(elicitationId);
    this.#visitors.set(elicitationId, { holder, channel });
    const [oldest] = this.#visitors.keys();
    if (oldest !== undefined && this.#visitors.size > MOST_VISITS) this.#visitors.delete(oldest);
  }

  #visited(elicitationId: unknown): void {
    if (typeof elicitationId !== "string") return;
    this.#visitors.get(elicitationId)?.channel.visited?.({ server: this.#server, elicitationId });
    this.#visitors.delete(elicitationId);
  }

  /**
   * Passes a notification to the call that waits for it, and a log message to the call's channel. `call` is the one on
   * whose own stream it arrived. Returns the holders that the notification concerns.
   */
  notice(method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined): readonly Leaseholder[] {
    if (method === "notifications/progress") {
      // It already goes to the holder that asked for it.
      this.#onProgress(params);
      return [];
    }
    const concerned = this.#concerned(method, params, call);
    if (method === "notifications/message") this.#log(params, call, concerned);
    if (method === "notifications/elicitation/complete") this.#visited(params.elicitationId);
    const key = noticeKeyOf(method, params);
    if (key !== undefined) this.#notices.tell(key, params);
    return concerned;
  }

  /**
   * Returns the holders that a notification concerns. Of several holders with calls in flight, the one it belongs to is
   * unknown, so none of them receives it.
   */
  #concerned(
    method: string,
    { elicitationId, taskId }: Readonly<Record<string, unknown>>,
    call: Call | undefined,
  ): readonly Leaseholder[] {
    const holders = this.#options.holders();
    if (call !== undefined) return holders.filter((holder) => holder === call.holder);
    if (holders.length < 2 || method === "notifications/resources/updated") return holders;
    const owner =
      (typeof elicitationId === "string" ? this.#visitors.get(elicitationId) : undefined) ??
      (typeof taskId === "string" ? this.#tasks.get(taskId) : undefined);
    if (owner !== undefined) return holders.filter((holder) => holder === owner.holder);
    if (elicitationId !== undefined || taskId !== undefined) return [];
    const busy = this.#table.holders();
    // Outside any call it may be about a call that has just ended, and quote what is one holder's own.
    if (busy.size === 0) return method === "notifications/message" ? [] : holders;
    return busy.size === 1 ? holders.filter((holder) => busy.has(holder)) : [];
  }

  /** Ends all calls of a holder that leaves. */
  drop(holder: Leaseholder, reason: unknown): void {
    for (const { call } of [...this.#progress.values()]) if (call.holder === holder) call.deadline.fail(reason);
    this.#table.drop(holder, reason);
    for (const [id, visitor] of this.#visitors) if (visitor.holder === holder) this.#visitors.delete(id);
  }

  /** How messages refer to a request. */
  describe(method: string): string {
    return `${method} on "${this.#server}"`;
  }

  /** Log messages outside any call go to the default channel. */
  #log(
    { level, logger, data }: Readonly<Record<string, unknown>>,
    call: Call | undefined,
    concerned: readonly Leaseholder[],
  ): void {
    const owners = call === undefined ? this.#table.owners() : [call];
    const owner = owners === "several" ? undefined : owners[0];
    const channels = owner === undefined ? concerned.map(({ channel }) => channel) : [owner.channel];
    const source = typeof logger === "string" ? { logger } : {};
    const message = { server: this.#server, level: String(level), data, ...source };
    for (const channel of channels) this.#tell(() => channel?.log?.(message));
  }

  /**
   * Handles the modern way of asking: the server answers with a list of questions, and the request is repeated with the
   * answers. Also follows a task returned instead of a result to its end, and shows the caller pages that must be
   * visited first.
   */
  async #rounds(generation: Generation, request: OutgoingRequest, round: Round): Promise<Record<string, unknown>> {
    const { call, token } = round;
    const { deadline } = call;
    let visits: UrlVisits | undefined;
    let answered: Record<string, unknown> = {};
    for (;;) {
      const params = {
        ...this.#params(generation, request, { holder: call.holder, channel: call.channel, progressToken: token }),
        ...answered,
      };
      let result: Record<string, unknown>;
      try {
        result = await this.#exchange(generation, { ...request, params }, round);
      } catch (error) {
        for (const id of visitIdsIn(error)) this.#expectVisit(id, call);
        visits ??= this.#visits(request.method, call);
        if (await visits.settle(error)) continue;
        throw error;
      }
      const task = request.method === "tools/call" ? createdTask(result) : undefined;
      if (task !== undefined) return await this.#follow(generation, task, round);
      if (result.resultType !== "input_required") return complete(result, request.method, generation);
      const { inputRequests, requestState } = result;
      const questions = Object.entries(isRecord(inputRequests) ? (inputRequests as Record<string, Question>) : {});
      if (questions.length === 0) {
        this.#answering.count(call);
        await sleep(STATE_ONLY_PAUSE_MS, deadline.signal);
      }
      // The answer goes to this call alone, whatever the roots of other holders are.
      if (questions.some(([, { method }]) => method === "roots/list"))
        this.#options.onRootsAsked(this.#table.holders());
      const answers = await Promise.all(
        questions.map(
          async ([key, question]) => [key, await this.#answering.ask(call, question, deadline.signal, key)] as const,
        ),
      );
      deadline.signal.throwIfAborted();
      answered = {
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        requestState,
      };
    }
  }

  /** The pages that a call may ask to visit first. */
  #visits(method: string, call: Call): UrlVisits {
    const { deadline } = call;
    return new UrlVisits({
      what: this.describe(method),
      deadline,
      notices: this.#notices,
      vetted: (page) => {
        const vetted = vetElicitation({ ...page, mode: "url" }, this.#server);
        return "params" in vetted ? vetted.params : {};
      },
      ask: (question) => this.#answering.ask(call, question, deadline.signal),
    });
  }

  /** Sends one request of a call and returns the result as the server sent it. */
  async #exchange(
    generation: Generation,
    { method, params, headers }: OutgoingRequest,
    { call }: Round,
  ): Promise<Record<string, unknown>> {
    const { deadline } = call;
    const result = await generation.session.request(method, params, { deadline, owner: call, headers });
    return largeOf(result) === undefined || MAY_BE_LARGE.has(method) ? result : await wholeResult(result);
  }

  async #follow(generation: Generation, task: TaskState, round: Round): Promise<Record<string, unknown>> {
    const { call } = round;
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
        request: async (method, params) => {
          const own = this.#params(generation, { method, params }, call);
          return complete(await this.#exchange(generation, { method, params: own }, round), method, generation);
        },
        cancel: () => this.#cancelTask(generation, taskId, call),
        ask: (question, key) => this.#answering.ask(call, question, signal, key),
        onStatus: (current) => {
          // A task can take a long time: the call stays alive as long as its server keeps reporting on it.
          call.deadline.extend();
          const text = statusText(current);
          if (text === said) return;
          said = text;
          this.#report(round, { progress: changes++, message: text });
        },
      });
    } finally {
      this.#tasks.delete(taskId);
    }
  }

  /** Tells the server that a task is no longer wanted. Has its own timeout, because the call's has passed. */
  async #cancelTask(generation: Generation, taskId: string, call: Call): Promise<void> {
    const { era, session, capabilities } = generation;
    const { tasks } = capabilities;
    const canCancel = era === "modern" || (isRecord(tasks) && tasks.cancel !== undefined);
    if (generation.closed || !canCancel) return;
    const request = { method: "tasks/cancel", params: { taskId } };
    using deadline = startDeadline({ what: this.describe(request.method), timeoutMs: CANCEL_TIMEOUT_MS });
    await session
      .request(request.method, this.#params(generation, request, { holder: call.holder }), { deadline })
      .catch((error: unknown) =>
        this.#options.logger.debug("a task was not cancelled", {
          server: this.#server,
          error: messageOf(error),
        }),
      );
  }

  #onProgress({ progressToken, progress, total, message }: Readonly<Record<string, unknown>>): void {
    const round = this.#progress.get(String(progressToken));
    if (round === undefined || typeof progress !== "number") return;
    this.#report(round, {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  }

  /** Reports progress to the caller. A call that makes progress gets more time. */
  #report({ call, onProgress }: Round, progress: ToolProgress): void {
    const { deadline, channel, tool } = call;
    deadline.extend();
    this.#tell(() => onProgress?.(progress));
    this.#tell(() => channel?.progress?.({ server: this.#server, tool, ...progress }));
  }

  /** A listener that throws must not stop the reading of messages, and so end the program. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error("a listener of a call failed", { server: this.#server, error: messageOf(error) });
    }
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

  async #takeTurn(
    turn: Channel,
    { holder, signal }: { holder: Leaseholder; signal: AbortSignal | undefined },
    what: string,
  ): Promise<void> {
    try {
      await this.#table.take(turn, {
        holder,
        signal,
        waitMs: holder.waitMs,
        onBusy: (question) =>
          new TrunklineError(
            "BUSY",
            `Server "${this.#server}" waits for another client's answer${question === undefined ? "" : ` to "${question}"`}.`,
            {
              hint: "Try again when that question is answered. With `--ask-policy isolate`, each client gets its own process of the server.",
            },
          ),
      });
    } catch (error) {
      throw signal?.aborted ? abortError(signal, what) : error;
    }
  }

  #params(
    generation: Generation,
    request: OutgoingRequest,
    { holder, channel, progressToken }: ParamsContext,
  ): Record<string, unknown> {
    const wantsLogs = channel?.log !== undefined || holder.ownLogLevel !== undefined;
    return paramsFor(generation, request, {
      channel,
      progressToken,
      logLevel: wantsLogs ? (channel?.logLevel ?? holder.ownLogLevel ?? holder.logLevel) : undefined,
      hasRoots: holder.roots() !== undefined,
    });
  }
}

/** Returns a result without the field that says what kind of result it is. */
function complete(
  result: Record<string, unknown>,
  method: string,
  { era }: Pick<Generation, "era">,
): Record<string, unknown> {
  const { resultType } = result;
  if (resultType === undefined && era === "legacy") return result;
  if (resultType !== "complete" && era === "modern") {
    const kind =
      typeof resultType === "string" ? `an unknown kind of result: ${printable(resultType)}` : "no resultType";
    throw new TrunklineError("PROTOCOL", `${method} failed: the server sent ${kind}.`);
  }
  const { resultType: _, ...rest } = result;
  return rest;
}
