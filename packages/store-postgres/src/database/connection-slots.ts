// Limits how many calls use a connection at a time. Unlike the queue of a pool, waiting can be aborted, takes as long as the
// database makes progress, and ends for all at once when it is gone.
import { abortError } from "@trunkline/core";

interface Waiting {
  take(): void;
  fail(error: unknown): void;
}

export class ConnectionSlots {
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  /** How many calls wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits for a free slot. Call the returned function to give it back. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next.take();
    };
  }

  /** Rejects everyone who waits. */
  failAll(error: unknown): void {
    for (const waiting of [...this.#waiting]) waiting.fail(error);
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        take: () => {
          leave();
          resolve();
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiting.fail(abortError(signal as AbortSignal, "The store's call"));
      if (signal?.aborted) return onAbort();
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", onAbort);
    });
  }
}
