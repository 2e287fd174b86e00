// The grep threads, shared by all queries. The main thread never runs a pattern. A thread that does not stop when told
// to is killed; only its own batch is lost.
import { totalmem } from "node:os";
import { messageOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import { startThread, THREAD_LIMITS, type Thread } from "@trunkline/core/threads";
import { columnsOf, partsOf, together } from "./batch-parts.js";
import type {
  Batch,
  BatchAnswer,
  BatchDocuments,
  GrepThreadData,
  GrepThreadStart,
  SentAnswer,
} from "./grep-messages.js";

interface GrepPoolOptions extends GrepThreadData {
  /** Number of threads to keep. Default 2. */
  readonly threads?: number;
  /** Total size of the threads' content caches. Default: 256 MB, or an eighth of the memory. */
  readonly cacheBytes?: number;
  /** After how much idle time a thread ends, with its cache. Default 5 minutes. */
  readonly idleMs?: number;
}

/**
 * A batch before the pool adds its part. Its documents come with their contents if the threads do not read contents
 * themselves.
 */
export interface BatchRequest extends Omit<Batch, "shared" | "keep" | keyof BatchDocuments> {
  readonly documents: readonly { readonly path: string; readonly hash: string }[];
  readonly contents?: readonly Uint8Array[];
}

type Unshared = Omit<Batch, "shared" | "keep">;

interface Job {
  readonly batch: Omit<Batch, "keep">;
  /** The number of the thread that caches the batch's contents, if any. */
  readonly home: number | undefined;
  readonly settle: (answer: SentAnswer | TrunklineError) => void;
  timer: NodeJS.Timeout | undefined;
}

interface GrepThread extends Thread {
  /** Permanent threads have a number; extra ones for peak load do not. */
  readonly number: number | undefined;
  job: Job | undefined;
}

/** The most threads, so that one query does not wait for another. */
const MAX_THREADS = 8;
const CACHE_BYTES = 256 * 2 ** 20;
const IDLE_MS = 5 * 60_000;
const NOTHING = { counts: new Int32Array(), collected: [], binary: [] };

const THREAD_ENTRY = new URL("./grep-thread.js", import.meta.url);

/** Up to this many documents of a query, one thread is enough: starting another takes longer than searching them. */
const FEW_DOCUMENTS = 2000;

/** A thread checks whether to stop at least this often, unless something is very wrong. */
const GRACE_MS = 1000;

export class GrepPool implements AsyncDisposable {
  readonly #options: GrepPoolOptions;
  readonly #threads: GrepThread[] = [];
  readonly #queue: Job[] = [];
  /** The latest query, and how many documents it has searched. */
  #latest = { query: 0, documents: 0 };
  #closed = false;

  constructor(options: GrepPoolOptions = {}) {
    this.#options = options;
  }

  /** How many batches of one query are worth running in parallel. */
  get width(): number {
    return this.#kept + 1;
  }

  /** Whether the threads read contents themselves. */
  get reads(): boolean {
    return this.#options.reader !== undefined;
  }

  /** How many threads are running. */
  get running(): number {
    return this.#threads.length;
  }

  /** Starts a thread, so it is ready for the first batch. */
  warm(): void {
    if (!this.#closed && this.#threads.length === 0) this.#start(0);
  }

  /**
   * Searches a batch. `query` is the number of its query: a query with nothing running does not wait for others. An
   * aborted signal makes the threads stop; the answer then says where.
   */
  async run({ documents, contents, ...request }: BatchRequest, signal: AbortSignal): Promise<BatchAnswer> {
    if (contents !== undefined) {
      const answer = await this.#run(
        { ...request, ...columnsOf(documents), ...inOnePiece(contents) },
        undefined,
        signal,
      );
      return together([{ positions: documents.map((_, position) => position) }], [answer]);
    }
    const parts = partsOf(documents, this.#isOneEnough(request.query, documents.length) ? 1 : this.#kept);
    const answers = parts.map(({ home, positions }) => {
      const own = positions.map((position) => documents[position] as { path: string; hash: string });
      // Only the first document of the batch can be resumed.
      const scan = positions[0] === 0 ? request.scan : { ...request.scan, afterLine: 0 };
      return this.#run({ ...request, ...columnsOf(own), scan }, home, signal);
    });
    return together(parts, await Promise.all(answers));
  }

  /** Whether a query needs no second thread for these documents and those it has searched before. */
  #isOneEnough(query: number, documents: number): boolean {
    if (this.#latest.query !== query) this.#latest = { query, documents: 0 };
    this.#latest.documents += documents;
    return this.#threads.length < 2 && this.#latest.documents <= FEW_DOCUMENTS;
  }

  async #run(request: Unshared, home: number | undefined, signal: AbortSignal): Promise<SentAnswer> {
    if (this.#closed) throw closedError();
    const shared = new SharedArrayBuffer(8);
    const batch = { ...request, shared };
    return await new Promise<SentAnswer>((resolve, reject) => {
      const stop = (): void => {
        Atomics.store(new Int32Array(shared), 0, 1);
        this.#killAfter(job, GRACE_MS);
      };
      const job: Job = {
        batch,
        home,
        timer: undefined,
        settle: (answer) => {
          signal.removeEventListener("abort", stop);
          clearTimeout(job.timer);
          if (answer instanceof TrunklineError) reject(answer);
          else resolve(answer);
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  /** Ends the threads; running batches reject with `CLOSED`. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.settle(closedError());
    const threads = this.#threads.splice(0);
    for (const { rpc, idle } of threads) {
      rpc.break(closedError());
      clearTimeout(idle.timer);
    }
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #dispatch(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { job, thread } = next;
      this.#queue.splice(this.#queue.indexOf(job), 1);
      thread.job = job;
      void this.#search(thread, job);
      this.#killAfter(job, Math.max(job.batch.deadline - Date.now(), 0) + GRACE_MS);
    }
  }

  async #search(thread: GrepThread, job: Job): Promise<void> {
    const batch: Batch = { ...job.batch, keep: job.home !== undefined && job.home === thread.number };
    const transfer = batch.data === undefined ? [] : [batch.data];
    const answer = await thread.rpc
      .call("search", batch, { transfer })
      .catch((error: unknown) => toTrunklineError(error));
    // It was killed.
    if (thread.job !== job) return;
    thread.job = undefined;
    job.settle(answer as SentAnswer | TrunklineError);
    this.#dispatch();
    if (thread.job === undefined && thread.number === undefined) this.#drop(thread);
  }

  /** Returns the next job that can start, and its thread. Queries take turns: one without a thread goes first. */
  #next(): { job: Job; thread: GrepThread } | undefined {
    const running = new Set(this.#threads.map((thread) => thread.job?.batch.query));
    for (const starved of [true, false]) {
      for (const job of this.#queue) {
        if (running.has(job.batch.query) === starved) continue;
        const thread = this.#threadFor(job, starved);
        if (thread !== undefined) return { job, thread };
      }
    }
    return undefined;
  }

  #threadFor({ home }: Job, starved: boolean): GrepThread | undefined {
    if (home !== undefined) {
      const own = this.#threads.find(({ number }) => number === home);
      if (own === undefined) return this.#start(home);
      if (own.job === undefined) return own;
      // This thread is worth waiting for, unless the query has no other thread.
      if (!starved) return undefined;
    }
    const idle = this.#threads.find(({ job }) => job === undefined);
    if (idle !== undefined) return idle;
    if (this.#threads.length >= (starved ? MAX_THREADS : this.#kept)) return undefined;
    const numbers = new Set(this.#threads.map(({ number }) => number));
    const free = Array.from({ length: this.#kept }, (_, number) => number).find((number) => !numbers.has(number));
    return this.#start(home === undefined ? free : undefined);
  }

  get #kept(): number {
    return this.#options.threads ?? 2;
  }

  #start(number: number | undefined): GrepThread {
    const { reader, cacheBytes = Math.min(CACHE_BYTES, availableBytes() / 8) } = this.#options;
    const workerData: GrepThreadStart = {
      ...(reader === undefined ? {} : { reader }),
      cacheBytes: number === undefined || reader === undefined ? 0 : Math.floor(cacheBytes / this.#kept),
    };
    const started = startThread(THREAD_ENTRY, {
      owner: "grep pool",
      name: "store grep",
      workerData,
      limits: THREAD_LIMITS,
      idle: { ms: this.#options.idleMs ?? IDLE_MS, end: () => this.#drop(thread) },
      onLost: (error) => this.#lose(thread, error),
    });
    const thread: GrepThread = { ...started, number, job: undefined };
    this.#threads.push(thread);
    return thread;
  }

  #lose(thread: GrepThread, error: unknown): void {
    if (!this.#drop(thread)) return;
    const message = `A grep thread ended: ${messageOf(error)}.`;
    thread.rpc.break(new TrunklineError("INTERNAL", message, { cause: error, retryable: true }));
    if (!this.#closed) this.#dispatch();
  }

  /** Removes and ends the thread; false if that was already done. */
  #drop(thread: GrepThread): boolean {
    const index = this.#threads.indexOf(thread);
    if (index === -1) return false;
    this.#threads.splice(index, 1);
    clearTimeout(thread.idle.timer);
    thread.worker.terminate().catch(() => {});
    return true;
  }

  #killAfter(job: Job, ms: number): void {
    clearTimeout(job.timer);
    job.timer = setTimeout(() => {
      const waiting = this.#queue.indexOf(job);
      if (waiting !== -1) {
        this.#queue.splice(waiting, 1);
        job.settle({ ...NOTHING, stoppedAt: 0 });
        return;
      }
      const thread = this.#threads.find((candidate) => candidate.job === job);
      if (thread === undefined) return;
      // Everything the batch had found is lost with the thread, so it counts as stopped at its start.
      const stuckAt = Atomics.load(new Int32Array(job.batch.shared), 1);
      thread.job = undefined;
      this.#drop(thread);
      job.settle({ ...NOTHING, stoppedAt: 0, stuckAt });
      this.#dispatch();
    }, ms);
    job.timer.unref();
  }
}

function inOnePiece(contents: readonly Uint8Array[]): Pick<BatchDocuments, "bytes" | "data"> {
  const data = new ArrayBuffer(contents.reduce((sum, bytes) => sum + bytes.length, 0));
  const all = new Uint8Array(data);
  let offset = 0;
  const bytes = contents.map((content) => {
    all.set(content, offset);
    offset += content.length;
    return [offset - content.length, content.length] as const;
  });
  return { bytes, data };
}

/**
 * Returns the available memory. A container can have less than the machine; without a limit, the value is 0 or
 * enormous.
 */
function availableBytes(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The store has been closed.");
}
