// How often an entry has each term, weighted by column, in pieces as FTS5 has them: the input of BM25. Pure.
import { createHash } from "node:crypto";
import {
  type IndexEntry,
  type IndexText,
  joinedTerm,
  joinedTokensOf,
  KEYWORD_WEIGHTS,
  keywordRows,
  termCounts,
  tokensOf,
} from "@trunkline/store/parts";
import { encodeSections, type Section } from "./word-bytes.js";

/** Counts are whole numbers: weights are multiples of 1 / {@link UNITS}. */
export const UNITS = 5;

type HeadEntry = Pick<IndexEntry, "path" | "root" | "title" | "tags" | "metadata">;

const NO_HEAD: HeadEntry = { path: "", root: undefined, title: undefined, tags: [], metadata: {} };

/** Counts the words of a text, which is the slow part. */
export function wordsOfText(text: IndexText | undefined): Uint8Array {
  return encodeSections(keywordRows(NO_HEAD, text).map(sectionOf));
}

/** Counts what is not in the text: title, path, tags and metadata. It belongs to the first piece. */
export function wordsOfHead(entry: HeadEntry): Uint8Array {
  return encodeSections(keywordRows(entry, undefined).map(sectionOf));
}

function sectionOf(columns: readonly string[], piece: number): Section {
  const counts = new Map<string, number>();
  let length = 0;
  const add = (term: string, weight: number) => counts.set(term, (counts.get(term) ?? 0) + weight);
  for (const [column, text] of columns.entries()) {
    if (text === "") continue;
    const weight = Math.round((KEYWORD_WEIGHTS[column] as number) * UNITS);
    const found = termCounts(text);
    length += found.length;
    for (const [term, count] of found.counts) add(shortTerm(term), count * weight);
    for (const term of joinedTokensOf(text)) add(shortTerm(term), weight);
  }
  return { piece, length, counts };
}

const LONGEST_TERM = 200;
const KEPT_START = 100;

/** A term is part of an index row, which has a limit. A longer one is stored as its start and a hash of all of it. */
function shortTerm(term: string): string {
  if (term.length <= LONGEST_TERM) return term;
  return `${term.slice(0, KEPT_START)}#${createHash("sha256").update(term).digest("hex")}`;
}

/** Returns the term that a word of a query is looked up as; empty if it has none. */
export function termOfWord(word: string): string {
  return shortTerm(word.includes("_") ? joinedTerm(word) : ([...tokensOf(word)][0] ?? ""));
}

/** Returns the terms of the parts of a word. */
export function termsOfParts(parts: readonly string[]): string[] {
  return [...new Set(parts.flatMap((part) => [...tokensOf(part)].map(shortTerm)))];
}
