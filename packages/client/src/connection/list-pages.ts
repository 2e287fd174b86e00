// A list that a server gives page by page.
import { isRecord } from "@trunkline/core";

/** A list that has more pages than this does not end. */
const MAX_PAGES = 1_000;

/** What came of following a list to its end. */
export interface CollectedPages {
  readonly items: Record<string, unknown>[];
  /** False: it went round in circles, or on for ever, and this is what came so far. */
  readonly isComplete: boolean;
}

/** Follows `nextCursor` to the end of a list, whose items are in each page under `key`. */
export async function collectPages(
  key: string,
  ask: (params: { cursor?: string }) => Promise<Record<string, unknown>>,
): Promise<CollectedPages> {
  const items: Record<string, unknown>[] = [];
  const seen = new Set<string>();
  for (let params: { cursor?: string } = {}; ; ) {
    const page = await ask(params);
    const entries = page[key];
    if (Array.isArray(entries)) items.push(...entries.filter(isRecord));
    const next = page.nextCursor;
    if (typeof next !== "string") return { items, isComplete: true };
    if (next === "" || seen.has(next) || seen.size >= MAX_PAGES) return { items, isComplete: false };
    seen.add(next);
    params = { cursor: next };
  }
}
