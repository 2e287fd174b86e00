// The trigram index: which contents cannot match a pattern. It comes after the acknowledged write, so that an entry it
// has not reached is a candidate for every pattern.
import type { Indexer } from "../indexing/indexer.js";
import type { Db, SqlValue } from "../sqlite/database.js";
import { ftsQuery, type TrigramQuery } from "./literals.js";

/** Row id = entry id * TRIGRAM_ROWS_PER_ENTRY + number of the piece. */
const TRIGRAM_ROWS_PER_ENTRY = 4096;
const PIECE_LENGTH = 512 * 1024;

/** The `trigram` indexer. */
export const trigramIndexer: Indexer = {
  name: "trigram",
  version: 1,
  when: "background",
  create(index) {
    // detail=none: no positions. It only says which rows have a trigram, in a tenth of the space.
    index.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS trigram USING fts5(
        body, content='', contentless_delete=1, detail=none, tokenize='trigram');
      CREATE TABLE IF NOT EXISTS trigram_unread (entry INTEGER PRIMARY KEY);`);
  },
  add(index, entry, text) {
    if (entry.type === "binary") return;
    if (text === undefined) {
      index.run("INSERT OR IGNORE INTO trigram_unread VALUES (?)", entry.id);
      return;
    }
    const first = entry.id * TRIGRAM_ROWS_PER_ENTRY;
    linePieces(text.body, PIECE_LENGTH, TRIGRAM_ROWS_PER_ENTRY).forEach((piece, number) => {
      index.run("INSERT INTO trigram (rowid, body) VALUES (?, ?)", first + number, firstTrigrams(piece));
    });
  },
  /** The index knows the content alone. */
  update() {},
  remove(index, entryId) {
    const first = entryId * TRIGRAM_ROWS_PER_ENTRY;
    index.run("DELETE FROM trigram WHERE rowid >= ? AND rowid < ?", first, first + TRIGRAM_ROWS_PER_ENTRY);
    index.run("DELETE FROM trigram_unread WHERE entry = ?", entryId);
  },
  clear(index) {
    index.exec("DROP TABLE IF EXISTS trigram; DROP TABLE IF EXISTS trigram_unread");
  },
  check(index) {
    index.run("INSERT INTO trigram (trigram, rank) VALUES ('integrity-check', 0)");
    return [];
  },
};

/** In which text each trigram of ASCII, seven bits a character, was last seen. */
let lastSeen: Uint16Array | undefined;
let texts = 0;

/**
 * The text without what only repeats trigrams that it has had before; FTS5 would go through all of them to find that out.
 * Where something is left out a line feed stands, which no trigram of a pattern has.
 */
export function firstTrigrams(text: string): string {
  lastSeen ??= new Uint16Array(1 << 21);
  if (++texts > 0xffff) {
    lastSeen.fill(0);
    texts = 1;
  }
  const seen = lastSeen;
  const parts: string[] = [];
  // What is from `start` up to `end` goes into the text.
  let start = 0;
  let end = 0;
  let trigram = 0;
  // A character outside ASCII makes the trigrams that it is in count as new.
  let other = -1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) other = at;
    trigram = ((trigram << 7) | (unit >= 0x41 && unit <= 0x5a ? unit + 32 : unit & 0x7f)) & 0x1fffff;
    const isAscii = other < 0 || at - other >= 3;
    if (at < 2 || (isAscii && seen[trigram] === texts)) continue;
    if (isAscii) seen[trigram] = texts;
    if (at - 2 > end) {
      if (end > start) parts.push(text.slice(start, end));
      start = at - 2;
    }
    end = at + 1;
  }
  if (end > start) parts.push(text.slice(start, end));
  return parts.length === 0 ? text : parts.join("\n");
}

/**
 * Pieces of whole lines. All trigrams of a match have to be in one row, so that no line is ever cut, however long; the
 * last piece takes what is left when there would be too many.
 */
export function linePieces(text: string, pieceLength: number, mostPieces: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > pieceLength && pieces.length < mostPieces - 1) {
    const before = text.lastIndexOf("\n", start + pieceLength) + 1;
    const end = before > start ? before : text.indexOf("\n", start + pieceLength) + 1;
    if (end === 0) break;
    pieces.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length || pieces.length === 0) pieces.push(text.slice(start));
  return pieces;
}

/**
 * SQL over index.sqlite for the ids of the entries that may match, in no order, each perhaps more than once; undefined
 * where nothing can be left out. Entries that the index has not reached are among them.
 */
export function candidateEntries(query: TrigramQuery | "none"): { sql: string; values: SqlValue[] } | undefined {
  if (query === "none") return undefined;
  return {
    sql: `SELECT rowid / ${TRIGRAM_ROWS_PER_ENTRY} AS entry FROM trigram WHERE trigram MATCH ?
      UNION ALL SELECT entry FROM trigram_unread
      UNION ALL SELECT id FROM entries
        WHERE id > coalesce((SELECT entry FROM indexers WHERE name = 'trigram'), 0)`,
    values: [ftsQuery(query)],
  };
}

/** The ids of the entries that may match; undefined for all. */
export function findCandidates(index: Db, query: TrigramQuery | "none"): Set<number> | undefined {
  const candidates = candidateEntries(query);
  if (candidates === undefined) return undefined;
  return new Set(index.column<number>(candidates.sql, ...candidates.values));
}
