/**
 * Implementations of the Embedder port: the embedded model, with its weights verified by hash, and OpenAI-compatible
 * endpoints.
 */
export { createEmbedder, type EmbedderOptions, type LocalEmbedder } from "./embedder.js";
export { createEndpointEmbedder, type EndpointOptions } from "./endpoint.js";
export { shortened } from "./inference/vectors.js";
export { DEFAULT_MODEL, MODEL_NAMES, type ModelName } from "./models.js";
export { modelStatus, pullModel } from "./pull-model.js";
export type { ModelState, ModelStatus } from "./weights/model-folder.js";
export type { PullOptions, PullOutcome, PullProgress } from "./weights/pull.js";
