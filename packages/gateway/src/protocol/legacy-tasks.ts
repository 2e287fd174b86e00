// Tasks as defined by 2025-11-25: the client requests one with its call, polls it with tasks/get, and gets the result
// from tasks/result, which also carries the questions asked along the way.
import { isRecord } from "@trunkline/core";
import {
  foreignMeta,
  META,
  metaOf,
  methodNotFound,
  notificationMessage,
  progressTokenOf,
  RPC_CODES,
  RpcError,
  type RpcParams,
  type RpcRequest,
} from "@trunkline/protocol";
import type { Caller } from "../interfaces/exchange.js";
import type { McpService } from "../interfaces/mcp-service.js";
import { Call } from "./call.js";
import type { Outlet } from "./request-context.js";
import type { Task, TaskTable } from "./task-table.js";

interface LegacyTaskOptions {
  readonly table: TaskTable;
  readonly service: McpService;
  readonly party: object;
  /** Where messages go that belong to no request. */
  readonly outlet: Outlet;
  logLevel(): string;
  ask(
    method: string,
    params: RpcParams,
    way: { outlet: Outlet; signal: AbortSignal },
  ): Promise<Record<string, unknown>>;
}

interface TaskRequestWay {
  readonly caller: Caller;
  readonly outlet: Outlet;
  readonly signal: AbortSignal;
}

export class LegacyTasks {
  readonly #options: LegacyTaskOptions;

  constructor(options: LegacyTaskOptions) {
    this.#options = options;
  }

  /** Starts a call as a task and returns the task. */
  start({ method, params }: RpcRequest, caller: Caller): RpcParams {
    const { table, service, party, outlet } = this.#options;
    const { _meta, task: wish, ...own } = params;
    if (typeof own.name === "string" && service.taskSupport?.(own.name) === "forbidden") {
      throw new RpcError(RPC_CODES.methodNotFound, `${own.name} cannot be called as a task.`);
    }
    const meta = metaOf(params);
    const view = { outlet, progressToken: progressTokenOf(meta), logLevel: this.#options.logLevel() };
    const call = new Call({ caller, meta: foreignMeta(meta), party, view });
    const ttlMs = isRecord(wish) && typeof wish.ttl === "number" && wish.ttl > 0 ? wish.ttl : undefined;
    const task = table.create(call, ownerOf(caller), { ttlMs });
    if (task === undefined) throw new RpcError(RPC_CODES.internalError, "Too many tasks are running.");
    let told = task.status;
    task.onChange(() => {
      if (task.status === told) return;
      told = task.status;
      outlet.send(notificationMessage("notifications/tasks/status", task.describe()));
    });
    call.run((exchange) => service.handle(method, own, exchange));
    return { task: task.describe() };
  }

  /** Handles a request about a task. */
  async answer({ method, params }: RpcRequest, way: TaskRequestWay): Promise<RpcParams> {
    const owner = ownerOf(way.caller);
    const { table } = this.#options;
    switch (method) {
      case "tasks/get":
        return table.get(params.taskId, owner).describe();
      case "tasks/list":
        return { tasks: table.ownedBy(way.caller.id).map((task) => task.describe()) };
      case "tasks/result":
        return await this.#result(table.get(params.taskId, owner), way);
      case "tasks/cancel": {
        const task = table.get(params.taskId, owner);
        if (task.hasEnded) {
          throw new RpcError(RPC_CODES.invalidParams, `The task has already ended: it is ${task.status}.`);
        }
        task.cancel("The client cancelled the task.");
        return task.describe();
      }
      default:
        throw methodNotFound(method);
    }
  }

  /** Waits for a task to end and meanwhile sends its questions to the client on this request's stream. */
  async #result(task: Task, { outlet, signal }: TaskRequestWay): Promise<RpcParams> {
    const related = { [META.relatedTask]: { taskId: task.id } };
    const put = new Set<string>();
    const putQuestions = () => {
      for (const [key, { method, params }] of Object.entries(task.call.questions)) {
        if (put.has(key)) continue;
        put.add(key);
        const asked = { ...params, _meta: { ...metaOf(params), ...related } };
        this.#options.ask(method, asked, { outlet, signal }).then(
          (answer) => task.call.answer({ [key]: answer }),
          // The next tasks/result asks this question again.
          () => put.delete(key),
        );
      }
    };
    if (!task.hasEnded) {
      await new Promise<void>((resolve) => {
        const look = () => {
          if (task.hasEnded || signal.aborted) {
            stop();
            signal.removeEventListener("abort", look);
            resolve();
          } else putQuestions();
        };
        const stop = task.onChange(look);
        signal.addEventListener("abort", look, { once: true });
        look();
      });
    }
    if (task.status === "cancelled") throw new RpcError(RPC_CODES.invalidParams, "The task was cancelled.");
    const { outcome } = task.call;
    if (outcome?.kind !== "result")
      throw task.error ?? new RpcError(RPC_CODES.internalError, "The task has no result.");
    const { resultType: _, ...result } = outcome.result;
    return { ...result, _meta: { ...metaOf(result), ...related } };
  }
}

function ownerOf({ id, principal }: Caller) {
  return { era: "legacy", principal, callerId: id } as const;
}
