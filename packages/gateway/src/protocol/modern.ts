// The modern era: every request is self-contained. A call that asks questions is answered with them and parked; a long
// call becomes a task if the client supports tasks. If several gateways share a store, a request about a call of another
// one is passed on to it.
import { type Gateway, isRecord, type Logger } from "@trunkline/core";
import {
  errorMessage,
  foreignMeta,
  META,
  MODERN_REVISION,
  MODERN_REVISIONS,
  metaOf,
  methodNotFound,
  progressTokenOf,
  RPC_CODES,
  RpcError,
  type RpcParams,
  type RpcRequest,
  resultMessage,
  TASKS_EXTENSION,
} from "@trunkline/protocol";
import type { McpService } from "../interfaces/mcp-service.js";
import { Call, type CallView } from "./call.js";
import { EndedTasks } from "./ended-tasks.js";
import { GatewayRelay, type ModernAnswer } from "./gateway-relay.js";
import type { ProtocolLimits } from "./limits.js";
import { callerOf, requestedLogLevel } from "./modern-envelope.js";
import { ModernSubscriptions } from "./modern-subscriptions.js";
import { ParkedCalls, unknownState } from "./parked-calls.js";
import type { ClientFacts, RequestContext } from "./request-context.js";
import { isUnforeseen, toRpcError } from "./rpc-failures.js";
import { type Task, TaskTable, unknownTask } from "./task-table.js";

/** Methods that this era removed. */
const LEGACY_ONLY: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/list",
  "tasks/result",
]);

/** The requests whose response can be a question. */
const MAY_ASK: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

const TASK_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

/** The responses that state how long they may be cached. */
const CACHEABLE: ReadonlySet<string> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "server/discover",
]);

/** Parameters for the protocol only, not for the service. */
const PROTOCOL_PARAMS: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState", "task"]);

interface ModernOptions {
  readonly logger: Logger;
  readonly limits: ProtocolLimits;
  /** This gateway, if it shares its store with others. */
  readonly gateway?: Gateway;
}

/** The modern era on top of one service, for all endpoints and clients. */
export class ModernProtocol {
  readonly #service: McpService;
  readonly #logger: Logger;
  readonly #limits: ProtocolLimits;
  readonly #parked: ParkedCalls;
  readonly #tasks: TaskTable;
  readonly #relay: GatewayRelay | undefined;
  readonly #endedTasks: EndedTasks | undefined;
  readonly #stopServing: (() => void) | undefined;
  #isClosing = false;
  readonly subscriptions: ModernSubscriptions;

  constructor(service: McpService, { logger, limits, gateway }: ModernOptions) {
    this.#service = service;
    this.#logger = logger;
    this.#limits = limits;
    this.#parked = new ParkedCalls(limits.parked, gateway?.name);
    this.#tasks = new TaskTable(limits.tasks, gateway?.name);
    if (gateway !== undefined) {
      this.#relay = new GatewayRelay(gateway);
      this.#endedTasks = new EndedTasks(gateway, { logger, max: limits.tasks.max });
      this.#stopServing = this.#relay.serve(async (request, context) => {
        const answer = await this.#handleHere(request, context);
        // Without an answer the other gateway says that this one is gone, and what to do.
        return this.#isClosing && answer?.message.error !== undefined ? undefined : answer;
      });
    }
    this.subscriptions = new ModernSubscriptions(service, { max: limits.maxSubscriptions });
  }

  /** Handles a request with a valid envelope. Never rejects; undefined if the request was cancelled meanwhile. */
  handle(request: RpcRequest, context: RequestContext): Promise<ModernAnswer | undefined> {
    const owner = this.#relay?.ownerOf(relayedId(request));
    return owner === undefined ? this.#handleHere(request, context) : this.#handleAt(owner, request, context);
  }

  async #handleHere(request: RpcRequest, context: RequestContext): Promise<ModernAnswer | undefined> {
    try {
      const result = await this.#answer(request, context);
      if (result === undefined || context.isCancelled) return undefined;
      return { message: resultMessage(request.id, result), status: 200 };
    } catch (error) {
      return this.#fail(request, context, error);
    }
  }

  /** Lets another gateway handle a request about one of its calls. */
  async #handleAt(owner: string, request: RpcRequest, context: RequestContext): Promise<ModernAnswer | undefined> {
    try {
      const relayed = await this.#relay?.relay(owner, request, context);
      if (context.isCancelled) return undefined;
      if (relayed?.kind === "answer") return relayed.answer;
      const isGone = relayed?.kind === "gone";
      if (!request.method.startsWith("tasks/")) throw isGone ? ownerGone("requestState") : unknownState();
      const missing = isGone ? ownerGone("taskId") : unknownTask();
      const result = await this.#answerEnded(request, { client: context.client, missing });
      return context.isCancelled ? undefined : { message: resultMessage(request.id, result), status: 200 };
    } catch (error) {
      return this.#fail(request, context, error);
    }
  }

  #fail(request: RpcRequest, context: RequestContext, error: unknown): ModernAnswer | undefined {
    if (context.isCancelled) return undefined;
    if (isUnforeseen(error)) this.#logger.error("request failed", { method: request.method, error });
    return this.refuse(request, toRpcError(error));
  }

  /** Builds the response to a failed request. */
  refuse({ id, method }: RpcRequest, error: RpcError): ModernAnswer {
    return { message: errorMessage(id, error), status: statusOf(error, method) };
  }

  /** Completes a result for sending: adds its type, the server info, and how long it may be cached. */
  complete(method: string, result: RpcParams): RpcParams {
    const meta = { ...(isRecord(result._meta) ? result._meta : undefined), [META.serverInfo]: this.#service.info };
    return CACHEABLE.has(method)
      ? { ttlMs: 0, cacheScope: "private", ...result, resultType: "complete", _meta: meta }
      : { ...result, resultType: "complete", _meta: meta };
  }

  /** Ends the waiting calls and tasks of a principal whose tokens are no longer valid. */
  endPrincipal(principal: string): void {
    this.#parked.endPrincipal(principal);
    this.#tasks.endPrincipal(principal);
    this.#endedTasks?.forget(principal);
  }

  /** Whether calls wait for an answer, or tasks run, that clients can reach through another gateway. */
  get hasSharedWork(): boolean {
    return this.#relay !== undefined && (this.#parked.size > 0 || this.#tasks.isBusy);
  }

  /** Ends waiting calls and tasks. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#parked.close();
    this.#tasks.close();
    this.#stopServing?.();
    await this.#endedTasks?.settled();
    await this.subscriptions.close();
  }

  #answer(request: RpcRequest, context: RequestContext): RpcParams | Promise<RpcParams | undefined> {
    const { method, params } = request;
    if (LEGACY_ONLY.has(method)) throw methodNotFound(method);
    if (method === "server/discover") return this.#discover(params, context.client);
    if (method.startsWith("tasks/")) return this.#answerTask(request, context.client);
    return this.#call(request, context);
  }

  async #discover(params: RpcParams, client: ClientFacts): Promise<RpcParams> {
    const instructions = await this.#service.instructions?.(callerOf(metaOf(params), client));
    return this.complete("server/discover", {
      supportedVersions: [...MODERN_REVISIONS],
      capabilities: modernCapabilities(this.#service),
      instructions,
    });
  }

  async #call({ method, params }: RpcRequest, context: RequestContext): Promise<RpcParams | undefined> {
    const meta = metaOf(params);
    const view: CallView = {
      outlet: context.outlet,
      progressToken: progressTokenOf(meta),
      logLevel: requestedLogLevel(meta),
    };
    const answers = readAnswers(params);
    const what = `${method} ${String(params.name ?? params.uri ?? "")}`;
    const isRepeated = params.requestState !== undefined && MAY_ASK.has(method);
    const rule = method === "tools/call" ? this.#taskRule(params, meta) : undefined;

    let call: Call;
    if (isRepeated) {
      call = this.#parked.take(params.requestState, what, context.client.principal);
      call.show(view);
      if (answers !== undefined) call.answer(answers);
    } else {
      const caller = callerOf(meta, context.client);
      const canAsk = MAY_ASK.has(method);
      call = new Call({ caller, meta: foreignMeta(meta), party: context.client.party, view, canAsk });
      if (answers !== undefined) call.give(answers);
      const own = withoutProtocolParams(params);
      call.run((exchange) => this.#service.handle(method, own, exchange));
    }
    call.followers.add(context);
    context.onCancel((reason) => {
      call.followers.delete(context);
      if (call.followers.size > 0) return;
      this.#parked.release(call);
      call.cancel(reason);
    });
    try {
      return await this.#follow(call, { method, what, rule, context });
    } finally {
      call.followers.delete(context);
      context.onCancel(undefined);
    }
  }

  async #follow(
    call: Call,
    {
      method,
      what,
      rule,
      context,
    }: { method: string; what: string; rule: TaskRule | undefined; context: RequestContext },
  ): Promise<RpcParams | undefined> {
    const turn = await call.turn(rule?.afterMs);
    if (context.isCancelled) return undefined;
    switch (turn.kind) {
      case "result":
        this.#parked.release(call);
        return this.complete(method, turn.result);
      case "error":
        this.#parked.release(call);
        throw turn.error;
      case "asks":
        call.show(undefined);
        return {
          resultType: "input_required",
          inputRequests: call.questions,
          requestState: this.#parked.park(call, what),
          _meta: { [META.serverInfo]: this.#service.info },
        };
      case "late": {
        const task = this.#tasks.create(call, taskOwner(context.client));
        // The task table is full: the client waits, as it would without tasks.
        if (task === undefined) return await this.#follow(call, { method, what, rule: undefined, context });
        this.#endedTasks?.keep(task, () => this.#detail(task));
        this.#parked.release(call);
        call.show(undefined);
        return { ...task.describe(), resultType: "task", _meta: { [META.serverInfo]: this.#service.info } };
      }
    }
  }

  /**
   * Decides when a call of this tool becomes a task; undefined means never. Throws if it has to be one but the client
   * does not support tasks.
   */
  #taskRule(params: RpcParams, meta: RpcParams): TaskRule | undefined {
    const support = typeof params.name === "string" ? this.#service.taskSupport?.(params.name) : undefined;
    const knowsTasks = declaresTasks(meta[META.clientCapabilities]);
    if (support === "required" && !knowsTasks) throw missingTasks(`The tool has to be called as a task.`);
    if (!knowsTasks || support === "forbidden") return undefined;
    if (support === "required" || support === "preferred") return { afterMs: 0 };
    return { afterMs: support === "optional" ? this.#limits.taskAfterMs : this.#limits.undeclaredTaskAfterMs };
  }

  #answerTask(request: RpcRequest, client: ClientFacts): RpcParams | Promise<RpcParams> {
    const { method, params } = request;
    checkTaskRequest(request);
    const task = this.#tasks.find(params.taskId, taskOwner(client));
    // It may have ended before this gateway was restarted.
    if (task === undefined) return this.#answerEnded(request, { client, missing: unknownTask() });
    if (method === "tasks/get") return this.complete(method, this.#detail(task));
    // The request has been checked.
    if (method === "tasks/update") task.call.answer(params.inputResponses as RpcParams);
    else task.cancel("The client cancelled the task.");
    return this.complete(method, {});
  }

  /** Answers a request about a task that no living gateway runs. Throws `missing` if it is not known either. */
  async #answerEnded(
    request: RpcRequest,
    { client, missing }: { client: ClientFacts; missing: RpcError },
  ): Promise<RpcParams> {
    const { method, params } = request;
    checkTaskRequest(request);
    const detail = await this.#endedTasks?.find(params.taskId, client.principal);
    if (detail === undefined) throw missing;
    return this.complete(method, method === "tasks/get" ? detail : {});
  }

  #detail(task: Task): RpcParams {
    const detail = task.detail();
    return isRecord(detail.result) ? { ...detail, result: this.complete("tools/call", detail.result) } : detail;
  }
}

/** Returns the id that says which gateway a request is for. */
function relayedId({ method, params }: RpcRequest): unknown {
  if (MAY_ASK.has(method)) return params.requestState;
  return method.startsWith("tasks/") ? params.taskId : undefined;
}

/** The gateway that ran a call has ended. The call can be made again. */
function ownerGone(reason: "requestState" | "taskId"): RpcError {
  const message =
    reason === "requestState"
      ? "The gateway that ran this call is gone. Repeat the call without requestState."
      : "The gateway that ran this task is gone. Repeat the call.";
  return new RpcError(RPC_CODES.invalidParams, message, { data: { reason, retryable: true } });
}

/** Throws if a request about a task is not one that a client may make. */
function checkTaskRequest({ method, params }: RpcRequest): void {
  if (!declaresTasks(metaOf(params)[META.clientCapabilities])) throw missingTasks(`${method} is part of an extension.`);
  if (!TASK_METHODS.has(method)) throw methodNotFound(method);
  if (method === "tasks/update" && !isRecord(params.inputResponses)) {
    throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "inputResponses" has to be an object.');
  }
}

function taskOwner({ principal }: ClientFacts) {
  return { era: "modern", principal } as const;
}

interface TaskRule {
  readonly afterMs: number;
}

/** Returns the capabilities for a modern client. */
function modernCapabilities(service: McpService): RpcParams {
  const capabilities = service.capabilities(MODERN_REVISION);
  if (capabilities.tools === undefined) return capabilities;
  const extensions = isRecord(capabilities.extensions) ? capabilities.extensions : {};
  return { ...capabilities, extensions: { ...extensions, [TASKS_EXTENSION]: {} } };
}

function declaresTasks(capabilities: unknown): boolean {
  return isRecord(capabilities) && isRecord(capabilities.extensions) && TASKS_EXTENSION in capabilities.extensions;
}

function missingTasks(why: string): RpcError {
  return new RpcError(RPC_CODES.missingCapability, `${why} The client does not declare ${TASKS_EXTENSION}.`, {
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  });
}

function readAnswers({ inputResponses }: RpcParams): RpcParams | undefined {
  if (inputResponses === undefined || isRecord(inputResponses)) return inputResponses;
  throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "inputResponses" has to be an object.');
}

function withoutProtocolParams(params: RpcParams): RpcParams {
  const own: Record<string, unknown> = {};
  for (const key in params) if (!PROTOCOL_PARAMS.has(key)) own[key] = params[key];
  return own;
}

/**
 * Returns the HTTP status of an error. Failures reported by a tool stay in the body with status 200; the protocol's own
 * rejections have their own status.
 */
function statusOf({ code }: RpcError, method: string): number {
  if (code === RPC_CODES.methodNotFound) return method === "tools/call" ? 200 : 404;
  return code === RPC_CODES.missingCapability || code === RPC_CODES.unsupportedVersion ? 400 : 200;
}
