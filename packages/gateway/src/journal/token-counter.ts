// Counts tokens (o200k_base) without blocking: on a thread that is started on demand and stopped after a while without
// work.
import { TrunklineError } from "@trunkline/core";
import { startThread, type Thread } from "@trunkline/core/threads";

const WORKER_FILE = new URL("./token-worker.js", import.meta.url);

/** Starting again takes 0.1 s of processor time, at most once in ten seconds; staying takes 20 MB. */
const IDLE_MS = 2_000;
/** Texts are short-lived, so the thread needs no large heap for them. */
const LIMITS = { maxYoungGenerationSizeMb: 2 };

export class TokenCounter implements AsyncDisposable {
  #thread: Thread | undefined;
  #closed = false;

  /** Counts the tokens of each text. Returns estimates if the thread fails or the counter is closed. */
  async count(texts: readonly string[]): Promise<readonly number[]> {
    if (texts.length === 0) return [];
    if (this.#closed) return texts.map(estimateTokens);
    this.#thread ??= this.#start();
    try {
      return (await this.#thread.rpc.call("count", texts)) as readonly number[];
    } catch {
      return texts.map(estimateTokens);
    }
  }

  /** Stops the thread. Pending counts are estimated. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #start(): Thread {
    const thread: Thread = startThread(WORKER_FILE, {
      owner: "token counter",
      name: "trunkline tokens",
      execArgv: [],
      limits: LIMITS,
      idle: { ms: IDLE_MS, end: () => void this.#stop() },
      onLost: () => this.#forget(thread),
    });
    return thread;
  }

  async #stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#forget(thread);
    await thread.worker.terminate();
  }

  #forget(thread: Thread): void {
    if (this.#thread === thread) this.#thread = undefined;
    clearTimeout(thread.idle.timer);
    thread.rpc.break(new TrunklineError("CLOSED", "The token counter has stopped."));
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
