// The words of a query, and how to ask FTS5 for them.
import { splitIdentifier } from "../engine/content/text.js";

/** One word of a query as written, with its correction. */
export interface Term {
  readonly word: string;
  /** A word to search for in addition to, or instead of, the written one. */
  readonly corrected?: string | undefined;
  /** No document has the word itself. */
  readonly unknown?: boolean | undefined;
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

const IDENTIFIER = /[\p{Ll}\p{N}]\p{Lu}|\p{L}_\p{L}|\w\.\w|::|->|\(\)|^[\p{Lu}_\d]{4,}$|[/\\#]\w/u;

/** Returns the share of the query's words that look like identifiers rather than natural language: 0 to 1. */
export function identifierShare(query: string): number {
  const words = query.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return 0;
  return words.filter((word) => IDENTIFIER.test(word.replace(/[.,;:?!]+$/, ""))).length / words.length;
}
