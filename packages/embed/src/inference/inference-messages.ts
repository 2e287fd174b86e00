// What the main thread tells the worker that runs the model.

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
