// Indexers that run after the write is acknowledged. They process the entries in order of id, in short transactions,
// and record their progress in the same transaction: a crash or a second process neither loses nor repeats work.
import type { IndexText } from "../content/text.js";
import type { Db } from "../sqlite/database.js";
import { describeEntry, readIndexText } from "./catch-up.js";
import { hasIndexedText, type IndexEntry, type Indexer, type IndexingRun, type PreparedEntry } from "./indexer.js";

/** How long one transaction keeps adding entries. Kept short because a write may be waiting for the lock. */
const LOCK_MS = 100;
/** Long enough for another process to retry if it is waiting for the lock. */
const PAUSE_MS = 15;
/** Entries per slice when other threads prepare them. MOST_AHEAD is how many slices they prepare ahead of the write. */
const ENTRIES_ELSEWHERE = 128;
/** Up to this many entries are prepared in this thread. */
const ENTRIES_HERE = 64;
const MOST_AHEAD = 4;

/** Prepares a range of entries in another thread. Returns undefined if the range has become empty. */
export type PrepareElsewhere = (indexer: string, range: Range, signal: AbortSignal) => Promise<Slice | undefined>;

interface IndexingDatabases {
  readonly truth: Db;
  readonly index: Db;
  readonly indexers: readonly Indexer[];
  readonly prepareElsewhere: PrepareElsewhere;
}

/** Whether an indexer that can use a dedicated thread has enough entries left to be worth one. */
export function needsOwnThread({ index, indexers }: Pick<IndexingDatabases, "index" | "indexers">): boolean {
  return indexers.some((indexer) => indexer.alone === true && hasMany(index, indexer));
}

/**
 * Runs background indexers until they have processed all entries: all of them, only those that can use a dedicated
 * thread, or only the others. Returns the number of entries indexed.
 */
export async function runBackground(
  databases: IndexingDatabases,
  { only }: { readonly only?: "alone" | "others" },
  call: IndexingRun,
): Promise<number> {
  const own = databases.indexers.filter(
    (indexer) =>
      indexer.when === "background" && (only === undefined || (indexer.alone === true) === (only === "alone")),
  );
  let taken = 0;
  if (only === "alone") {
    for (const indexer of own) {
      if (hasMany(databases.index, indexer)) taken += await followAlone(databases, indexer, call);
    }
  }
  return taken + (await followTogether(databases, own, call));
}

/** Whether enough entries are left to make other threads worth starting. */
function hasMany(index: Db, indexer: Indexer): boolean {
  const from = reached(index, indexer);
  return index.get("SELECT 1 FROM entries WHERE id > ? LIMIT 1 OFFSET ?", from, ENTRIES_HERE) !== undefined;
}

/** Processes each slice with all indexers in turn, so a text is read only once. */
async function followTogether(
  { truth, index }: { readonly truth: Db; readonly index: Db },
  own: readonly Indexer[],
  call: IndexingRun,
): Promise<number> {
  let taken = 0;
  let left = own;
  const known: KnownEntries = new Map();
  while (left.length > 0) {
    const still: Indexer[] = [];
    for (const indexer of left) {
      const slice = await prepareSlice({ truth, index, indexer, known }, { from: reached(index, indexer) }, call);
      if (slice === undefined) {
        await settle(index, indexer, call);
        continue;
      }
      await writeSlice(index, { indexer, slice }, call);
      still.push(indexer);
      taken += slice.count;
      call.progress({ progress: taken, message: indexer.name });
    }
    left = still;
    known.clear();
  }
  return taken;
}

/** Prepares the next slices in other threads while the current one is written. */
async function followAlone(
  { index, prepareElsewhere }: { readonly index: Db; readonly prepareElsewhere: PrepareElsewhere },
  indexer: Indexer,
  call: IndexingRun,
): Promise<number> {
  let taken = 0;
  let ahead: { readonly range: ClosedRange; readonly slice: Promise<Slice | undefined> }[] = [];
  const prepareMore = () => {
    while (ahead.length < MOST_AHEAD) {
      const range = nextRange(index, ahead.at(-1)?.range.to ?? reached(index, indexer), ENTRIES_ELSEWHERE);
      if (range === undefined) return;
      const slice = prepareElsewhere(indexer.name, range, call.signal);
      // Awaited later, or not at all if something fails first.
      slice.catch(() => {});
      ahead.push({ range, slice });
    }
  };
  for (prepareMore(); ahead[0] !== undefined; prepareMore()) {
    const { range, slice } = ahead[0];
    const { from, to } = range;
    const prepared = (await slice) ?? { from, last: to, count: 0, prepared: [] };
    ahead = (await writeSlice(index, { indexer, slice: prepared }, call)) ? ahead.slice(1) : [];
    taken += prepared.count;
    call.progress({ progress: taken, message: indexer.name });
  }
  return taken;
}

/** Writes a slice. Returns false if another process was faster and the slice is obsolete. */
async function writeSlice(
  index: Db,
  { indexer, slice }: { readonly indexer: Indexer; readonly slice: Slice },
  call: IndexingRun,
): Promise<boolean> {
  let { from } = slice;
  let left = slice.prepared;
  do {
    const started = performance.now();
    const written = index.immediate(() => {
      if (reached(index, indexer) !== from) return undefined;
      const count = takeUp(index, indexer, left);
      const to = count === left.length ? slice.last : (left[count - 1]?.entry.id ?? from);
      index.run("UPDATE indexers SET entry = ? WHERE name = ?", to, indexer.name);
      return { count, to };
    }, call.check);
    if (written === undefined) return false;
    from = written.to;
    left = left.slice(written.count);
    await pauseAfter(started);
    call.check();
  } while (left.length > 0);
  return true;
}

/**
 * Adds entries, at least one if any exist, until the transaction's time is up. Skips entries that have been removed.
 * Returns how many it processed.
 */
function takeUp(index: Db, indexer: Indexer, entries: Slice["prepared"]): number {
  const [first, last] = [entries[0]?.entry.id ?? 0, entries.at(-1)?.entry.id ?? 0];
  const there = new Set(index.column<number>("SELECT id FROM entries WHERE id BETWEEN ? AND ?", first, last));
  if (indexer.addAll !== undefined) {
    indexer.addAll(
      index,
      entries.filter(({ entry }) => there.has(entry.id)),
    );
    return entries.length;
  }
  const until = performance.now() + LOCK_MS;
  let count = 0;
  for (const { entry, text, made } of entries) {
    if (there.has(entry.id)) indexer.add(index, entry, text, made);
    count++;
    if (performance.now() >= until) break;
  }
  return count;
}

async function settle(index: Db, indexer: Indexer, call: IndexingRun): Promise<void> {
  if (indexer.settle === undefined) return;
  let started = performance.now();
  while (index.immediate(() => indexer.settle?.(index, LOCK_MS) ?? 0, call.check) > 0) {
    await pauseAfter(started);
    call.check();
    started = performance.now();
  }
}

/**
 * Gives others a chance to take the lock after a long transaction; after a short one, only lets messages be processed.
 */
function pauseAfter(started: number): Promise<void> {
  const isLong = performance.now() - started >= LOCK_MS / 2;
  return new Promise((resolve) => {
    if (isLong) setTimeout(resolve, PAUSE_MS);
    else setImmediate(resolve);
  });
}

function reached(index: Db, indexer: Indexer): number {
  return index.one<{ entry: number }>("SELECT entry FROM indexers WHERE name = ?", indexer.name).entry;
}

/** Maximum entries per slice; fewer if their texts are long. */
const MOST_ENTRIES = 1024;
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** Consecutive entries, ready to be indexed. */
export interface Slice {
  /** The id before the first entry, and the id of the last one. */
  readonly from: number;
  readonly last: number;
  readonly count: number;
  /** Excludes entries that gc has removed since. */
  readonly prepared: readonly PreparedEntry[];
}

/** Entries by id: those after `from`, up to `to` if given. */
export interface Range {
  readonly from: number;
  readonly to?: number;
}

interface ClosedRange extends Range {
  readonly to: number;
}

/** Entries that another indexer has just looked up, by id. */
type KnownEntries = Map<number, { readonly entry: IndexEntry; readonly text: IndexText | undefined }>;

/**
 * Prepares the slice at the start of a range, or with `to` the whole range. Returns undefined if the range is empty.
 */
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

/** Returns the range of entries after a given one, for {@link prepareSlice}; undefined if there are no more. */
function nextRange(index: Db, from: number, entries: number): ClosedRange | undefined {
  const { to } = index.one<{ to: number | null }>(
    'SELECT max(id) AS "to" FROM (SELECT id FROM entries WHERE id > ? ORDER BY id LIMIT ?)',
    from,
    entries,
  );
  return to === null ? undefined : { from, to };
}
