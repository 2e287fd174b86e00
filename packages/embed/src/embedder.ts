// The embedded model as an `Embedder`. A worker thread does the work; this file has the queue in front of it.
import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import {
  abortable,
  abortError,
  type Embedder,
  isAbsent,
  type Logger,
  messageOf,
  silentLogger,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { startThread, type Thread } from "@trunkline/core/threads";
import type { WorkerSetup } from "./inference/inference-messages.js";
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
  readonly #thread: Thread;
  /** Requests with texts left, the next one first. They take turns, so a query does not wait for a long list. */
  #waiting: Request[] = [];
  /** Whether the worker is processing a text. Its request may have been abandoned by now. */
  #isRunning = false;
  #ended: TrunklineError | undefined;

  constructor(facts: ModelFacts, setup: WorkerSetup) {
    this.model = vectorModelName(facts);
    this.dimensions = facts.dimensions;
    this.#thread = startThread(THREAD_ENTRY, {
      owner: "embedder",
      name: "trunkline-embed",
      workerData: setup,
      onLost: (cause) =>
        this.#end(new TrunklineError("INTERNAL", `The model's worker failed: ${messageOf(cause)}.`, { cause })),
    });
    this.opened = this.#open(facts);
    // The opener awaits this promise; a failure after that must not count as unhandled.
    this.opened.catch(() => {});
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
    this.#thread.worker.ref();
    this.#thread.rpc.notify("end");
    await this.#thread.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open(facts: ModelFacts): Promise<void> {
    try {
      await this.#thread.rpc.call("open", {});
    } catch (error) {
      this.#end(openingError(facts, toTrunklineError(error)));
      throw this.#ended;
    }
  }

  #next(): void {
    if (this.#isRunning || this.#ended) return;
    let request = this.#waiting.shift();
    while (request?.givenUp) request = this.#waiting.shift();
    if (request !== undefined) void this.#run(request);
  }

  async #run(request: Request): Promise<void> {
    const { texts, vectors } = request;
    this.#isRunning = true;
    try {
      vectors.push((await this.#thread.rpc.call("embed", texts[vectors.length] ?? "")) as Float32Array);
      if (vectors.length === texts.length) request.resolve(vectors);
      else this.#waiting.push(request);
    } catch (error) {
      const message = `The model could not embed the text: ${messageOf(error)}`;
      request.reject(this.#ended ?? new TrunklineError("INTERNAL", message));
    }
    this.#isRunning = false;
    this.#next();
  }

  /** Rejects all further requests; the first reason wins. */
  #end(reason: TrunklineError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#thread.rpc.break(reason);
    for (const request of this.#waiting) request.reject(reason);
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

function openingError(facts: ModelFacts, { message, data }: TrunklineError): TrunklineError {
  return new TrunklineError("IO", `Cannot open the model "${facts.name}": ${message}`, {
    hint:
      data?.damaged === true
        ? `${PULL_HINT}, which replaces the damaged file.`
        : "Run `trunkline models list` to check its files.",
    data: { model: facts.name },
  });
}
