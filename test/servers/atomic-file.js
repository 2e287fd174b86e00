import { renameSync, writeFileSync } from "node:fs";

/**
 * Writes a file in one step, so that whoever watches for it never reads half of it.
 *
 * @param {string} path
 * @param {string} text
 */
export function writeAtomically(path, text) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}
