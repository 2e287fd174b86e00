// The threads that grep matches in, shared by all queries. The main thread never runs a pattern. A thread that does not
// stop when it is told to is killed; nothing but its own batch is lost.
import { Worker } from "node:worker_threads";
import { type ErrorCode, messageOf, TrunklineError } from "@trunkline/core";
import type { Batch, BatchAnswer, GrepThreadData } from "./protocol.js";

/** How many threads there are and how they read. */
export interface GrepPoolOptions extends GrepThreadData {
  /** Threads that are kept. Default 2. */
  readonly threads?: number | undefined;
  /** Threads at most, so that a query does not wait for another one. Default 8. */
  readonly maxThreads?: number | undefined;
}

/** A batch without what the pool adds, and how it can be stopped. */
export type BatchRequest = Omit<Batch, "id" | "shared">;

interface Job {
  readonly batch: Batch;
  readonly query: object;
  readonly settle: (answer: BatchAnswer | TrunklineError) => void;
  timer: NodeJS.Timeout | undefined;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
}

// Tests run the sources; a thread cannot, so it runs what the build made of them.
const WORKER_FILE = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/grep/worker.js" : "./worker.js",
  import.meta.url,
);

/** A thread looks whether it should stop at least this often, unless something is very wrong. */
const GRACE_MS = 1000;

/** The threads of grep. */
export class GrepPool implements AsyncDisposable {
  readonly #options: GrepPoolOptions;
  readonly #threads: Thread[] = [];
  readonly #queue: Job[] = [];
  #lastId = 0;
  #closed = false;

  constructor(options: GrepPoolOptions = {}) {
    this.#options = options;
  }

  /** How many batches of one query are worth having under way. */
  get width(): number {
    return (this.#options.threads ?? 2) + 1;
  }

  /** Whether the threads read contents by themselves. */
  get reads(): boolean {
    return this.#options.reader !== undefined;
  }

  /**
   * Has a batch searched. `query` stands for the query it is part of: a query with nothing under way does not wait for
   * others. An aborted signal makes the thread stop; the answer then says where.
   */
  async run(query: object, request: BatchRequest, signal: AbortSignal): Promise<BatchAnswer> {
    if (this.#closed) throw closedError();
    const shared = new SharedArrayBuffer(8);
    const batch: Batch = { ...request, id: ++this.#lastId, shared };
    return await new Promise<BatchAnswer>((resolve, reject) => {
      const stop = (): void => {
        Atomics.store(new Int32Array(shared), 0, 1);
        this.#killAfter(job, GRACE_MS);
      };
      const job: Job = {
        batch,
        query,
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

  /** Ends the threads; what is under way rejects with `CLOSED`. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.settle(closedError());
    const threads = this.#threads.splice(0);
    for (const thread of threads) thread.job?.settle(closedError());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const running = new Set(this.#threads.map((thread) => thread.job?.query));
      // Queries take turns: one that has no thread goes first.
      const starved = this.#queue.findIndex((job) => !running.has(job.query));
      const index = Math.max(starved, 0);
      const limit = starved >= 0 ? (this.#options.maxThreads ?? 8) : (this.#options.threads ?? 2);
      let thread = this.#threads.find((candidate) => candidate.job === undefined);
      if (thread === undefined) {
        if (this.#threads.length >= limit) return;
        thread = this.#start();
      }
      const job = this.#queue.splice(index, 1)[0] as Job;
      thread.job = job;
      thread.worker.ref();
      thread.worker.postMessage(job.batch, job.batch.data === undefined ? [] : [job.batch.data]);
      this.#killAfter(job, Math.max(job.batch.deadline - Date.now(), 0) + GRACE_MS);
    }
  }

  #start(): Thread {
    const { reader } = this.#options;
    const data: GrepThreadData = reader === undefined ? {} : { reader };
    const worker = new Worker(WORKER_FILE, { workerData: data, name: "store grep" });
    const thread: Thread = { worker, job: undefined };
    worker.unref();
    worker.on("message", (answer: BatchAnswer) => this.#finish(thread, answer));
    worker.on("error", (error) => this.#lose(thread, error));
    worker.once("exit", () => this.#lose(thread, new Error("it ended")));
    this.#threads.push(thread);
    return thread;
  }

  #finish(thread: Thread, answer: BatchAnswer): void {
    const job = thread.job;
    if (job === undefined || job.batch.id !== answer.id) return;
    thread.job = undefined;
    thread.worker.unref();
    const { error } = answer;
    job.settle(
      error === undefined
        ? answer
        : new TrunklineError(error.code as ErrorCode, error.message, {
            ...(error.hint === undefined ? {} : { hint: error.hint }),
            ...(error.data === undefined ? {} : { data: error.data }),
          }),
    );
    this.#dispatch();
    if (thread.job === undefined && this.#threads.length > (this.#options.threads ?? 2)) this.#drop(thread);
  }

  #lose(thread: Thread, error: unknown): void {
    const job = thread.job;
    if (!this.#drop(thread)) return;
    job?.settle(
      new TrunklineError("INTERNAL", `A thread of grep ended: ${messageOf(error)}.`, { cause: error, retryable: true }),
    );
    if (!this.#closed) this.#dispatch();
  }

  /** Takes the thread away and ends it; false where that was done before. */
  #drop(thread: Thread): boolean {
    const index = this.#threads.indexOf(thread);
    if (index === -1) return false;
    this.#threads.splice(index, 1);
    thread.worker.removeAllListeners("exit");
    thread.worker.terminate().catch(() => {});
    return true;
  }

  #killAfter(job: Job, ms: number): void {
    clearTimeout(job.timer);
    job.timer = setTimeout(() => {
      const waiting = this.#queue.indexOf(job);
      if (waiting !== -1) {
        this.#queue.splice(waiting, 1);
        job.settle({ id: job.batch.id, found: [], binary: 0, stoppedAt: 0 });
        return;
      }
      const thread = this.#threads.find((candidate) => candidate.job === job);
      if (thread === undefined) return;
      // What the batch found before is lost with the thread: it counts as stopped at its beginning.
      const stuckAt = Atomics.load(new Int32Array(job.batch.shared), 1);
      this.#drop(thread);
      job.settle({ id: job.batch.id, found: [], binary: 0, stoppedAt: 0, stuckAt });
      this.#dispatch();
    }, ms);
    job.timer.unref();
  }
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The store has been closed.");
}
