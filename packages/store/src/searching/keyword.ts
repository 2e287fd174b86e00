// Ranking by words: BM25 over every document that has some of them.
import { KEYWORD_ROWS_PER_ENTRY, KEYWORD_WEIGHTS } from "../indexing/keyword.js";
import type { Db } from "../sqlite/database.js";
import { rowsWith } from "./corrections.js";
import type { Scope } from "./scope.js";
import { ftsTerm, type Term } from "./terms.js";

/** An entry and its BM25, which is positive and unbounded here. */
export interface KeywordHit {
  readonly entry: number;
  readonly score: number;
}

/** How many of the best are ranked; more than anybody pages through. */
const MOST_HITS = 10_000;
/** Terms are only left out of stores that are large enough for it to matter. */
const MANY_ROWS = 2000;

/** Entries within the scope that have the terms, the best first. */
export function keywordHits(
  index: Db,
  { terms, scope }: { terms: readonly Term[]; scope: Scope },
  check: () => void,
): KeywordHit[] {
  if (terms.length === 0) return [];
  const hits = new Map<number, number>();
  const rows = index.iterate<{ entry: number; rank: number }>(
    `SELECT rowid / ${KEYWORD_ROWS_PER_ENTRY} AS entry, bm25(keyword, ${KEYWORD_WEIGHTS.join(", ")}) AS rank
     FROM keyword WHERE keyword MATCH ? ORDER BY rank, rowid`,
    tellingTerms(index, terms).map(ftsTerm).join(" OR "),
  );
  for (const { entry, rank } of rows) {
    check();
    // Of the pieces of one text the best counts.
    if (scope[entry] !== 1 || hits.has(entry)) continue;
    hits.set(entry, Math.max(0, -rank));
    if (hits.size >= MOST_HITS) break;
  }
  return [...hits].map(([entry, score]) => ({ entry, score }));
}

/** BM25 gives nothing for a word that half of all rows have, but reading its postings takes longest. */
function tellingTerms(index: Db, terms: readonly Term[]): readonly Term[] {
  if (terms.length < 2) return terms;
  const { rows } = index.one<{ rows: number }>("SELECT count(*) AS rows FROM entries");
  if (rows < MANY_ROWS) return terms;
  const half = Math.ceil(rows / 2);
  const telling = terms.filter((term) => rowsWith(index, ftsTerm(term), half) < half);
  return telling.length === 0 ? terms : telling;
}
