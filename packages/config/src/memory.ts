// Remembers the files as they were when last readable. A long-running process keeps using that content while someone
// edits.
import type { ReadSource } from "./read-source.js";

/** The last usable content of each file. Pass it along when reloading. */
export class ConfigMemory {
  readonly #known = new Map<string, ReadSource>();

  /**
   * Returns the file as it is or, if it is currently unusable, as it last was, with the reason as its only diagnostic.
   */
  recall(read: ReadSource): ReadSource {
    const { path, exists, unusable } = read.config;
    if (unusable === undefined) {
      if (exists) this.#known.set(path, read);
      else this.#known.delete(path);
      return read;
    }
    const before = this.#known.get(path);
    if (before === undefined) return read;
    const [first] = read.diagnostics;
    const message = `${unusable} Until it is fixed, its previous content stays in effect.`;
    return { ...before, diagnostics: [{ severity: "warning", file: path, ...first, message }] };
  }
}
