// What the main thread and the threads of grep say to each other. Documents and counts go as columns in one piece: with
// tens of thousands of them, an object for each would take longer to send than their contents to search.
import type { PatternOptions } from "./pattern.js";
import type { ScannedMatch, ScanOptions } from "./scan.js";

/** Some documents in a row. */
export interface BatchDocuments {
  /** A list in JSON: it is looked at only where a content has to be read. */
  readonly paths: string;
  /** With a space between each two. */
  readonly hashes: string;
  /** Where the content of each lies in `data`. Without it, the thread reads them with its own reader. */
  readonly bytes?: readonly (readonly [offset: number, length: number])[];
  readonly data?: ArrayBuffer;
}

/** What a thread is to search. */
export interface Batch extends BatchDocuments {
  readonly id: number;
  /** The query that it is part of. */
  readonly query: number;
  /** Whether this thread is the one that keeps these contents. */
  readonly keep: boolean;
  readonly pattern: string;
  readonly options: PatternOptions;
  /** `afterLine` is for the first document alone; `collect` and `collectBytes` are for all together. */
  readonly scan: ScanOptions;
  /** When to give up, as Date.now() has it. */
  readonly deadline: number;
  /** [0]: not 0 to give up now. [1]: which document the thread is at. */
  readonly shared: SharedArrayBuffer;
}

/** A document that has matches. */
export interface DocumentMatches {
  readonly index: number;
  readonly count: number;
  readonly skipped: number;
  readonly matches: readonly ScannedMatch[];
}

/** An error on its way between threads. */
interface SentError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

/** What a thread answers. */
export interface SentAnswer {
  readonly id: number;
  /** Index, count and skipped of each document that has matches, in order. */
  readonly counts: Int32Array;
  /** Those of them whose matches were collected, in order. */
  readonly collected: readonly (readonly [index: number, matches: readonly ScannedMatch[]])[];
  /** The documents that are binary. */
  readonly binary: readonly number[];
  /** The document that was not finished, where time ran out or somebody said to stop. */
  readonly stoppedAt?: number;
  /** The document that a killed thread was busy with; `stoppedAt` may lie before it. */
  readonly stuckAt?: number;
  readonly error?: SentError;
}

/** What became of a batch. */
export interface BatchAnswer {
  readonly found: readonly DocumentMatches[];
  readonly binary: number;
  readonly stoppedAt?: number;
  readonly stuckAt?: number;
}

/** What a thread is started with. */
export interface GrepThreadData {
  /** A module that exports `openGrepReader(data)`: how the thread reads contents by itself. */
  readonly reader?: { readonly module: string; readonly data?: unknown };
}

/** What a thread is started with besides. */
export interface GrepThreadStart extends GrepThreadData {
  /** How much of what it has read it may keep; 0 for nothing. */
  readonly cacheBytes: number;
  /** How long it keeps it when nothing is asked. */
  readonly cacheIdleMs: number;
}

/** Reads contents inside a thread of grep. */
export interface GrepReader {
  read(document: { readonly path: string; readonly hash: string }): Uint8Array | Promise<Uint8Array>;
  /** Runs something that reads many times; it may be quicker this way. */
  together?<T>(work: () => T): T;
}
