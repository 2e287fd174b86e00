// Vectors of passages. A vector is stored under the model and the hash of the embedded text, so equal passages are
// embedded once, whatever document they are in.
import { randomUUID } from "node:crypto";
import type { Indexer } from "../engine/indexing/indexer.js";
import type { Db } from "../engine/sqlite/database.js";
import { noteConverted } from "./vector-conversion.js";

/** The `vectors` indexer: creates the tables and drops removed entries. The embedding queue fills them. */
export const vectorsIndexer: Indexer = {
  name: "vectors",
  version: 1,
  when: "write",
  wantsText: () => false,
  create(index) {
    index.exec(`
      CREATE TABLE IF NOT EXISTS embedders (
        id INTEGER PRIMARY KEY, model TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL,
        entry INTEGER NOT NULL, complete INTEGER NOT NULL, used INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL,
        from_line INTEGER NOT NULL, to_line INTEGER NOT NULL, code REAL NOT NULL, UNIQUE (entry, number));
      CREATE INDEX IF NOT EXISTS passages_by_hash ON passages (hash);
      CREATE TABLE IF NOT EXISTS vectors (
        id INTEGER PRIMARY KEY AUTOINCREMENT, embedder INTEGER NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL,
        UNIQUE (embedder, hash));
      CREATE TABLE IF NOT EXISTS vector_signs (vector INTEGER PRIMARY KEY, signs BLOB NOT NULL);`);
    index.run("INSERT OR IGNORE INTO facts VALUES ('vectors_made', ?)", randomUUID());
    noteConverted(index, "all");
  },
  add() {},
  update() {},
  remove(index, entryId) {
    index.run("DELETE FROM passages WHERE entry = ?", entryId);
  },
  clear(index) {
    index.exec("DROP TABLE IF EXISTS embedders; DROP TABLE IF EXISTS passages; DROP TABLE IF EXISTS vectors");
    index.exec("DROP TABLE IF EXISTS vector_signs");
    index.run("DELETE FROM facts WHERE key IN ('vectors_made', 'vectors_converted')");
  },
};

/** Returns the row of a model; `undefined` if nothing was embedded with it. */
export function embedderRow(index: Db, model: string): EmbedderRow | undefined {
  return index.get<EmbedderRow>("SELECT * FROM embedders WHERE model = ?", model);
}

/** A row of `embedders`. */
export interface EmbedderRow {
  readonly id: number;
  readonly model: string;
  readonly dimensions: number;
  /** All entries up to this one have vectors. */
  readonly entry: number;
  /** Whether all entries had vectors at some point. */
  readonly complete: number;
  readonly used: number;
}
