// The legacy era: one client with a handshake and a persistent connection, over stdio or as an HTTP session. The
// endpoint delivers messages and provides the outlet for each one's replies.
import { randomUUID } from "node:crypto";
import type { Channel } from "@trunkline/client";
import { Endable, type Ending, isRecord, type Logger, TrunklineError } from "@trunkline/core";
import {
  clientName,
  DEFAULT_LOG_LEVEL,
  errorMessage,
  foreignMeta,
  isAtLeast,
  isLogLevel,
  isRpcId,
  LATEST_LEGACY_REVISION,
  LIST_CHANGES,
  metaOf,
  methodNotFound,
  negotiateLegacy,
  notificationMessage,
  type OutgoingMessage,
  progressTokenOf,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcParams,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
} from "@trunkline/protocol";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import type { McpService } from "../interfaces/mcp-service.js";
import { ClientRequests, createExchangeChannel, progressReporter, readRoots } from "./exchange-channel.js";
import { LegacyTasks } from "./legacy-tasks.js";
import type { ProtocolLimits } from "./limits.js";
import type { Outlet } from "./request-context.js";
import { ResourceWatches } from "./resource-watches.js";
import { isUnforeseen, toRpcError } from "./rpc-failures.js";
import type { TaskTable } from "./task-table.js";

interface LegacyConnectionOptions {
  readonly service: McpService;
  readonly logger: Logger;
  readonly limits: ProtocolLimits;
  readonly tasks: TaskTable;
  /** The id of the caller. */
  readonly id: string;
  readonly principal: string;
  readonly endpoint: Caller["endpoint"];
  /** Where messages go that belong to no request: the connection, or the stream that the client keeps open for them. */
  readonly outlet: Outlet;
}

/** The requests that the connection answers itself, besides tasks. */
const PROTOCOL_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
]);

export class LegacyConnection {
  readonly #options: LegacyConnectionOptions;
  readonly #service: McpService;
  readonly #requests = new ClientRequests();
  readonly #inFlight = new Map<RpcId, RequestWay>();
  readonly #watches: ResourceWatches;
  readonly #tasks: LegacyTasks;
  #caller: Caller;
  #capabilities: RpcParams = {};
  #level = DEFAULT_LOG_LEVEL;
  #unlisten: (() => void) | undefined;
  #idle: (() => void)[] = [];
  #isClosing = false;
  #closing: Promise<void> | undefined;

  constructor(options: LegacyConnectionOptions) {
    const { service, id, principal, endpoint, outlet } = options;
    this.#options = options;
    this.#service = service;
    // A client that skips the handshake is served too, as one without capabilities.
    this.#caller = {
      id,
      principal,
      name: "unknown",
      era: "legacy",
      revision: LATEST_LEGACY_REVISION,
      endpoint,
      lasting: true,
      capabilities: {},
    };
    this.#watches = new ResourceWatches(service, {
      principal,
      onUpdated: (uri) => outlet.send(notificationMessage("notifications/resources/updated", { uri })),
    });
    this.#tasks = new LegacyTasks({
      table: options.tasks,
      service,
      party: this,
      outlet,
      logLevel: () => this.#level,
      ask: (method, params, { outlet: to, signal }) => this.#ask(method, params, to, signal),
    });
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.#caller.revision;
  }

  /** The number of requests in progress. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Handles a request. Never rejects; undefined if it was cancelled and must not be answered. */
  request(request: RpcRequest, outlet: Outlet): Promise<OutgoingMessage | undefined> {
    const { id, method } = request;
    const refusal = this.#refusal(id);
    if (refusal !== undefined) return Promise.resolve(errorMessage(id, refusal));
    return new Promise((resolve) => {
      const way = new RequestWay(outlet, (answer) => {
        this.#inFlight.delete(id);
        resolve(answer);
        if (this.#inFlight.size === 0) for (const idle of this.#idle.splice(0)) idle();
      });
      const fail = (error: unknown) => {
        if (isUnforeseen(error) && !way.hasEnded) this.#options.logger.error("request failed", { method, error });
        way.end(errorMessage(id, toRpcError(error)));
      };
      this.#inFlight.set(id, way);
      try {
        this.#answer(request, way).then((result) => way.end(resultMessage(id, legacyResult(result))), fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  #refusal(id: RpcId): RpcError | undefined {
    if (this.#isClosing) return toRpcError(stopping());
    if (this.#inFlight.has(id)) {
      return new RpcError(RPC_CODES.invalidRequest, `Invalid request: id ${id} is already in use.`);
    }
    if (this.#inFlight.size < this.#options.limits.maxInFlight) return undefined;
    return new RpcError(RPC_CODES.internalError, "Too many concurrent requests.");
  }

  /** Handles a notification. */
  notification({ method, params }: RpcNotification): void {
    if (method === "notifications/initialized" || method === "notifications/roots/list_changed") this.#askRoots();
    if (method !== "notifications/cancelled") return;
    const { requestId, reason } = params;
    if (!isRpcId(requestId)) return;
    const why = typeof reason === "string" && reason !== "" ? `: ${reason}` : ".";
    // Not answered: the client no longer waits.
    this.#inFlight
      .get(requestId)
      ?.cancel(new TrunklineError("ABORTED", `The client cancelled the request${why}`), undefined);
  }

  /** Handles the response to one of our requests. */
  response(response: RpcResponse): void {
    this.#requests.settle(response);
  }

  /** The client no longer answers but still reads: questions to it fail, calls continue. */
  stopAsking(): void {
    this.#requests.close();
  }

  /** Resolves when no requests are in progress. */
  async drained(): Promise<void> {
    if (this.#inFlight.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The client has disconnected: aborts its calls and releases its state. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#unlisten?.();
    const reason = new TrunklineError("ABORTED", "The client has disconnected.");
    for (const [id, way] of [...this.#inFlight]) way.cancel(reason, errorMessage(id, toRpcError(stopping())));
    this.#requests.close();
    this.#options.tasks.release(this.#caller.id);
    await this.#watches.close();
    await this.#service.release(this.#caller).catch((error: unknown) => {
      this.#options.logger.error("cannot release a client's state", { error });
    });
  }

  /**
   * Fetches the roots in advance, because upstream servers may request them outside any call. With a single client it
   * is clear whose they are.
   */
  #askRoots(): void {
    const { service, endpoint, outlet, logger } = this.#options;
    const { rootsChanged } = service;
    if (rootsChanged === undefined || endpoint !== "stdio" || !isRecord(this.#caller.capabilities.roots)) return;
    const never = new AbortController().signal;
    this.#ask("roots/list", {}, outlet, never)
      .then((answer) => rootsChanged.call(service, this.#caller, readRoots(answer)))
      .catch((error: unknown) => logger.debug("cannot get the client's roots", { error }));
  }

  /** Not async, because every call passes it. */
  #answer(request: RpcRequest, way: RequestWay): Promise<RpcParams> {
    const { method, params } = request;
    const isTask = method.startsWith("tasks/") || (method === "tools/call" && params.task !== undefined);
    if (isTask || PROTOCOL_METHODS.has(method)) return this.#answerItself(request, way);
    return this.#service.handle(method, ownParams(params), this.#exchange(params, way));
  }

  async #answerItself(request: RpcRequest, way: RequestWay): Promise<RpcParams> {
    const { method, params } = request;
    switch (method) {
      case "initialize":
        return await this.#initialize(params);
      case "ping":
        return {};
      case "logging/setLevel":
        return await this.#setLevel(params);
      case "resources/subscribe":
        return await this.#subscribe(params);
      case "resources/unsubscribe":
        await this.#watches.remove(uriOf(params));
        return {};
      case "server/discover":
      case "subscriptions/listen":
        throw methodNotFound(method);
      default:
    }
    if (method.startsWith("tasks/")) {
      if (!this.#hasTasks) throw methodNotFound(method);
      return await this.#tasks.answer(request, { caller: this.#caller, outlet: way, signal: way.signal });
    }
    if (this.#hasTasks) return this.#tasks.start(request, this.#caller);
    return await this.#service.handle(method, ownParams(params), this.#exchange(params, way));
  }

  #exchange(params: RpcParams, way: RequestWay): Exchange {
    const meta = metaOf(params);
    const token = progressTokenOf(meta);
    const onProgress = token === undefined ? undefined : progressReporter(token, way);
    const channel = createExchangeChannel({
      name: this.#caller.name,
      principal: this.#caller.principal,
      party: this,
      capabilities: this.#caller.capabilities,
      revision: this.revision,
      ask: (method, question, asked) => this.#ask(method, question, way, way.during(asked.signal)),
      logLevel: () => this.#level,
      outlet: () => way,
      laterOutlet: () => (way.hasEnded ? this.#options.outlet : way),
      onProgress,
    });
    return new WayExchange(way, { caller: this.#caller, channel, meta: foreignMeta(meta), onProgress });
  }

  async #ask(method: string, params: RpcParams, outlet: Outlet, signal: AbortSignal): Promise<Record<string, unknown>> {
    const timeoutMs = this.#options.limits.questionTimeoutMs;
    return await this.#requests.ask(method, this.#understood(method, params), { outlet, signal, timeoutMs });
  }

  /** Converts a question to the form of the client's revision. */
  #understood(method: string, params: RpcParams): RpcParams {
    if (method !== "elicitation/create") return params;
    const { mode, ...unmoded } = params;
    // Modes came with 2025-11-25; before that there were only forms.
    if (mode === "form" && !isAtLeast(this.revision, "2025-11-25")) return unmoded;
    // 2025-11-25 requires an id, but modern servers do not send one.
    return mode === "url" && params.elicitationId === undefined ? { ...params, elicitationId: randomUUID() } : params;
  }

  async #initialize(params: RpcParams): Promise<RpcParams> {
    const revision = negotiateLegacy(params.protocolVersion);
    const { id, principal, endpoint } = this.#caller;
    this.#caller = {
      id,
      principal,
      name: clientName(params.clientInfo),
      era: "legacy",
      revision,
      endpoint,
      lasting: true,
      capabilities: isRecord(params.capabilities) ? params.capabilities : {},
    };
    const { info } = this.#service;
    this.#capabilities = legacyCapabilities(this.#service, revision);
    this.#listen();
    const instructions = await this.#service.instructions?.(this.#caller);
    return {
      protocolVersion: revision,
      capabilities: this.#capabilities,
      serverInfo: info,
      instructions,
    };
  }

  /** Forwards list changes to clients that were promised these notifications. */
  #listen(): void {
    this.#unlisten?.();
    const promised = (name: string) => {
      const capability = this.#capabilities[name];
      return isRecord(capability) && capability.listChanged === true;
    };
    const lists = ["tools", "prompts", "resources"].filter(promised);
    if (lists.length === 0) return;
    this.#unlisten = this.#service.onEvent(({ kind }) => {
      if (lists.includes(LIST_CHANGES[kind].list))
        this.#options.outlet.send(notificationMessage(LIST_CHANGES[kind].method));
    });
  }

  async #setLevel({ level }: RpcParams): Promise<RpcParams> {
    if (this.#capabilities.logging === undefined) throw methodNotFound("logging/setLevel");
    if (!isLogLevel(level))
      throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "level" is not a known log level.');
    this.#level = level;
    await this.#service.setLogLevel(this.#caller, level);
    return {};
  }

  async #subscribe(params: RpcParams): Promise<RpcParams> {
    const { resources } = this.#capabilities;
    if (!isRecord(resources) || resources.subscribe !== true) throw methodNotFound("resources/subscribe");
    if (this.#watches.size >= this.#options.limits.maxResourcesPerClient) {
      throw new RpcError(RPC_CODES.internalError, "Too many resource subscriptions.");
    }
    await this.#watches.add(uriOf(params));
    return {};
  }

  get #hasTasks(): boolean {
    return this.#capabilities.tasks !== undefined;
  }
}

/**
 * One request: where its messages go until it has been answered or cancelled. Work that ignores its signal is not waited
 * for: a cancelled request ends immediately.
 */
class RequestWay implements Outlet {
  readonly #outlet: Outlet;
  readonly #onEnd: (answer: OutgoingMessage | undefined) => void;
  #hasEnded = false;
  /** Passes when the request is cancelled. */
  readonly cancelled = new Endable();
  /** Aborted at the end. Only questions need it, and most requests have none. */
  #ended: AbortController | undefined;

  constructor(outlet: Outlet, onEnd: (answer: OutgoingMessage | undefined) => void) {
    this.#outlet = outlet;
    this.#onEnd = onEnd;
  }

  get signal(): AbortSignal {
    return this.cancelled.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends a message. After the response, nothing may be sent for a request except the cancellation of a question. */
  send(message: OutgoingMessage): void {
    if (!this.#hasEnded || message.method === "notifications/cancelled") this.#outlet.send(message);
  }

  /** Returns a signal that is also aborted when the request is cancelled or answered. */
  during(signal: AbortSignal): AbortSignal {
    this.#ended ??= new AbortController();
    return AbortSignal.any([this.signal, this.#ended.signal, signal]);
  }

  /** Stops the work and ends the request with this answer, or without one. */
  cancel(reason: Error, answer: OutgoingMessage | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.cancelled.fail(reason);
    this.#onEnd(answer);
  }

  end(answer: OutgoingMessage | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#ended?.abort(new TrunklineError("ABORTED", "The call has ended."));
    this.#onEnd(answer);
  }
}

/** The exchange of one request. Most never need its signal. */
class WayExchange implements Exchange {
  readonly caller: Caller;
  readonly channel: Channel;
  readonly ending: Ending;
  readonly meta: RpcParams;
  readonly onProgress: Exchange["onProgress"];

  constructor(way: RequestWay, { caller, channel, meta, onProgress }: Omit<Exchange, "signal" | "ending">) {
    this.caller = caller;
    this.channel = channel;
    this.ending = way.cancelled;
    this.meta = meta;
    this.onProgress = onProgress;
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }
}

/** Removes a field of the modern era that an upstream server may have left in a result. */
function legacyResult(result: RpcParams): RpcParams {
  if (result.resultType === undefined) return result;
  const { resultType: _type, ...plain } = result;
  return plain;
}

/** The parameters for the service, without those of the protocol. */
function ownParams(params: RpcParams): RpcParams {
  if (params._meta === undefined && params.task === undefined) return params;
  const { _meta, task: _task, ...own } = params;
  return own;
}

/** Returns the capabilities for a legacy client. Tasks came with 2025-11-25. */
function legacyCapabilities(service: McpService, revision: string): RpcParams {
  const capabilities = service.capabilities(revision);
  if (capabilities.tools === undefined || !isAtLeast(revision, "2025-11-25")) return capabilities;
  return { ...capabilities, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

function uriOf({ uri }: RpcParams): string {
  if (typeof uri === "string") return uri;
  throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "uri" is missing.');
}

function stopping(): TrunklineError {
  return new TrunklineError("CLOSED", "The connection ended before the call finished.");
}
