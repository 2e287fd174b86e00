// Indexers that come after the acknowledgement. They follow the entries in the order of their ids, in short
// transactions, and note how far they are in the same transaction: a crash or a second process loses and repeats nothing.
import type { IndexText } from "../content/text.js";
import type { Db } from "../sqlite/database.js";
import type { Call } from "../workers/rpc.js";
import { describeEntry, readIndexText } from "./catch-up.js";
import { hasIndexedText, type IndexEntry, type Indexer } from "./indexer.js";
import { indexers } from "./indexers.js";

/** One transaction takes up so many entries, or fewer where their texts are long: a write may be waiting for it. */
const ENTRIES_PER_SLICE = 128;
const CHARACTERS_PER_SLICE = 512 * 1024;

interface Prepared {
  readonly entry: IndexEntry;
  readonly text: IndexText | undefined;
  readonly made: unknown;
}

/** Whether there is anything to run at all. */
export const hasBackgroundIndexers = indexers.some((indexer) => indexer.when === "background");

/**
 * Runs background indexers, those that have a thread of their own or the others, until they have seen all entries.
 * Answers how many entries were taken up.
 */
export async function runBackground(
  { truth, index }: { truth: Db; index: Db },
  { alone }: { readonly alone: boolean },
  call: Call,
): Promise<number> {
  let taken = 0;
  let left = indexers.filter((indexer) => indexer.when === "background" && (indexer.alone === true) === alone);
  const texts = new Map<string, IndexText>();
  // Slice by slice in turn, so that a text is read once for all of them.
  while (left.length > 0) {
    const still: Indexer[] = [];
    for (const indexer of left) {
      call.check();
      const count = await takeSlice({ truth, index, indexer, texts }, call);
      if (count === 0) {
        await settle(index, indexer, call);
        continue;
      }
      still.push(indexer);
      taken += count;
      call.progress({ progress: taken, message: indexer.name });
    }
    left = still;
    texts.clear();
  }
  return taken;
}

interface SliceContext {
  readonly truth: Db;
  readonly index: Db;
  readonly indexer: Indexer;
  /** What another indexer has just read, by hash. */
  readonly texts: Map<string, IndexText>;
}

async function takeSlice(context: SliceContext, call: Call): Promise<number> {
  const { truth, index, indexer, texts } = context;
  const from = reached(index, indexer);
  const rows = index.all<{ id: number; document: number; version: number }>(
    "SELECT id, document, version FROM entries WHERE id > ? ORDER BY id LIMIT ?",
    from,
    ENTRIES_PER_SLICE,
  );
  if (rows.length === 0) return 0;
  // What takes long happens before the write lock is taken.
  const prepared: Prepared[] = [];
  let last = from;
  let taken = 0;
  let characters = 0;
  for (const row of rows) {
    call.check();
    if (characters >= CHARACTERS_PER_SLICE) break;
    last = row.id;
    taken++;
    const entry = describeEntry(truth, row);
    if (entry === undefined) continue;
    const wanted = hasIndexedText(entry) && indexer.wantsText?.(entry) !== false;
    const text = wanted ? (texts.get(entry.hash) ?? readIndexText(truth, entry.content)) : undefined;
    if (text !== undefined) texts.set(entry.hash, text);
    characters += text?.body.length ?? 0;
    prepared.push({ entry, text, made: await indexer.prepare?.(entry, text, call.signal) });
  }
  index.immediate(() => {
    // Another process may have been faster.
    if (reached(index, indexer) !== from) return;
    for (const { entry, text, made } of prepared) {
      const still = index.get("SELECT 1 FROM entries WHERE id = ?", entry.id);
      if (still !== undefined) indexer.add(index, entry, text, made);
    }
    index.run("UPDATE indexers SET entry = ? WHERE name = ?", last, indexer.name);
  }, call.check);
  await new Promise((resolve) => setImmediate(resolve));
  return taken;
}

async function settle(index: Db, indexer: Indexer, call: Call): Promise<void> {
  if (indexer.settle === undefined) return;
  while (index.immediate(() => indexer.settle?.(index) ?? 0, call.check) > 0) {
    call.check();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function reached(index: Db, indexer: Indexer): number {
  return index.one<{ entry: number }>("SELECT entry FROM indexers WHERE name = ?", indexer.name).entry;
}
