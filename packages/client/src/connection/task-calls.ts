// Calls that a server runs as tasks: instead of a result the server returns a task, which is polled until it ends.
// There are two forms: revision 2025-11-25, where the result and questions arrive on `tasks/result`, and the extension
// of 2026-07-28, where the task itself carries both. The caller sees the result of an ordinary call.
import { isRecord, sleep, TrunklineError } from "@trunkline/core";
import { isTerminalTaskStatus, META, RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Question } from "../channel/channel.js";
import { isSessionExpired, networkCodeOf } from "./connection-errors.js";
import { type Notices, taskKey } from "./notices.js";

/** How a caller wants a call to run as a task. */
export interface TaskWish {
  /** How long the server should retain the task and its result. Default: the server decides. */
  readonly ttlMs?: number;
}

/** A task as its server describes it. */
export interface TaskState {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly pollIntervalMs?: number;
  /** The description as received. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** What following a task needs from its call. */
interface TaskPort {
  readonly era: "legacy" | "modern";
  /** What the call does, for messages. */
  readonly what: string;
  /** Aborted when the caller or the deadline ends the call. */
  readonly signal: AbortSignal;
  readonly notices: Notices;
  request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Asks the server to cancel the task. Never rejects, and returns quickly. */
  cancel(taskId: string): Promise<void>;
  /** Asks the caller a question, with the name the server gave it. */
  ask(question: Question, key?: string): Promise<Record<string, unknown>>;
  /** Called with every description of the task that arrives. */
  onStatus(task: TaskState): void;
}

const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 20;

/** This many consecutive network failures while polling a task are treated as an outage. */
const MAX_POLL_FAILURES = 3;

/** The task that a server created instead of a result; undefined if it is a result. */
export function createdTask(result: Readonly<Record<string, unknown>>): TaskState | undefined {
  // The extension of modern servers says so; a legacy server just answers with a task.
  if (result.resultType === "task") return readTask(result);
  return result.content === undefined ? readTask(result.task) : undefined;
}

/** The task that a server's question belongs to. */
export function relatedTaskOf(question: Question): string | undefined {
  const meta = isRecord(question.params?._meta) ? question.params._meta : {};
  const related = meta[META.relatedTask];
  return isRecord(related) && typeof related.taskId === "string" ? related.taskId : undefined;
}

/**
 * Follows a task to its end and returns the result of the call. If an error or an abort comes first, cancels the task.
 */
export async function followTask(task: TaskState, port: TaskPort): Promise<Record<string, unknown>> {
  const follower = new Follower(task, port);
  try {
    return port.era === "modern" ? await follower.followModern() : await follower.followLegacy();
  } catch (error) {
    if (!follower.hasEnded) await port.cancel(task.taskId);
    if (!isSessionExpired(error)) throw error;
    // Must not look like a call that was rejected before it ran, because that would be retried.
    throw new TrunklineError("SERVER_EXITED", `${port.what} failed: the session ended while its task was running.`, {
      cause: error,
      hint: "It may or may not have taken effect.",
    });
  } finally {
    follower[Symbol.dispose]();
  }
}

class Follower implements Disposable {
  readonly #port: TaskPort;
  readonly #listening: Disposable;
  #task: TaskState;
  #wake = new AbortController();

  constructor(task: TaskState, port: TaskPort) {
    this.#task = task;
    this.#port = port;
    this.#listening = port.notices.listen(taskKey(task.taskId), () => this.#wake.abort());
    port.onStatus(task);
  }

  get hasEnded(): boolean {
    return isTerminalTaskStatus(this.#task.status);
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  /**
   * Requests the result once the task has ended, and also when it needs input, because questions arrive with that
   * request.
   */
  async followLegacy(): Promise<Record<string, unknown>> {
    const { taskId } = this.#task;
    let result: Promise<Record<string, unknown>> | undefined;
    for (;;) {
      if (this.#task.status === "cancelled") throw cancelledByServer(this.#task, this.#port);
      if (result === undefined && (this.hasEnded || this.#task.status === "input_required")) {
        result = this.#port.request("tasks/result", { taskId });
        result.catch(() => {});
      }
      if (result !== undefined && this.hasEnded) return await result;
      const looking = this.#look();
      looking.catch(() => {});
      const first = await Promise.race([looking, ...(result === undefined ? [] : [result])]);
      if (first !== undefined) return first;
    }
  }

  async followModern(): Promise<Record<string, unknown>> {
    const answered = new Set<string>();
    // A newly created task is not fully described: its result, for example, only comes with tasks/get.
    if (this.hasEnded || this.#task.status === "input_required") await this.#get();
    for (;;) {
      const { status, raw, taskId } = this.#task;
      if (status === "completed") return resultOf(raw, this.#port);
      if (status === "failed") throw failureOf(this.#task);
      if (status === "cancelled") throw cancelledByServer(this.#task, this.#port);
      if (status === "input_required" && isRecord(raw.inputRequests)) {
        const open = Object.entries(raw.inputRequests).filter(([key]) => !answered.has(key));
        for (const [key] of open) answered.add(key);
        const inputResponses = Object.fromEntries(
          await Promise.all(
            open.map(async ([key, question]) => [key, await this.#port.ask(question as Question, key)]),
          ),
        );
        if (open.length > 0) await this.#port.request("tasks/update", { taskId, inputResponses });
      }
      await this.#look();
    }
  }

  /** Waits as long as the server asks for, or until it announces a change, then polls again. */
  async #look(): Promise<undefined> {
    const { signal } = this.#port;
    const pollMs = Math.max(MIN_POLL_MS, this.#task.pollIntervalMs ?? DEFAULT_POLL_MS);
    for (let failures = 1; ; failures++) {
      const wake = this.#wake.signal;
      await sleep(pollMs, AbortSignal.any([signal, wake])).catch((error: unknown) => {
        if (signal.aborted || !wake.aborted) throw error;
      });
      this.#wake = new AbortController();
      try {
        return await this.#get();
      } catch (error) {
        // Polling again is harmless, and a modern task outlives its connection.
        const isBlip = this.#port.era === "modern" && networkCodeOf(error) !== undefined;
        if (!isBlip || failures >= MAX_POLL_FAILURES) throw error;
      }
    }
  }

  async #get(): Promise<undefined> {
    const { taskId } = this.#task;
    const answer = await this.#port.request("tasks/get", { taskId });
    const task = readTask(answer);
    if (task === undefined || task.taskId !== taskId) {
      throw new TrunklineError("PROTOCOL", `${this.#port.what} failed: tasks/get did not describe the task.`);
    }
    this.#task = task;
    this.#port.onStatus(task);
    return undefined;
  }
}

function readTask(value: unknown): TaskState | undefined {
  if (!isRecord(value) || typeof value.taskId !== "string" || typeof value.status !== "string") return undefined;
  const interval = value.pollIntervalMs ?? value.pollInterval;
  return {
    taskId: value.taskId,
    status: value.status,
    ...(typeof value.statusMessage === "string" ? { statusMessage: value.statusMessage } : {}),
    ...(typeof interval === "number" && interval >= 0 ? { pollIntervalMs: interval } : {}),
    raw: value,
  };
}

function resultOf(raw: Readonly<Record<string, unknown>>, port: TaskPort): Record<string, unknown> {
  if (!isRecord(raw.result)) {
    throw new TrunklineError("PROTOCOL", `${port.what} failed: its task completed without a result.`);
  }
  const { resultType: _, ...result } = raw.result;
  return result;
}

function failureOf({ raw, statusMessage }: TaskState): Error {
  const { code, message, data } = isRecord(raw.error) ? raw.error : {};
  const said = typeof message === "string" ? message : (statusMessage ?? "the task failed");
  return new RpcError(typeof code === "number" ? code : RPC_CODES.internalError, said, { data });
}

function cancelledByServer({ statusMessage }: TaskState, port: TaskPort): TrunklineError {
  const why = statusMessage === undefined ? "" : `: ${statusMessage}`;
  return new TrunklineError("UPSTREAM", `${port.what} failed: the server cancelled its task${why}.`, {
    data: { status: "cancelled" },
  });
}

/** Describes the state of a task, for display. */
export function statusText({ status, statusMessage }: TaskState): string {
  return statusMessage ?? (status === "input_required" ? "input required" : status);
}
