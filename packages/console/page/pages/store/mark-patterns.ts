// What to highlight in results of a search.
import { isQuickPattern } from "@trunkline/core/schema";

/** Finds the words of a query, at the beginning of a word. */
export function wordsPattern(query: string): RegExp | undefined {
  const words = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  return words.length === 0 ? undefined : new RegExp(words.map(escaped).join("|"), "giu");
}

/**
 * The pattern of `grep` for highlighting. The store's dialect is close to JavaScript's, but JavaScript backtracks: a
 * pattern that could take forever is not highlighted.
 */
export function grepPattern(pattern: string, options: { ignoreCase: boolean; fixed: boolean }): RegExp | undefined {
  if (pattern === "") return undefined;
  const flags = options.ignoreCase ? "giu" : "gu";
  if (options.fixed) return new RegExp(escaped(pattern), flags);
  if (!isQuickPattern(pattern)) return undefined;
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
