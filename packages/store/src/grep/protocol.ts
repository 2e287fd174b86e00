// What the main thread and the threads of grep say to each other.
import type { PatternOptions } from "./pattern.js";
import type { ScannedMatch, ScanOptions } from "./scan.js";

/** A document of a batch. Without `bytes`, the thread reads it with its own reader. */
export interface BatchDocument {
  readonly path: string;
  readonly hash: string;
  /** Where its content lies in the batch's data. */
  readonly bytes?: readonly [offset: number, length: number];
}

/** Some documents in a row. */
export interface Batch {
  readonly id: number;
  readonly pattern: string;
  readonly options: PatternOptions;
  /** `afterLine` is for the first document alone; `collect` and `collectBytes` are for all together. */
  readonly scan: ScanOptions;
  readonly documents: readonly BatchDocument[];
  readonly data?: ArrayBuffer;
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
export interface SentError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

/** What became of a batch. */
export interface BatchAnswer {
  readonly id: number;
  readonly found: readonly DocumentMatches[];
  readonly binary: number;
  /** The document that was not finished, where time ran out or somebody said to stop. */
  readonly stoppedAt?: number;
  /** The document that a killed thread was busy with; `stoppedAt` may lie before it. */
  readonly stuckAt?: number;
  readonly error?: SentError;
}

/** What a thread is started with. */
export interface GrepThreadData {
  /** A module that exports `openGrepReader(data)`: how the thread reads contents by itself. */
  readonly reader?: { readonly module: string; readonly data?: unknown };
}

/** Reads contents inside a thread of grep. */
export interface GrepReader {
  read(document: { readonly path: string; readonly hash: string }): Uint8Array | Promise<Uint8Array>;
}
