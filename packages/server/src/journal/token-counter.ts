// Counts tokens (o200k_base) without blocking: on a thread that is started on demand and stopped after a while without
// work.
import { Worker } from "node:worker_threads";
import type { CountAnswer, CountRequest } from "./token-worker.js";

const WORKER_FILE = new URL("./token-worker.js", import.meta.url);

/** Starting again takes 0.1 s of processor time, at most once in ten seconds; staying takes 20 MB. */
const IDLE_MS = 2_000;
/** Texts are short-lived, so the thread needs no large heap for them. */
const LIMITS = { maxYoungGenerationSizeMb: 2 };

export class TokenCounter implements AsyncDisposable {
  readonly #waiting = new Map<number, { resolve: (counts: readonly number[]) => void; texts: readonly string[] }>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #closed = false;

  /** Counts the tokens of each text. Returns estimates if the thread fails or the counter is closed. */
  async count(texts: readonly string[]): Promise<readonly number[]> {
    if (texts.length === 0) return [];
    if (this.#closed) return texts.map(estimateTokens);
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#lastId;
    return await new Promise((resolve) => {
      this.#waiting.set(id, { resolve, texts });
      worker.ref();
      worker.postMessage({ id, texts } satisfies CountRequest);
    });
  }

  /** Stops the thread. Pending counts are estimated. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #start(): Worker {
    const worker = new Worker(WORKER_FILE, { name: "trunkline tokens", execArgv: [], resourceLimits: LIMITS });
    worker.on("message", ({ id, counts }: CountAnswer) => this.#answer(id, counts));
    const onEnd = () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#estimateWaiting();
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    worker.unref();
    return worker;
  }

  #answer(id: number, counts: readonly number[]): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(counts);
    if (this.#waiting.size > 0) return;
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.#stop(), IDLE_MS);
    this.#idle.unref();
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#estimateWaiting();
    await worker?.terminate();
  }

  #estimateWaiting(): void {
    for (const { resolve, texts } of this.#waiting.values()) resolve(texts.map(estimateTokens));
    this.#waiting.clear();
  }
}

/** In English and in code, roughly. */
export const BYTES_PER_TOKEN = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Counts the tokens of each text on a temporary thread. */
export async function countTokens(texts: readonly string[]): Promise<readonly number[]> {
  await using counter = new TokenCounter();
  return await counter.count(texts);
}
