// A preparer works out what an indexer thread writes. The indexer thread starts them when there is something to prepare.
import { Worker } from "node:worker_threads";
import { messageOf, TrunklineError } from "@trunkline/core";
import { indexers } from "../indexing/indexers.js";
import { prepareSlice, type Range, type Slice } from "../indexing/slices.js";
import type { Databases } from "./environment.js";
import type { WorkerStart } from "./pool.js";
import { type Call, makeAbortFlags, RpcClient, type Wire } from "./rpc.js";

/** What a preparer does. */
export type PreparerHandlers = ReturnType<typeof preparerHandlers>;

/** What is prepared. */
export interface PrepareParams {
  readonly indexer: string;
  readonly range: Range;
}

export function preparerHandlers({ truth, index }: Databases) {
  return {
    prepare: async (params: PrepareParams, call: Call): Promise<Slice | undefined> => {
      const indexer = indexers.find(({ name }) => name === params.indexer);
      if (indexer === undefined) throw new TrunklineError("INTERNAL", `There is no indexer "${params.indexer}".`);
      const slice = await prepareSlice({ truth, index, indexer }, params.range, call);
      if (slice === undefined) return undefined;
      return { ...slice, prepared: slice.prepared.map(({ entry, made }) => ({ entry, made, text: undefined })) };
    },
  };
}

interface Thread {
  readonly worker: Worker;
  readonly rpc: RpcClient<PreparerHandlers>;
}

/** The preparers of the thread that makes this. */
export class Preparers {
  readonly #folder: string;
  readonly #most: number;
  #threads: readonly Thread[] = [];

  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  async prepare(params: PrepareParams, signal: AbortSignal): Promise<Slice | undefined> {
    return await this.#free().rpc.call("prepare", params, { signal });
  }

  /** Lets them close their databases. */
  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    await Promise.all(threads.map(endThread));
  }

  #free(): Thread {
    const least = this.#threads.toSorted((a, b) => a.rpc.pending - b.rpc.pending)[0];
    if (least !== undefined && (least.rpc.pending === 0 || this.#threads.length >= this.#most)) return least;
    const thread = this.#start();
    this.#threads = [...this.#threads, thread];
    return thread;
  }

  #start(): Thread {
    const data: WorkerStart = { role: "preparer", folder: this.#folder, flags: makeAbortFlags() };
    const worker = new Worker(new URL("./main.js", import.meta.url), { workerData: data, name: "store preparer" });
    const rpc = new RpcClient<PreparerHandlers>(worker as Wire, data.flags);
    worker.unref();
    rpc.onBusy = (busy) => (busy ? worker.ref() : worker.unref());
    const lose = (error: unknown) => {
      this.#threads = this.#threads.filter((thread) => thread.worker !== worker);
      rpc.break(new TrunklineError("INTERNAL", `A thread of the store ended: ${messageOf(error)}.`, { cause: error }));
    };
    worker.on("error", lose);
    worker.once("exit", () => lose(new Error("the preparer thread ended")));
    return { worker, rpc };
  }
}

async function endThread({ worker, rpc }: Thread): Promise<void> {
  rpc.break(new TrunklineError("CLOSED", "The store has been closed."));
  worker.removeAllListeners("exit");
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.ref();
  worker.postMessage({ end: true });
  await ended;
}
