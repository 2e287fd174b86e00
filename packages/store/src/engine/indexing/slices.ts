// What background indexers do before they take the write lock: entries are looked up, texts read, and what takes long
// is worked out, a slice of entries at a time.
import type { IndexText } from "../content/text.js";
import type { Db } from "../sqlite/database.js";
import { describeEntry, readIndexText } from "./catch-up.js";
import { hasIndexedText, type IndexEntry, type Indexer, type IndexingRun, type PreparedEntry } from "./indexer.js";

/** A slice has so many entries, or fewer where their texts are long. */
const MOST_ENTRIES = 1024;
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** Entries in a row, ready to be taken up. */
export interface Slice {
  /** The entry that they come after, and the last one of them. */
  readonly from: number;
  readonly last: number;
  readonly count: number;
  /** Without those that gc took meanwhile. */
  readonly prepared: readonly PreparedEntry[];
}

/** Entries by their ids: those after `from`, up to `to` where it is given. */
export interface Range {
  readonly from: number;
  readonly to?: number | undefined;
}

/** A range that has an end. */
export interface ClosedRange extends Range {
  readonly to: number;
}

/** What another indexer has just looked up, by the id of the entry. */
export type KnownEntries = Map<number, { readonly entry: IndexEntry; readonly text: IndexText | undefined }>;

/** The slice at the beginning of a range; with `to` it is all of it. Undefined where there is nothing in the range. */
export async function prepareSlice(
  context: { readonly truth: Db; readonly index: Db; readonly indexer: Indexer; readonly known?: KnownEntries },
  { from, to }: Range,
  call: IndexingRun,
): Promise<Slice | undefined> {
  const { truth, index, indexer, known } = context;
  const rows = index.all<{ id: number; document: number; version: number }>(
    "SELECT id, document, version FROM entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
    from,
    to ?? Number.MAX_SAFE_INTEGER,
    to === undefined ? MOST_ENTRIES : -1,
  );
  const prepared: PreparedEntry[] = [];
  let last = from;
  let count = 0;
  let characters = 0;
  for (const row of rows) {
    call.check();
    if (to === undefined && characters >= MOST_CHARACTERS) break;
    last = row.id;
    count++;
    const before = known?.get(row.id);
    const entry = before?.entry ?? describeEntry(truth, row);
    if (entry === undefined) continue;
    const wanted = hasIndexedText(entry) && indexer.wantsText?.(entry) !== false;
    const text = wanted ? (before?.text ?? readIndexText(truth, entry.content)) : undefined;
    known?.set(row.id, { entry, text: text ?? before?.text });
    characters += text?.body.length ?? 0;
    prepared.push({ entry, text, made: await indexer.prepare?.(entry, text, call.signal) });
  }
  return count === 0 ? undefined : { from, last: to ?? last, count, prepared };
}

/** The next entries after one, for {@link prepareSlice}; undefined where there are none. */
export function nextRange(index: Db, from: number, entries: number): ClosedRange | undefined {
  const { to } = index.one<{ to: number | null }>(
    'SELECT max(id) AS "to" FROM (SELECT id FROM entries WHERE id > ? ORDER BY id LIMIT ?)',
    from,
    entries,
  );
  return to === null ? undefined : { from, to };
}
