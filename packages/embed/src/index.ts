/**
 * Implementations of the Embedder port: the embedded model, with its weights verified by hash, and OpenAI-compatible
 * endpoints. A separate package because its native code is large.
 */
export { createEmbedder, type EmbedderOptions, type LocalEmbedder } from "./embedder.js";
export { createEndpointEmbedder, type EndpointOptions } from "./endpoint.js";
export { shortened } from "./inference/vectors.js";
export { DEFAULT_MODEL, MODEL_NAMES, type ModelName } from "./models.js";
export { type ModelState, type ModelStatus, modelStatus } from "./weights/model-folder.js";
export { type PullOptions, type PullOutcome, type PullProgress, pullModel } from "./weights/pull.js";
