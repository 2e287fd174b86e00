// Makes one ranking of two: each side's scores are brought to 0…1 and added with a weight that depends on the query
// and on what was found. Pure.

/** An entry with a score of one side. */
export interface Scored {
  readonly entry: number;
  readonly score: number;
}

/** A score and what it was made of. */
export interface Fused {
  readonly entry: number;
  readonly score: number;
  readonly keyword: number;
  readonly semantic: number;
}

/** Scores are brought to 0…1 over so many of the best. */
const NORMALISED_OVER = 100;

/** What the weight is made from. */
export interface WeightSigns {
  /** Which part of the query are names in a program: 0 to 1. */
  readonly identifiers: number;
  /** How much what is near in meaning looks like programs: 0 to 1. */
  readonly code: number;
  /** How far the nearest in meaning is before the next, as a part of its cosine. */
  readonly lead: number;
}

/**
 * The weight of meaning against words: half and half for prose; more on meaning where questions in plain language are
 * asked of programs, which call things by other words; less where the query itself names identifiers.
 */
export function meaningWeight({ identifiers, code, lead }: WeightSigns): number {
  const sure = Math.min(0.15, 0.5 * (lead - USUAL_LEAD));
  return (0.5 + 0.25 * code + sure) * (1 - 0.5 * identifiers);
}

/** A lead beyond this says that meaning is sure of its first. */
const USUAL_LEAD = 0.05;

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
