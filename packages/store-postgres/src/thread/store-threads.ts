// The threads of an open store, seen from the main thread: one for files, one for texts, started on demand.
import { MessageChannel } from "node:worker_threads";
import { type Logger, messageOf, TrunklineError } from "@trunkline/core";
import {
  type Handlers,
  makeAbortFlags,
  type Remotes,
  type RpcOptions,
  remotesOf,
  serveRpc,
  startThread,
  THREAD_LIMITS,
  type Thread,
} from "@trunkline/core/threads";
import type { PostgresThreadStart, ThreadHandlers } from "./postgres-thread.js";

const THREAD_ENTRY = new URL("./postgres-thread.js", import.meta.url);
const IDLE_MS = 60_000;

type Role = "files" | "texts";

export class StoreThreads {
  /** Reads and downloads files. */
  readonly files: Remotes<ThreadHandlers> = remotesOf(this.#calls("files"));
  /** Analyses texts. */
  readonly texts: Remotes<ThreadHandlers> = remotesOf(this.#calls("texts"));
  readonly #folder: string;
  readonly #store: Handlers;
  readonly #logger: Logger;
  readonly #running = new Map<Role, Thread>();
  #isClosed = false;
  #isAdding = false;
  /** Called when no files are read any more. */
  onAdded: (() => void) | undefined;

  /** `store` answers the questions of threads and stores what they found. */
  constructor({ folder, store, logger }: { folder: string; store: Handlers; logger: Logger }) {
    this.#folder = folder;
    this.#store = store;
    this.#logger = logger;
  }

  /** Whether files are read and added. */
  get isAdding(): boolean {
    return this.#isAdding;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { rpc, idle } of all) {
      clearTimeout(idle.timer);
      rpc.break(closed());
    }
    await Promise.all(all.map(({ worker }) => worker.terminate()));
  }

  #calls(role: Role) {
    return async (method: string, params: unknown, options?: RpcOptions): Promise<unknown> => {
      if (this.#isClosed) throw closed();
      let running = this.#running.get(role);
      if (running === undefined) {
        running = this.#start(role);
        this.#running.set(role, running);
      }
      return await running.rpc.call(method, params, options);
    };
  }

  #start(role: Role): Thread {
    const { port1, port2 } = new MessageChannel();
    const shared = makeAbortFlags();
    // An idle thread must not keep the process alive.
    port1.unref();
    serveRpc(port1, this.#store, { owner: "store", flags: shared });
    const flags = makeAbortFlags();
    const start: PostgresThreadStart = { folder: this.#folder, flags, store: { port: port2, flags: shared } };
    const thread: Thread = startThread(THREAD_ENTRY, {
      owner: "store",
      name: `store ${role}`,
      workerData: start,
      transfer: [port2],
      flags,
      limits: THREAD_LIMITS,
      onBusy: (isBusy) => {
        if (isBusy) port1.ref();
        else port1.unref();
        if (role !== "files") return;
        this.#isAdding = isBusy;
        if (!isBusy) this.onAdded?.();
      },
      idle: { ms: IDLE_MS, end: () => this.#end(role, thread) },
      onLost: (error) => {
        port1.close();
        this.#lose(role, thread, error);
      },
    });
    return thread;
  }

  #end(role: Role, running: Thread): void {
    if (this.#running.get(role) !== running) return;
    this.#running.delete(role);
    void running.worker.terminate();
  }

  #lose(role: Role, running: Thread, error: unknown): void {
    if (this.#isClosed || this.#running.get(role) !== running) return;
    this.#running.delete(role);
    if (role === "files") this.#isAdding = false;
    this.#logger.error("a thread of the store exited", { role, error });
    running.rpc.break(
      new TrunklineError("INTERNAL", `A thread of the store exited: ${messageOf(error)}.`, {
        cause: error,
        hint: "Try again; acknowledged writes are safe.",
        retryable: true,
      }),
    );
  }
}

function closed(): TrunklineError {
  return new TrunklineError("CLOSED", "The store has been closed.");
}
