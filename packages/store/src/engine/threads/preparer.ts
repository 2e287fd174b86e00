// Preparers compute the data that an indexer thread writes. The indexer thread starts them on demand.
import { messageOf, TrunklineError } from "@trunkline/core";
import { type Call, endThread, makeAbortFlags, type Remotes, remotesOf, type Thread } from "@trunkline/core/threads";
import { prepareSlice, type Range, type Slice } from "../indexing/background.js";
import { leastBusy, startStoreThread } from "./store-worker.js";
import type { Databases } from "./thread-context.js";

/** A range of entries for one indexer. */
interface PrepareParams {
  readonly indexer: string;
  readonly range: Range;
}

/** Runs in a preparer. */
export async function prepare(
  { truth, index, indexers }: Databases,
  params: PrepareParams,
  call: Call,
): Promise<Slice | undefined> {
  const indexer = indexers.find(({ name }) => name === params.indexer);
  if (indexer === undefined) throw new TrunklineError("INTERNAL", `There is no indexer "${params.indexer}".`);
  const slice = await prepareSlice({ truth, index, indexer }, params.range, call);
  if (slice === undefined) return undefined;
  return { ...slice, prepared: slice.prepared.map(({ entry, made }) => ({ entry, made, text: undefined })) };
}

/** The preparers of one indexer thread. */
export class Preparers {
  readonly #entry: URL;
  readonly #folder: string;
  readonly #most: number;
  #threads: readonly Thread[] = [];

  constructor(entry: URL, folder: string, most: number) {
    this.#entry = entry;
    this.#folder = folder;
    this.#most = most;
  }

  async prepare(params: PrepareParams, signal: AbortSignal): Promise<Slice | undefined> {
    const { rpc } = this.#free();
    const preparer: Remotes<{ prepare: typeof prepare }> = remotesOf(rpc.call.bind(rpc));
    return await preparer.prepare(params, { signal });
  }

  /** Lets the preparers close their databases. */
  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    for (const { rpc } of threads) rpc.break(new TrunklineError("CLOSED", "The store has been closed."));
    await Promise.all(threads.map(endThread));
  }

  #free(): Thread {
    const found = leastBusy(this.#threads, this.#most);
    if (found !== undefined) return found;
    const thread: Thread = startStoreThread(
      this.#entry,
      { role: "preparer", folder: this.#folder, flags: makeAbortFlags() },
      { onLost: (error) => this.#lose(thread, error) },
    );
    this.#threads = [...this.#threads, thread];
    return thread;
  }

  #lose(thread: Thread, error: unknown): void {
    this.#threads = this.#threads.filter((other) => other !== thread);
    thread.rpc.break(
      new TrunklineError("INTERNAL", `A thread of the store exited: ${messageOf(error)}.`, { cause: error }),
    );
  }
}
