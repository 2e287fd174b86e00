// Differences that were found before. The files with the definitions are read again for every request, but rarely differ.
import { createHash } from "node:crypto";
import { type DiffLine, diffDefinitions } from "@trunkline/client/internal";

type Definition = Parameters<typeof diffDefinitions>[0];

interface Limits {
  readonly diffs: number;
  /** Of all of them: a server decides how many lines a definition has. */
  readonly lines: number;
}

/** The differences that were asked for last. */
export class KeptDiffs {
  readonly #limits: Limits;
  readonly #find: typeof diffDefinitions;
  /** The one that was asked for last is the last. */
  readonly #kept = new Map<string, readonly DiffLine[]>();
  #lines = 0;

  constructor(limits: Limits, find: typeof diffDefinitions = diffDefinitions) {
    this.#limits = limits;
    this.#find = find;
  }

  between(before: Definition, after: Definition): readonly DiffLine[] {
    const key = createHash("sha256")
      .update(JSON.stringify([before ?? null, after ?? null]))
      .digest("base64");
    const known = this.#kept.get(key);
    const diff = known ?? this.#find(before, after);
    if (known === undefined) this.#lines += diff.length;
    else this.#kept.delete(key);
    this.#kept.set(key, diff);
    for (const [oldest, old] of this.#kept) {
      if (this.#kept.size <= this.#limits.diffs && this.#lines <= this.#limits.lines) break;
      this.#kept.delete(oldest);
      this.#lines -= old.length;
    }
    return diff;
  }
}
