// The journal on disk. Records are kept in memory for a moment and appended together, so that no call waits for the disk;
// a disk that cannot be written costs one warning and the lines, never a call.
import { open, rm } from "node:fs/promises";
import { makeFolder } from "@trunkline/core";
import type { CallRecord, Journal } from "./journal.js";
import { lineOf, listSegments, segmentOf } from "./journal-files.js";

/** How a journal is kept. */
export interface FileJournalOptions {
  /** The folder of its files; made when the first line is written. */
  readonly folder: string;
  /** Told once when lines cannot be written, and again only after it had worked in between. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
  /** When a file has this size, the next one is begun. Default 4 MiB. */
  readonly segmentBytes?: number | undefined;
  /** How many files are kept. Default 4. */
  readonly segments?: number | undefined;
  /** How long lines may wait for others. Default 100 ms. */
  readonly delayMs?: number | undefined;
}

const DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024;
const DEFAULT_SEGMENTS = 4;
const DEFAULT_DELAY_MS = 100;
/** Lines that wait; where the disk is slower than the calls, the newest are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** After a failure the disk is left alone for this long. */
const PAUSE_MS = 10_000;

/** A journal in a folder, which several processes may write at the same time. */
export class FileJournal implements Journal, AsyncDisposable {
  readonly #options: FileJournalOptions;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #pausedUntilMs = 0;
  #isFailing = false;
  /** The last write may have ended in the middle of a line. */
  #isTorn = false;
  #closed = false;

  constructor(options: FileJournalOptions) {
    this.#options = options;
  }

  record(call: CallRecord): void {
    if (this.#closed || performance.now() < this.#pausedUntilMs || this.#waitingBytes > MAX_WAITING_BYTES) return;
    const line = lineOf(call);
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#flush(), this.#options.delayMs ?? DEFAULT_DELAY_MS);
    // Whoever has the journal closes it; a line alone keeps no process alive.
    this.#timer.unref();
  }

  /** Writes what is waiting. */
  async flush(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  /** Writes what is waiting and takes no more. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // What comes while something is being written is written next, together: else a slow disk would fall behind for ever.
    if (!this.#isWriting) this.#writing = this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const text = this.#waiting.join("");
      this.#waiting = [];
      this.#waitingBytes = 0;
      try {
        await this.#append(text);
        this.#isFailing = false;
      } catch (error) {
        this.#pausedUntilMs = performance.now() + PAUSE_MS;
        if (!this.#isFailing) this.#options.onProblem?.(error);
        this.#isFailing = true;
      }
    }
    this.#isWriting = false;
  }

  async #append(text: string): Promise<void> {
    const { folder, segmentBytes = DEFAULT_SEGMENT_BYTES } = this.#options;
    makeFolder(folder, 0o700);
    const found = await listSegments(folder);
    let number = found.at(-1)?.number ?? 1;
    for (;;) {
      // Opened anew each time: another process may have gone on to the next file.
      const file = await open(segmentOf(folder, number).path, "a", 0o600);
      try {
        if ((await file.stat()).size >= segmentBytes) {
          number++;
          continue;
        }
        const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
        // One write: the system appends it as a whole, whoever else is writing.
        const { bytesWritten } = await file.write(bytes);
        this.#isTorn = bytesWritten < bytes.length;
        if (this.#isTorn) throw new Error("The disk took only a part of the line.");
        break;
      } finally {
        await file.close();
      }
    }
    if (number !== found.at(-1)?.number) await this.#removeOld(number);
  }

  async #removeOld(last: number): Promise<void> {
    const { folder, segments = DEFAULT_SEGMENTS } = this.#options;
    for (const { number, path } of await listSegments(folder)) {
      if (number <= last - segments) await rm(path, { force: true });
    }
  }
}
