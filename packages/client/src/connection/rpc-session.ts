// JSON-RPC on a wire: numbers our requests, matches the answers to them, answers the server's questions, and passes its
// notifications on. Checks envelopes only: whatever a result or a notification contains survives.
import { type Deadline, isRecord } from "@trunkline/core";
import {
  errorMessage,
  isDeeperThan,
  isQuestionMethod,
  isRpcId,
  MAX_MESSAGE_DEPTH,
  methodNotFound,
  notificationMessage,
  QUESTION_CAPABILITIES,
  REFUSED_CODES,
  RPC_CODES,
  RpcError,
  type RpcId,
  refusedAnswer,
  resultMessage,
} from "@trunkline/protocol";
import type { Abilities, Question } from "../channel/channel.js";
import type { Call } from "../channel/in-flight.js";
import { largeOf } from "../results/large-messages.js";
import {
  type SendOptions,
  type Wire,
  WireClosedError,
  type WireListener,
  type WireMessage,
} from "../wire/message-wire.js";
import { ProgressLimit } from "./progress-limit.js";
import { type Subscription, type SubscriptionFilter, Subscriptions } from "./subscriptions.js";

/** What a session asks and tells its owner. */
export interface SessionListener {
  /** Answers a question. `call` is the one on whose own stream it arrived; undefined on a shared stream. */
  onQuestion(
    question: Question,
    asked: { call: Call | undefined; signal: AbortSignal },
  ): Promise<Record<string, unknown>>;
  onNotification(method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined): void;
  /** Something failed that no request waits for. */
  onError(error: unknown): void;
  onStreamLost(): void;
  onClose(): void;
}

interface SessionRequestOptions extends SendOptions {
  /** Cancels the request when it passes. */
  readonly deadline?: Deadline;
}

/** A request that waits for its answer. */
interface Waiting {
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: Deadline | undefined;
  readonly onPassed: (() => void) | undefined;
}

/** What both sides have agreed on. */
interface Agreement {
  readonly revision: string;
  readonly isModern: boolean;
  /** What every message to a modern server says about us. */
  readonly envelope?: Readonly<Record<string, unknown>>;
}

const HANDSHAKE: ReadonlySet<string> = new Set(["initialize", "server/discover"]);
const NO_PARAMS: Readonly<Record<string, unknown>> = Object.freeze({});

export class RpcSession implements WireListener {
  readonly #wire: Wire;
  readonly #abilities: Abilities;
  readonly #listener: SessionListener;
  readonly #waiting = new Map<RpcId, Waiting>();
  /** The server's questions that are being answered. */
  readonly #asked = new Map<RpcId, AbortController>();
  readonly #progress = new ProgressLimit();
  readonly #subscriptions: Subscriptions;
  #lastId = 0;
  #agreement: Agreement | undefined;
  #isClosed = false;

  constructor(wire: Wire, abilities: Abilities, listener: SessionListener) {
    this.#wire = wire;
    this.#abilities = abilities;
    this.#listener = listener;
    this.#subscriptions = new Subscriptions({
      send: (id, filter) =>
        this.#wire.send({
          jsonrpc: "2.0",
          id,
          method: "subscriptions/listen",
          params: this.#enveloped({ notifications: filter }),
        }),
      cancel: (id) => this.#cancel(id, "closed"),
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts the wire. */
  async start(): Promise<void> {
    await this.#wire.start(this);
  }

  /** Sets what the handshake has agreed on. */
  agree(agreement: Agreement): void {
    this.#agreement = agreement;
    this.#wire.setRevision(agreement.revision);
  }

  /** Sends a request and returns the result as the server sent it. */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: SessionRequestOptions = {},
  ): Promise<Record<string, unknown>> {
    if (this.#isClosed) return Promise.reject(new WireClosedError());
    const { deadline } = options;
    if (deadline?.hasPassed) return Promise.reject(deadline.reason);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const onPassed =
        deadline === undefined
          ? undefined
          : () => {
              this.#waiting.delete(id);
              // The handshake cannot be cancelled, only given up.
              if (HANDSHAKE.has(method)) this.#wire.drop(id);
              else this.#cancel(id, String(deadline.reason));
              reject(deadline.reason);
            };
      if (onPassed !== undefined) deadline?.onPassed(onPassed);
      this.#waiting.set(id, { resolve, reject, deadline, onPassed });
      this.#wire.send({ jsonrpc: "2.0", id, method, params: this.#enveloped(params) }, options);
    });
  }

  /** Sends a notification. Resolves when the server has accepted it. */
  async notify(method: string, params: Readonly<Record<string, unknown>> = NO_PARAMS): Promise<void> {
    if (this.#isClosed) throw new WireClosedError();
    await this.#wire.post(notificationMessage(method, this.#enveloped(params)));
  }

  /** Opens a stream on which a modern server reports changes. */
  async subscribe(
    filter: SubscriptionFilter,
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<Subscription> {
    if (this.#isClosed) throw new WireClosedError();
    return await this.#subscriptions.open(filter, options);
  }

  onMessage(message: WireMessage, owner: object | undefined): void {
    const { id, method } = message;
    if (method === undefined) this.#onAnswer(message);
    else if (typeof method !== "string")
      this.#listener.onError(new Error("a message has a method that is not a string"));
    else if (method === "notifications/progress") this.#onProgress(message, owner as Call | undefined);
    else if (isDeeperThan(message, MAX_MESSAGE_DEPTH))
      this.#listener.onError(new Error(`${method} is nested too deeply`));
    else if (id === undefined) this.#onNotification(method, paramsOf(message), owner as Call | undefined);
    else if (isRpcId(id)) void this.#onQuestion(id, { method, params: paramsOf(message) }, owner as Call | undefined);
  }

  onFailure(id: RpcId, error: unknown): void {
    if (this.#subscriptions.has(id)) this.#subscriptions.end(id, error);
    else this.#take(id)?.reject(error);
  }

  onError(error: unknown): void {
    this.#listener.onError(error);
  }

  onStreamLost(): void {
    this.#listener.onStreamLost();
  }

  onClose(): void {
    this.#isClosed = true;
    this.#listener.onClose();
    const error = new WireClosedError();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error);
    for (const controller of this.#asked.values()) controller.abort(error);
    this.#subscriptions.endAll(error);
  }

  /** Removes a request from those that wait. */
  #take(id: unknown): Waiting | undefined {
    // Some servers return a numeric id as a string.
    const key = typeof id === "string" && !this.#waiting.has(id) ? Number(id) : (id as RpcId);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(key);
    if (waiting.onPassed !== undefined) waiting.deadline?.offPassed(waiting.onPassed);
    return waiting;
  }

  #onAnswer(message: WireMessage): void {
    const { id, result, error } = message;
    if (typeof id === "string" && this.#subscriptions.has(id)) {
      // An answer without an error says goodbye.
      this.#subscriptions.end(id, error === undefined ? new Error("the server ended the stream") : errorOf(error));
      return;
    }
    // An answer must not overtake its own progress.
    this.#progress.flush();
    const waiting = this.#take(id);
    if (waiting === undefined) {
      // No one waits for it any more.
      if (isRecord(result)) largeOf(result)?.release();
      return;
    }
    if (isDeeperThan(message, MAX_MESSAGE_DEPTH)) waiting.reject(tooDeep(id as RpcId));
    else if (error !== undefined) waiting.reject(errorOf(error));
    else if (isRecord(result)) waiting.resolve(result);
    else waiting.reject(new Error("its answer is not a protocol message."));
  }

  #onProgress(message: WireMessage, call: Call | undefined): void {
    const params = paramsOf(message);
    this.#progress.take(params.progressToken, () => {
      if (!isDeeperThan(params, MAX_MESSAGE_DEPTH))
        this.#listener.onNotification("notifications/progress", params, call);
    });
  }

  #onNotification(method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined): void {
    if (method === "notifications/subscriptions/acknowledged" && this.#subscriptions.acknowledge(params)) return;
    if (method === "notifications/cancelled") {
      const { requestId } = params;
      if (!isRpcId(requestId)) return;
      if (this.#subscriptions.has(requestId))
        this.#subscriptions.end(requestId, new Error("the server ended the stream"));
      else this.#asked.get(requestId)?.abort(params.reason);
      return;
    }
    this.#listener.onNotification(method, params, call);
  }

  async #onQuestion(id: RpcId, question: Question, call: Call | undefined): Promise<void> {
    const controller = new AbortController();
    this.#asked.set(id, controller);
    let answer: ReturnType<typeof resultMessage>;
    try {
      answer = resultMessage(id, await this.#answerTo(question, call, controller.signal));
    } catch (error) {
      answer = errorMessage(id, asRpcError(error));
    } finally {
      this.#asked.delete(id);
    }
    // Nobody waits for the answer to a cancelled question.
    if (controller.signal.aborted || this.#isClosed) return;
    await this.#wire.post(answer).catch((error: unknown) => this.#listener.onError(error));
  }

  async #answerTo(question: Question, call: Call | undefined, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { method, params = NO_PARAMS } = question;
    // Modern servers ask within a result.
    if (this.#agreement?.isModern) throw methodNotFound(method);
    if (method === "ping") return {};
    if (!isQuestionMethod(method) || this.#abilities[QUESTION_CAPABILITIES[method]] === undefined)
      throw methodNotFound(method);
    const problem = problemOf(method, params, this.#abilities);
    if (problem !== undefined) throw new RpcError(RPC_CODES.invalidParams, problem);
    return await this.#listener.onQuestion(question, { call, signal });
  }

  /** Tells the server that we no longer wait for a request. */
  #cancel(id: RpcId, reason: string): void {
    // Closing the stream is how a modern server over HTTP learns of it.
    if (!(this.#agreement?.isModern && this.#wire.hasOwnStreams) && !this.#isClosed) {
      this.notify("notifications/cancelled", { requestId: id, reason }).catch((error: unknown) =>
        this.#listener.onError(error),
      );
    }
    this.#wire.drop(id);
  }

  #enveloped(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const envelope = this.#agreement?.envelope;
    if (envelope === undefined) return params;
    return { ...params, _meta: isRecord(params._meta) ? { ...envelope, ...params._meta } : envelope };
  }
}

function paramsOf({ params }: WireMessage): Readonly<Record<string, unknown>> {
  return isRecord(params) ? params : NO_PARAMS;
}

/** The error that a server answered with. */
function errorOf(error: unknown): RpcError {
  const { code, message, data } = isRecord(error) ? error : {};
  return new RpcError(
    typeof code === "number" ? code : RPC_CODES.internalError,
    typeof message === "string" ? message : "the server gave no reason",
    data === undefined ? {} : { data },
  );
}

function tooDeep(id: RpcId): RpcError {
  const { error } = refusedAnswer(id, "tooDeep", 0);
  return new RpcError(REFUSED_CODES.tooDeep, (error as { message: string }).message);
}

/** How a question that could not be answered is reported to the server. */
function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  return new RpcError(RPC_CODES.internalError, error instanceof Error ? error.message : "Internal error");
}

/** Why a question cannot be answered as it is; undefined if it can. */
function problemOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  abilities: Abilities,
): string | undefined {
  if (method === "sampling/createMessage") {
    return Array.isArray(params.messages) ? undefined : 'Invalid sampling request: "messages" has to be an array.';
  }
  if (method !== "elicitation/create") return undefined;
  const { mode = "form" } = params;
  if (typeof params.message !== "string") return 'Invalid elicitation request: "message" has to be a string.';
  if (mode === "url") {
    if (abilities.elicitation?.url === undefined) return "The client does not support elicitation by URL.";
    return typeof params.url === "string" ? undefined : 'Invalid elicitation request: "url" has to be a string.';
  }
  if (mode !== "form") return "Invalid elicitation request: unknown mode.";
  if (abilities.elicitation?.form === undefined) return "The client does not support elicitation by form.";
  return isRecord(params.requestedSchema)
    ? undefined
    : 'Invalid elicitation request: "requestedSchema" has to be an object.';
}
