// The interface for everything derived from content. An indexer has its tables in index.sqlite and receives entries:
// one entry is one searchable version of one document. The content database knows nothing about indexers.
import type { ToolProgress } from "@trunkline/core";
import type { IndexText } from "../content/text.js";
import type { Db } from "../sqlite/database.js";
import { isResultsCollection } from "../sqlite/visibility.js";

/** One version of one document, as indexers see it. An `id` is never reused. */
export interface IndexEntry {
  readonly id: number;
  readonly document: number;
  readonly version: number;
  /** Row id of the content in the content database. Equal contents share an id. */
  readonly content: number;
  readonly hash: string;
  readonly path: string;
  /** The folder the document was added from. */
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly collection: string;
  readonly type: "text" | "binary";
  readonly size: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * The text of a larger stored result is not indexed: it can only be searched by its hash. A caller waiting for the
 * result must not wait for indexing.
 */
const MAX_INDEXED_RESULT_BYTES = 256 * 1024;

/** Whether the text of an entry is passed to indexers. */
export function hasIndexedText({ type, collection, size }: Pick<IndexEntry, "type" | "collection" | "size">): boolean {
  return type === "text" && (!isResultsCollection(collection) || size <= MAX_INDEXED_RESULT_BYTES);
}

/** One run of background indexing: its cancellation and its progress reports. */
export interface IndexingRun {
  /** Throws if the run was cancelled. Cheap enough for inner loops. */
  check(): void;
  progress(progress: ToolProgress): void;
  /** Cancels asynchronous work. */
  readonly signal: AbortSignal;
}

/** An entry with the result of {@link Indexer.prepare}. */
export interface PreparedEntry {
  readonly entry: IndexEntry;
  readonly text: IndexText | undefined;
  readonly made: unknown;
}

/**
 * Maintains one index. All methods except `prepare` are synchronous and run inside a write transaction on index.sqlite.
 *
 * `write` indexers are part of every acknowledged write, so they have to be fast. `background` indexers run afterwards,
 * in slices of a few entries, in order of entry id, and resume after a restart.
 */
export interface Indexer {
  /** Identifies the indexer's progress in `status`. */
  readonly name: string;
  /** When this changes, {@link clear} is called and everything is indexed again. */
  readonly version: number;
  readonly when: "write" | "background";
  /**
   * For background indexers that are slow enough to need a dedicated thread. With many entries, {@link prepare} runs in
   * additional threads: its result is sent between threads, the text is not.
   */
  readonly alone?: boolean;
  /** Creates the tables if they do not exist. */
  create(index: Db): void;
  /** For background indexers: does the slow part (parsing, embedding) before the write lock is taken. */
  prepare?(entry: IndexEntry, text: IndexText | undefined, signal: AbortSignal): Promise<unknown>;
  /**
   * Adds an entry. `text` is undefined for binary content and if `wantsText` is false for the entry; `prepared` is the
   * result of {@link prepare}.
   */
  add(index: Db, entry: IndexEntry, text: IndexText | undefined, prepared?: unknown): void;
  /** For background indexers: used instead of {@link add} if adding many entries at once is faster. */
  addAll?(index: Db, entries: readonly PreparedEntry[]): void;
  /**
   * Called if tags, metadata or path changed but the content did not. If missing, the entry is removed and added again.
   */
  update?(index: Db, entry: IndexEntry): void;
  /** Called if the entry is no longer the current version of a live document but a snapshot still needs it. */
  hide?(index: Db, entryId: number): void;
  /**
   * For background indexers: does part of the work that remains once all entries are added, for about the given time.
   * Returns 0 when nothing is left.
   */
  settle?(index: Db, forMs: number): number;
  /** For background indexers with `settle`: how many entries are still waiting for it. */
  pending?(index: Db): number;
  /** Removes an entry. It may never have been added. */
  remove(index: Db, entryId: number): void;
  /** Removes everything. */
  clear(index: Db): void;
  /** Whether the entry needs `text`. If missing, every text entry does. */
  wantsText?(entry: IndexEntry): boolean;
  /** Reports problems in the index itself; used by `verify`. */
  check?(index: Db): string[];
}
