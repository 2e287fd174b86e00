// How often an entry has each term, weighted by column, in pieces as FTS5 has them: the input of BM25. Pure.
import {
  type IndexEntry,
  type IndexText,
  joinedTokensOf,
  KEYWORD_WEIGHTS,
  keywordRows,
  tokensOf,
} from "@trunkline/store/parts";

/** One piece of an entry. Counts are whole numbers: weights are multiples of 1 / {@link UNITS}. */
export interface PieceCounts {
  readonly terms: readonly string[];
  readonly counts: readonly number[];
  /** Words in all columns. */
  readonly length: number;
}

export const UNITS = 5;

type HeadEntry = Pick<IndexEntry, "path" | "root" | "title" | "tags" | "metadata">;

const NO_HEAD: HeadEntry = { path: "", root: undefined, title: undefined, tags: [], metadata: {} };

/** Counts the words of a text, which is the slow part. */
export function countsOfText(text: IndexText | undefined): PieceCounts[] {
  return keywordRows(NO_HEAD, text).map(countsOf);
}

/** Adds what is not in the text: title, path, tags and metadata. */
export function withHead(text: readonly PieceCounts[], entry: HeadEntry): PieceCounts[] {
  const [columns] = keywordRows(entry, undefined);
  if (columns === undefined) return [...text];
  const head = countsOf(columns);
  const [first, ...others] = text;
  if (first === undefined) return [head];
  const sums = new Map(first.terms.map((term, at) => [term, first.counts[at] as number]));
  for (const [at, term] of head.terms.entries()) sums.set(term, (sums.get(term) ?? 0) + (head.counts[at] as number));
  return [{ terms: [...sums.keys()], counts: [...sums.values()], length: first.length + head.length }, ...others];
}

function countsOf(columns: readonly string[]): PieceCounts {
  const sums = new Map<string, number>();
  let length = 0;
  const add = (term: string, weight: number) => sums.set(term, (sums.get(term) ?? 0) + weight);
  for (const [column, text] of columns.entries()) {
    const weight = Math.round((KEYWORD_WEIGHTS[column] as number) * UNITS);
    for (const term of tokensOf(text)) {
      length++;
      add(term, weight);
    }
    for (const term of joinedTokensOf(text)) add(term, weight);
  }
  return { terms: [...sums.keys()], counts: [...sums.values()], length };
}
