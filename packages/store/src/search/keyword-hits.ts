// Keyword ranking: BM25 over every document that has some of the words. The total counts all of them.

import { bm25WeightOfFts5 } from "@trunkline/core";
import type { Db } from "../engine/sqlite/database.js";
import { type Postings, wordsOf } from "./postings.js";
import type { Scope } from "./search-scope.js";
import { ftsTerm, isCompound, type Term } from "./terms.js";
import { boundOfRank } from "./vector-math.js";

/** An entry and its BM25 score, positive and unbounded. */
interface KeywordHit {
  readonly entry: number;
  readonly score: number;
}

export interface KeywordHits {
  /** Best first. */
  readonly best: readonly KeywordHit[];
  readonly total: number;
  /** The BM25 score of any entry; 0 if it has none of the words. */
  scoreOf(entry: number): number;
  /** The total weight of the words: the BM25 score of a text of usual length with each of them once. */
  readonly weight: number;
}

const NOTHING: KeywordHits = { best: [], total: 0, scoreOf: () => 0, weight: 0 };
/** A hit never has a zero score. */
const LEAST_SCORE = 1e-6;

/** Finds entries in the scope that have some of the terms. `most`: how many of the best to return. */
export function keywordHits(
  index: Db,
  { terms, scope, most }: { terms: readonly Term[]; scope: Scope; most: number },
  check: () => void,
): KeywordHits {
  if (terms.length === 0) return NOTHING;
  const words = wordsOf(index);
  const asked = new Map(terms.map((term) => [ftsTerm(term), term]));
  const scores = new Float32Array(scope.length);
  let weight = 0;
  for (const [query, term] of asked) {
    const postings = words.postings(query, isCompound(term) ? undefined : term.word, check);
    add(postings, { scores, scope });
    weight += bm25WeightOfFts5(postings.entries.length, words.count);
  }
  return { ...collect(scores, most), weight };
}

function add({ entries, scores }: Postings, { scores: sums, scope }: { scores: Float32Array; scope: Scope }): void {
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as number;
    if (scope[entry] === 1) sums[entry] = (sums[entry] as number) + Math.max(scores[at] as number, LEAST_SCORE);
  }
}

function collect(scores: Float32Array, most: number): Omit<KeywordHits, "weight"> {
  const least = boundOfRank(scores, most, 0);
  const best: KeywordHit[] = [];
  let total = 0;
  for (let entry = 0; entry < scores.length; entry++) {
    const score = scores[entry] as number;
    if (score <= 0) continue;
    total++;
    if (score >= least) best.push({ entry, score });
  }
  best.sort((a, b) => b.score - a.score || a.entry - b.entry);
  return { best: best.slice(0, most), total, scoreOf: (entry) => scores[entry] ?? 0 };
}
