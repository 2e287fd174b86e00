// Arithmetic on vectors and their signs. Pure.
import type { Scope } from "./search-scope.js";

/** The numbers of a vector: as a model returns them, or as they are stored. */
export type Numbers = Float32Array | Int8Array;

/** The distance of rows outside the scope. */
export const OUT = 0xffff;

/** Sets a bit for each number above zero. The bits must be clear. */
export function setSigns(bits: Int32Array, at: number, numbers: Numbers): void {
  for (let n = 0; n < numbers.length; n++) {
    if ((numbers[n] as number) > 0) bits[at + (n >>> 5)] = (bits[at + (n >>> 5)] as number) | (1 << (n & 31));
  }
}

/** Returns the signs of a vector in their stored form. */
export function signsOf(numbers: Float32Array): Uint8Array {
  const bits = new Int32Array(Math.ceil(numbers.length / 32));
  setSigns(bits, 0, numbers);
  return new Uint8Array(bits.buffer);
}

/** Converts stored signs to 32-bit words. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  if (bytes.byteOffset % 4 === 0) return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2);
  return new Int32Array(new Uint8Array(bytes).buffer);
}

/** Counts the bits in which each row differs from `signs`. */
export function countDistances(
  bits: Int32Array,
  signs: Int32Array,
  { entries, rows, scope }: { entries: Int32Array; rows: number; scope: Scope },
): Uint16Array {
  const words = signs.length;
  const triples = words - (words % 3);
  const distances = new Uint16Array(rows);
  for (let row = 0, at = 0; row < rows; row++, at += words) {
    if (scope[entries[row] as number] !== 1) {
      distances[row] = OUT;
      continue;
    }
    // First adds three words bit by bit, which leaves two words to count instead of three: sums and carries. The
    // counts, four side by side in one number, are added up at the end. They fit for up to 1,024 dimensions.
    let ones = 0;
    let twos = 0;
    let word = 0;
    for (; word < triples; word += 3) {
      const a = (bits[at + word] as number) ^ (signs[word] as number);
      const b = (bits[at + word + 1] as number) ^ (signs[word + 1] as number);
      const c = (bits[at + word + 2] as number) ^ (signs[word + 2] as number);
      const u = a ^ b;
      ones += bitsInBytes(u ^ c);
      twos += bitsInBytes((a & b) | (u & c));
    }
    for (; word < words; word++) ones += bitsInBytes((bits[at + word] as number) ^ (signs[word] as number));
    distances[row] = sumOfBytes(ones) + 2 * sumOfBytes(twos);
  }
  return distances;
}

/** Counts the set bits in each of the four bytes. */
function bitsInBytes(bits: number): number {
  let x = bits - ((bits >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return (x + (x >>> 4)) & 0x0f0f0f0f;
}

function sumOfBytes(x: number): number {
  return (x & 0xff) + ((x >>> 8) & 0xff) + ((x >>> 16) & 0xff) + (x >>> 24);
}

/** Returns the smallest distance that includes at least `wanted` rows; `most` if there are not enough. */
function distanceOfRank(distances: Uint16Array, { wanted, most }: { wanted: number; most: number }): number {
  const counts = new Uint32Array(most + 1);
  for (let row = 0; row < distances.length; row++) {
    const distance = distances[row] as number;
    if (distance !== OUT) counts[distance] = (counts[distance] as number) + 1;
  }
  for (let distance = 0, sum = 0; distance <= most; distance++) {
    sum += counts[distance] as number;
    if (sum >= wanted) return distance;
  }
  return most;
}

/**
 * Scores a query's numbers against signs, with +1 and -1 in place of the other vector's numbers. Much more accurate
 * than counting bits.
 */
export class SignTable {
  /** For each byte of signs, the sum for each of its 256 values. */
  readonly #sums: Float32Array;
  readonly #words: number;

  constructor(query: Float32Array) {
    this.#words = Math.ceil(query.length / 32);
    this.#sums = new Float32Array(this.#words * 4 * 256);
    for (let byte = 0; byte < this.#words * 4; byte++) {
      let none = 0;
      for (let bit = 0; bit < 8; bit++) none -= query[byte * 8 + bit] ?? 0;
      this.#sums[byte * 256] = none;
      for (let value = 1; value < 256; value++) {
        const lowest = 31 - Math.clz32(value & -value);
        const without = this.#sums[byte * 256 + (value & (value - 1))] as number;
        this.#sums[byte * 256 + value] = without + 2 * (query[byte * 8 + lowest] ?? 0);
      }
    }
  }

  product(bits: Int32Array, at: number): number {
    const sums = this.#sums;
    let sum = 0;
    for (let word = 0, table = 0; word < this.#words; word++, table += 1024) {
      const x = bits[at + word] as number;
      sum +=
        (sums[table + (x & 0xff)] as number) +
        (sums[table + 256 + ((x >>> 8) & 0xff)] as number) +
        (sums[table + 512 + ((x >>> 16) & 0xff)] as number) +
        (sums[table + 768 + (x >>> 24)] as number);
    }
    return sum;
  }
}

/** The largest number of a vector becomes this. */
const LARGEST_BYTE = 127;

/**
 * Encodes a vector for storage, one byte per dimension. Each vector has its own scale, which is not stored: only
 * directions are compared.
 */
export function vectorBytes(vector: Float32Array): Uint8Array {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const scale = largest > 0 ? LARGEST_BYTE / largest : 0;
  const bytes = new Int8Array(vector.length);
  for (let n = 0; n < vector.length; n++) bytes[n] = Math.round((vector[n] as number) * scale);
  return new Uint8Array(bytes.buffer);
}

/** Decodes a stored vector: one byte per dimension, or four in format 1. Returns undefined for any other size. */
export function numbersOf(bytes: Uint8Array, dimensions: number): Numbers | undefined {
  if (bytes.byteLength === dimensions) return new Int8Array(bytes.buffer, bytes.byteOffset, dimensions);
  if (bytes.byteLength !== dimensions * Float32Array.BYTES_PER_ELEMENT) return undefined;
  // Copy if necessary: the driver's buffer does not always start at a multiple of four.
  return bytes.byteOffset % 4 === 0
    ? new Float32Array(bytes.buffer, bytes.byteOffset, dimensions)
    : new Float32Array(new Uint8Array(bytes).buffer);
}

export function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (const number of vector) sum += number * number;
  return Math.sqrt(sum) || 1;
}

export function cosine(query: Float32Array, vector: Numbers, queryLength: number): number {
  let sum = 0;
  let square = 0;
  for (let n = 0; n < vector.length; n++) {
    const number = vector[n] as number;
    sum += (query[n] ?? 0) * number;
    square += number * number;
  }
  return sum / (queryLength * (Math.sqrt(square) || 1));
}

const BUCKETS = 2048;

/**
 * Returns a bound that about `rank` of the numbers reach, and at least that many if they exist, so little more than the
 * wanted part has to be sorted. Ignores numbers up to `above`.
 */
export function boundOfRank(numbers: Float32Array, rank: number, above = Number.NEGATIVE_INFINITY): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let count = 0;
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number;
    if (number <= above) continue;
    count++;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  if (count <= rank || most <= least) return least;
  const counts = new Uint32Array(BUCKETS + 1);
  const scale = BUCKETS / (most - least);
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number;
    if (number <= above) continue;
    const bucket = Math.floor((number - least) * scale);
    counts[bucket] = (counts[bucket] as number) + 1;
  }
  let bucket = BUCKETS;
  for (let sum = counts[bucket] as number; sum < rank && bucket > 0; ) sum += counts[--bucket] as number;
  // Slightly lower, so rounding does not lose values at the edge.
  return bucket === 0 ? least : least + (bucket - 0.001) / scale;
}

/** How many reach the second pass (a minimum, and a share of all), and how many are worth comparing. */
const LEAST_LIKELY = 2000;
const LIKELY_SHARE = 0.02;
const COMPARED = 300;

/** Signs of vectors in memory: `words` integers in `bits`, and one entry, for each of `rows`. */
interface SignRows {
  readonly bits: Int32Array;
  readonly words: number;
  readonly entries: Int32Array;
  readonly rows: number;
}

/**
 * Returns the rows in the scope that are most likely near, and the likeliest of each entry in `also`. The first pass
 * counts differing bits, the second compares the query's numbers with the bits of the likely ones.
 */
export function likelyRows(
  query: Float32Array,
  { bits, words, entries, rows }: SignRows,
  { scope, also }: { scope: Uint8Array; also: Iterable<number> },
): number[] {
  const signs = new Int32Array(words);
  setSigns(signs, 0, query);
  const distances = countDistances(bits, signs, { entries, rows, scope });
  const wanted = Math.max(LEAST_LIKELY, Math.ceil(rows * LIKELY_SHARE));
  const limit = distanceOfRank(distances, { wanted, most: words * 32 });
  const table = new SignTable(query);
  const marked = new Uint8Array(scope.length);
  for (const entry of also) marked[entry] = 1;
  const near: number[] = [];
  const guesses: number[] = [];
  const ofMarked = new Map<number, { row: number; guess: number }>();
  for (let row = 0; row < rows; row++) {
    const distance = distances[row] as number;
    if (distance === OUT) continue;
    const entry = entries[row] as number;
    if (distance > limit && marked[entry] !== 1) continue;
    const guess = table.product(bits, row * words);
    if (distance <= limit) {
      near.push(row);
      guesses.push(guess);
    }
    if (marked[entry] === 1 && guess > (ofMarked.get(entry)?.guess ?? Number.NEGATIVE_INFINITY)) {
      ofMarked.set(entry, { row, guess });
    }
  }
  const bound = boundOfRank(Float32Array.from(guesses), COMPARED);
  const chosen = new Set(near.filter((_, at) => (guesses[at] as number) >= bound));
  for (const { row } of ofMarked.values()) chosen.add(row);
  return [...chosen];
}
