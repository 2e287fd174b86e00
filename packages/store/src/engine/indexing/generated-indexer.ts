// Which documents a tool has written. The graph and the embedding queue leave these out; `status` counts them.
import { type GeneratedKind, generatedKindOf } from "../content/generated.js";
import type { Db } from "../sqlite/database.js";
import type { Indexer } from "./indexer.js";

export const generatedIndexer: Indexer = {
  name: "generated",
  version: 1,
  when: "background",
  create(index) {
    index.exec("CREATE TABLE IF NOT EXISTS words_only (entry INTEGER PRIMARY KEY, kind TEXT NOT NULL)");
  },
  add(index, entry, text) {
    const kind = text === undefined ? undefined : generatedKindOf(entry.path, text.body);
    if (kind !== undefined) index.run("INSERT OR REPLACE INTO words_only VALUES (?, ?)", entry.id, kind);
  },
  /** Does nothing: tags and metadata do not matter, and a document never changes its path. */
  update() {},
  remove(index, entryId) {
    index.run("DELETE FROM words_only WHERE entry = ?", entryId);
  },
  clear(index) {
    index.exec("DROP TABLE IF EXISTS words_only");
  },
};

/** Counts the current documents of each kind. */
export function generatedCounts(index: Db): Partial<Record<GeneratedKind, number>> {
  const rows = index.all<{ kind: GeneratedKind; documents: number }>(
    `SELECT g.kind, count(*) AS documents FROM words_only g JOIN entries e ON e.id = g.entry
     WHERE e.live = 1 GROUP BY g.kind ORDER BY g.kind`,
  );
  return Object.fromEntries(rows.map(({ kind, documents }) => [kind, documents]));
}
