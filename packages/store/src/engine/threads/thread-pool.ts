// The threads of an open store, seen from the main thread: started on demand and reused.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { type Logger, messageOf, TrunklineError } from "@trunkline/core";
import type { GuardedPaths } from "../files/guard.js";
import { makeAbortFlags, type Remotes, type RpcOptions, remotesOf } from "./rpc.js";
import { endThread, leastBusy, startThread, type Thread, type WorkerStart } from "./thread.js";

type Role = "writer" | "reader" | "mover" | "indexer";

const MOST_THREADS: Readonly<Record<Role, number>> = { writer: 1, reader: 2, mover: 2, indexer: 2 };

interface ThreadPoolOptions {
  /** The entry file of every thread. */
  readonly entry: URL;
  readonly folder: string;
  readonly logger: Logger;
  readonly guarded: GuardedPaths;
}

/** The threads, by role. `T` has the handlers of each role. */
export class ThreadPool<T extends Readonly<Record<Role, object>>> {
  readonly #entry: URL;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #guarded: GuardedPaths;
  readonly #threads: Readonly<Record<Role, Thread[]>> = { writer: [], reader: [], mover: [], indexer: [] };
  /** Whether {@link indexInBackground} must run after changes. The writer sets it. */
  hasBackgroundIndexers = false;
  /** Called after every call that may have changed the store. */
  onChange: (() => void) | undefined;
  #closed = false;
  #indexing: Promise<void> | undefined;
  #indexAgain = false;

  readonly reader: Remotes<T["reader"]> = remotesOf(this.#calls("reader"));
  readonly writer: Remotes<T["writer"]> = remotesOf(this.#calls("writer"));
  readonly mover: Remotes<T["mover"]> = remotesOf(this.#calls("mover"));
  readonly indexer: Remotes<T["indexer"]> = remotesOf(this.#calls("indexer"));

  constructor({ entry, folder, logger, guarded }: ThreadPoolOptions) {
    this.#entry = entry;
    this.#folder = folder;
    this.#logger = logger;
    this.#guarded = guarded;
  }

  /** Sends each call to the least busy thread of the role. */
  #calls(role: Role) {
    return async (method: string, params: unknown, options?: RpcOptions): Promise<unknown> => {
      if (this.#closed) throw closedError();
      const result = await this.#thread(role).rpc.call(method, params, options);
      if (role === "writer" || role === "mover") {
        if (this.hasBackgroundIndexers) this.indexInBackground();
        this.onChange?.();
      }
      return result;
    };
  }

  /** Starts background indexing of new entries without waiting. If it is already running, it runs again afterwards. */
  indexInBackground(): void {
    if (this.#closed) return;
    if (this.#indexing !== undefined) {
      this.#indexAgain = true;
      return;
    }
    this.#indexAgain = false;
    const run = (alone: boolean): Promise<unknown> =>
      this.#calls("indexer")("run", { alone }).catch((error: unknown) => {
        if (!this.#closed) this.#logger.warn("background indexing failed", { error });
      });
    this.#indexing = Promise.all([run(false), run(true)]).then(() => {
      this.#indexing = undefined;
      if (this.#indexAgain) this.indexInBackground();
    });
  }

  /** Resolves when background indexing is done. */
  async indexed(): Promise<void> {
    while (this.#indexing !== undefined) await this.#indexing;
  }

  /** Ends the threads. Calls in progress reject with `CLOSED`. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { writer, ...others } = this.#threads;
    const all = Object.values(this.#threads).flat();
    for (const { rpc } of all) rpc.break(closedError());
    // Close the writer last: others send changes to it, and the last one to close cleans up the files.
    await Promise.all(Object.values(others).flat().map(endThread));
    await Promise.all(writer.map(endThread));
  }

  #thread(role: Role): Thread {
    const threads = this.#threads[role];
    const found = leastBusy(threads, MOST_THREADS[role]);
    if (found !== undefined) return found;
    const thread = this.#start(role);
    threads.push(thread);
    return thread;
  }

  #start(role: Role): Thread {
    const { data, transfer } = this.#startData(role, makeAbortFlags());
    return startThread(this.#entry, data, { transfer, onLost: (error) => this.#lose(role, error) });
  }

  #startData(role: Role, flags: SharedArrayBuffer): { data: WorkerStart; transfer: MessagePort[] } {
    const folder = this.#folder;
    if (role !== "mover") return { data: { role, folder, flags }, transfer: [] };
    const { port1, port2 } = new MessageChannel();
    const shared = makeAbortFlags();
    this.#thread("writer").worker.postMessage({ connect: port1, flags: shared }, [port1]);
    const writer = { port: port2, flags: shared };
    return { data: { role, folder, flags, guarded: this.#guarded, writer }, transfer: [port2] };
  }

  /**
   * Handles the death of a thread. Movers have a connection to the writer, so all threads are dropped; the next call
   * starts new ones.
   */
  #lose(role: Role, error: unknown): void {
    if (this.#closed) return;
    this.#logger.error("a thread of the store exited", { role, error });
    const lost = new TrunklineError("INTERNAL", `A thread of the store exited: ${messageOf(error)}.`, {
      cause: error,
      hint: "Try again; acknowledged writes are safe.",
      retryable: true,
    });
    for (const threads of Object.values(this.#threads)) {
      for (const { rpc, worker } of threads.splice(0)) {
        rpc.break(lost);
        worker.removeAllListeners("exit");
        void worker.terminate();
      }
    }
  }
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The store has been closed.");
}
