// Precomputes how much frequent words add to each entry's score: BM25 of a word in thousands of texts takes FTS5 tens
// of milliseconds, while reading these lists takes a fraction of one. Built in the background in segments of entries;
// FTS5 answers for entries without a segment. Only the part of BM25 that depends on the text is stored, because the
// rarity of a word changes with every document.

import { bm25WeightOfFts5 } from "@trunkline/core";
import { numberReader, writeNumber } from "../engine/content/small-numbers.js";
import type { Indexer } from "../engine/indexing/indexer.js";
import type { Db } from "../engine/sqlite/database.js";
import { KEYWORD_ROWS_PER_ENTRY } from "./keyword-indexer.js";
import { KEYWORD_WEIGHTS } from "./keyword-text.js";

/** A word in fewer texts than this is fast enough on demand. */
const FREQUENT = 300;
/** Minimum and maximum number of entries per segment. The minimum keeps the number of segments low. */
const LEAST_ENTRIES = 1024;
const MOST_ENTRIES = 8192;
/** Up to this many changed entries are looked up one by one; beyond that, everything is recomputed. */
const MOST_CHANGED = 200;
const TERMS_PER_LOOK = 200;

/** Ranks are stored as integers: the BM25 of one word is at most 2.2 times its weight. */
export const RANK_SCALE = 0xffff / 2.2;

export const ranksIndexer: Indexer = {
  name: "ranks",
  version: 2,
  when: "background",
  wantsText: () => false,
  create(index) {
    index.exec(`
      CREATE VIRTUAL TABLE IF NOT EXISTS keyword_terms USING fts5vocab('keyword', 'row');
      CREATE TABLE IF NOT EXISTS rank_segments (
        id INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, last INTEGER NOT NULL, term TEXT NOT NULL,
        complete INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS rank_lists (
        term TEXT NOT NULL, segment INTEGER NOT NULL, entries BLOB NOT NULL, ranks BLOB NOT NULL);
      CREATE UNIQUE INDEX IF NOT EXISTS rank_lists_by_term ON rank_lists (term, segment);
      CREATE TABLE IF NOT EXISTS rank_changed (entry INTEGER PRIMARY KEY);`);
  },
  add() {},
  update(index, entry) {
    const { last } = index.one<{ last: number }>("SELECT coalesce(max(last), 0) AS last FROM rank_segments");
    if (entry.id <= last) index.run("INSERT OR IGNORE INTO rank_changed VALUES (?)", entry.id);
  },
  remove(index, entryId) {
    index.run("DELETE FROM rank_changed WHERE entry = ?", entryId);
  },
  settle,
  pending: waitingEntries,
  clear(index) {
    for (const table of ["keyword_terms", "rank_segments", "rank_lists", "rank_changed"]) {
      index.exec(`DROP TABLE IF EXISTS ${table}`);
    }
  },
};

interface Segment {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  /** The last word processed. */
  readonly term: string;
}

/** Works on the next segment for a short time. Returns 0 if there is none to build. */
function settle(index: Db, forMs: number): number {
  const { changed } = index.one<{ changed: number }>("SELECT count(*) AS changed FROM rank_changed");
  if (changed > MOST_CHANGED) forgetAll(index);
  const segment = index.get<Segment>("SELECT * FROM rank_segments WHERE complete = 0") ?? nextSegment(index);
  if (segment === undefined) return 0;
  const until = performance.now() + forMs;
  let { term } = segment;
  while (performance.now() < until) {
    const terms = index.all<{ term: string; doc: number }>(
      `SELECT term, doc FROM keyword_terms WHERE term > ? LIMIT ${TERMS_PER_LOOK}`,
      term,
    );
    for (const found of terms) {
      if (found.doc >= FREQUENT) rankTerm(index, segment, found);
      term = found.term;
      if (performance.now() >= until) break;
    }
    if (terms.length === 0) {
      index.run("UPDATE rank_segments SET complete = 1 WHERE id = ?", segment.id);
      return 1;
    }
  }
  index.run("UPDATE rank_segments SET term = ? WHERE id = ?", term, segment.id);
  return 1;
}

function forgetAll(index: Db): void {
  index.exec("DELETE FROM rank_lists; DELETE FROM rank_segments; DELETE FROM rank_changed");
}

/** Counts the entries that the next call of {@link settle} would work on. */
function waitingEntries(index: Db): number {
  const { waiting } = index.one<{ waiting: number }>(
    `SELECT count(*) AS waiting FROM entries
     WHERE id > (SELECT coalesce(max(last), 0) FROM rank_segments WHERE complete = 1)`,
  );
  return waiting < LEAST_ENTRIES ? 0 : waiting;
}

function nextSegment(index: Db): Segment | undefined {
  const { covered } = index.one<{ covered: number }>("SELECT coalesce(max(last), 0) AS covered FROM rank_segments");
  const ids = index.column<number>(`SELECT id FROM entries WHERE id > ? ORDER BY id LIMIT ${MOST_ENTRIES}`, covered);
  if (ids.length < LEAST_ENTRIES) return undefined;
  const [first, last] = [covered + 1, ids.at(-1) as number];
  const { id } = index.run("INSERT INTO rank_segments (first, last, term, complete) VALUES (?, ?, '', 0)", first, last);
  return { id, first, last, term: "" };
}

/** Builds a word's list for this segment, and for earlier segments in which it was not frequent yet. */
function rankTerm(index: Db, segment: Segment, { term, doc }: { term: string; doc: number }): void {
  const query = `"${term.replaceAll('"', '""')}"`;
  // FTS5 stems its query again, which can turn a stem into another word; skip those.
  if (index.one<{ n: number }>("SELECT count(*) AS n FROM keyword WHERE keyword MATCH ?", query).n !== doc) return;
  const { rows } = index.one<{ rows: number }>("SELECT count(*) AS rows FROM entries");
  const without = index.all<Segment>(
    `SELECT * FROM rank_segments s WHERE id <= ? AND NOT EXISTS (
       SELECT 1 FROM rank_lists l WHERE l.term = ? AND l.segment = s.id)`,
    segment.id,
    term,
  );
  for (const each of without) makeList(index, each, { term, query, rarity: bm25WeightOfFts5(doc, rows) });
}

function makeList(
  index: Db,
  { id, first, last }: Segment,
  { term, query, rarity }: { term: string; query: string; rarity: number },
): void {
  const entries: number[] = [];
  const ranks: number[] = [];
  const scored = index.tuples<[number, number]>(
    `SELECT rowid, bm25(keyword, ${KEYWORD_WEIGHTS.join(", ")}) FROM keyword
     WHERE keyword MATCH ? AND rowid >= ? AND rowid < ?`,
    query,
    first * KEYWORD_ROWS_PER_ENTRY,
    (last + 1) * KEYWORD_ROWS_PER_ENTRY,
  );
  for (const [row, score] of scored) {
    const entry = Math.floor(row / KEYWORD_ROWS_PER_ENTRY);
    const rank = Math.max(1, Math.min(0xffff, Math.round((-score / rarity) * RANK_SCALE)));
    const at = entries.length - 1;
    // The best piece of a text counts.
    if (entries[at] === entry) ranks[at] = Math.max(ranks[at] as number, rank);
    else {
      entries.push(entry);
      ranks.push(rank);
    }
  }
  index.run(
    "INSERT INTO rank_lists VALUES (?, ?, ?, ?)",
    term,
    id,
    distancesOf(entries),
    bytesOf(Uint16Array.from(ranks)),
  );
}

/** Encodes entry ids in ascending order as distances, which fit in one byte for most frequent words. */
function distancesOf(entries: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const [at, entry] of entries.entries()) writeNumber(bytes, entry - (entries[at - 1] ?? 0));
  return Uint8Array.from(bytes);
}

/** Decodes the `count` entries of a list. */
export function listedEntries(bytes: Uint8Array, count: number): Int32Array {
  const entries = new Int32Array(count);
  const read = numberReader(bytes);
  for (let at = 0, entry = 0; at < count; at++) {
    entry += read() ?? 0;
    entries[at] = entry;
  }
  return entries;
}

function bytesOf(numbers: Uint16Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
