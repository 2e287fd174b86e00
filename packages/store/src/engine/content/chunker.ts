// Content-defined chunking: FastCDC with normalized cut points. The table and the masks are part of the store's format
// (FORMAT.md). Changing them loses no content, but equal content would no longer share chunks.
import { createHash } from "node:crypto";

/** Minimum chunk size, except for the last chunk of a content. */
export const MIN_CHUNK_BYTES = 4 * 1024;
/** Target chunk size. */
const AVERAGE_CHUNK_BYTES = 16 * 1024;
/** Maximum chunk size. */
export const MAX_CHUNK_BYTES = 64 * 1024;

// Cut points are rare before the average size (16 bits must be zero) and common after it (12 bits), so sizes cluster
// around the average. The hash shifts left, so its high bits depend on the last 32 bytes.
const MASK_BEFORE_AVERAGE = 0xffff0000 | 0;
const MASK_AFTER_AVERAGE = 0xfff00000 | 0;

const GEAR = makeGear();

function makeGear(): Int32Array {
  const gear = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    gear[byte] = createHash("sha256").update(`trunkline gear ${byte}`).digest().readInt32BE(0);
  }
  return gear;
}

/**
 * Returns the end of the chunk that starts at `start`. The bytes up to `end` must contain a complete chunk or the rest
 * of the content.
 */
export function cutPoint(bytes: Uint8Array, start: number, end: number): number {
  const remaining = end - start;
  if (remaining <= MIN_CHUNK_BYTES) return end;
  const limit = start + Math.min(remaining, MAX_CHUNK_BYTES);
  const average = Math.min(start + AVERAGE_CHUNK_BYTES, limit);
  let hash = 0;
  let position = start + MIN_CHUNK_BYTES;
  for (; position < average; position++) {
    hash = ((hash << 1) + (GEAR[bytes[position] as number] as number)) | 0;
    if ((hash & MASK_BEFORE_AVERAGE) === 0) return position + 1;
  }
  for (; position < limit; position++) {
    hash = ((hash << 1) + (GEAR[bytes[position] as number] as number)) | 0;
    if ((hash & MASK_AFTER_AVERAGE) === 0) return position + 1;
  }
  return limit;
}

/** Returns all cut points of in-memory content. Each is the end of one chunk. */
export function cutPoints(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = cutPoint(bytes, start, bytes.length);
    ends.push(end);
    start = end;
  }
  return ends;
}
