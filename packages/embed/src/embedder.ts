// The embedded model as an `Embedder`. A worker thread does the work; this file has the queue in front of it.
import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  abortable,
  abortError,
  type Embedder,
  isAbsent,
  type Logger,
  messageOf,
  silentLogger,
  TrunklineError,
} from "@trunkline/core";
import type { FromWorker, ToWorker, WorkerSetup } from "./inference/inference-messages.js";
import { DEFAULT_MODEL, type ModelFacts, modelFacts, vectorModelName } from "./models.js";
import { requireRuntime } from "./runtime/find-runtime.js";
import { filesOf, modelFolder } from "./weights/model-folder.js";

export interface EmbedderOptions {
  /** Trunkline's folder, with the weights in `<home>/models`, and onnxruntime-node in `<home>/packages` if needed. */
  home: string;
  /** Default `minilm`. */
  model?: string | undefined;
  /** How many cores one text may use. Default: all, up to 4; more gain nothing on texts this short. */
  threads?: number | undefined;
  logger?: Logger | undefined;
  /** Cancels the opening; each `embed` call has its own signal. */
  signal?: AbortSignal | undefined;
}

/** An embedder that its owner closes. */
export interface LocalEmbedder extends Embedder {
  /** Ends the worker; pending requests reject with `CLOSED`. Idempotent. */
  close(): Promise<void>;
}

const PULL_HINT = "Run: trunkline models pull";
const MAX_THREADS = 4;
const THREAD_ENTRY = new URL("./inference/inference-thread.js", import.meta.url);

/**
 * Opens the embedded model. Rejects with `NOT_FOUND` if its weights or onnxruntime-node were not pulled; it downloads
 * nothing.
 */
export async function createEmbedder(options: EmbedderOptions): Promise<LocalEmbedder> {
  const { home, signal, logger = silentLogger } = options;
  const facts = modelFacts(options.model ?? DEFAULT_MODEL);
  if (signal?.aborted) throw abortError(signal, "Opening the model");
  const folder = modelFolder(home, facts.name);
  await requireFiles(facts, folder);
  const pinned = ({ name, sha256 }: { name: string; sha256: string }) => ({ path: join(folder, name), sha256 });
  const started = performance.now();
  const embedder = new WorkerEmbedder(facts, {
    weights: pinned(facts.weights),
    tokenizer: pinned(facts.tokenizer),
    dimensions: facts.dimensions,
    maxTokens: facts.maxTokens,
    runtime: await requireRuntime(home),
    threads: options.threads ?? Math.min(availableParallelism(), MAX_THREADS),
  });
  try {
    await (signal === undefined ? embedder.opened : abortable(signal, embedder.opened));
  } catch (error) {
    await embedder.close();
    if (signal?.aborted) throw abortError(signal, "Opening the model");
    throw error;
  }
  logger.debug("model opened", { model: embedder.model, tookMs: Math.round(performance.now() - started) });
  return embedder;
}

async function requireFiles(facts: ModelFacts, folder: string): Promise<void> {
  for (const { name } of filesOf(facts)) {
    try {
      await stat(join(folder, name));
    } catch (error) {
      if (!isAbsent(error)) throw error;
      throw new TrunklineError("NOT_FOUND", `The model "${facts.name}" is not installed.`, {
        cause: error,
        hint: PULL_HINT,
        data: { model: facts.name, path: folder },
      });
    }
  }
}

/** One `embed` call and its progress. */
interface Request {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** The caller has stopped waiting. */
  givenUp: boolean;
  resolve(vectors: readonly Float32Array[]): void;
  reject(error: unknown): void;
}

class WorkerEmbedder implements LocalEmbedder {
  readonly model: string;
  readonly dimensions: number;
  /** Settles when the weights are loaded or loading fails. */
  readonly opened: Promise<void>;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  /** Requests with texts left, the next one first. They take turns, so a query does not wait for a long list. */
  #waiting: Request[] = [];
  /** The request whose text the worker is processing. It may have been abandoned by now. */
  #running: { id: number; request: Request } | undefined;
  #lastId = 0;
  #ended: TrunklineError | undefined;

  constructor(facts: ModelFacts, setup: WorkerSetup) {
    this.model = vectorModelName(facts);
    this.dimensions = facts.dimensions;
    this.#worker = new Worker(THREAD_ENTRY, { workerData: setup, name: "trunkline-embed" });
    this.opened = new Promise((resolve, reject) => {
      this.#worker.on("message", (message: FromWorker) => {
        if (message.type === "ready") {
          // An idle model must not keep the process alive.
          this.#worker.unref();
          resolve();
        } else if (message.type === "failed") {
          const error = openingError(facts, message);
          this.#end(error);
          reject(error);
        } else this.#settle(message);
      });
      this.#worker.once("error", (cause) => {
        const error = new TrunklineError("INTERNAL", `The model's worker failed: ${messageOf(cause)}`, { cause });
        this.#end(error);
        reject(error);
      });
      this.#worker.once("exit", () => {
        const error = new TrunklineError("INTERNAL", "The model's worker exited.");
        this.#end(error);
        reject(error);
      });
    });
    // The opener awaits this promise; a failure after that must not count as unhandled.
    this.opened.catch(() => {});
    this.#exited = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
  }

  async embed(texts: readonly string[], options: { signal?: AbortSignal } = {}): Promise<readonly Float32Array[]> {
    const { signal } = options;
    if (signal?.aborted) throw abortError(signal, "Embedding");
    if (this.#ended) throw this.#ended;
    if (texts.length === 0) return [];
    const { promise: answered, resolve, reject } = withResolvers<readonly Float32Array[]>();
    const request: Request = { texts: [...texts], vectors: [], givenUp: false, resolve, reject };
    this.#waiting.push(request);
    this.#next();
    if (signal === undefined) return await answered;
    try {
      return await abortable(signal, answered);
    } catch (error) {
      if (!signal.aborted) throw error;
      // The worker finishes its current text, which takes milliseconds; the others are never sent.
      request.givenUp = true;
      throw abortError(signal, "Embedding");
    }
  }

  async close(): Promise<void> {
    this.#end(new TrunklineError("CLOSED", "The embedder was closed."));
    this.#worker.ref();
    this.#post({ type: "close" });
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #next(): void {
    if (this.#running || this.#ended) return;
    let request = this.#waiting.shift();
    while (request?.givenUp) request = this.#waiting.shift();
    if (request === undefined) {
      this.#worker.unref();
      return;
    }
    this.#worker.ref();
    this.#running = { id: ++this.#lastId, request };
    this.#post({ type: "embed", id: this.#lastId, text: request.texts[request.vectors.length] ?? "" });
  }

  #settle(message: Extract<FromWorker, { id: number }>): void {
    if (this.#running?.id !== message.id) return;
    const { request } = this.#running;
    this.#running = undefined;
    if (message.type === "error") {
      request.reject(new TrunklineError("INTERNAL", `The model could not embed the text: ${message.reason}`));
    } else {
      request.vectors.push(message.vector);
      if (request.vectors.length === request.texts.length) request.resolve(request.vectors);
      else this.#waiting.push(request);
    }
    this.#next();
  }

  /** Rejects all further requests; the first reason wins. */
  #end(reason: TrunklineError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#running?.request.reject(reason);
    for (const request of this.#waiting) request.reject(reason);
    this.#running = undefined;
    this.#waiting = [];
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The executor has already run.
  return { promise, ...(settle as NonNullable<typeof settle>) };
}

function openingError(facts: ModelFacts, failed: Extract<FromWorker, { type: "failed" }>): TrunklineError {
  return new TrunklineError("IO", `Cannot open the model "${facts.name}": ${failed.reason}`, {
    hint: failed.damaged
      ? `${PULL_HINT}, which replaces the damaged file.`
      : "Run `trunkline models list` to check its files.",
    data: { model: facts.name },
  });
}
