// Locates a model's files, in `<home>/models/<name>/`, and verifies them.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { abortError, isAbsent } from "@trunkline/core";
import { MODEL_NAMES, type ModelFacts, type ModelFile, type ModelName, modelFacts } from "../models.js";

/** Whether a model can be used: `ready`, `missing`, or `damaged`, which means that a file does not match its hash. */
export type ModelState = "ready" | "missing" | "damaged";

export interface ModelStatus {
  readonly name: ModelName;
  readonly title: string;
  readonly dimensions: number;
  readonly state: ModelState;
  /** Its folder, whether it exists or not. */
  readonly path: string;
  /** The size of its files; 0 if there are none. */
  readonly sizeBytes: number;
}

export function modelFolder(home: string, name: ModelName): string {
  return join(home, "models", name);
}

/** Lists the files a model needs. */
export function filesOf(facts: ModelFacts): readonly ModelFile[] {
  return [facts.weights, facts.tokenizer];
}

/** Reports the status of the files of all models. Reads and verifies them. */
export async function filesStatus(options: { home: string; signal?: AbortSignal }): Promise<readonly ModelStatus[]> {
  return await Promise.all(MODEL_NAMES.map((name) => statusOf(modelFacts(name), options)));
}

export async function statusOf(
  facts: ModelFacts,
  options: { home: string; signal?: AbortSignal },
): Promise<ModelStatus> {
  const { name, title, dimensions } = facts;
  const path = modelFolder(options.home, name);
  const files = await Promise.all(
    filesOf(facts).map(async (file) => ({ file, found: await readHash(join(path, file.name), options.signal) })),
  );
  const isRight = files.every(({ file, found }) => found?.sha256 === file.sha256);
  const isThere = files.some(({ found }) => found !== undefined);
  return {
    name,
    title,
    dimensions,
    state: isRight ? "ready" : isThere ? "damaged" : "missing",
    path,
    sizeBytes: files.reduce((sum, { found }) => sum + (found?.sizeBytes ?? 0), 0),
  };
}

/** Reads the size and hash of a file; undefined if it does not exist. */
async function readHash(
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ sizeBytes: number; sha256: string } | undefined> {
  try {
    const { size } = await stat(path);
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash, signal === undefined ? {} : { signal });
    return { sizeBytes: size, sha256: hash.digest("hex") };
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Checking the models");
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
