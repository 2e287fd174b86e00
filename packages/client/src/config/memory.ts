// What the files said when they could last be read: a process that runs for long goes on with that while somebody edits.
import type { ReadSource } from "./read-source.js";

/** The last usable content of each file. Whoever reads the configuration again hands over the one it had before. */
export class ConfigMemory {
  readonly #known = new Map<string, ReadSource>();

  /** The file as it is, or, where it cannot be used now, as it last was, with the reason as its one diagnostic. */
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
    const message = `${unusable} Until it is corrected, what it said before goes on.`;
    return { ...before, diagnostics: [{ severity: "warning", file: path, ...first, message }] };
  }
}
