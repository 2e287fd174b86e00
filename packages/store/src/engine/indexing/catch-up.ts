// Closes the gap between the content database and the index. Every document change has a sequence number in the content
// database; the index records the number it has reached in the same transaction that indexes the change. The index can
// fall behind after a crash, but never silently: the gap is closed on opening and after every commit.
import { isTrunklineError } from "@trunkline/core";
import { type IndexText, lazyIndexText } from "../content/text.js";
import { type ContentRow, hexOf, readContent } from "../sqlite/contents.js";
import type { Db } from "../sqlite/database.js";
import { currentSeq, type DocumentRow, metadataOf, tagsOf, type VersionRow } from "../sqlite/documents.js";
import { createIndexTables, indexFits, storeIdOf } from "../sqlite/schema.js";
import { hasIndexedText, type IndexEntry, type Indexer, type IndexingRun } from "./indexer.js";

/** Both databases, in a thread that can write. */
export interface IndexingContext {
  readonly truth: Db;
  readonly index: Db;
  readonly indexers: readonly Indexer[];
  /** Texts of contents that were just written, by row id, to avoid reading them again. */
  readonly texts: Map<number, IndexText>;
  check(): void;
}

/** Number of documents per index transaction. */
const SLICE = 500;

/** Prepares the index: creates it, or rebuilds it if it does not match the content database or an indexer changed. */
export function prepareIndex({ truth, index, indexers, check }: IndexingContext): void {
  index.immediate(() => {
    if (!indexFits(index, truth)) {
      dropEverything(index);
      createIndexTables(index, storeIdOf(truth));
    }
    for (const indexer of indexers) prepareIndexer(index, indexer);
  }, check);
}

/** Empties the index; the next catch-up indexes everything again. */
export function rebuildIndex({ truth, index, indexers, check }: IndexingContext): void {
  index.immediate(() => {
    dropEverything(index);
    createIndexTables(index, storeIdOf(truth));
    for (const indexer of indexers) prepareIndexer(index, indexer);
  }, check);
}

function prepareIndexer(index: Db, indexer: Indexer): void {
  const state = index.get<{ version: number }>("SELECT version FROM indexers WHERE name = ?", indexer.name);
  if (state?.version === indexer.version) return;
  indexer.clear(index);
  indexer.create(index);
  index.run("INSERT OR REPLACE INTO indexers VALUES (?, ?, 0)", indexer.name, indexer.version);
  // Indexers that run as part of the write have no position to resume from, so everything is indexed again.
  if (indexer.when === "write") {
    index.exec("DELETE FROM entries");
    index.exec("UPDATE facts SET value = 0 WHERE key = 'seq'");
  }
}

function dropEverything(index: Db): void {
  // Virtual tables first: dropping them drops their shadow tables.
  const tables = () =>
    index.all<{ name: string; sql: string | null }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC",
    );
  for (let next = tables()[0]; next !== undefined; next = tables()[0]) {
    index.exec(`DROP TABLE "${next.name.replaceAll('"', '""')}"`);
  }
  index.exec("PRAGMA user_version = 0");
}

/** Brings the index up to date. Every process calls this first. `background`: background indexers have work left. */
export function makeReady(
  databases: Pick<IndexingContext, "truth" | "index" | "indexers">,
  _params: Record<string, never>,
  { check }: Pick<IndexingRun, "check">,
): { background: boolean; storeId: string } {
  catchUp({ ...databases, texts: new Map(), check });
  return { background: !isComplete(databases), storeId: storeIdOf(databases.truth) };
}

/** Whether every indexer has its current version and has processed all entries. */
export function isComplete({ index, indexers }: Pick<IndexingContext, "index" | "indexers">): boolean {
  const known = new Map(
    index
      .all<{ name: string; version: number; entry: number }>("SELECT name, version, entry FROM indexers")
      .map((row) => [row.name, row]),
  );
  const { last } = index.one<{ last: number | null }>("SELECT max(id) AS last FROM entries");
  return indexers.every((indexer) => {
    const state = known.get(indexer.name);
    if (state?.version !== indexer.version) return false;
    return indexer.when === "write" || (state.entry >= (last ?? 0) && (indexer.pending?.(index) ?? 0) === 0);
  });
}

/** Indexes everything that changed since the last time. Returns the number of documents. */
export function catchUp(context: IndexingContext, onSlice?: (seq: number, target: number) => void): number {
  const { truth, index } = context;
  let taken = 0;
  while (true) {
    const target = currentSeq(truth);
    if (reachedSeq(index) >= target) return taken;
    taken += index.immediate(() => takeSlice(context, target), context.check);
    onSlice?.(reachedSeq(index), target);
    context.check();
  }
}

/** Returns the sequence number up to which changes are indexed. */
export function reachedSeq(index: Db): number {
  return index.one<{ value: number }>("SELECT value FROM facts WHERE key = 'seq'").value;
}

function takeSlice(context: IndexingContext, target: number): number {
  const { truth, index } = context;
  const from = reachedSeq(index);
  // Another process was faster while we waited for the lock: the index must not go back to our target.
  if (from >= target) return 0;
  const changed = truth.all<DocumentRow>(
    "SELECT * FROM documents WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
    from,
    target,
    SLICE,
  );
  for (const document of changed) takeDocument(context, document);
  // Some numbers belong to changes that a later change to the same document has replaced.
  const reached = changed.length < SLICE ? target : (changed.at(-1)?.seq ?? target);
  index.run("UPDATE facts SET value = ? WHERE key = 'seq'", reached);
  return changed.length;
}

/** Updates the entries of a document: its current version, and older ones that a snapshot still shows. */
function takeDocument(context: IndexingContext, document: DocumentRow): void {
  const { truth, index, indexers } = context;
  const known = index.all<{ id: number; version: number; live: number }>(
    "SELECT id, version, live FROM entries WHERE document = ?",
    document.id,
  );
  const wanted = new Map<number, boolean>();
  if (document.state === "live") wanted.set(document.version, true);
  if (known.length > 0 || document.version !== firstVersion(truth, document.id)) {
    for (const version of versionsInSnapshots(truth, document)) {
      if (!wanted.has(version)) wanted.set(version, false);
    }
  }
  for (const entry of known) {
    const live = wanted.get(entry.version);
    if (live === undefined) removeEntry(context, entry.id);
    else if (live) {
      index.run("UPDATE entries SET live = 1 WHERE id = ?", entry.id);
      updateEntry(context, entry.id);
      wanted.delete(entry.version);
    } else {
      if (entry.live !== 0) {
        index.run("UPDATE entries SET live = 0 WHERE id = ?", entry.id);
        for (const indexer of indexers) indexer.hide?.(index, entry.id);
      }
      wanted.delete(entry.version);
    }
  }
  for (const [version, live] of wanted) addEntry(context, { document: document.id, version, live });
}

function firstVersion(truth: Db, document: number): number {
  return truth.one<{ id: number }>("SELECT min(id) AS id FROM versions WHERE document = ?", document).id;
}

function versionsInSnapshots(truth: Db, document: DocumentRow): number[] {
  return truth
    .all<{ id: number }>(
      `SELECT v.id FROM versions v WHERE v.document = ? AND v.seq_to IS NOT NULL AND EXISTS (
         SELECT 1 FROM snapshots s WHERE s.collection = ? AND s.seq >= v.seq_from AND s.seq < v.seq_to)`,
      document.id,
      document.collection,
    )
    .map((row) => row.id);
}

function addEntry(context: IndexingContext, entry: { document: number; version: number; live: boolean }): void {
  const { truth, index, indexers } = context;
  const { content } = truth.one<VersionRow>("SELECT * FROM versions WHERE id = ?", entry.version);
  const { id } = index.run(
    "INSERT INTO entries (document, version, content, live) VALUES (?, ?, ?, ?)",
    entry.document,
    entry.version,
    content,
    entry.live ? 1 : 0,
  );
  const described = describeEntry(truth, { id, ...entry });
  if (described === undefined) return;
  for (const indexer of indexers) {
    if (indexer.when === "write") indexer.add(index, described, textFor(context, indexer, described));
  }
}

function updateEntry(context: IndexingContext, id: number): void {
  const { truth, index, indexers } = context;
  const row = index.one<{ id: number; document: number; version: number }>("SELECT * FROM entries WHERE id = ?", id);
  const described = describeEntry(truth, row);
  if (described === undefined) return;
  for (const indexer of indexers) {
    if (indexer.update !== undefined) indexer.update(index, described);
    else if (indexer.when === "write") {
      indexer.remove(index, id);
      indexer.add(index, described, textFor(context, indexer, described));
    }
  }
}

function removeEntry({ index, indexers }: IndexingContext, id: number): void {
  for (const indexer of indexers) indexer.remove(index, id);
  index.run("DELETE FROM entries WHERE id = ?", id);
}

/** Returns the text of an entry for an indexer, from the current write or from the store. */
function textFor(context: IndexingContext, indexer: Indexer, entry: IndexEntry): IndexText | undefined {
  if (!hasIndexedText(entry) || indexer.wantsText?.(entry) === false) return undefined;
  return context.texts.get(entry.content) ?? readIndexText(context.truth, entry.content);
}

/** Reads the text of a content from the store. Content over 64 MB is found by name, not by text. */
export function readIndexText(truth: Db, content: number): IndexText | undefined {
  const row = truth.one<ContentRow>("SELECT id, hash, size, type FROM contents WHERE id = ?", content);
  if (row.size > MAX_INDEXED_BYTES) return undefined;
  try {
    return lazyIndexText(readContent(truth, row));
  } catch (error) {
    // One damaged content must not make the rest unsearchable; verify reports it.
    if (isTrunklineError(error, "IO") && error.data?.damaged === true) return undefined;
    throw error;
  }
}

const MAX_INDEXED_BYTES = 64 * 1024 * 1024;

/** Returns the entry as indexers receive it, or `undefined` if gc has removed its document. */
export function describeEntry(
  truth: Db,
  entry: { id: number; document: number; version: number },
): IndexEntry | undefined {
  const row = truth.get<{
    path: string;
    root: string | null;
    title: string | null;
    collection: string;
    content: number;
    hash: Uint8Array;
    type: "text" | "binary";
    size: number;
  }>(
    `SELECT d.path, d.root, d.title, k.name AS collection, v.content, c.hash, c.type, c.size
     FROM documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = ? JOIN contents c ON c.id = v.content
     WHERE d.id = ?`,
    entry.version,
    entry.document,
  );
  if (row === undefined) return undefined;
  return {
    id: entry.id,
    document: entry.document,
    version: entry.version,
    content: row.content,
    hash: hexOf(row.hash),
    path: row.path,
    root: row.root ?? undefined,
    title: row.title ?? undefined,
    collection: row.collection,
    type: row.type,
    size: row.size,
    tags: tagsOf(truth, entry.document),
    metadata: metadataOf(truth, entry.document),
  };
}
