import { isRecord } from "@trunkline/core";

/** A list with more pages than this is treated as endless. */
const MAX_PAGES = 1_000;

/** Collects the pages of a list; items are under `key` in each page. */
export class ListPages {
  readonly items: Record<string, unknown>[] = [];
  readonly #key: string;
  readonly #seen = new Set<string>();
  #isComplete = false;

  constructor(key: string) {
    this.#key = key;
  }

  /** False if the list repeated itself or did not end; `items` has everything received until then. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Adds a page and returns the parameters for the next one. Undefined if there is no next page, or if its cursor leads
   * nowhere.
   */
  add(page: Readonly<Record<string, unknown>>): { cursor: string } | undefined {
    const entries = page[this.#key];
    if (Array.isArray(entries)) this.items.push(...entries.filter(isRecord));
    const { nextCursor: cursor } = page;
    if (typeof cursor !== "string") {
      this.#isComplete = true;
      return undefined;
    }
    if (cursor === "" || this.#seen.has(cursor) || this.#seen.size >= MAX_PAGES) return undefined;
    this.#seen.add(cursor);
    return { cursor };
  }
}
