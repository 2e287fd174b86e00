// A model is usable if its files and the library that runs them are both there.
import { DEFAULT_MODEL, modelFacts } from "./models.js";
import { findRuntime, runtimePlaces } from "./runtime/find-runtime.js";
import { installRuntime } from "./runtime/install-runtime.js";
import { filesStatus, type ModelStatus } from "./weights/model-folder.js";
import { type PullOptions, type PullOutcome, pullFiles } from "./weights/pull.js";

/** Makes sure that a model can be used: downloads onnxruntime-node and the model's files, as far as they are missing. */
export async function pullModel(options: PullOptions): Promise<PullOutcome> {
  const facts = modelFacts(options.model ?? DEFAULT_MODEL);
  const isRunnable = await hasRuntime(options.home);
  if (!isRunnable) await installRuntime(options);
  const outcome = await pullFiles(facts, options);
  return { ...outcome, pulled: outcome.pulled || !isRunnable };
}

/** Reports the status of all models. Reads and verifies their files. Without onnxruntime-node, no model is ready. */
export async function modelStatus(options: { home: string; signal?: AbortSignal }): Promise<readonly ModelStatus[]> {
  const [models, isRunnable] = await Promise.all([filesStatus(options), hasRuntime(options.home)]);
  return models.map((model) => (model.state === "ready" && !isRunnable ? { ...model, state: "missing" } : model));
}

async function hasRuntime(home: string): Promise<boolean> {
  return (await findRuntime(runtimePlaces(home))) !== undefined;
}
