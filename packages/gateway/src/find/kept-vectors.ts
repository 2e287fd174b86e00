// The vectors of texts, kept between runs, so that each text is embedded only once. Opens the model only when it is
// needed.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { atMost, type Embedder, type Logger } from "@trunkline/core";
import { type KeptVectors, newestVectorFile, readVectors, vectorFileName, writeVectors } from "./vector-file.js";

interface VectorsOptions {
  readonly embedder: () => Promise<Embedder | undefined>;
  /** The folder of the file. */
  readonly folder: string | undefined;
  readonly logger: Logger;
}

/** The vectors of some texts, in order; undefined for each one that was not computed yet. */
type Known = readonly (Float32Array | undefined)[];
/** Why there are no vectors: they are being computed, there is no model, or it does not work. */
type Missing = "pending" | "no model" | "failed";

const BATCH = 16;
/** Saved this often, so that a short session makes progress too. */
const SAVED_EVERY = 256;
/** How long to wait at least: enough to learn that there is no model, and for a few vectors. */
const OPENING_MS = 150;

export class Vectors {
  readonly #options: VectorsOptions;
  #vectors: KeptVectors = new Map();
  /** The hashes of lists of texts: the same list comes with every question. */
  readonly #keys = new WeakMap<readonly string[], readonly string[]>();
  /** The hashes of the last requested texts. */
  #wanted: ReadonlySet<string> = new Set();
  #file: string | undefined;
  #reading: Promise<void> | undefined;
  #embedder: Promise<Embedder | undefined> | undefined;
  #filling: Promise<void> = Promise.resolve();
  /** Why the last attempt computed nothing. */
  #missing: Missing | undefined;
  readonly #closing = new AbortController();

  constructor(options: VectorsOptions) {
    this.#options = options;
  }

  /** Opens the model; undefined if there is none. Retries if opening failed. */
  open(): Promise<Embedder | undefined> {
    this.#embedder ??= this.#open().catch((error: unknown) => {
      this.#embedder = undefined;
      throw error;
    });
    // Callers that do not wait for it must not turn a failure into an unhandled rejection.
    this.#embedder.catch(() => {});
    return this.#embedder;
  }

  /**
   * Returns the vectors of texts, or why there are none. Computes missing ones, waiting up to `waitMs`, then continues
   * in the background. Rejects if the model cannot be opened.
   */
  async of(
    texts: readonly string[],
    { waitMs, signal }: { waitMs: number; signal?: AbortSignal },
  ): Promise<Known | Missing> {
    const opening = this.open();
    const keys = this.#keysOf(texts);
    if (isMostlyMissing(await this.#known(keys))) {
      // Whoever needs the outcome handles a failure.
      const filling = this.#fill(texts).catch(() => {});
      await atMost(Math.max(waitMs, OPENING_MS), filling, signal);
      if (this.#missing !== undefined) return this.#missing;
      if (isMostlyMissing(await this.#known(keys))) return "pending";
    }
    if ((await opening) === undefined) return "no model";
    // Only now is it certain that they are this model's.
    const known = await this.#known(keys);
    if (known.includes(undefined)) void this.#fill(texts);
    return isMostlyMissing(known) ? "pending" : known;
  }

  /** Computes missing vectors in the background. Leaves the model closed if there are none. */
  async prepare(texts: readonly string[]): Promise<void> {
    const known = await this.#known(this.#keysOf(texts));
    if (known.includes(undefined)) await this.#fill(texts);
  }

  /** Stops computing vectors and waits for running work. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#filling;
  }

  #keysOf(texts: readonly string[]): readonly string[] {
    let keys = this.#keys.get(texts);
    if (keys === undefined) {
      keys = texts.map(hashOf);
      this.#keys.set(texts, keys);
    }
    return keys;
  }

  async #open(): Promise<Embedder | undefined> {
    const embedder = await this.#options.embedder();
    if (embedder === undefined) return undefined;
    await this.#read(vectorFileName(embedder.model));
    for (const [key, { length }] of this.#vectors) if (length !== embedder.dimensions) this.#vectors.delete(key);
    return embedder;
  }

  async #known(keys: readonly string[]): Promise<Known> {
    const { folder } = this.#options;
    if (this.#reading === undefined && folder !== undefined) {
      const newest = await newestVectorFile(folder);
      // Unless the model was opened meanwhile: then its own file counts.
      if (newest !== undefined && this.#file === undefined) await this.#read(newest);
    }
    await this.#reading;
    return keys.map((key) => this.#vectors.get(key));
  }

  /** Reads a file, unless it is the one that was read last. */
  #read(file: string): Promise<void> {
    const { folder, logger } = this.#options;
    if (this.#file === file && this.#reading !== undefined) return this.#reading;
    this.#file = file;
    this.#reading = (folder === undefined ? Promise.resolve(new Map()) : readVectors(join(folder, file), logger)).then(
      (vectors) => {
        if (this.#file === file) this.#vectors = vectors;
      },
    );
    return this.#reading;
  }

  #fill(texts: readonly string[]): Promise<void> {
    this.#filling = this.#filling.then(() => this.#compute(texts));
    return this.#filling;
  }

  /** Never rejects: without vectors, operations are found by words. */
  async #compute(texts: readonly string[]): Promise<void> {
    const { signal } = this.#closing;
    try {
      if (signal.aborted) return;
      const embedder = await this.open();
      this.#missing = embedder === undefined ? "no model" : undefined;
      if (embedder === undefined) return;
      const keys = this.#keysOf(texts);
      this.#wanted = new Set(keys);
      const missing = [...new Set(texts.filter((_, at) => !this.#vectors.has(keys[at] ?? "")))];
      if (missing.length === 0) return;
      try {
        for (let at = 0; at < missing.length && !signal.aborted; at += BATCH) {
          const batch = missing.slice(at, at + BATCH);
          const vectors = await embedder.embed(batch, { signal });
          batch.forEach((text, index) => {
            const vector = vectors[index];
            if (vector !== undefined) this.#vectors.set(hashOf(text), vector);
          });
          if ((at + BATCH) % SAVED_EVERY === 0) await this.#save(embedder);
        }
      } finally {
        await this.#save(embedder);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#missing = "failed";
      this.#options.logger.warn("cannot embed operations", { error });
    }
  }

  async #save({ model, dimensions }: Embedder): Promise<void> {
    const { folder, logger } = this.#options;
    if (folder === undefined) return;
    try {
      const path = join(folder, vectorFileName(model));
      await writeVectors(path, { wanted: this.#wanted, vectors: this.#vectors, dimensions });
    } catch (error) {
      logger.warn("cannot save vectors", { error });
    }
  }
}

function isMostlyMissing(known: Known): boolean {
  return known.filter((vector) => vector === undefined).length > known.length / 2;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
