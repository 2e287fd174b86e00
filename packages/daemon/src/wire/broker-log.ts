// The broker's log: a file that is appended to by whichever broker runs, and that stays small.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

const MAX_BYTES = 1024 * 1024;
const KEPT_BYTES = 256 * 1024;

/** Opens the log to append to it. Never follows a link that was put there, nor waits for the reader of a pipe. */
export function openLog(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error("it is not a file");
}

/**
 * Cuts off the beginning of a log that is larger than `maxBytes`. The file stays the same one, so processes that append
 * to it go on. Does nothing if the file cannot be changed: a broker works without its log.
 */
export function trimLog(path: string, { maxBytes = MAX_BYTES, keptBytes = KEPT_BYTES } = {}): void {
  const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return;
  }
  try {
    const { size } = fstatSync(file);
    if (size <= maxBytes) return;
    const end = Buffer.alloc(keptBytes);
    const kept = end.subarray(0, readSync(file, end, 0, keptBytes, size - keptBytes));
    ftruncateSync(file, 0);
    // Begins with a whole line.
    writeSync(file, kept, kept.indexOf("\n") + 1, undefined, 0);
  } catch {
    // The disk is full, or fails.
  } finally {
    closeSync(file);
  }
}
