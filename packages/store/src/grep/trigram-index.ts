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
      index.run("INSERT INTO trigram (rowid, body) VALUES (?, ?)", first + number, piece);
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
  return new Set(index.all<{ entry: number }>(candidates.sql, ...candidates.values).map(({ entry }) => entry));
}
