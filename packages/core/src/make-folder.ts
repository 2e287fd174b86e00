import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemCodeOf } from "./errors.js";

/**
 * Makes a folder, and those above it, where it is not there; `mode` is that of the folder itself. Not `recursive`: Node goes
 * on for ever where a file system, such as /proc, answers ENOENT to what cannot be made in it.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    const parent = dirname(folder);
    if (systemCodeOf(error) !== "ENOENT" || existsSync(parent)) throw error;
    makeFolder(parent);
    makeFolder(folder, mode);
  }
}
