// Reads the journal while others write it: the last calls, or each call as it comes.
import { open, stat } from "node:fs/promises";
import { sleep, systemCodeOf } from "@trunkline/core";
import type { CallRecord } from "./journal.js";
import { listSegments, parseLine, type Segment } from "./journal-files.js";

/** Which calls are wanted. */
export interface ReadJournalOptions {
  /** The folder of the journal's files. */
  readonly folder: string;
  /** The last so many of those that are wanted. */
  readonly limit: number;
  readonly isWanted?: ((call: CallRecord) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 200;
/** As much as is read in one go while following. */
const READ_BYTES = 1024 * 1024;

/** Where reading stands: how much of each file has been read. */
export class JournalPosition {
  readonly offsets = new Map<number, number>();
}

/** The last calls, the oldest first, and where reading stopped: {@link followJournal} goes on from there. */
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
    for await (const call of newCalls(segment, position)) if (isWanted(call)) calls.push(call);
    pieces.unshift(calls);
    found += calls.length;
  }
  const calls = pieces.flat();
  return { calls: limit === 0 ? [] : calls.slice(-limit), position };
}

/** Each call that is noted from the position on, until the signal is aborted. A folder that is not there yet is waited for. */
export async function* followJournal(options: {
  readonly folder: string;
  readonly position: JournalPosition;
  readonly signal: AbortSignal;
}): AsyncGenerator<CallRecord> {
  const { folder, position, signal } = options;
  while (!signal.aborted) {
    const segments = await listSegments(folder);
    const there = new Set(segments.map(({ number }) => number));
    for (const number of position.offsets.keys()) if (!there.has(number)) position.offsets.delete(number);
    // All of them: a process that was slow may still write to the last but one.
    for (const segment of segments) yield* newCalls(segment, position);
    try {
      // Polling, as `tail -f` does: it works on every file system, and for a folder that is not there yet.
      await sleep(POLL_MS, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** What has been added to a file since; a line that is not complete yet is left for the next time. */
async function* newCalls(segment: Segment, { offsets }: JournalPosition): AsyncGenerator<CallRecord> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(segment.path, "r");
  } catch (error) {
    // It was the oldest and has been removed.
    if (systemCodeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    let offset = offsets.get(segment.number) ?? 0;
    const { size } = await file.stat();
    while (offset < size) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      // Without a line break in that much it is no line of ours.
      offset += end === 0 && bytesRead === READ_BYTES ? bytesRead : end;
      offsets.set(segment.number, offset);
      for (const line of buffer.toString("utf8", 0, end).split("\n")) {
        const call = line === "" ? undefined : parseLine(line);
        if (call !== undefined) yield call;
      }
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
