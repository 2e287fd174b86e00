// The code graph on disk. Each live document stores what its own text says. Edges between documents are resolved from
// that afterwards, for every new document and every document that depends on one that was added, changed or removed.
// Keys and lookup names are stored once, by number.
import { compress, decompress } from "@cloudpss/zstd/wasm";
import { TrunklineError } from "@trunkline/core";
import type { IndexText } from "../engine/content/text.js";
import { expandedSize } from "../engine/content/zstd-frame.js";
import type { IndexEntry, Indexer } from "../engine/indexing/indexer.js";
import { knownNumbers } from "../engine/indexing/known-numbers.js";
import type { Db } from "../engine/sqlite/database.js";
import { baseNameOf } from "../engine/sqlite/documents.js";
import {
  type Affected,
  affectedBy,
  DEFAULT_MAX_LENGTH,
  extractGraph,
  type FileGraph,
  type GraphSource,
  isConfigPath,
  languageOf,
  providedKeys,
  resolveFile,
} from "./index.js";

/** UTF-8 needs at most three bytes per UTF-16 unit, so anything longer is certainly too long to parse. */
const LARGEST_READ = DEFAULT_MAX_LENGTH * 3;

/**
 * The zstd level. These blobs are read repeatedly and replaced when a document changes, so speed matters more than
 * size.
 */
const BLOB_LEVEL = 1;

interface FileRow {
  readonly id: number;
  readonly collection: string;
  readonly path: string;
  readonly hash: string;
  readonly gone: number;
  readonly graph: Uint8Array;
}

export const graphIndexer: Indexer = {
  name: "graph",
  version: 1,
  when: "background",
  alone: true,
  create(index) {
    index.exec(`
      CREATE TABLE IF NOT EXISTS graph_files (
        id INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, path TEXT NOT NULL, entry INTEGER NOT NULL UNIQUE,
        hash TEXT NOT NULL, gone INTEGER NOT NULL, graph BLOB NOT NULL, UNIQUE (collection, path));
      CREATE INDEX IF NOT EXISTS graph_files_by_path ON graph_files (path);
      CREATE INDEX IF NOT EXISTS graph_files_gone ON graph_files (gone) WHERE gone = 1;
      CREATE TABLE IF NOT EXISTS graph_keys (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
      CREATE TABLE IF NOT EXISTS graph_provides (
        key INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (key, file)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS graph_provides_by_file ON graph_provides (file);
      CREATE TABLE IF NOT EXISTS graph_depends (
        key INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (key, file)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS graph_depends_by_file ON graph_depends (file);
      CREATE TABLE IF NOT EXISTS graph_nodes (
        file INTEGER NOT NULL, position INTEGER NOT NULL, key INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL,
        PRIMARY KEY (file, position)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS graph_nodes_by_key ON graph_nodes (key);
      CREATE INDEX IF NOT EXISTS graph_nodes_by_type ON graph_nodes (type, name);
      CREATE INDEX IF NOT EXISTS graph_nodes_by_name ON graph_nodes (name);
      CREATE TABLE IF NOT EXISTS graph_edges (
        file INTEGER NOT NULL, position INTEGER NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,
        relation TEXT NOT NULL, line INTEGER, resolved INTEGER NOT NULL, PRIMARY KEY (file, position)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS graph_edges_by_source ON graph_edges (source, relation);
      CREATE INDEX IF NOT EXISTS graph_edges_by_target ON graph_edges (target, relation);
      CREATE TABLE IF NOT EXISTS graph_pending (file INTEGER PRIMARY KEY);`);
  },
  wantsText(entry) {
    return entry.size <= LARGEST_READ && saysSomething(entry.path);
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
    for (const table of ["files", "keys", "provides", "depends", "nodes", "edges", "pending"]) {
      index.exec(`DROP TABLE IF EXISTS graph_${table}`);
    }
  },
  check(index) {
    const count = (sql: string) => index.one<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`).n;
    const strays = count(
      "graph_files f WHERE gone = 0 AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = f.entry AND e.live = 1)",
    );
    const orphans = count("graph_edges g WHERE NOT EXISTS (SELECT 1 FROM graph_files f WHERE f.id = g.file)");
    return [
      ...(strays === 0 ? [] : [`graph: it contains ${strays} documents that are not live.`]),
      ...(orphans === 0 ? [] : [`graph: ${orphans} edges belong to no document.`]),
    ];
  },
};

/** Whether a file with this name can contribute to the graph. A file without an extension may be a script. */
function saysSomething(path: string): boolean {
  return languageOf(path) !== undefined || isConfigPath(path) || !baseNameOf(path).includes(".");
}

/**
 * Builds a document's graph. Every document is a node, so links to images and imports of data resolve; most contribute
 * nothing else.
 */
async function graphOf(entry: IndexEntry, text: IndexText | undefined): Promise<FileGraph> {
  const graph = await extractGraph({ path: entry.path, text: text?.body ?? "" });
  if (entry.size <= LARGEST_READ || !saysSomething(entry.path)) return graph;
  return { ...graph, incomplete: { reason: "size", message: `It has ${entry.size} bytes and was not parsed.` } };
}

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
  readonly blob: Uint8Array;
  readonly provides: readonly string[];
  /** What must be resolved again if the document is new. */
  readonly touches: Affected;
  /** Key, type and name of each symbol, flattened. */
  readonly nodes: readonly string[];
}

function madeOf(graph: FileGraph): MadeGraph {
  return {
    blob: compress(Buffer.from(JSON.stringify(graph)), BLOB_LEVEL),
    provides: providedKeys(graph),
    touches: affectedBy(undefined, graph),
    nodes: graph.symbols.flatMap(({ key, kind, name }) => [key, kind, name]),
  };
}

function putFile(index: Db, entry: IndexEntry, { blob, provides, touches, nodes }: MadeGraph): void {
  const { collection, path, hash } = entry;
  const known = index.get<FileRow>("SELECT * FROM graph_files WHERE collection = ? AND path = ?", collection, path);
  const after = { path, hash, graph: blob };
  touch(index, collection, known === undefined ? touches : affectedBy(readGraph(known), readGraph(after)));
  const { id } = index.one<{ id: number }>(
    `INSERT INTO graph_files (collection, path, entry, hash, gone, graph) VALUES (?, ?, ?, ?, 0, ?)
     ON CONFLICT (collection, path) DO UPDATE SET entry = excluded.entry, hash = excluded.hash, gone = 0, graph = excluded.graph
     RETURNING id`,
    collection,
    path,
    entry.id,
    hash,
    blob,
  );
  if (known !== undefined) for (const table of ["provides", "nodes"]) dropRows(index, table, id);
  const keyId = keyNumbers(index);
  for (const key of provides) index.run("INSERT OR IGNORE INTO graph_provides VALUES (?, ?)", keyId(key), id);
  for (let at = 0; at < nodes.length; at += 3) {
    const [key, type, name] = nodes.slice(at, at + 3) as [string, string, string];
    index.run("INSERT INTO graph_nodes VALUES (?, ?, ?, ?, ?)", id, at / 3, keyId(key), type, name);
  }
  index.run("INSERT OR IGNORE INTO graph_pending VALUES (?)", id);
}

function dropRows(index: Db, table: string, file: number): void {
  index.run(`DELETE FROM graph_${table} WHERE file = ?`, file);
}

/** Marks the documents that a change affects, so they are resolved again. */
function touch(index: Db, collection: string, { keys, under }: Affected): void {
  for (const key of keys) {
    index.run(
      `INSERT OR IGNORE INTO graph_pending SELECT d.file FROM graph_keys k JOIN graph_depends d ON d.key = k.id
       JOIN graph_files f ON f.id = d.file WHERE k.key = ? AND f.collection = ?`,
      key,
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
  touch(index, row.collection, affectedBy(readGraph(row), undefined));
  for (const table of ["provides", "depends", "nodes", "edges", "pending"]) dropRows(index, table, row.id);
  index.run("DELETE FROM graph_files WHERE id = ?", row.id);
}

function resolveAgain(index: Db, row: FileRow): void {
  const { edges, dependsOn } = resolveFile(readGraph(row), sourceOf(index, row.collection));
  const keyId = keyNumbers(index);
  index.run("DELETE FROM graph_depends WHERE file = ?", row.id);
  for (const key of dependsOn) index.run("INSERT INTO graph_depends VALUES (?, ?)", keyId(key), row.id);
  index.run("DELETE FROM graph_edges WHERE file = ?", row.id);
  for (const [position, edge] of edges.entries()) {
    index.run(
      "INSERT INTO graph_edges VALUES (?, ?, ?, ?, ?, ?, ?)",
      row.id,
      position,
      keyId(edge.from),
      keyId(edge.to),
      edge.relation,
      edge.line ?? null,
      edge.resolved ? 1 : 0,
    );
  }
}

function sourceOf(index: Db, collection: string): GraphSource {
  return {
    file(path) {
      const row = index.get<FileRow>(
        "SELECT * FROM graph_files WHERE collection = ? AND path = ? AND gone = 0",
        collection,
        path,
      );
      return row === undefined ? undefined : readGraph(row);
    },
    providers: (key) =>
      index
        .all<{ path: string }>(
          `SELECT f.path FROM graph_keys k JOIN graph_provides p ON p.key = k.id JOIN graph_files f ON f.id = p.file
           WHERE k.key = ? AND f.collection = ? AND f.gone = 0`,
          key,
          collection,
        )
        .map((row) => row.path)
        .sort(),
  };
}

/** Assigns numbers to keys within the current transaction. */
function keyNumbers(index: Db): (key: string) => number {
  const known = knownNumbers(index, { table: "graph_keys", column: "key" });
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    // Nearly all keys that are not in memory are new.
    const added = index.run("INSERT OR IGNORE INTO graph_keys (key) VALUES (?)", key);
    const id =
      added.changes === 1 ? added.id : index.one<{ id: number }>("SELECT id FROM graph_keys WHERE key = ?", key).id;
    known.set(key, id);
    return id;
  };
}

/** Recently used graphs. A graph depends only on path and text, so these form its cache key. */
const recent = new Map<string, FileGraph>();
const MOST_RECENT = 200;

function remember(hash: string, path: string, graph: FileGraph): void {
  const id = `${hash} ${path}`;
  recent.delete(id);
  recent.set(id, graph);
  for (const oldest of recent.keys()) {
    if (recent.size <= MOST_RECENT) break;
    recent.delete(oldest);
  }
}

function readGraph({ hash, path, graph: blob }: Pick<FileRow, "hash" | "path" | "graph">): FileGraph {
  const graph =
    recent.get(`${hash} ${path}`) ??
    // Written by putFile.
    (JSON.parse(Buffer.from(expand(blob)).toString("utf8")) as FileGraph);
  remember(hash, path, graph);
  return graph;
}

/** Far more than the graph of the longest text that is parsed. */
const MAX_GRAPH_BYTES = 64 * 1024 * 1024;

function expand(blob: Uint8Array): Uint8Array {
  const size = expandedSize(blob);
  if (size !== undefined && size <= MAX_GRAPH_BYTES) return decompress(blob);
  throw new TrunklineError("IO", "The graph in the index is damaged.", {
    hint: "Run trunkline store repair, which rebuilds the index.",
    data: { damaged: true },
  });
}

/** How much of the store is in the graph. */
export function graphProgress(index: Db): { documents: number; symbols: number; edges: number; pending: number } {
  const count = (sql: string) => index.one<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`).n;
  return {
    documents: count("graph_files WHERE gone = 0"),
    symbols: count("graph_nodes"),
    edges: count("graph_edges"),
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
