// The messages between the main thread and the worker that runs the model.

/** A file and its expected hash. */
export interface PinnedFile {
  readonly path: string;
  readonly sha256: string;
}

/** The start data of the worker. */
export interface WorkerSetup {
  readonly weights: PinnedFile;
  readonly tokenizer: PinnedFile;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly threads: number;
  /** The file of onnxruntime-node to load. */
  readonly runtime: string;
}

/** To the worker. Texts are sent one at a time, each after the previous answer. */
export type ToWorker = { type: "embed"; id: number; text: string } | { type: "close" };

/** From the worker: `ready` or `failed` once, then an answer per text. */
export type FromWorker =
  | { type: "ready" }
  | { type: "failed"; reason: string; damaged: boolean }
  | { type: "vector"; id: number; vector: Float32Array<ArrayBuffer> }
  | { type: "error"; id: number; reason: string };
