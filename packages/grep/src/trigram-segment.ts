// A segment of the trigram index: which of a run of entries contain each trigram. Its lists are sorted by trigram and
// split into blocks, so one lookup finds a list. A list is the distance of its key from the previous one, its length,
// and the distances of its entries, as numbers of seven bits per byte, lowest first, with the eighth bit set if more
// follow.
import { TRIGRAM_KEYS } from "./trigram-keys.js";

/** An entry and the distinct keys of its text. */
export interface EntryKeys {
  readonly id: number;
  readonly keys: Int32Array;
}

/** Consecutive lists. `first` is the key of the first one. */
export interface Block {
  readonly first: number;
  readonly data: Uint8Array;
}

/** A block ends with the list that reaches this length. Small ones fill the pages of the database better. */
const BLOCK_BYTES = 512;
/** Maximum bytes of a 32-bit number. */
const LONGEST_NUMBER = 5;

/**
 * For each key found while building a segment: first how many entries have it, then where its list ends. Otherwise 0.
 */
let places: Int32Array | undefined;

/** Builds the blocks of a segment. Entries are in id order, the first at `base` or above. */
export function makeBlocks(entries: readonly EntryKeys[], base: number): Block[] {
  places ??= new Int32Array(TRIGRAM_KEYS);
  const met = countKeys(entries, places);
  let total = 0;
  for (const key of met) {
    const count = places[key] as number;
    places[key] = total;
    total += count;
  }
  const ids = new Int32Array(total);
  for (const { id, keys } of entries) {
    for (const key of keys) {
      const at = places[key] as number;
      ids[at] = id;
      places[key] = at + 1;
    }
  }
  const writer = new BlockWriter(base);
  let start = 0;
  for (const key of met) {
    const end = places[key] as number;
    writer.add(key, ids.subarray(start, end));
    start = end;
    places[key] = 0;
  }
  return writer.finish();
}

/** Counts the entries of each key. Returns the distinct keys, in order. */
function countKeys(entries: readonly EntryKeys[], counts: Int32Array): Int32Array {
  const met: number[] = [];
  for (const { keys } of entries) {
    for (const key of keys) {
      const count = counts[key] as number;
      if (count === 0) met.push(key);
      counts[key] = count + 1;
    }
  }
  return Int32Array.from(met).sort();
}

class BlockWriter {
  readonly #base: number;
  readonly #blocks: Block[] = [];
  #bytes = new Uint8Array(2 * BLOCK_BYTES);
  #length = 0;
  #first = 0;
  #key = 0;

  constructor(base: number) {
    this.#base = base;
  }

  add(key: number, ids: Int32Array): void {
    this.#makeRoom((ids.length + 2) * LONGEST_NUMBER);
    if (this.#length === 0) {
      this.#first = key;
      this.#key = key;
    }
    this.#write(key - this.#key);
    this.#write(ids.length);
    let before = this.#base;
    for (const id of ids) {
      this.#write(id - before);
      before = id;
    }
    this.#key = key;
    if (this.#length >= BLOCK_BYTES) this.#cut();
  }

  finish(): Block[] {
    this.#cut();
    return this.#blocks;
  }

  #write(number: number): void {
    let rest = number;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + bytes));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  #cut(): void {
    if (this.#length > 0) this.#blocks.push({ first: this.#first, data: this.#bytes.slice(0, this.#length) });
    this.#length = 0;
  }
}

/** Goes through the lists of a block until `take` returns true. */
export function readBlock({ first, data }: Block, base: number, take: (key: number, ids: number[]) => boolean): void {
  let at = 0;
  const read = (): number => {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      // A valid block is never read past its end.
      const byte = data[at++] ?? 0;
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  };
  for (let key = first; at < data.length; ) {
    key += read();
    let id = base;
    const count = read();
    const ids: number[] = [];
    for (let number = 0; number < count && at < data.length; number++) {
      id += read();
      ids.push(id);
    }
    if (take(key, ids)) return;
  }
}

/** Returns the list of one key; empty if the block has none. Skips the other lists without reading them. */
export function findList({ first, data }: Block, base: number, wanted: number): number[] {
  let at = 0;
  const read = (): number => {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = data[at++] ?? 0;
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  };
  const ids: number[] = [];
  for (let key = first; at < data.length; ) {
    key += read();
    const count = read();
    if (key > wanted) return ids;
    if (key === wanted) {
      let id = base;
      while (ids.length < count && at < data.length) {
        id += read();
        ids.push(id);
      }
      return ids;
    }
    // The last byte of a number has no eighth bit.
    for (let left = count; left > 0 && at < data.length; at++) if ((data[at] as number) < 0x80) left--;
  }
  return ids;
}
