// The code graph on disk. Each live document stores what its own text says. Edges between documents are resolved from
// that afterwards, for every new document and every document that depends on one that was added, changed or removed.
// Both are stored in one piece per document; `graph_terms` finds the documents.

import {
  type Affected,
  affectedBy,
  type FileFacts,
  type FileGraph,
  type GraphSource,
  resolveFile,
} from "@trunkline/code-graph";
import type { IndexEntry, Indexer } from "../engine/indexing/indexer.js";
import { bytesOf } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { graphOf, isGraphText } from "./document-graph.js";
import { decodeFacts, decodeLinks, encodeFacts, encodeLinks, type FileLinks } from "./file-codec.js";
import {
  dependsTerm,
  filesWith,
  listedFiles,
  providesTerm,
  replaceTerms,
  termsOfFacts,
  termsOfLinks,
} from "./file-terms.js";

/** A row of `graph_files`. */
export interface FileRow {
  readonly id: number;
  readonly collection: string;
  readonly path: string;
  readonly hash: Uint8Array;
  readonly gone: number;
  readonly facts: Uint8Array;
}

export const graphIndexer: Indexer = {
  name: "graph",
  version: 2,
  when: "background",
  alone: true,
  create(index) {
    index.exec(`
      CREATE TABLE IF NOT EXISTS graph_files (
        id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, collection TEXT NOT NULL, entry INTEGER NOT NULL UNIQUE,
        hash BLOB NOT NULL, gone INTEGER NOT NULL, symbols INTEGER NOT NULL, facts BLOB NOT NULL,
        UNIQUE (path, collection));
      CREATE INDEX IF NOT EXISTS graph_files_gone ON graph_files (gone) WHERE gone = 1;
      CREATE TABLE IF NOT EXISTS graph_links (file INTEGER PRIMARY KEY, edges INTEGER NOT NULL, links BLOB NOT NULL);
      CREATE TABLE IF NOT EXISTS graph_terms (
        term NOT NULL, first INTEGER NOT NULL, files BLOB NOT NULL, PRIMARY KEY (term, first)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS graph_pending (file INTEGER PRIMARY KEY);`);
  },
  wantsText(entry) {
    return isGraphText(entry);
  },
  async prepare(entry, text) {
    return madeOf(await graphOf(entry, text));
  },
  add(index, entry, _text, prepared) {
    const { live } = index.one<{ live: number }>("SELECT live FROM entries WHERE id = ?", entry.id);
    // Older versions exist for snapshots; the graph covers current documents only.
    if (live === 0) return;
    // The value that prepare produced.
    putFile(index, entry, prepared as MadeGraph);
  },
  update() {},
  hide: leave,
  remove: leave,
  settle,
  pending: graphPending,
  clear(index) {
    const tables = ["files", "links", "terms", "pending"];
    // The first version had other tables.
    for (const table of [...tables, "keys", "provides", "depends", "nodes", "edges"]) {
      index.exec(`DROP TABLE IF EXISTS graph_${table}`);
    }
  },
  check(index) {
    const count = (sql: string) => index.one<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`).n;
    const strays = count(
      "graph_files f WHERE gone = 0 AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = f.entry AND e.live = 1)",
    );
    const known = new Set(index.column<number>("SELECT id FROM graph_files"));
    const unknown = new Set([...index.column<number>("SELECT file FROM graph_links"), ...listedFiles(index)]);
    const orphans = [...unknown].filter((id) => !known.has(id)).length;
    return [
      ...(strays === 0 ? [] : [`graph: it contains ${strays} documents that are not live.`]),
      ...(orphans === 0 ? [] : [`graph: it refers to ${orphans} documents that it does not contain.`]),
    ];
  },
};

/**
 * Marks a document as gone: it was removed, or a new version is on its way. Which of the two becomes clear once
 * everything is indexed.
 */
function leave(index: Db, entryId: number): void {
  const row = index.get<{ id: number }>("UPDATE graph_files SET gone = 1 WHERE entry = ? RETURNING id", entryId);
  if (row !== undefined) index.run("INSERT OR IGNORE INTO graph_pending VALUES (?)", row.id);
}

/** A document's graph, in a form that is cheap to send between threads. */
interface MadeGraph {
  readonly facts: Uint8Array;
  readonly symbols: number;
  readonly terms: readonly string[];
  /** What must be resolved again if the document is new. */
  readonly touches: Affected;
}

function madeOf(graph: FileGraph): MadeGraph {
  return {
    facts: encodeFacts(graph),
    symbols: graph.symbols.length,
    terms: termsOfFacts(graph),
    touches: affectedBy(undefined, graph),
  };
}

function putFile(index: Db, entry: IndexEntry, { facts, symbols, terms, touches }: MadeGraph): void {
  const { collection, path } = entry;
  const hash = bytesOf(entry.hash);
  const known = index.get<FileRow>("SELECT * FROM graph_files WHERE path = ? AND collection = ?", path, collection);
  const before = known === undefined ? undefined : factsOf(known);
  touch(index, collection, before === undefined ? touches : affectedBy(before, factsOf({ path, hash, facts })));
  const { id } = index.one<{ id: number }>(
    `INSERT INTO graph_files (path, collection, entry, hash, gone, symbols, facts) VALUES (?, ?, ?, ?, 0, ?, ?)
     ON CONFLICT (path, collection) DO UPDATE SET entry = excluded.entry, hash = excluded.hash, gone = 0,
       symbols = excluded.symbols, facts = excluded.facts
     RETURNING id`,
    path,
    collection,
    entry.id,
    hash,
    symbols,
    facts,
  );
  if (before !== undefined) replaceLinks(index, id, { facts: before });
  replaceTerms(index, id, { before: before === undefined ? [] : termsOfFacts(before), after: terms });
  index.run("INSERT OR IGNORE INTO graph_pending VALUES (?)", id);
}

/** Replaces the edges of a document; removes them without `links`. They are relative to its `facts`. */
function replaceLinks(index: Db, file: number, { facts, links }: { facts: FileFacts; links?: FileLinks }): void {
  const before = index.get<{ links: Uint8Array }>("SELECT links FROM graph_links WHERE file = ?", file)?.links;
  const after = links === undefined ? undefined : encodeLinks(links, facts);
  if (before !== undefined && after !== undefined && Buffer.compare(before, after) === 0) return;
  replaceTerms(index, file, {
    before: before === undefined ? [] : termsOfLinks(decodeLinks(before, facts), facts),
    after: links === undefined ? [] : termsOfLinks(links, facts),
  });
  if (links === undefined || after === undefined) index.run("DELETE FROM graph_links WHERE file = ?", file);
  else index.run("INSERT OR REPLACE INTO graph_links VALUES (?, ?, ?)", file, links.edges.length, after);
}

/** Marks the documents that a change affects, so they are resolved again. */
function touch(index: Db, collection: string, { keys, under }: Affected): void {
  for (const file of new Set(keys.flatMap((key) => filesWith(index, dependsTerm(key))))) {
    index.run(
      "INSERT OR IGNORE INTO graph_pending SELECT id FROM graph_files WHERE id = ? AND collection = ?",
      file,
      collection,
    );
  }
  if (under === undefined) return;
  if (under === ".") {
    index.run(
      "INSERT OR IGNORE INTO graph_pending SELECT id FROM graph_files WHERE collection = ? AND path NOT LIKE '/%'",
      collection,
    );
    return;
  }
  const folder = under.endsWith("/") ? under.slice(0, -1) : under;
  // `0` is the character after `/`.
  index.run(
    "INSERT OR IGNORE INTO graph_pending SELECT id FROM graph_files WHERE collection = ? AND path > ? AND path < ?",
    collection,
    `${folder}/`,
    `${folder}0`,
  );
}

/** Resolves waiting documents for a short time and returns how many. */
function settle(index: Db, forMs: number): number {
  const until = performance.now() + forMs;
  let settled = 0;
  do {
    const next =
      index.get<FileRow>("SELECT * FROM graph_files WHERE gone = 1 LIMIT 1") ??
      index.get<FileRow>("SELECT f.* FROM graph_pending p JOIN graph_files f ON f.id = p.file LIMIT 1");
    if (next === undefined) break;
    index.run("DELETE FROM graph_pending WHERE file = ?", next.id);
    if (next.gone === 1) dropFile(index, next);
    else resolveAgain(index, next);
    settled++;
  } while (performance.now() < until);
  return settled;
}

function dropFile(index: Db, row: FileRow): void {
  const facts = factsOf(row);
  touch(index, row.collection, affectedBy(facts, undefined));
  replaceLinks(index, row.id, { facts });
  replaceTerms(index, row.id, { before: termsOfFacts(facts), after: [] });
  index.run("DELETE FROM graph_pending WHERE file = ?", row.id);
  index.run("DELETE FROM graph_files WHERE id = ?", row.id);
}

function resolveAgain(index: Db, row: FileRow): void {
  const facts = factsOf(row);
  replaceLinks(index, row.id, { facts, links: resolveFile(facts, sourceOf(index, row.collection)) });
}

function sourceOf(index: Db, collection: string): GraphSource {
  return {
    file(path) {
      const row = index.get<FileRow>(
        "SELECT * FROM graph_files WHERE path = ? AND collection = ? AND gone = 0",
        path,
        collection,
      );
      return row === undefined ? undefined : factsOf(row);
    },
    providers: (key) =>
      filesWith(index, providesTerm(key))
        .flatMap((file) =>
          index.column<string>(
            "SELECT path FROM graph_files WHERE id = ? AND collection = ? AND gone = 0",
            file,
            collection,
          ),
        )
        .sort(),
  };
}

/** Recently used facts. They depend only on path and text, so these form their cache key. */
const recent = new Map<string, FileFacts>();
const MOST_RECENT = 200;

/** Returns what the text of a document says. */
function factsOf({ hash, path, facts: bytes }: Pick<FileRow, "hash" | "path" | "facts">): FileFacts {
  const id = `${Buffer.from(hash).toString("latin1")} ${path}`;
  const facts = recent.get(id) ?? decodeFacts(bytes, path);
  recent.delete(id);
  recent.set(id, facts);
  for (const oldest of recent.keys()) {
    if (recent.size <= MOST_RECENT) break;
    recent.delete(oldest);
  }
  return facts;
}

/** How much of the store is in the graph. */
export function graphProgress(index: Db): { documents: number; symbols: number; edges: number; pending: number } {
  const count = (sql: string) => index.one<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`).n;
  return {
    documents: count("graph_files WHERE gone = 0"),
    symbols: index.one<{ n: number }>("SELECT coalesce(sum(symbols), 0) AS n FROM graph_files").n,
    edges: index.one<{ n: number }>("SELECT coalesce(sum(edges), 0) AS n FROM graph_links").n,
    pending: graphPending(index),
  };
}

/** How many documents still have to be indexed or resolved. */
export function graphPending(index: Db): number {
  const state = index.get<{ entry: number }>("SELECT entry FROM indexers WHERE name = ?", graphIndexer.name);
  return index.one<{ n: number }>(
    "SELECT (SELECT count(*) FROM entries WHERE id > ? AND live = 1) + (SELECT count(*) FROM graph_pending) AS n",
    state?.entry ?? 0,
  ).n;
}
