// Text vectors by model, cached between runs, so that each text is embedded only once.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Embedder, type Logger, sleep, systemCodeOf, writeFileAtomically } from "@trunkline/core";

const HASH_BYTES = 32;
const BATCH = 16;

export class Vectors {
  readonly #embedder: Embedder;
  readonly #path: string | undefined;
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  /** By the hash of the text. */
  readonly #vectors = new Map<string, Float32Array>();
  /** The most recently requested hashes: the contents of the cache file. */
  #wanted: readonly string[] = [];
  #read: Promise<void> | undefined;
  #filling: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(embedder: Embedder, { folder, logger }: { folder: string | undefined; logger: Logger }) {
    this.#embedder = embedder;
    this.#folder = folder;
    this.#path = folder === undefined ? undefined : join(folder, `vectors-${safe(embedder.model)}.bin`);
    this.#logger = logger;
  }

  /**
   * Returns the vectors of these texts, in order; undefined for each one that is not ready. Computes missing ones,
   * waiting up to `waitMs`, then continues in the background.
   */
  async of(
    texts: readonly string[],
    { waitMs, signal }: { waitMs: number; signal?: AbortSignal | undefined },
  ): Promise<(Float32Array | undefined)[]> {
    this.#read ??= this.#load();
    await this.#read;
    const keys = texts.map(keyOf);
    this.#wanted = keys;
    const missing = () => [...new Set(texts.filter((_, at) => !this.#vectors.has(keys[at] as string)))];
    if (missing().length > 0) {
      this.#filling = this.#filling.then(() => this.#fill(missing()));
      await within(this.#filling, waitMs, signal);
    }
    return keys.map((key) => this.#vectors.get(key));
  }

  /** Returns the vector of a query, which is not cached. */
  async ofQuery(text: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    const [vector] = await this.#embedder.embed([text], signal === undefined ? {} : { signal });
    return vector;
  }

  /** Stops computing vectors and waits for running work. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#filling;
  }

  async #fill(texts: readonly string[]): Promise<void> {
    try {
      for (let at = 0; at < texts.length; at += BATCH) {
        if (this.#closing.signal.aborted) break;
        const batch = texts.slice(at, at + BATCH);
        const vectors = await this.#embedder.embed(batch, { signal: this.#closing.signal });
        batch.forEach((text, index) => {
          const vector = vectors[index];
          if (vector !== undefined) this.#vectors.set(keyOf(text), vector);
        });
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#logger.warn("cannot embed operations", { error });
    }
    if (texts.length > 0) await this.#save();
  }

  async #load(): Promise<void> {
    if (this.#path === undefined) return;
    let bytes: Buffer;
    try {
      bytes = await readFile(this.#path);
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") this.#logger.warn("cannot read cached vectors", { error });
      return;
    }
    const record = HASH_BYTES + this.#embedder.dimensions * 4;
    if (bytes.length % record !== 0) return;
    for (let at = 0; at < bytes.length; at += record) {
      // Copied, because a typed array has to be aligned to its element size.
      const data = Uint8Array.from(bytes.subarray(at + HASH_BYTES, at + record));
      this.#vectors.set(bytes.toString("hex", at, at + HASH_BYTES), new Float32Array(data.buffer));
    }
  }

  async #save(): Promise<void> {
    if (this.#path === undefined || this.#folder === undefined) return;
    const parts: Uint8Array[] = [];
    for (const key of new Set(this.#wanted)) {
      const vector = this.#vectors.get(key);
      if (vector === undefined) continue;
      parts.push(Buffer.from(key, "hex"), new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    }
    try {
      await writeFileAtomically(this.#path, Buffer.concat(parts), { mode: 0o600, folderMode: 0o700, flush: false });
    } catch (error) {
      this.#logger.warn("cannot save vectors", { error });
    }
  }
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function safe(model: string): string {
  return model.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80);
}

/** Waits for the work up to a limit. The work itself continues. */
async function within(work: Promise<void>, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  const waiting = new AbortController();
  const stop = signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]);
  // It rejects only when it is no longer needed.
  const timer = sleep(waitMs, stop).catch(() => {});
  await Promise.race([work, timer]);
  waiting.abort();
}
