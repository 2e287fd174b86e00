// Code point sets as byte range sequences, for patterns that also match single bytes.
import type { CharSet } from "./char-set.js";

const LENGTH_LIMITS = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** Encodes a set in UTF-8. Each result is a sequence of ranges, one per byte. */
export function utf8Sequences(set: CharSet): CharSet[][] {
  const sequences: CharSet[][] = [];
  for (let index = 0; index < set.length; index += 2) add(sequences, set[index] as number, set[index + 1] as number);
  return sequences;
}

function add(sequences: CharSet[][], from: number, to: number): void {
  if (from > to) return;
  if (from < 0xd800 && to > 0xdfff) {
    add(sequences, from, 0xd7ff);
    add(sequences, 0xe000, to);
    return;
  }
  for (const limit of LENGTH_LIMITS) {
    if (from <= limit && limit < to) {
      add(sequences, from, limit);
      add(sequences, limit + 1, to);
      return;
    }
  }
  // Split until all bytes after the first differing one cover their whole range.
  for (let bits = 6; bits <= 18 && to > 0x7f; bits += 6) {
    const mask = (1 << bits) - 1;
    if ((from & ~mask) === (to & ~mask)) break;
    if ((from & mask) !== 0) {
      add(sequences, from, from | mask);
      add(sequences, (from | mask) + 1, to);
      return;
    }
    if ((to & mask) !== mask) {
      add(sequences, from, (to & ~mask) - 1);
      add(sequences, to & ~mask, to);
      return;
    }
  }
  const low = Buffer.from(String.fromCodePoint(from));
  const high = Buffer.from(String.fromCodePoint(to));
  sequences.push(Array.from(low, (byte, index) => [byte, high[index] as number]));
}

/** Decodes the character at the position as `code point * 8 + length`; invalid bytes are -1 with length one. */
export function decode(bytes: Uint8Array, position: number, end: number): number {
  const INVALID = (-1 << 3) | 1;
  const lead = bytes[position] as number;
  if (lead < 0xc2 || lead > 0xf4 || position + 1 >= end) return INVALID;
  const second = bytes[position + 1] as number;
  if ((second & 0xc0) !== 0x80) return INVALID;
  if (lead < 0xe0) return ((((lead & 0x1f) << 6) | (second & 0x3f)) << 3) | 2;
  if (position + 2 >= end) return INVALID;
  const third = bytes[position + 2] as number;
  if ((third & 0xc0) !== 0x80) return INVALID;
  if (lead < 0xf0) {
    const codePoint = ((lead & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f);
    if (codePoint < 0x800 || (codePoint >= 0xd800 && codePoint <= 0xdfff)) return INVALID;
    return (codePoint << 3) | 3;
  }
  if (position + 3 >= end) return INVALID;
  const fourth = bytes[position + 3] as number;
  if ((fourth & 0xc0) !== 0x80) return INVALID;
  const codePoint = ((lead & 0x07) << 18) | ((second & 0x3f) << 12) | ((third & 0x3f) << 6) | (fourth & 0x3f);
  if (codePoint < 0x10000 || codePoint > 0x10ffff) return INVALID;
  return (codePoint << 3) | 4;
}
