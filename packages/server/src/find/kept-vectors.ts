// Vectors of texts by model, kept between runs: a text is embedded once.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Embedder, type Logger, sleep, systemCodeOf, writeFileAtomically } from "@trunkline/core";

const HASH_BYTES = 32;
const BATCH = 16;

/** The vectors of one model. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #path: string | undefined;
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  /** By the hash of the text. */
  readonly #vectors = new Map<string, Float32Array>();
  /** The hashes that were asked for last: what the file holds. */
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
   * The vectors of these texts, in their order; undefined where one is not there yet. Missing ones are made, and waited for
   * up to `waitMs`; after that they are made in the background.
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

  /** The vector of a question; it is not kept. */
  async ofQuery(text: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    const [vector] = await this.#embedder.embed([text], signal === undefined ? {} : { signal });
    return vector;
  }

  /** Stops making vectors, and waits for what is under way. */
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
      if (!this.#closing.signal.aborted) this.#logger.warn("operations not embedded", { error });
    }
    if (texts.length > 0) await this.#save();
  }

  async #load(): Promise<void> {
    if (this.#path === undefined) return;
    let bytes: Buffer;
    try {
      bytes = await readFile(this.#path);
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") this.#logger.warn("vectors not read", { error });
      return;
    }
    const record = HASH_BYTES + this.#embedder.dimensions * 4;
    if (bytes.length % record !== 0) return;
    for (let at = 0; at < bytes.length; at += record) {
      // Copied, because numbers have to lie at multiples of their size.
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
      this.#logger.warn("vectors not kept", { error });
    }
  }
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function safe(model: string): string {
  return model.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80);
}

/** Waits for the work, but no longer than this. The work goes on. */
async function within(work: Promise<void>, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  const waiting = new AbortController();
  const stop = signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]);
  // It rejects only where it is not needed any more.
  const timer = sleep(waitMs, stop).catch(() => {});
  await Promise.race([work, timer]);
  waiting.abort();
}
