// Reads the journal while other processes write to it: the last calls, or each call as it arrives.
import { stat } from "node:fs/promises";
import { sleep, systemCodeOf } from "@trunkline/core";
import type { CallRecord } from "./journal.js";
import { listSegments, openForReading, parseLine, type Segment } from "./journal-files.js";

export interface ReadJournalOptions {
  /** The folder of the journal's files. */
  readonly folder: string;
  /** The maximum number of calls; the last matching ones are returned. */
  readonly limit: number;
  readonly isWanted?: (call: CallRecord) => boolean;
  readonly signal?: AbortSignal;
}

/** A line of the journal. */
export interface JournalEntry {
  /** Where it is: the number of its file and its offset. Files are never rewritten, so it stays the same. */
  readonly id: string;
  readonly call: CallRecord;
}

const POLL_MS = 200;
/** How much is read at once while following. */
const READ_BYTES = 1024 * 1024;

/** The read position: how much of each file has been read. */
export class JournalPosition {
  readonly offsets = new Map<number, number>();
}

/**
 * Returns the last calls, oldest first, and the position where reading stopped; {@link followJournal} continues from
 * there.
 */
export async function readJournal(
  options: ReadJournalOptions,
): Promise<{ calls: readonly CallRecord[]; position: JournalPosition }> {
  const { folder, limit, isWanted = () => true, signal } = options;
  const position = new JournalPosition();
  const pieces: CallRecord[][] = [];
  let found = 0;
  for (const segment of (await listSegments(folder)).reverse()) {
    signal?.throwIfAborted();
    if (found >= limit) {
      position.offsets.set(segment.number, await sizeOf(segment));
      continue;
    }
    const calls: CallRecord[] = [];
    for await (const { call } of newEntries(segment, position)) if (isWanted(call)) calls.push(call);
    pieces.unshift(calls);
    found += calls.length;
  }
  const calls = pieces.flat();
  return { calls: limit === 0 ? [] : calls.slice(-limit), position };
}

interface FollowOptions {
  readonly folder: string;
  readonly position: JournalPosition;
  readonly signal: AbortSignal;
}

/**
 * Yields the calls recorded after the position, with their ids, until the signal is aborted: everything that arrived
 * since the last look at once, five times a second at most. Waits for the folder if it does not exist yet.
 */
export async function* followEntries({ folder, position, signal }: FollowOptions): AsyncGenerator<JournalEntry[]> {
  while (!signal.aborted) {
    const segments = await listSegments(folder);
    const there = new Set(segments.map(({ number }) => number));
    for (const number of position.offsets.keys()) if (!there.has(number)) position.offsets.delete(number);
    const entries: JournalEntry[] = [];
    // All of them: a slow process may still write to the second-to-last file.
    for (const segment of segments) for await (const entry of newEntries(segment, position)) entries.push(entry);
    if (entries.length > 0) yield entries;
    try {
      // Polls like `tail -f`: works on every file system, and for a folder that does not exist yet.
      await sleep(POLL_MS, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Yields what was appended to a file since the last read. Leaves an incomplete line for the next read. */
export async function* newEntries(segment: Segment, { offsets }: JournalPosition): AsyncGenerator<JournalEntry> {
  const opened = await openForReading(segment);
  if (opened === undefined) return;
  const { file, size } = opened;
  try {
    let offset = offsets.get(segment.number) ?? 0;
    while (offset < size) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      const start = offset;
      // A block this large without a line break is not one of our lines.
      offset += end === 0 && bytesRead === READ_BYTES ? bytesRead : end;
      offsets.set(segment.number, offset);
      yield* entriesIn(buffer.subarray(0, end), { number: segment.number, offset: start });
      if (bytesRead < READ_BYTES) return;
    }
  } finally {
    await file.close();
  }
}

async function sizeOf({ path }: Segment): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** Parses whole lines of a file, which begin at an offset. Invalid ones are left out. */
function* entriesIn(bytes: Buffer, { number, offset }: { number: number; offset: number }): Generator<JournalEntry> {
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(0x0a, start);
    if (end === -1) return;
    const call = end === start ? undefined : parseLine(bytes.toString("utf8", start, end));
    if (call !== undefined) yield { id: entryId(number, offset + start), call };
  }
}

export function entryId(number: number, offset: number): string {
  return `${number}-${offset}`;
}
