// Keyword ranking: adds up BM25 over every document that has some of the words. The total counts all of them. Pure.
import { type Demotion, NO_DEMOTION } from "./demotion.js";
import type { Scope } from "./search-scope.js";
import { boundOfRank } from "./vector-math.js";

/** Entries that have a word, each once, and the word's BM25 score in each: positive and unbounded. */
export interface Postings {
  readonly entries: Int32Array;
  readonly scores: Float32Array;
}

/** An entry and its BM25 score after demotion, positive and unbounded. */
interface KeywordHit {
  readonly entry: number;
  readonly score: number;
}

export interface KeywordHits {
  /** Best first. */
  readonly best: readonly KeywordHit[];
  readonly total: number;
  /** The BM25 score of any entry, before demotion; 0 if it has none of the words. */
  scoreOf(entry: number): number;
  /** The number of documents in the index, from which the rarity of words is computed. */
  readonly documents: number;
}
/** A hit never has a zero score. */
const LEAST_SCORE = 1e-6;

/** Ranks the entries in the scope by the sum of their words' scores. `most`: how many of the best to return. */
export function hitsOf(
  words: readonly { readonly postings: Postings; readonly share: number }[],
  options: { scope: Scope; most: number; demotion: Demotion; documents: number },
): KeywordHits {
  const { scope, most, demotion, documents } = options;
  const scores = new Float32Array(scope.length);
  for (const { postings, share } of words) add(postings, { scores, scope, share });
  const ranked = demotion === NO_DEMOTION ? scores : scores.map((score, entry) => score * demotion.factorOf(entry));
  return { ...collect(ranked, most), scoreOf: (entry) => scores[entry] ?? 0, documents };
}

function add(
  { entries, scores }: Postings,
  { scores: sums, scope, share }: { scores: Float32Array; scope: Scope; share: number },
): void {
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as number;
    if (scope[entry] !== 1) continue;
    sums[entry] = (sums[entry] as number) + Math.max((scores[at] as number) * share, LEAST_SCORE);
  }
}

function collect(scores: Float32Array, most: number): Pick<KeywordHits, "best" | "total"> {
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
  return { best: best.slice(0, most), total };
}
