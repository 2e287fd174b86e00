// Corrects typos: replaces words that are missing or very rare with the most similar word in the documents.
import { splitIdentifier } from "../engine/content/text.js";
import type { Db } from "../engine/sqlite/database.js";
import { editDistance } from "./edit-distance.js";
import { foldWord, gramTerms } from "./fuzzy-indexer.js";
import { ftsWord, type Term } from "./terms.js";

/** One corrected word, for the result. */
export interface Correction {
  readonly from: string;
  readonly to: string;
  readonly similarity: number;
}

const SHORTEST_TYPO = 4;
const MOST_EDITS = 2;
const MOST_CANDIDATES = 200;
/** A word in at most this many rows can be a typo that someone else also made … */
const HARDLY_ANY = 2;
/** … if a word one edit away is this many times more frequent. */
const MUCH_MORE = 20;
const COUNTED_ROWS = 1000;

/** Turns words into terms, with corrections if `similarity` (0 to 1) allows them. */
export function correctTerms(
  index: Db,
  words: readonly string[],
  similarity: number,
): { terms: Term[]; corrections: Correction[] } {
  const corrections: Correction[] = [];
  const terms = words.map((word): Term => {
    const found = correctWord(index, word, similarity);
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

function correctWord(index: Db, word: string, similarity: number): Found | undefined {
  if (word.length < SHORTEST_TYPO || /^[\d_]+$/.test(word)) return undefined;
  const rows = rowsWith(index, ftsWord(word), HARDLY_ANY + 1);
  if (rows > HARDLY_ANY) return undefined;
  const whole = likest(index, foldWord(word.replaceAll("_", "")), { similarity, rows });
  if (whole !== undefined) return { ...whole, unknown: rows === 0 };
  return rows === 0 ? correctIdentifier(index, word, similarity) : undefined;
}

/** Corrects an unknown compound identifier part by part. */
function correctIdentifier(index: Db, word: string, similarity: number): Found | undefined {
  const parts = splitIdentifier(word);
  if (parts.length < 2) return undefined;
  let least = 1;
  const corrected = parts.map((part) => {
    if (part.length < SHORTEST_TYPO || rowsWith(index, `"${part}"`, 1) > 0) return part;
    const found = likest(index, foldWord(part), { similarity, rows: 0 });
    if (found === undefined) return part;
    least = Math.min(least, found.similarity);
    return found.to;
  });
  if (least === 1) return undefined;
  return { to: corrected.join("_"), similarity: least, unknown: true };
}

/** Finds the most similar word in the documents; among equals, the most frequent. */
function likest(
  index: Db,
  word: string,
  { similarity, rows }: { similarity: number; rows: number },
): { to: string; similarity: number } | undefined {
  const edits = rows === 0 ? MOST_EDITS : 1;
  const terms: string[] = [];
  for (let length = word.length - edits; length <= word.length + edits; length++)
    terms.push(...gramTerms(word, length));
  const near = index
    .all<{ word: string }>(
      `SELECT w.word FROM (
         SELECT g.doc AS word, count(*) AS shared FROM json_each(?) t CROSS JOIN word_gram_rows g ON g.term = t.value
         GROUP BY g.doc ORDER BY shared DESC, g.doc LIMIT ${MOST_CANDIDATES}) best
       JOIN words w ON w.id = best.word`,
      JSON.stringify(terms),
    )
    .map((row) => ({ to: row.word, distance: editDistance(word, row.word, edits) }))
    .filter(({ to, distance }) => distance > 0 && distance <= edits && alike(word, to, distance) >= similarity)
    .sort((a, b) => a.distance - b.distance || Number(b.to[0] === word[0]) - Number(a.to[0] === word[0]));
  let best: { to: string; distance: number; rows: number } | undefined;
  for (const candidate of near.slice(0, 20)) {
    if (best !== undefined && candidate.distance > best.distance) break;
    const count = rowsWith(index, `"${candidate.to}"`, COUNTED_ROWS);
    const enough = rows === 0 ? 1 : rows * MUCH_MORE;
    if (count >= enough && count > (best?.rows ?? 0)) best = { ...candidate, rows: count };
  }
  return best === undefined ? undefined : { to: best.to, similarity: alike(word, best.to, best.distance) };
}

function alike(a: string, b: string, distance: number): number {
  return 1 - distance / Math.max(a.length, b.length);
}

/** Counts the rows of the keyword index that match the query, up to `most`. */
function rowsWith(index: Db, query: string, most: number): number {
  return index.one<{ n: number }>(
    "SELECT count(*) AS n FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)",
    query,
    most,
  ).n;
}
