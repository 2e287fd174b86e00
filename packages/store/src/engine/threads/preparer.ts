// A preparer works out what an indexer thread writes. The indexer thread starts them when there is something to prepare.
import { messageOf, TrunklineError } from "@trunkline/core";
import { indexers } from "../../indexers.js";
import { prepareSlice, type Range, type Slice } from "../indexing/slices.js";
import type { Databases } from "./open-databases.js";
import { type Call, makeAbortFlags } from "./rpc.js";
import { endThread, leastBusy, startThread, type Thread } from "./thread.js";

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

/** The preparers of the thread that makes this. */
export class Preparers {
  readonly #folder: string;
  readonly #most: number;
  #threads: readonly Thread<PreparerHandlers>[] = [];

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
    for (const { rpc } of threads) rpc.break(new TrunklineError("CLOSED", "The store has been closed."));
    await Promise.all(threads.map(endThread));
  }

  #free(): Thread<PreparerHandlers> {
    const found = leastBusy(this.#threads, this.#most);
    if (found !== undefined) return found;
    const thread = startThread<PreparerHandlers>(
      { role: "preparer", folder: this.#folder, flags: makeAbortFlags() },
      { onLost: (error) => this.#lose(thread, error) },
    );
    this.#threads = [...this.#threads, thread];
    return thread;
  }

  #lose(thread: Thread<PreparerHandlers>, error: unknown): void {
    this.#threads = this.#threads.filter((other) => other !== thread);
    thread.rpc.break(
      new TrunklineError("INTERNAL", `A thread of the store ended: ${messageOf(error)}.`, { cause: error }),
    );
  }
}
