// The journal on disk. Records are buffered briefly and appended together to a file that stays open, so that no call waits
// for the disk. A failed write loses its lines and causes one warning, but never fails a call.
import { type FileHandle, rm } from "node:fs/promises";
import { makeFolder } from "@trunkline/core";
import type { CallRecord, Journal } from "./journal.js";
import { lineOf, listSegments, openForAppending, segmentOf } from "./journal-files.js";

interface FileJournalOptions {
  /** The folder for the files; created when the first line is written. */
  readonly folder: string;
  /** The workspace that the calls belong to, as in `workspaceKey`. */
  readonly workspace?: string;
  /** Called once when lines cannot be written, and again only if a write has succeeded in between. */
  readonly onProblem?: (error: unknown) => void;
  /** The file size at which the next file is started. Default 4 MiB. */
  readonly segmentBytes?: number;
  /** How many files to keep. Default 4. */
  readonly segments?: number;
}

const DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024;
const DEFAULT_SEGMENTS = 4;
/** How long lines may be buffered. */
const DELAY_MS = 100;
/** Size limit for buffered lines. If the disk is slower than the calls, the newest lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How long to wait after a failed write before trying again. */
const PAUSE_MS = 10_000;

/** A journal in a folder. Several processes can write to it concurrently. */
export class FileJournal implements Journal, AsyncDisposable {
  readonly #options: FileJournalOptions;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #open: FileHandle | undefined;
  #pausedUntilMs = 0;
  #isFailing = false;
  /** Whether the last write may have ended in the middle of a line. */
  #isTorn = false;
  #closed = false;

  constructor(options: FileJournalOptions) {
    this.#options = options;
  }

  record(call: CallRecord): void {
    if (this.#closed || this.#waitingBytes > MAX_WAITING_BYTES) return;
    if (this.#isFailing && performance.now() < this.#pausedUntilMs) return;
    const line = lineOf(call, this.#options);
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#schedule();
  }

  /** Writes the buffered lines. */
  async flush(): Promise<void> {
    // Lines that arrive during a write are written together in the next one; otherwise a slow disk would fall further
    // and further behind.
    while (this.#writing !== undefined || this.#waiting.length > 0) await this.#write();
  }

  /** Writes the buffered lines and accepts no more of them. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    await this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Writes what is buffered after the delay, also if lines arrive during a write. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => void this.#write(), DELAY_MS);
    // The owner closes the journal; a pending line does not keep the process alive.
    this.#timer.unref();
  }

  /** Writes what is buffered now, unless a write is in progress. Never rejects. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting.join("");
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      await this.#append(text);
      this.#isFailing = false;
    } catch (error) {
      await this.#release();
      this.#pausedUntilMs = performance.now() + PAUSE_MS;
      if (!this.#isFailing) this.#options.onProblem?.(error);
      this.#isFailing = true;
    }
  }

  async #append(text: string): Promise<void> {
    const file = await this.#current();
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    // A single write: the OS appends it atomically, even if other processes write too.
    const { bytesWritten } = await file.write(bytes);
    this.#isTorn = bytesWritten < bytes.length;
    if (this.#isTorn) throw new Error("The line was only partly written to disk.");
  }

  /**
   * Returns the file to append to. It stays open until it is full, which is also when another process has started the
   * next one, or until it was deleted.
   */
  async #current(): Promise<FileHandle> {
    const { folder, segmentBytes = DEFAULT_SEGMENT_BYTES } = this.#options;
    if (this.#open !== undefined) {
      const { size, nlink } = await this.#open.stat();
      if (size < segmentBytes && nlink > 0) return this.#open;
      await this.#release();
    }
    makeFolder(folder, 0o700);
    const last = (await listSegments(folder)).at(-1)?.number;
    for (let number = last ?? 1; ; number++) {
      const file = await openForAppending(segmentOf(folder, number).path);
      this.#open = file;
      if ((await file.stat()).size < segmentBytes) {
        if (number !== last) await this.#removeOld(number);
        return file;
      }
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    const file = this.#open;
    this.#open = undefined;
    // A file that cannot be closed has nothing left to write: the write itself reported what went wrong.
    await file?.close().catch(() => undefined);
  }

  async #removeOld(last: number): Promise<void> {
    const { folder, segments = DEFAULT_SEGMENTS } = this.#options;
    for (const { number, path } of await listSegments(folder)) {
      if (number <= last - segments) await rm(path, { force: true });
    }
  }
}
