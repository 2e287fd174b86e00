// Reads the journal backwards, a page at a time, for a list that a person scrolls. Only the blocks that a page needs are
// read.
import type { FileHandle } from "node:fs/promises";
import { TrunklineError } from "@trunkline/core";
import type { CallRecord } from "./journal.js";
import { listSegments, openForReading, parseLine, type Segment } from "./journal-files.js";
import { entryId, type JournalEntry } from "./read-journal.js";

export interface ReadPageOptions {
  /** The folder of the journal's files. */
  readonly folder: string;
  readonly limit: number;
  /** Only entries before this one: `next` of an earlier page. */
  readonly before?: string;
  readonly isWanted?: (call: CallRecord) => boolean;
  readonly signal?: AbortSignal;
}

export interface JournalPage {
  /** Newest first. */
  readonly entries: readonly JournalEntry[];
  /** Where the next page begins; undefined at the end. There may be a next page even if this one is empty. */
  readonly next: string | undefined;
}

/** Longer than any line of ours by far. */
const BLOCK_BYTES = 256 * 1024;
/** A page with few wanted lines is short, so that no request reads the whole journal. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

interface Spot {
  readonly number: number;
  readonly offset: number;
}

/** Reads the id of an entry. Throws `INVALID_ARGUMENT`. */
function spotOf(id: string): Spot {
  const [, number, offset] = /^(\d{1,12})-(\d{1,12})$/.exec(id) ?? [];
  if (number === undefined || offset === undefined)
    throw new TrunklineError("INVALID_ARGUMENT", `"${id.slice(0, 40)}" is not the id of a call.`);
  return { number: Number(number), offset: Number(offset) };
}

/** Returns the last wanted entries before a place. Rejects with `INVALID_ARGUMENT` if `before` is not an id. */
export async function readPage(options: ReadPageOptions): Promise<JournalPage> {
  const { folder, limit, before, isWanted = () => true, signal } = options;
  const from = before === undefined ? undefined : spotOf(before);
  const segments = (await listSegments(folder)).filter(({ number }) => from === undefined || number <= from.number);
  const entries: JournalEntry[] = [];
  let leftBytes = MAX_PAGE_BYTES;
  for (const segment of segments.reverse()) {
    await using file = await openSegment(segment);
    if (file === undefined) continue;
    let end = segment.number === from?.number ? from.offset : file.size;
    while (end > 0) {
      signal?.throwIfAborted();
      if (leftBytes <= 0) return { entries, next: entryId(segment.number, end) };
      const start = Math.max(0, end - BLOCK_BYTES);
      const bytes = await file.read(start, end);
      leftBytes -= end - start;
      const lines = new LinesBackwards(bytes, start === 0);
      for (let line = lines.next(); line !== undefined; line = lines.next()) {
        const call = parseLine(line);
        if (call === undefined || !isWanted(call)) continue;
        const id = entryId(segment.number, start + lines.start);
        entries.push({ id, call });
        if (entries.length >= limit) return { entries, next: id };
      }
      const first = start + lines.first;
      // A whole block without the beginning of a line is not one of our lines.
      end = lines.first === 0 || first >= end ? start : first;
    }
  }
  return { entries, next: undefined };
}

/** Returns the entry with an id, and those recorded shortly before and after it, oldest first. */
export async function readAround(folder: string, id: string): Promise<readonly JournalEntry[]> {
  const { number, offset } = spotOf(id);
  const pieces: JournalEntry[][] = [];
  // Its neighbours can be in the files next to its own.
  for (const segment of (await listSegments(folder)).filter((each) => Math.abs(each.number - number) <= 1)) {
    await using file = await openSegment(segment);
    if (file === undefined) continue;
    const { size } = file;
    const isOwn = segment.number === number;
    const start = segment.number > number ? 0 : Math.max(0, (isOwn ? offset : size) - BLOCK_BYTES);
    const end = segment.number < number ? size : Math.min(size, (isOwn ? offset : 0) + BLOCK_BYTES);
    const lines = new LinesBackwards(await file.read(start, end), start === 0);
    const entries: JournalEntry[] = [];
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      const call = parseLine(line);
      if (call !== undefined) entries.push({ id: entryId(segment.number, start + lines.start), call });
    }
    pieces.push(entries.reverse());
  }
  return pieces.flat();
}

/** The whole lines of a block, last one first. */
class LinesBackwards {
  readonly #bytes: Buffer;
  /** Where the first whole line begins; 0 also if there is none. */
  readonly first: number;
  /** Where the current line begins. */
  start: number;

  constructor(bytes: Buffer, isFileStart: boolean) {
    this.#bytes = bytes;
    this.first = isFileStart ? 0 : bytes.indexOf(0x0a) + 1;
    // The last line may still be being written.
    this.start = bytes.lastIndexOf(0x0a) + 1;
  }

  next(): string | undefined {
    while (this.start > this.first) {
      const end = this.start - 1;
      this.start = end === 0 ? 0 : this.#bytes.lastIndexOf(0x0a, end - 1) + 1;
      if (end > this.start) return this.#bytes.toString("utf8", this.start, end);
    }
    return undefined;
  }
}

class OpenSegment implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly size: number;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  async read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

async function openSegment(segment: Segment): Promise<OpenSegment | undefined> {
  const opened = await openForReading(segment);
  return opened === undefined ? undefined : new OpenSegment(opened.file, opened.size);
}
