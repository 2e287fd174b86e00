// Corrects typos: replaces words that are missing or very rare with the most similar word in the documents.
import { splitIdentifier } from "../engine/content/text.js";
import { foldWord, gramTerms } from "./fuzzy-words.js";
import type { Term } from "./terms.js";

/** One corrected word, for the result. */
export interface Correction {
  readonly from: string;
  readonly to: string;
  readonly similarity: number;
}

/** The words of an index. */
export interface WordSource {
  /** Counts the texts that have a word, or all parts of a compound one, up to `most`. */
  textsWith(word: string, most: number): number;
  /** Returns the {@link MOST_CANDIDATES} words that share most of these trigrams; among equals, the oldest. */
  wordsLike(grams: readonly string[]): readonly string[];
}

const SHORTEST_TYPO = 4;
const MOST_EDITS = 2;
export const MOST_CANDIDATES = 200;
/** A word in at most this many rows can be a typo that someone else also made … */
const HARDLY_ANY = 2;
/** … if a word one edit away is this many times more frequent. */
const MUCH_MORE = 20;
const COUNTED_ROWS = 1000;

/** Turns words into terms, with corrections if `similarity` (0 to 1) allows them. */
export function correctTerms(
  source: WordSource,
  words: readonly string[],
  similarity: number,
): { terms: Term[]; corrections: Correction[] } {
  const corrections: Correction[] = [];
  const terms = words.map((word): Term => {
    const found = correctWord(source, word, similarity);
    if (found === undefined) return { word };
    corrections.push({ from: word, to: found.to, similarity: Number(found.similarity.toFixed(3)) });
    return { word, corrected: found.to, unknown: found.unknown };
  });
  return { terms, corrections };
}

interface Found {
  readonly to: string;
  readonly similarity: number;
  readonly unknown: boolean;
}

function correctWord(source: WordSource, word: string, similarity: number): Found | undefined {
  if (word.length < SHORTEST_TYPO || /^[\d_]+$/.test(word)) return undefined;
  const rows = source.textsWith(word, HARDLY_ANY + 1);
  if (rows > HARDLY_ANY) return undefined;
  const whole = likest(source, foldWord(word.replaceAll("_", "")), { similarity, rows });
  if (whole !== undefined) return { ...whole, unknown: rows === 0 };
  return rows === 0 ? correctIdentifier(source, word, similarity) : undefined;
}

/** Corrects an unknown compound identifier part by part. */
function correctIdentifier(source: WordSource, word: string, similarity: number): Found | undefined {
  const parts = splitIdentifier(word);
  if (parts.length < 2) return undefined;
  let least = 1;
  const corrected = parts.map((part) => {
    if (part.length < SHORTEST_TYPO || source.textsWith(part, 1) > 0) return part;
    const found = likest(source, foldWord(part), { similarity, rows: 0 });
    if (found === undefined) return part;
    least = Math.min(least, found.similarity);
    return found.to;
  });
  if (least === 1) return undefined;
  return { to: corrected.join("_"), similarity: least, unknown: true };
}

/** Finds the most similar word in the documents; among equals, the most frequent. */
function likest(
  source: WordSource,
  word: string,
  { similarity, rows }: { similarity: number; rows: number },
): { to: string; similarity: number } | undefined {
  const edits = rows === 0 ? MOST_EDITS : 1;
  const terms: string[] = [];
  for (let length = word.length - edits; length <= word.length + edits; length++)
    terms.push(...gramTerms(word, length));
  const near = source
    .wordsLike(terms)
    .map((to) => ({ to, distance: editDistance(word, to, edits) }))
    .filter(({ to, distance }) => distance > 0 && distance <= edits && alike(word, to, distance) >= similarity)
    .sort((a, b) => a.distance - b.distance || Number(b.to[0] === word[0]) - Number(a.to[0] === word[0]));
  let best: { to: string; distance: number; rows: number } | undefined;
  for (const candidate of near.slice(0, 20)) {
    if (best !== undefined && candidate.distance > best.distance) break;
    const count = source.textsWith(candidate.to, COUNTED_ROWS);
    const enough = rows === 0 ? 1 : rows * MUCH_MORE;
    if (count >= enough && count > (best?.rows ?? 0)) best = { ...candidate, rows: count };
  }
  return best === undefined ? undefined : { to: best.to, similarity: alike(word, best.to, best.distance) };
}

function alike(a: string, b: string, distance: number): number {
  return 1 - distance / Math.max(a.length, b.length);
}

/**
 * Returns the Damerau–Levenshtein distance (insert, remove, replace, swap neighbours), or `limit + 1` once it certainly
 * exceeds `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
  const beyond = limit + 1;
  if (Math.abs(a.length - b.length) > limit) return beyond;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return beyond;
    beforeLast = last;
    last = current;
  }
  return Math.min(at(last, b.length), beyond);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
