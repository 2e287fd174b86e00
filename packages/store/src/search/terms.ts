// The words of a query, and how to ask FTS5 for them.
import { splitIdentifier } from "../engine/content/text.js";

/** One word of a query as written, with its correction. */
export interface Term {
  readonly word: string;
  /** A word to search for in addition to, or instead of, the written one. */
  readonly corrected?: string;
  /** No document has the word itself. */
  readonly unknown?: boolean;
}

/** Returns the words of a query as written. */
export function termsOf(query: string): string[] {
  return [...new Set(query.match(/[\p{L}\p{N}_]+/gu) ?? [])].filter((term) => /[\p{L}\p{N}]/u.test(term));
}

/** Converts a word to FTS5 syntax: the word itself, or all parts of a compound identifier. */
export function ftsWord(word: string): string {
  const parts = splitIdentifier(word);
  const whole = `"${word}"`;
  return parts.length < 2 ? whole : `(${whole} OR (${parts.map((part) => `"${part}"`).join(" AND ")}))`;
}

/** Converts a term with its correction to FTS5 syntax. */
export function ftsTerm({ word, corrected, unknown }: Term): string {
  if (corrected === undefined) return ftsWord(word);
  return unknown ? ftsWord(corrected) : `(${ftsWord(word)} OR ${ftsWord(corrected)})`;
}

/** Whether FTS5 has to search for more than one word. */
export function isCompound({ word, corrected }: Term): boolean {
  return corrected !== undefined || splitIdentifier(word).length > 1;
}

/**
 * English words that are in every question but rarely in code, where they would seem rare and important. They still
 * count a little: "to be or not to be" has hardly any other words.
 */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a an and any are as at be been being but by can could did do does doing for from had has have how i if in into is it
   its me my of on or our should so than that the their them then there these they this those to us was we were what
   when where which while who whom whose why will with would you your`.split(/\s+/),
);
const FUNCTION_WORD_SHARE = 0.1;

/** Returns the factor for the BM25 score of a term. */
export function termShare({ word }: Term): number {
  return FUNCTION_WORDS.has(word.toLowerCase()) ? FUNCTION_WORD_SHARE : 1;
}
