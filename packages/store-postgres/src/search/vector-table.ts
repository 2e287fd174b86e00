// The signs of one model's vectors, in the memory of the gateway: one bit for each dimension. Two passes over them, as in
// the embedded store, find the passages whose vectors are read and compared. Pure.
import { likelyRows } from "@trunkline/store/parts";

const LEAST_ROOM = 1024;

interface PassageRow {
  readonly id: number;
  readonly entry: number;
  readonly number: number;
  readonly vector: number;
  readonly signs: Uint8Array;
}

/** A passage that is worth comparing. */
export interface LikelyPassage {
  readonly entry: number;
  readonly passage: number;
  readonly vector: number;
}

export class VectorTable {
  readonly #words: number;
  #bits: Int32Array;
  #entries = new Int32Array(LEAST_ROOM);
  #passages = new Int32Array(LEAST_ROOM);
  #vectors = new Int32Array(LEAST_ROOM);
  #rows = 0;
  /** By entry: how many passages it has. */
  #counts = new Int32Array(LEAST_ROOM);

  constructor(dimensions: number) {
    this.#words = Math.ceil(dimensions / 32);
    this.#bits = new Int32Array(LEAST_ROOM * this.#words);
  }

  get size(): number {
    return this.#rows;
  }

  add({ id, entry, number, vector, signs }: PassageRow): void {
    if (signs.length !== 4 * this.#words) return;
    if (this.#rows === this.#entries.length) this.#resize(2 * this.#rows);
    this.#bits.set(new Int32Array(new Uint8Array(signs).buffer), this.#rows * this.#words);
    this.#entries[this.#rows] = entry;
    this.#passages[this.#rows] = id;
    this.#vectors[this.#rows++] = vector;
    if (entry >= this.#counts.length) this.#counts = resized(this.#counts, 2 * entry);
    this.#counts[entry] = Math.max(this.#counts[entry] as number, number + 1);
  }

  /**
   * Drops the passages of entries that are gone, and the oldest beyond a number. Entries that were added after `states`
   * was read are not in it: their passages stay.
   */
  keep(states: Uint8Array, most: number): void {
    const words = this.#words;
    let [to, excess] = [0, this.#rows - most];
    for (let row = 0; row < this.#rows; row++) {
      const entry = this.#entries[row] as number;
      if (states[entry] === 0 || excess-- > 0) continue;
      if (to !== row) {
        this.#entries[to] = entry;
        this.#passages[to] = this.#passages[row] as number;
        this.#vectors[to] = this.#vectors[row] as number;
        this.#bits.copyWithin(to * words, row * words, (row + 1) * words);
      }
      to++;
    }
    this.#rows = to;
  }

  passagesOf(entry: number): number {
    return Math.max(1, this.#counts[entry] ?? 1);
  }

  /** Returns the passages in the scope that are most likely near, and the likeliest of each entry in `also`. */
  likely(query: Float32Array, { scope, also }: { scope: Uint8Array; also: readonly number[] }): LikelyPassage[] {
    const table = { bits: this.#bits, words: this.#words, entries: this.#entries, rows: this.#rows };
    return likelyRows(query, table, { scope, also }).map((row) => ({
      entry: this.#entries[row] as number,
      passage: this.#passages[row] as number,
      vector: this.#vectors[row] as number,
    }));
  }

  #resize(length: number): void {
    this.#entries = resized(this.#entries, length);
    this.#passages = resized(this.#passages, length);
    this.#vectors = resized(this.#vectors, length);
    this.#bits = resized(this.#bits, length * this.#words);
  }
}

function resized(old: Int32Array, size: number): Int32Array<ArrayBuffer> {
  const next = new Int32Array(size);
  next.set(old);
  return next;
}
