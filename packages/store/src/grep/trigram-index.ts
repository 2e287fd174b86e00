// The trigram index: tells which contents cannot match a pattern. It is updated after the write is acknowledged, so an
// entry it has not reached is a candidate for every pattern. Entries are stored in segments; small ones are merged with
// their neighbours. Merging drops removed entries. Until then they do no harm: ids are never reused, so no query asks
// for them.

import type { TrigramQuery } from "@trunkline/grep";
import {
  type Block,
  type EntryKeys,
  findList,
  makeBlocks,
  readBlock,
  TRIGRAM_KEYS,
  textKeys,
  trigramKey,
} from "@trunkline/grep";
import type { Indexer, PreparedEntry } from "../engine/indexing/indexer.js";
import type { Db } from "../engine/sqlite/database.js";

/**
 * This many segments are merged into one with at most MOST_ENTRIES entries, unless one of them already makes up most of
 * it.
 */
const PUT_TOGETHER = 8;
const MOST_ENTRIES = 1024;

interface Segment {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly entries: number;
}

export const trigramIndexer: Indexer = {
  name: "trigram",
  version: 2,
  when: "background",
  create(index) {
    // A block's id is its segment's id * TRIGRAM_KEYS + its first key.
    index.exec(`CREATE TABLE IF NOT EXISTS trigram_segments (
        id INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, last INTEGER NOT NULL, entries INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS trigram_blocks (id INTEGER PRIMARY KEY, lists BLOB NOT NULL);
      CREATE TABLE IF NOT EXISTS trigram_unread (entry INTEGER PRIMARY KEY);`);
  },
  async prepare(_entry, text) {
    return text === undefined ? undefined : textKeys(text.body);
  },
  add(index, entry, text) {
    addEntries(index, [{ entry, text, made: text === undefined ? undefined : textKeys(text.body) }]);
  },
  addAll: addEntries,
  /** Does nothing: the index depends only on content. */
  update() {},
  remove(index, entryId) {
    index.run("DELETE FROM trigram_unread WHERE entry = ?", entryId);
  },
  settle: putTogether,
  clear(index) {
    // The first version had a table `trigram`.
    for (const table of ["trigram", "trigram_segments", "trigram_blocks", "trigram_unread"]) {
      index.exec(`DROP TABLE IF EXISTS ${table}`);
    }
  },
  check(index) {
    return segmentsOf(index).flatMap((segment) => {
      const ids = new Set<number>();
      for (const block of blocksOf(index, segment)) {
        readBlock(block, segment.first, (_key, found) => {
          for (const id of found) ids.add(id);
          return false;
        });
      }
      const strays = [...ids].filter((id) => id < segment.first || id > segment.last).length;
      return strays === 0 ? [] : [`trigram: segment ${segment.id} has ${strays} entries that do not belong to it.`];
    });
  },
};

function addEntries(index: Db, prepared: readonly PreparedEntry[]): void {
  const entries: EntryKeys[] = [];
  for (const { entry, made } of prepared) {
    // The value that prepare produced.
    if (made !== undefined) entries.push({ id: entry.id, keys: made as Int32Array });
    else if (entry.type === "text") index.run("INSERT OR IGNORE INTO trigram_unread VALUES (?)", entry.id);
  }
  insertSegment(index, entries);
}

function insertSegment(index: Db, entries: readonly EntryKeys[]): void {
  const [first, last] = [entries[0]?.id, entries.at(-1)?.id];
  if (first === undefined || last === undefined) return;
  const insert = "INSERT INTO trigram_segments (first, last, entries) VALUES (?, ?, ?)";
  const { id } = index.run(insert, first, last, entries.length);
  for (const block of makeBlocks(entries, first)) {
    index.run("INSERT INTO trigram_blocks VALUES (?, ?)", id * TRIGRAM_KEYS + block.first, block.data);
  }
}

function segmentsOf(index: Db): Segment[] {
  return index.all<Segment>("SELECT * FROM trigram_segments ORDER BY first");
}

function blocksOf(index: Db, { id }: Segment): Block[] {
  const start = id * TRIGRAM_KEYS;
  return index
    .all<{ id: number; lists: Uint8Array }>(
      "SELECT id, lists FROM trigram_blocks WHERE id >= ? AND id < ?",
      start,
      start + TRIGRAM_KEYS,
    )
    .map((row) => ({ first: row.id - start, data: row.lists }));
}

/** Merges the newest segments if they are small. Returns 0 if there is nothing to do. */
function putTogether(index: Db): number {
  const newest = index
    .all<Segment>(`SELECT * FROM trigram_segments ORDER BY first DESC LIMIT ${PUT_TOGETHER}`)
    .reverse();
  const sizes = newest.map(({ entries }) => entries);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (newest.length < PUT_TOGETHER || total > MOST_ENTRIES || Math.max(...sizes) * 2 > total) return 0;
  const keys = new Map<number, number[]>();
  const range = [newest[0]?.first ?? 0, newest.at(-1)?.last ?? 0];
  for (const id of index.column<number>("SELECT id FROM entries WHERE id BETWEEN ? AND ? ORDER BY id", ...range)) {
    keys.set(id, []);
  }
  for (const segment of newest) {
    for (const block of blocksOf(index, segment)) {
      readBlock(block, segment.first, (key, ids) => {
        for (const id of ids) keys.get(id)?.push(key);
        return false;
      });
    }
    const start = segment.id * TRIGRAM_KEYS;
    index.run("DELETE FROM trigram_blocks WHERE id >= ? AND id < ?", start, start + TRIGRAM_KEYS);
    index.run("DELETE FROM trigram_segments WHERE id = ?", segment.id);
  }
  insertSegment(
    index,
    [...keys].filter(([, own]) => own.length > 0).map(([id, own]) => ({ id, keys: Int32Array.from(own) })),
  );
  return 1;
}

/**
 * Returns the ids of the entries that may match; undefined for all. Includes entries the index has not reached, and can
 * include removed ones.
 */
export function findCandidates(index: Db, query: TrigramQuery | "none"): Set<number> | undefined {
  if (query === "none") return undefined;
  const found = new Set(
    index.column<number>(
      `SELECT entry FROM trigram_unread UNION ALL
       SELECT id FROM entries WHERE id > coalesce((SELECT entry FROM indexers WHERE name = 'trigram'), 0)`,
    ),
  );
  for (const segment of segmentsOf(index)) for (const id of candidatesIn(index, segment, query)) found.add(id);
  return found;
}

/** Returns the matching entries of a segment, in order. */
function candidatesIn(index: Db, segment: Segment, query: TrigramQuery): readonly number[] {
  switch (query.kind) {
    case "trigram":
      return listOf(index, segment, trigramKey(query.text));
    case "or": {
      const found = new Set(query.of.flatMap((part) => candidatesIn(index, segment, part)));
      return [...found].sort((a, b) => a - b);
    }
    case "and": {
      let left: readonly number[] | undefined;
      for (const part of query.of) {
        const found = candidatesIn(index, segment, part);
        left = left === undefined ? found : common(left, found);
        if (left.length === 0) break;
      }
      return left ?? [];
    }
  }
}

/** Returns the numbers that are in both lists. */
function common(a: readonly number[], b: readonly number[]): number[] {
  const both: number[] = [];
  let at = 0;
  for (const number of a) {
    while (at < b.length && (b[at] as number) < number) at++;
    if (b[at] === number) both.push(number);
  }
  return both;
}

/** Returns the entries of a segment that contain a trigram. */
function listOf(index: Db, { id, first }: Segment, key: number): readonly number[] {
  const start = id * TRIGRAM_KEYS;
  const row = index.get<{ id: number; lists: Uint8Array }>(
    "SELECT id, lists FROM trigram_blocks WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
    start,
    start + key,
  );
  return row === undefined ? [] : findList({ first: row.id - start, data: row.lists }, first, key);
}
