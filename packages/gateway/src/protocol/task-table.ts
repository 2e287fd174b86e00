// Tasks: calls that run independently of their client's requests, in both eras. A task's state is derived from its
// call; the table keeps it until it expires.
import { randomUUID } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import { type Era, errorObject, RPC_CODES, RpcError, type RpcParams, type TaskStatus } from "@trunkline/protocol";
import type { Call } from "./call.js";
import { ownedId } from "./gateway-relay.js";
import { toRpcError } from "./rpc-failures.js";

export interface TaskLimits {
  /** How long a task and its result are kept if the client does not say. */
  readonly ttlMs: number;
  /** The longest time a client can ask for. */
  readonly maxTtlMs: number;
  /**
   * Per principal. Above this number, its oldest ended task is removed; if all are still running, no new one is created.
   */
  readonly max: number;
  /** How long a client should wait before it polls again. */
  readonly pollIntervalMs: number;
}

/** The owner of a task. Modern clients have no connection: the task's id and the principal grant access. */
interface TaskOwner {
  readonly era: Era;
  readonly principal: string;
  /** The id of a lasting caller. */
  readonly callerId?: string;
}

export class Task {
  readonly id: string;
  readonly createdAt = new Date().toISOString();
  readonly call: Call;
  readonly owner: TaskOwner;
  readonly ttlMs: number;
  readonly #pollIntervalMs: number;
  readonly #createdMs = performance.now();
  #updatedAt = this.createdAt;
  #message: string | undefined;
  #cancelled = false;
  #listeners = new Set<() => void>();

  constructor(call: Call, owner: TaskOwner, facts: { ttlMs: number; pollIntervalMs: number; gateway?: string }) {
    this.id = ownedId(facts.gateway, randomUUID());
    this.call = call;
    this.owner = owner;
    this.ttlMs = facts.ttlMs;
    this.#pollIntervalMs = facts.pollIntervalMs;
    call.onChange = (message) => {
      this.#updatedAt = new Date().toISOString();
      if (message !== undefined) this.#message = message;
      for (const listener of [...this.#listeners]) listener();
    };
  }

  get status(): TaskStatus {
    const { outcome, hasQuestions } = this.call;
    if (this.#cancelled) return "cancelled";
    if (outcome === undefined) return hasQuestions ? "input_required" : "working";
    return outcome.kind === "result" ? "completed" : "failed";
  }

  get hasEnded(): boolean {
    return this.#cancelled || this.call.outcome !== undefined;
  }

  /** How much longer the task is kept. */
  get remainingMs(): number {
    return this.ttlMs - (performance.now() - this.#createdMs);
  }

  /** Reports every change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Aborts the work. Does nothing if the task has ended. */
  cancel(reason: string): void {
    if (this.hasEnded) return;
    this.#cancelled = true;
    this.#message = reason;
    this.call.cancel(new TrunklineError("ABORTED", reason));
  }

  /** Returns the fields of every response about the task, in the format of its era. */
  describe(): RpcParams {
    const common = {
      taskId: this.id,
      status: this.status,
      statusMessage: this.#statusMessage,
      createdAt: this.createdAt,
      lastUpdatedAt: this.#updatedAt,
    };
    return this.owner.era === "modern"
      ? { ...common, ttlMs: this.ttlMs, pollIntervalMs: this.#pollIntervalMs }
      : { ...common, ttl: this.ttlMs, pollInterval: this.#pollIntervalMs };
  }

  /** The error of a failed task. */
  get error(): RpcError | undefined {
    const { outcome } = this.call;
    return outcome?.kind === "error" ? toRpcError(outcome.error) : undefined;
  }

  /**
   * Returns the description plus what a modern client needs to continue: the questions to answer, the result or the
   * error.
   */
  detail(): RpcParams {
    const { outcome } = this.call;
    switch (this.status) {
      case "input_required":
        return { ...this.describe(), inputRequests: this.call.questions };
      case "completed":
        return { ...this.describe(), result: outcome?.kind === "result" ? outcome.result : {} };
      case "failed":
        return { ...this.describe(), error: errorObject(this.error as RpcError) };
      default:
        return this.describe();
    }
  }

  get #statusMessage(): string | undefined {
    return this.status === "failed" ? this.error?.message : this.#message;
  }
}

export class TaskTable {
  readonly #limits: TaskLimits;
  readonly #gateway: string | undefined;
  readonly #tasks = new Map<string, { task: Task; timer: NodeJS.Timeout }>();

  /** `gateway` is part of the ids, if other gateways may be asked for them. */
  constructor(limits: TaskLimits, gateway?: string) {
    this.#limits = limits;
    this.#gateway = gateway;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Whether a task is still running. */
  get isBusy(): boolean {
    return [...this.#tasks.values()].some(({ task }) => !task.hasEnded);
  }

  /** Turns a running call into a task. Returns undefined if the table is full. */
  create(call: Call, owner: TaskOwner, wish: { ttlMs?: number } = {}): Task | undefined {
    if (!this.#hasRoom(owner.principal)) return undefined;
    const ttlMs = Math.max(1, Math.min(wish.ttlMs ?? this.#limits.ttlMs, this.#limits.maxTtlMs));
    const task = new Task(call, owner, { ttlMs, pollIntervalMs: this.#limits.pollIntervalMs, gateway: this.#gateway });
    const timer = setTimeout(() => {
      this.#tasks.delete(task.id);
      task.cancel("The task ran longer than its time to live.");
    }, ttlMs);
    timer.unref();
    this.#tasks.set(task.id, { task, timer });
    return task;
  }

  /** Finds a task of this owner. Throws if there is none. */
  get(id: unknown, owner: TaskOwner): Task {
    const task = this.find(id, owner);
    if (task === undefined) throw unknownTask();
    return task;
  }

  /** Finds a task of this owner. */
  find(id: unknown, owner: TaskOwner): Task | undefined {
    const task = typeof id === "string" ? this.#tasks.get(id)?.task : undefined;
    return task !== undefined && isSame(task.owner, owner) ? task : undefined;
  }

  /** Returns the tasks of one lasting caller, oldest first. */
  ownedBy(callerId: string): Task[] {
    return [...this.#tasks.values()].flatMap(({ task }) => (task.owner.callerId === callerId ? [task] : []));
  }

  /** The caller has disconnected for good, so its tasks can no longer be queried. */
  release(callerId: string): void {
    for (const task of this.ownedBy(callerId)) this.#remove(task, "The client has disconnected.");
  }

  /** Aborts the tasks of a principal whose tokens are no longer valid. */
  endPrincipal(principal: string): void {
    for (const { task } of [...this.#tasks.values()]) {
      if (task.owner.principal === principal) this.#remove(task, "The token is no longer valid.");
    }
  }

  /** Aborts every task. */
  close(): void {
    for (const { task } of [...this.#tasks.values()]) this.#remove(task, "The server is stopping.");
  }

  #remove(task: Task, reason: string): void {
    clearTimeout(this.#tasks.get(task.id)?.timer);
    this.#tasks.delete(task.id);
    task.cancel(reason);
  }

  /** Makes room for another task of this principal, never at the expense of others. */
  #hasRoom(principal: string): boolean {
    if (this.#tasks.size < this.#limits.max) return true;
    const own = [...this.#tasks.values()].flatMap(({ task }) => (task.owner.principal === principal ? [task] : []));
    if (own.length < this.#limits.max) return true;
    const ended = own.find((task) => task.hasEnded);
    if (ended === undefined) return false;
    this.#remove(ended, "");
    return true;
  }
}

function isSame(a: TaskOwner, b: TaskOwner): boolean {
  return a.era === b.era && a.principal === b.principal && a.callerId === b.callerId;
}

export function unknownTask(): RpcError {
  return new RpcError(RPC_CODES.invalidParams, "Task not found: it is unknown or has expired.");
}
