// Content-defined chunking: FastCDC with normalised cut points. The table and the masks are part of the store's format
// (FORMAT.md): changing them loses no content, but equal content would be cut differently from then on.
import { createHash } from "node:crypto";

/** No chunk but the last of a content is shorter. */
export const MIN_CHUNK_BYTES = 4 * 1024;
/** The size that cut points aim at. */
const AVERAGE_CHUNK_BYTES = 16 * 1024;
/** No chunk is longer. */
export const MAX_CHUNK_BYTES = 64 * 1024;

// Before the average size a cut point is rare (16 bits have to be zero), after it common (12 bits): sizes gather around
// the average. The hash moves left, so its high bits depend on the last 32 bytes.
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

/** Where the chunk that begins at `start` ends. The bytes up to `end` have to hold a whole chunk or the rest of the content. */
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

/** All cut points of a content that is in memory: each is the end of one chunk. */
export function cutPoints(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = cutPoint(bytes, start, bytes.length);
    ends.push(end);
    start = end;
  }
  return ends;
}
