// The seam for everything that is derived from content. An indexer keeps its tables in index.sqlite and is told about
// entries: one entry is one version of one document that can be found. The truth knows nothing of indexers.
import type { ToolProgress } from "@trunkline/core";
import type { IndexText } from "../content/text.js";
import type { Db } from "../sqlite/database.js";
import { RESULTS_COLLECTION } from "../sqlite/documents.js";

/** One version of one document, as indexers see it. `id` is never used again for another one. */
export interface IndexEntry {
  readonly id: number;
  readonly document: number;
  readonly version: number;
  /** Row id of the content in the truth. Equal content has equal ids. */
  readonly content: number;
  readonly hash: string;
  readonly path: string;
  /** The folder it was added from. */
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly collection: string;
  readonly type: "text" | "binary";
  readonly size: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A stored result above this is looked into by its hash only: whoever waits for an answer must not wait for an index. */
const MAX_INDEXED_RESULT_BYTES = 256 * 1024;

/** Whether indexers may be given the text of an entry. */
export function hasIndexedText({ type, collection, size }: Pick<IndexEntry, "type" | "collection" | "size">): boolean {
  return type === "text" && (collection !== RESULTS_COLLECTION || size <= MAX_INDEXED_RESULT_BYTES);
}

/** One run of background indexing: how it is cancelled and where it reports. */
export interface IndexingRun {
  /** Throws when the run was cancelled. Cheap: meant for inner loops. */
  check(): void;
  progress(progress: ToolProgress): void;
  /** For work that waits. */
  readonly signal: AbortSignal;
}

/** An entry with what {@link Indexer.prepare} made of it. */
export interface PreparedEntry {
  readonly entry: IndexEntry;
  readonly text: IndexText | undefined;
  readonly made: unknown;
}

/**
 * Keeps one index up to date. All methods but `prepare` are synchronous and run inside a write transaction on
 * index.sqlite.
 *
 * `write` indexers are part of every acknowledged write, so they have to be quick. `background` indexers come after it,
 * in slices of a few entries, in the order of entry ids, and resume where they were after a restart.
 */
export interface Indexer {
  /** Names its progress in `status`. */
  readonly name: string;
  /** When this changes, {@link clear} is called and everything is indexed again. */
  readonly version: number;
  readonly when: "write" | "background";
  /**
   * For background indexers: takes so long that it has a thread of its own, beside the others. Where there are many
   * entries, {@link prepare} runs in further ones: what it makes is sent from thread to thread, and the text is not.
   */
  readonly alone?: boolean;
  /** Makes the tables if they are not there. */
  create(index: Db): void;
  /** For background indexers: the slow part (parsing, embedding), before the write lock is taken. */
  prepare?(entry: IndexEntry, text: IndexText | undefined, signal: AbortSignal): Promise<unknown>;
  /**
   * Takes an entry up. `text` is undefined for binary content and where `wantsText` is false for the entry; `prepared`
   * is what {@link prepare} made.
   */
  add(index: Db, entry: IndexEntry, text: IndexText | undefined, prepared?: unknown): void;
  /** For background indexers: instead of {@link add}, where it is quicker to take many entries up at once. */
  addAll?(index: Db, entries: readonly PreparedEntry[]): void;
  /** Tags, metadata or path changed; the content did not. Where it is absent, the entry is removed and added again. */
  update?(index: Db, entry: IndexEntry): void;
  /** The entry is no longer the current version of a live document, but stays for a snapshot. */
  hide?(index: Db, entryId: number): void;
  /**
   * For background indexers: what is left to do when all entries have been taken up, a piece of it that takes about as
   * long as is said. Answers 0 when nothing was left.
   */
  settle?(index: Db, forMs: number): number;
  /** For background indexers that settle: how many documents still wait for it. */
  pending?(index: Db): number;
  /** Forgets an entry. It may never have been added. */
  remove(index: Db, entryId: number): void;
  /** Forgets everything. */
  clear(index: Db): void;
  /** Whether `text` is needed for the entry; absent means for every text. */
  wantsText?(entry: IndexEntry): boolean;
  /** Reports what is wrong with the index itself; used by `verify`. */
  check?(index: Db): string[];
}
