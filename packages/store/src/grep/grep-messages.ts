// Messages between the main thread and the grep threads. Documents and counts travel as columns: with tens of thousands
// of them, sending an object each would take longer than searching their contents.
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
  readonly id: number;
  readonly query: number;
  /** Whether this thread caches these contents. */
  readonly keep: boolean;
  readonly pattern: string;
  readonly options: PatternOptions;
  /** `afterLine` applies to the first document only; `collect` and `collectBytes` to all together. */
  readonly scan: ScanOptions;
  /** When to give up, in terms of Date.now(). */
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

/** An error on its way between threads. */
interface SentError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

export interface SentAnswer {
  readonly id: number;
  /** Index, count and skipped of each document with matches, in order. */
  readonly counts: Int32Array;
  /** Those whose matches were collected, in order. */
  readonly collected: readonly (readonly [index: number, matches: readonly ScannedMatch[]])[];
  readonly binary: readonly number[];
  /** The document that was not finished, if time ran out or it was told to stop. */
  readonly stoppedAt?: number;
  /** The document a killed thread was busy with; `stoppedAt` may be before it. */
  readonly stuckAt?: number;
  readonly error?: SentError;
}

export interface BatchAnswer {
  readonly found: readonly DocumentMatches[];
  readonly binary: number;
  readonly stoppedAt?: number;
  readonly stuckAt?: number;
}

export interface GrepThreadData {
  /** A module that exports `openGrepReader(data)`: how the thread reads contents itself. */
  readonly reader?: { readonly module: string; readonly data?: unknown };
}

export interface GrepThreadStart extends GrepThreadData {
  /** How much of what it has read it may cache; 0 for nothing. */
  readonly cacheBytes: number;
  /** How long it caches it when idle. */
  readonly cacheIdleMs: number;
}

/** Reads contents inside a grep thread. */
export interface GrepReader {
  read(document: { readonly path: string; readonly hash: string }): Uint8Array | Promise<Uint8Array>;
  /** Runs something that reads many times; may be faster. */
  together?<T>(work: () => T): T;
}
