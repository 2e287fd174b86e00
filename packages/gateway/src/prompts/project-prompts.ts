// The prompts of a project (`.trunkline/prompts`). Whoever wrote the project wrote them, so they are offered only once the
// user has approved exactly these files. No link is followed: PROMPT-key.md could be a link to a private key.
import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { contentIdOf, hasControls } from "@trunkline/core";
import { MAX_PROMPT_BYTES, promptNameOf } from "./prompt-file.js";

/** Where a project keeps its prompts, and whether the user has approved them as they are. */
export interface ProjectPromptFolder {
  readonly path: string;
  isTrusted(subject: { readonly path: string; readonly fingerprint: string }): Promise<boolean>;
  /** Tells the user why a prompt is not offered. */
  note(message: string): void;
}

interface ProjectPromptFile {
  readonly fileName: string;
  readonly text: string;
}

interface ProjectPrompts {
  readonly files: readonly ProjectPromptFile[];
  /** Covers the name and the content of every file. */
  readonly fingerprint: string;
}

/** More than any project has, and little enough to read on every request. */
const MAX_FILES = 100;

const NONE: ProjectPrompts = { files: [], fingerprint: contentIdOf("[]") };

/** Reads the prompts of a project. Anything that is a link, not a plain file or too large is left out. */
export async function readProjectPrompts(folder: string): Promise<ProjectPrompts> {
  if (!(await isRealFolder(folder))) return NONE;
  const names = await readdir(folder).catch(() => []);
  const files: ProjectPromptFile[] = [];
  for (const fileName of names.sort()) {
    if (promptNameOf(fileName) === undefined || hasControls(fileName)) continue;
    const text = await readPlainFile(join(folder, fileName));
    if (text !== undefined) files.push({ fileName, text });
    if (files.length === MAX_FILES) break;
  }
  return { files, fingerprint: contentIdOf(JSON.stringify(files.map(({ fileName, text }) => [fileName, text]))) };
}

/** Whether neither the folder nor `.trunkline` above it is a link. */
async function isRealFolder(folder: string): Promise<boolean> {
  const own = dirname(folder);
  const [stats, real, above] = await Promise.all([
    lstat(folder).catch(() => undefined),
    realpath(folder).catch(() => undefined),
    realpath(dirname(own)).catch(() => undefined),
  ]);
  if (stats?.isDirectory() !== true || above === undefined) return false;
  return real === join(above, basename(own), basename(folder));
}

/** Reads a file that is not a link. The check and the reading use the same open file. */
async function readPlainFile(path: string): Promise<string | undefined> {
  // Windows has no such flag; there the check below has to do.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  if ((await lstat(path).catch(() => undefined))?.isFile() !== true) return undefined;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_PROMPT_BYTES) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
