// Group commit: waiting writes share one transaction and one fsync. Each runs in a savepoint, so a failing write does
// not affect the others. A write is acknowledged once it is durable and indexed.
import type { TrunklineError } from "@trunkline/core";
import type { IndexText } from "../content/text.js";
import { catchUp, type IndexingContext } from "../indexing/catch-up.js";
import type { Db } from "../sqlite/database.js";

export interface WriteContext {
  readonly truth: Db;
  /** Text of newly stored content, by row ID, for indexing. */
  readonly texts: Map<number, IndexText>;
}

/** A synchronous change to the content database. */
export type Write<T> = (context: WriteContext) => T;

interface Job {
  readonly write: Write<unknown>;
  readonly check: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_JOBS_PER_COMMIT = 512;
/** Once a transaction has taken this long, the remaining jobs wait for the next one. */
const MAX_COMMIT_MS = 50;

/** Runs writes in order of arrival. */
export class WriteQueue {
  readonly #truth: Db;
  readonly #databases: Pick<IndexingContext, "truth" | "index" | "indexers">;
  readonly #jobs: Job[] = [];
  #scheduled = false;

  constructor(databases: Pick<IndexingContext, "truth" | "index" | "indexers">) {
    this.#truth = databases.truth;
    this.#databases = databases;
  }

  /** Resolves when the change is durable and searchable. */
  submit<T>(write: Write<T>, check: () => void = () => {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ write, check, resolve: resolve as (value: unknown) => void, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const started = performance.now();
    const outcomes: { job: Job; value?: unknown; error?: unknown }[] = [];
    const texts = new Map<number, IndexText>();
    try {
      this.#truth.immediate(() => {
        while (this.#jobs.length > 0 && outcomes.length < MAX_JOBS_PER_COMMIT) {
          const job = this.#jobs.shift() as Job;
          outcomes.push(this.#run(job, texts));
          if (performance.now() - started > MAX_COMMIT_MS) break;
        }
      });
      if (outcomes.some((outcome) => !("error" in outcome))) {
        catchUp({ ...this.#databases, texts, check: () => {} });
      }
      for (const { job, value, ...failed } of outcomes) {
        if ("error" in failed) job.reject(failed.error);
        else job.resolve(value);
      }
    } catch (error) {
      // Nothing in this transaction is durable, or the index could not be updated: all its writes fail.
      const failed = outcomes.length > 0 ? outcomes.map(({ job }) => job) : this.#jobs.splice(0, 1);
      for (const job of failed) job.reject(error);
    }
    if (this.#jobs.length > 0) setImmediate(() => this.#flush());
    else this.#scheduled = false;
  }

  #run(job: Job, texts: Map<number, IndexText>): { job: Job; value?: unknown; error?: unknown } {
    const own = new Map<number, IndexText>();
    try {
      job.check();
    } catch (error) {
      return { job, error };
    }
    this.#truth.exec("SAVEPOINT job");
    try {
      const value = job.write({ truth: this.#truth, texts: own });
      this.#truth.exec("RELEASE job");
      for (const [content, text] of own) texts.set(content, text);
      return { job, value };
    } catch (error) {
      // Some errors, such as a full disk, end the whole transaction.
      if (!this.#truth.inTransaction) {
        job.reject(error as TrunklineError);
        throw error;
      }
      this.#truth.exec("ROLLBACK TO job; RELEASE job");
      return { job, error };
    }
  }
}
