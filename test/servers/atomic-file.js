import { renameSync, writeFileSync } from "node:fs";

/**
 * Writes a file atomically, so a watcher never reads a partial one.
 *
 * @param {string} path
 * @param {string} text
 */
export function writeAtomically(path, text) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}
