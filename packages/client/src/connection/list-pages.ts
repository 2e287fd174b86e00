import { isRecord } from "@trunkline/core";
import { largeOf } from "../results/large-messages.js";

/** A list with more pages than this is treated as endless. */
const MAX_PAGES = 1_000;
/** How much of a list is used. */
const MAX_ITEMS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Marks a page that has more items than there was room for. */
const CUT = Symbol("cut");

/** Collects the pages of a list; items are under `key` in each page. */
export class ListPages {
  readonly items: Record<string, unknown>[] = [];
  readonly #key: string;
  readonly #seen = new Set<string>();
  #sizeBytes = 0;
  #problem: string | undefined = "the server's list does not end; using what has arrived so far";

  constructor(key: string) {
    this.#key = key;
  }

  /** Why `items` is not the whole list: it repeated itself, did not end, or is too long. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** How much more can be added. */
  get room(): { readonly maxItems: number; readonly maxBytes: number } {
    return { maxItems: MAX_ITEMS - this.items.length, maxBytes: MAX_BYTES - this.#sizeBytes };
  }

  /**
   * Adds a page and returns the parameters for the next one. Undefined if there is no next page, if its cursor leads
   * nowhere, or if the list is too long.
   */
  add(page: Readonly<Record<string, unknown>>): { cursor: string } | undefined {
    const entries = page[this.#key];
    const hasRoom = !Array.isArray(entries) || this.#addItems(entries);
    if (!hasRoom || CUT in page) {
      this.#problem = `the server's list is too long; using its first ${this.items.length} items`;
      return undefined;
    }
    const { nextCursor: cursor } = page;
    if (typeof cursor !== "string") {
      this.#problem = undefined;
      return undefined;
    }
    if (cursor === "" || this.#seen.has(cursor) || this.#seen.size >= MAX_PAGES) return undefined;
    this.#sizeBytes += cursor.length;
    this.#seen.add(cursor);
    return { cursor };
  }

  /** Returns whether there was room for all. */
  #addItems(entries: readonly unknown[]): boolean {
    for (const entry of entries) {
      if (!isRecord(entry)) continue;
      this.#sizeBytes += JSON.stringify(entry).length;
      if (this.items.length >= MAX_ITEMS || this.#sizeBytes > MAX_BYTES) return false;
      this.items.push(entry);
    }
    return true;
  }
}

/** Builds the items of a large page, as far as there is room for them. */
export async function withItems(
  page: Record<string, unknown>,
  key: string,
  { room }: ListPages,
): Promise<Record<string, unknown>> {
  const large = largeOf(page);
  if (large?.has(key) !== true) return page;
  const { items, isAll } = await large.items(key, room);
  return isAll ? { ...page, [key]: items } : { ...page, [key]: items, [CUT]: true };
}
