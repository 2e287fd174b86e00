// What the files said when they were last readable: a long-running process keeps using that while someone edits.
import type { ReadSource } from "./read-source.js";

/** The last usable content of each file. Pass it along when reloading. */
export class ConfigMemory {
  readonly #known = new Map<string, ReadSource>();

  /** The file as it is or, if it is currently unusable, as it last was, with the reason as its only diagnostic. */
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
