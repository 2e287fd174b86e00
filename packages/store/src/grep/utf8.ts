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
