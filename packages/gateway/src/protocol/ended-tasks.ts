// Ended tasks in the database that gateways share: they can be fetched after their gateway has ended.
import { type Gateway, type Logger, messageOf } from "@trunkline/core";
import type { RpcParams } from "@trunkline/protocol";
import { decodeTask } from "./gateway-relay.js";
import type { Task } from "./task-table.js";

/** A larger result is only kept in memory. */
const MOST_BYTES = 64 * 1024 * 1024;

export class EndedTasks {
  readonly #gateway: Gateway;
  readonly #logger: Logger;
  readonly #max: number;
  readonly #pending = new Set<Promise<void>>();

  constructor(gateway: Gateway, { logger, max }: { logger: Logger; max: number }) {
    this.#gateway = gateway;
    this.#logger = logger;
    this.#max = max;
  }

  /** Keeps a task as soon as it has ended. */
  keep(task: Task, detail: () => RpcParams): void {
    if (task.hasEnded) {
      this.#keep(task, detail());
      return;
    }
    const stop = task.onChange(() => {
      if (!task.hasEnded) return;
      stop();
      this.#keep(task, detail());
    });
  }

  async find(id: unknown, principal: string): Promise<RpcParams | undefined> {
    if (typeof id !== "string" || id.length > 100) return undefined;
    const detail = await this.#gateway.findTask(id, principal);
    return detail === undefined ? undefined : decodeTask(detail);
  }

  /** Removes the ended tasks of a principal. */
  forget(principal: string): void {
    this.#note(
      this.settled().then(() => this.#gateway.forgetTasks(principal)),
      "cannot remove the tasks of a principal",
    );
  }

  /** Resolves when everything so far is kept, or could not be. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #keep(task: Task, described: RpcParams): void {
    const ttlMs = task.remainingMs;
    const detail = Buffer.from(JSON.stringify(described));
    if (ttlMs <= 0 || detail.length > MOST_BYTES) return;
    const { id, owner } = task;
    const kept = this.#gateway.keepTask({ id, principal: owner.principal, detail, ttlMs, max: this.#max });
    this.#note(kept, "cannot keep a task");
  }

  #note(work: Promise<void>, problem: string): void {
    const noted = work
      .catch((error: unknown) => this.#logger.warn(problem, { error: messageOf(error) }))
      .finally(() => this.#pending.delete(noted));
    this.#pending.add(noted);
  }
}
