// Code point sets as sorted, disjoint ranges: [from, to, from, to, ...], both ends included.

/** A set of code points, or of bytes under `(?-u)`. */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10ffff;

/** Builds a set from pairs in any order, overlapping or not. */
export function charSet(pairs: readonly number[]): CharSet {
  const ranges: [number, number][] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    ranges.push([pairs[index] as number, pairs[index + 1] as number]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const result: number[] = [];
  for (const [from, to] of ranges) {
    const last = result.length - 1;
    if (last > 0 && from <= (result[last] as number) + 1) result[last] = Math.max(result[last] as number, to);
    else result.push(from, to);
  }
  return result;
}

export function single(codePoint: number): CharSet {
  return [codePoint, codePoint];
}

export function union(a: CharSet, b: CharSet): CharSet {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  return charSet([...a, ...b]);
}

/** Returns everything not in the set, up to `max`. */
export function complement(set: CharSet, max = MAX_CODE_POINT): CharSet {
  const result: number[] = [];
  let next = 0;
  for (let index = 0; index < set.length; index += 2) {
    const from = set[index] as number;
    if (from > next) result.push(next, from - 1);
    next = (set[index + 1] as number) + 1;
  }
  if (next <= max) result.push(next, max);
  return result;
}

export function intersection(a: CharSet, b: CharSet): CharSet {
  const result: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const from = Math.max(a[i] as number, b[j] as number);
    const to = Math.min(a[i + 1] as number, b[j + 1] as number);
    if (from <= to) result.push(from, to);
    if ((a[i + 1] as number) < (b[j + 1] as number)) i += 2;
    else j += 2;
  }
  return result;
}

export function difference(a: CharSet, b: CharSet): CharSet {
  return intersection(a, complement(b));
}

export function has(set: CharSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (codePoint < (set[middle * 2] as number)) high = middle - 1;
    else if (codePoint > (set[middle * 2 + 1] as number)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Returns the number of code points in the set. */
export function sizeOf(set: CharSet): number {
  let size = 0;
  for (let index = 0; index < set.length; index += 2) size += (set[index + 1] as number) - (set[index] as number) + 1;
  return size;
}

/** Yields every code point of the set, in order. */
export function* members(set: CharSet): Generator<number> {
  for (let index = 0; index < set.length; index += 2) {
    for (let codePoint = set[index] as number; codePoint <= (set[index + 1] as number); codePoint++) yield codePoint;
  }
}
