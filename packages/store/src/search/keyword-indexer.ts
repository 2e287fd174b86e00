// The keyword index: FTS5 over title, path, tags, metadata, body and the parts of compound identifiers. Part of the
// acknowledged write. The table is contentless: snippets are cut from the content itself.
import type { Indexer } from "../engine/indexing/indexer.js";
import { keywordRows, MOST_PIECES } from "./keyword-text.js";

/** Row id = entry id * KEYWORD_ROWS_PER_ENTRY + piece number. */
export const KEYWORD_ROWS_PER_ENTRY = MOST_PIECES;

export const keywordIndexer: Indexer = {
  name: "keyword",
  version: 1,
  when: "write",
  create(index) {
    index.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS keyword USING fts5(
      title, path, tags, metadata, body, words,
      content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`);
  },
  add(index, entry, text) {
    const first = entry.id * KEYWORD_ROWS_PER_ENTRY;
    const insert = "INSERT INTO keyword (rowid, title, path, tags, metadata, body, words) VALUES (?, ?, ?, ?, ?, ?, ?)";
    for (const [piece, columns] of keywordRows(entry, text).entries()) index.run(insert, first + piece, ...columns);
  },
  remove(index, entryId) {
    const first = entryId * KEYWORD_ROWS_PER_ENTRY;
    index.run("DELETE FROM keyword WHERE rowid >= ? AND rowid < ?", first, first + KEYWORD_ROWS_PER_ENTRY);
  },
  clear(index) {
    index.exec("DROP TABLE IF EXISTS keyword");
  },
  check(index) {
    index.run("INSERT INTO keyword (keyword, rank) VALUES ('integrity-check', 0)");
    return [];
  },
};
