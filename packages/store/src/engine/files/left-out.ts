// Files that are left out when a folder is added or watched: secrets always, and what tools have generated if no
// .gitignore says what belongs to the project.
import { lstatSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isAbsent, isSensitiveToRead } from "@trunkline/core";

/** Larger files are rarely written by people. */
const MAX_FILE_BYTES = 10_000_000;

const GENERATED = new Set([
  "node_modules",
  "bower_components",
  "dist",
  "build",
  "out",
  "target",
  "coverage",
  "venv",
  "__pycache__",
  "pods",
  "deriveddata",
]);

/** What was left out of a folder. */
export interface LeftOut {
  /** Number of files that can hold secrets. */
  sensitive: number;
  /** Names of folders, such as `node_modules`. */
  readonly folders: Set<string>;
  /** Number of files over 10 MB. */
  large: number;
}

/** Whether a folder holds packages, build output or the settings of a tool. */
export function isGeneratedFolder(name: string): boolean {
  return name.startsWith(".") || GENERATED.has(name.toLowerCase());
}

export function isLarge(sizeBytes: number): boolean {
  return sizeBytes > MAX_FILE_BYTES;
}

/** The longest path of secrets by name has four parts. */
const TELLING_PARTS = 4;

/** Whether a file or folder can hold secrets, given its folder is known not to. */
export function isSecret(path: string): boolean {
  return isSensitiveToRead(path.split(sep).slice(-TELLING_PARTS).join(sep));
}

/** Whether a .gitignore applies to a folder: its own, or one of the repository it is in. */
export function hasIgnoreFile(folder: string): boolean {
  if (isThere(join(folder, ".gitignore"))) return true;
  let isFound = false;
  for (let outer = folder; ; outer = dirname(outer)) {
    isFound ||= isThere(join(outer, ".gitignore"));
    if (isThere(join(outer, ".git"))) return isFound;
    if (dirname(outer) === outer) return false;
  }
}

/** A single file can be watched, too: nothing is below it. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
