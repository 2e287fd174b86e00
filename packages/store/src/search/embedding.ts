// The caller's side of embedding: the model runs in the caller's process, next to the write path. It embeds texts from
// the index in small steps, with queries in between.
import { type Embedder, type Logger, messageOf } from "@trunkline/core";
import type { RpcOptions } from "@trunkline/core/threads";
import type { EmbeddingStep } from "./embedding-step.js";

const TEXTS_PER_STEP = 32;
const RETRY_MS = 30_000;
const REMEMBERED_QUERIES = 64;

/**
 * A query's vector with its model, or the reason why there is none. `follows`: this process embeds the documents in the
 * background.
 */
export type QueryVector =
  | { readonly model: string; readonly vector: Float32Array; readonly follows: boolean }
  | { readonly missing: string };

/** Where texts come from and vectors go. */
export interface EmbeddingQueue {
  nextTexts(params: { model: string; dimensions: number; most: number }, options?: RpcOptions): Promise<EmbeddingStep>;
  keepVectors(
    params: {
      model: string;
      vectors: readonly { readonly hash: string; readonly vector: Float32Array }[];
      through: number;
    },
    options?: RpcOptions,
  ): Promise<void>;
}

/** Embeds the store's texts and queries. */
export class Embedding {
  readonly #indexer: EmbeddingQueue;
  readonly #logger: Logger;
  readonly #follow: boolean;
  /** Answers queries. */
  #current: Embedder | undefined;
  /** Takes over once it has embedded everything. */
  #next: Embedder | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #stop = new AbortController();
  readonly #queries = new Map<string, Float32Array>();

  /** `follow`: embeds new documents. A read-only store relies on other processes for its vectors. */
  constructor(indexer: EmbeddingQueue, { logger, follow }: { logger: Logger; follow: boolean }) {
    this.#indexer = indexer;
    this.#logger = logger;
    this.#follow = follow;
  }

  /** Switches to this model. The previous one keeps answering until the new one is complete. */
  use(embedder: Embedder): void {
    if (this.#current === undefined || this.#current.model === embedder.model || !this.#follow) {
      this.#current = embedder;
      this.#queries.clear();
    } else this.#next = embedder;
    this.wake();
  }

  /** Checks for new texts in the background. Does not wait. */
  wake(): void {
    const embedder = this.#next ?? this.#current;
    if (embedder === undefined || !this.#follow || this.#stop.signal.aborted) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#retry);
    this.#again = false;
    this.#running = this.#run(embedder)
      .catch((error: unknown) => this.#fail(error))
      .then(() => {
        this.#running = undefined;
        if (this.#again) this.wake();
      });
  }

  /** Resolves when there is nothing left to embed, or when the model has failed. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Embeds a query. A failing model does not fail the search. */
  async queryVector(query: string, signal: AbortSignal | undefined): Promise<QueryVector> {
    const embedder = this.#current;
    if (embedder === undefined) return { missing: "the store has no embedding model" };
    const { model } = embedder;
    const follows = this.#follow;
    const known = this.#queries.get(query);
    if (known !== undefined) return { model, vector: known, follows };
    try {
      const [vector] = await embedder.embed([query], signal === undefined ? {} : { signal });
      if (vector === undefined) return { missing: "the embedding model returned no vector" };
      if (this.#queries.size >= REMEMBERED_QUERIES) this.#queries.clear();
      if (embedder === this.#current) this.#queries.set(query, vector);
      return { model, vector, follows };
    } catch (error) {
      if (signal?.aborted) throw error;
      return {
        missing: `the embedding model failed (${messageOf(error)}). To check it, run \`trunkline models list\``,
      };
    }
  }

  /** Stops the work. Does not close the model, which its owner does. Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#retry);
    await this.idle();
  }

  async #run(embedder: Embedder): Promise<void> {
    const { signal } = this.#stop;
    const { model, dimensions } = embedder;
    while (!signal.aborted) {
      const step = await this.#indexer.nextTexts({ model, dimensions, most: TEXTS_PER_STEP }, { signal });
      if (step.done) break;
      const embedded = await embedder.embed(
        step.texts.map(({ text }) => text),
        { signal },
      );
      const vectors = step.texts.map(({ hash }, at) => ({ hash, vector: embedded[at] as Float32Array }));
      await this.#indexer.keepVectors({ model, vectors, through: step.through }, { signal });
    }
    if (signal.aborted) return;
    this.#failure = undefined;
    if (embedder === this.#next) {
      this.#current = embedder;
      this.#next = undefined;
      this.#queries.clear();
    } else if (this.#next !== undefined) this.#again = true;
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    // Log each reason once: an endpoint that is down fails every time.
    if (this.#failure !== messageOf(error)) this.#logger.warn("embedding failed", { error });
    this.#failure = messageOf(error);
    this.#retry = setTimeout(() => this.wake(), RETRY_MS).unref();
  }
}
