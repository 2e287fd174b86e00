// Batches with an idempotency key: a repeated batch gets the first one's answer. Answers are kept for a day, in memory
// and as documents in the results collection, so that a batch does not run twice after a restart.
import {
  abortable,
  type Clock,
  type ContentStore,
  contentIdOf,
  isRecord,
  isTrunklineError,
  parseJson,
  TrunklineError,
} from "@trunkline/core";
import { RESULTS_COLLECTION } from "../budget/stored-value.js";
import type { ToolResult } from "../interfaces/served-tool.js";

/** A batch and its result. */
interface Kept {
  /** Hash of the batch. */
  readonly batch: string;
  readonly atMs: number;
  readonly result: Promise<ToolResult>;
}

/** A finished batch. `hasRun`: something was started, so running the batch again would do it twice. */
interface BatchRun {
  readonly result: ToolResult;
  readonly hasRun: boolean;
}

const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 1_000;
const FORMAT = 1;

/** Remembers the batches of one principal by their keys. `store` is the store that the principal sees. */
export class IdempotentBatches {
  readonly #store: () => Promise<ContentStore>;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(options: { store: () => Promise<ContentStore>; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /**
   * Runs a batch, or returns its earlier result. Rejects with `INVALID_ARGUMENT` if the key was used for a different
   * batch.
   */
  async once(
    { key, batch, signal }: { key: string; batch: unknown; signal: AbortSignal },
    run: () => Promise<BatchRun>,
  ): Promise<{ result: ToolResult; isRepeated: boolean }> {
    const id = contentIdOf(JSON.stringify([key]));
    const hash = contentIdOf(JSON.stringify(batch));
    this.#forgetOld();
    const known = this.#kept.get(id);
    if (known !== undefined) {
      requireSame(known.batch, hash, key);
      return { result: await abortable(signal, known.result), isRepeated: true };
    }
    const result = this.#find(id, { hash, key }).then(async (found) => {
      if (found !== undefined) return { result: found, isRepeated: true };
      await this.#write(id, { batch: hash });
      const { result: made, hasRun } = await run();
      if (hasRun) await this.#write(id, { batch: hash, result: made });
      else {
        this.#kept.delete(id);
        await this.#forget(id);
      }
      return { result: made, isRepeated: false };
    });
    const kept: Kept = { batch: hash, atMs: this.#clock.now(), result: result.then((made) => made.result) };
    this.#kept.set(id, kept);
    // The awaiting caller handles the failure; this only removes the entry.
    kept.result.catch(() => {
      if (this.#kept.get(id) === kept) this.#kept.delete(id);
    });
    return await result;
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - KEPT_MS;
    for (const [id, { atMs }] of this.#kept) {
      if (atMs >= oldest && this.#kept.size < MOST_KEPT) break;
      this.#kept.delete(id);
    }
  }

  /** Finds the result saved by an earlier process. */
  async #find(id: string, { hash, key }: { hash: string; key: string }): Promise<ToolResult | undefined> {
    const store = await this.#store();
    let written: Readonly<Record<string, unknown>>;
    try {
      written = await store.run("get", { path: nameOf(id), collection: RESULTS_COLLECTION, include_content: true });
    } catch (error) {
      if (isTrunklineError(error, "NOT_FOUND")) return undefined;
      throw error;
    }
    const note =
      typeof written.content === "string" && written.state === undefined ? parseJson(written.content) : undefined;
    if (!isRecord(note) || note.format !== FORMAT || typeof note.atMs !== "number") return undefined;
    if (note.atMs < this.#clock.now() - KEPT_MS) return undefined;
    requireSame(String(note.batch), hash, key);
    if (isRecord(note.result) && Array.isArray(note.result.content)) {
      return { ...note.result, content: note.result.content };
    }
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      `A batch with the key "${key}" was started earlier, but its outcome is unknown.`,
      {
        hint: "Check what it did, then use another key.",
        data: { parameter: "idempotency_key" },
      },
    );
  }

  async #write(id: string, note: { batch: string; result?: ToolResult }): Promise<void> {
    const store = await this.#store();
    const content = JSON.stringify({ format: FORMAT, atMs: this.#clock.now(), ...note });
    await store.run("add", { content, name: nameOf(id), collection: RESULTS_COLLECTION });
  }

  async #forget(id: string): Promise<void> {
    const store = await this.#store();
    await store.run("delete", { names: [nameOf(id)], collection: RESULTS_COLLECTION });
  }
}

function nameOf(id: string): string {
  return `execute/${id}.json`;
}

function requireSame(known: string, batch: string, key: string): void {
  if (known === batch) return;
  throw new TrunklineError("INVALID_ARGUMENT", `The key "${key}" was used for a batch with other operations.`, {
    hint: "Use another idempotency_key, or the same operations.",
    data: { parameter: "idempotency_key" },
  });
}
