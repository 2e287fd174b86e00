// Messages between the main thread and the grep threads. Documents and counts travel as columns: with tens of thousands
// of them, sending one object each would take longer than searching their contents.
import type { PatternOptions } from "./pattern.js";
import type { ScannedMatch, ScanOptions } from "./scan.js";

export interface BatchDocuments {
  /** A JSON list, parsed only if a content has to be read. */
  readonly paths: string;
  /** Separated by spaces. */
  readonly hashes: string;
  /** Where each content is in `data`. Without it, the thread uses its own reader. */
  readonly bytes?: readonly (readonly [offset: number, length: number])[];
  readonly data?: ArrayBuffer;
}

export interface Batch extends BatchDocuments {
  readonly query: number;
  /** Whether this thread caches these contents. */
  readonly keep: boolean;
  readonly pattern: string;
  readonly options: PatternOptions;
  /** `afterLine` applies to the first document only; `collect` and `collectBytes` to all together. */
  readonly scan: ScanOptions;
  /** When to give up, as a Date.now() value. */
  readonly deadline: number;
  /** [0]: non-zero to give up now. [1]: the document the thread is at. */
  readonly shared: SharedArrayBuffer;
}

/** A document with matches. */
export interface DocumentMatches {
  readonly index: number;
  readonly count: number;
  readonly skipped: number;
  readonly matches: readonly ScannedMatch[];
}

export interface SentAnswer {
  /** Index, count and skipped of each document with matches, in order. */
  readonly counts: Int32Array;
  /** Documents whose matches were collected, in order. */
  readonly collected: readonly (readonly [index: number, matches: readonly ScannedMatch[]])[];
  readonly binary: readonly number[];
  /** The document that was not finished, if time ran out or the thread was told to stop. */
  readonly stoppedAt?: number;
  /** The document a killed thread was working on; `stoppedAt` can be before it. */
  readonly stuckAt?: number;
}

export interface BatchAnswer {
  readonly found: readonly DocumentMatches[];
  readonly binary: number;
  readonly stoppedAt?: number;
  readonly stuckAt?: number;
}

export interface GrepThreadData {
  /** A module that exports `openGrepReader(data)`, with which the thread reads contents itself. */
  readonly reader?: { readonly module: string; readonly data?: unknown };
}

export interface GrepThreadStart extends GrepThreadData {
  /** How many bytes of the contents it has read the thread can cache; 0 for none. */
  readonly cacheBytes: number;
}

/** Reads contents inside a grep thread. */
export interface GrepReader {
  read(document: { readonly path: string; readonly hash: string }): Uint8Array | Promise<Uint8Array>;
  /** Runs work that reads many times, which can be faster this way. */
  together?<T>(work: () => T): T;
}
