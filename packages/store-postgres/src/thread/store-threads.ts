// The threads of an open store, seen from the main thread: one for files, one for texts, started on demand.
import { MessageChannel, Worker } from "node:worker_threads";
import { type Logger, messageOf, TrunklineError } from "@trunkline/core";
import {
  type Handlers,
  makeAbortFlags,
  type Remotes,
  RpcClient,
  type RpcOptions,
  remotesOf,
  serveRpc,
  THREAD_LIMITS,
  type Wire,
} from "@trunkline/store/parts";
import type { PostgresThreadStart, ThreadHandlers } from "./postgres-thread.js";

const THREAD_ENTRY = new URL("./postgres-thread.js", import.meta.url);
const IDLE_MS = 60_000;

type Role = "files" | "texts";

interface Running {
  readonly worker: Worker;
  readonly rpc: RpcClient;
  readonly ended: Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

export class StoreThreads {
  /** Reads and downloads files. */
  readonly files: Remotes<ThreadHandlers> = remotesOf(this.#calls("files"));
  /** Analyses texts. */
  readonly texts: Remotes<ThreadHandlers> = remotesOf(this.#calls("texts"));
  readonly #folder: string;
  readonly #store: Handlers;
  readonly #logger: Logger;
  readonly #running = new Map<Role, Running>();
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
    for (const { rpc, timer } of all) {
      clearTimeout(timer);
      rpc.break(closed());
    }
    await Promise.all(
      all.map(async ({ worker }) => {
        worker.removeAllListeners("exit");
        await worker.terminate();
      }),
    );
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

  #start(role: Role): Running {
    const { port1, port2 } = new MessageChannel();
    const shared = makeAbortFlags();
    serveRpc(port1 as Wire, this.#store, shared);
    port1.unref();
    const start: PostgresThreadStart = {
      folder: this.#folder,
      flags: makeAbortFlags(),
      store: { port: port2, flags: shared },
    };
    const worker = new Worker(THREAD_ENTRY, {
      workerData: start,
      transferList: [port2],
      name: `store ${role}`,
      resourceLimits: THREAD_LIMITS,
    });
    const rpc = new RpcClient(worker as Wire, start.flags);
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const running: Running = { worker, rpc, ended, timer: undefined };
    rpc.onBusy = (isBusy) => {
      if (role === "files") {
        this.#isAdding = isBusy;
        if (!isBusy) this.onAdded?.();
      }
      clearTimeout(running.timer);
      if (isBusy) {
        worker.ref();
        port1.ref();
      } else {
        // An idle thread must not keep the process alive.
        worker.unref();
        port1.unref();
        running.timer = setTimeout(() => this.#end(role, running), IDLE_MS).unref();
      }
    };
    worker.unref();
    worker.on("error", (error) => this.#lose(role, running, error));
    worker.once("exit", () => {
      port1.close();
      this.#lose(role, running, new Error("it exited"));
    });
    return running;
  }

  #end(role: Role, running: Running): void {
    if (this.#running.get(role) !== running) return;
    this.#running.delete(role);
    running.worker.removeAllListeners("exit");
    void running.worker.terminate();
  }

  #lose(role: Role, running: Running, error: unknown): void {
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
