// The threads of an open store, seen from the main thread: started on demand and reused.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { type Logger, messageOf, TrunklineError } from "@trunkline/core";
import {
  endThread,
  makeAbortFlags,
  type Remotes,
  type RpcOptions,
  remotesOf,
  type Thread,
} from "@trunkline/core/threads";
import { leastBusy, startStoreThread, type WorkerStart } from "./store-worker.js";

type Role = "writer" | "reader" | "mover" | "indexer";

const MOST_THREADS: Readonly<Record<Role, number>> = { writer: 1, reader: 2, mover: 2, indexer: 2 };

/** Idle threads end after this time. Readers stay longer, because their caches make the next search fast. */
const IDLE_MS: Readonly<Record<Role, number>> = { writer: 30_000, reader: 300_000, mover: 30_000, indexer: 30_000 };

interface ThreadPoolOptions {
  /** The entry file of every thread. */
  readonly entry: URL;
  readonly folder: string;
  readonly logger: Logger;
  /** After how much idle time a thread of any role ends. */
  readonly idleMs?: number;
}

/** The threads, by role. `T` has the handlers of each role. */
export class ThreadPool<T extends Readonly<Record<Role, object>>> {
  readonly #entry: URL;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #idleMs: Readonly<Record<Role, number>>;
  readonly #threads: Readonly<Record<Role, Thread[]>> = { writer: [], reader: [], mover: [], indexer: [] };
  /** Idle threads that are closing their databases. */
  readonly #ending = new Set<Promise<void>>();
  /** Called after every call that may have changed the store. */
  onChange: (() => void) | undefined;
  #closed = false;
  #indexing: Promise<void> | undefined;
  #indexAgain = false;

  readonly reader: Remotes<T["reader"]> = remotesOf(this.#calls("reader"));
  readonly writer: Remotes<T["writer"]> = remotesOf(this.#calls("writer"));
  readonly mover: Remotes<T["mover"]> = remotesOf(this.#calls("mover"));
  readonly indexer: Remotes<T["indexer"]> = remotesOf(this.#calls("indexer"));

  constructor({ entry, folder, logger, idleMs }: ThreadPoolOptions) {
    this.#entry = entry;
    this.#folder = folder;
    this.#logger = logger;
    this.#idleMs = idleMs === undefined ? IDLE_MS : { writer: idleMs, reader: idleMs, mover: idleMs, indexer: idleMs };
  }

  /** The roles of the running threads, one per thread. */
  get running(): readonly Role[] {
    const roles = Object.keys(this.#threads) as Role[];
    return roles.flatMap((role) => this.#threads[role].map(() => role));
  }

  /** Sends each call to the least busy thread of the role. */
  #calls(role: Role) {
    return async (method: string, params: unknown, options?: RpcOptions): Promise<unknown> => {
      if (this.#closed) throw closedError();
      const result = await this.#thread(role).rpc.call(method, params, options);
      if (role === "writer" || role === "mover") {
        if (!isIndexed(result)) this.indexInBackground();
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
    this.#indexing = this.#index().then(() => {
      this.#indexing = undefined;
      if (this.#indexAgain) this.indexInBackground();
    });
  }

  /** Runs the background indexers, in two threads only if there is enough work for both. */
  async #index(): Promise<void> {
    const call = this.#calls("indexer");
    const run = (only?: "alone" | "others"): Promise<unknown> =>
      call("run", { only }).catch((error: unknown) => this.#warn(error));
    try {
      if (await call("needsOwnThread", {})) await Promise.all([run("others"), run("alone")]);
      else await run();
    } catch (error) {
      this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    if (!this.#closed) this.#logger.warn("background indexing failed", { error });
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
    for (const { rpc, idle } of all) {
      rpc.break(closedError());
      clearTimeout(idle.timer);
    }
    // Close the writer last: others send changes to it, and the last one to close cleans up the files.
    await Promise.all([...this.#ending, ...Object.values(others).flat().map(endThread)]);
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
    const thread: Thread = startStoreThread(this.#entry, data, {
      transfer,
      onLost: (error) => {
        if (this.#threads[role].includes(thread)) this.#lose(role, error);
      },
      idle: { ms: this.#idleMs[role], end: () => this.#endIdle(role, thread) },
    });
    return thread;
  }

  /** Ends a thread that has had nothing to do. The next call starts another one. */
  #endIdle(role: Role, thread: Thread): void {
    const threads = this.#threads[role];
    if (this.#closed || !threads.includes(thread)) return;
    // A mover keeps its connection to the writer.
    if (role === "writer" && this.#threads.mover.length > 0) {
      thread.idle.timer?.refresh();
      return;
    }
    threads.splice(threads.indexOf(thread), 1);
    const ending = endThread(thread).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #startData(role: Role, flags: SharedArrayBuffer): { data: WorkerStart; transfer: MessagePort[] } {
    const folder = this.#folder;
    if (role !== "mover") return { data: { role, folder, flags }, transfer: [] };
    const { port1, port2 } = new MessageChannel();
    const shared = makeAbortFlags();
    this.#thread("writer").rpc.notify("connect", { port: port1, flags: shared }, [port1]);
    const writer = { port: port2, flags: shared };
    return { data: { role, folder, flags, writer }, transfer: [port2] };
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
      for (const { rpc, worker, idle } of threads.splice(0)) {
        rpc.break(lost);
        clearTimeout(idle.timer);
        worker.removeAllListeners("exit");
        void worker.terminate();
      }
    }
  }
}

/** Whether the writer has reported that background indexers have nothing to do. */
function isIndexed(result: unknown): boolean {
  return typeof result === "object" && result !== null && "background" in result && result.background === false;
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The store has been closed.");
}
