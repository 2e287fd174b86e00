// The vectors of one model in memory, one bit a dimension: which side of zero it is on. A Hamming scan over the bits
// finds the likely ones; those are compared in full with the numbers from the database.
import { type EmbedderRow, embedderRow } from "../indexing/vectors.js";
import type { Db } from "../sqlite/database.js";
import type { Scope } from "./scope.js";

/** A passage and how near it is to the query: the cosine. */
export interface NearPassage {
  readonly entry: number;
  readonly passage: number;
  readonly similarity: number;
}

const LEAST_RESCORED = 400;
const RESCORED_SHARE = 0.02;

/** Keeps up with the database by itself: every search takes up what is new. */
export class VectorIndex {
  readonly #index: Db;
  readonly #embedder: number;
  readonly #dimensions: number;
  readonly #words: number;
  #bits: Uint32Array;
  #entries = new Int32Array(1024);
  #passages = new Float64Array(1024);
  #vectors = new Float64Array(1024);
  #rows = 0;
  #lastPassage = 0;
  #lastVector = 0;
  #dataVersion = -1;

  constructor(index: Db, { id, dimensions }: EmbedderRow) {
    this.#index = index;
    this.#embedder = id;
    this.#dimensions = dimensions;
    this.#words = Math.ceil(dimensions / 32);
    this.#bits = new Uint32Array(1024 * this.#words);
  }

  get size(): number {
    return this.#rows;
  }

  /** Takes up passages and vectors that were not there before. Removed ones are out of every scope. */
  refresh(check: () => void): void {
    const version = this.#index.pragma<number>("data_version");
    if (version === this.#dataVersion) return;
    const { passage, vector } = this.#index.one<{ passage: number; vector: number }>(
      "SELECT coalesce((SELECT max(id) FROM passages), 0) AS passage, coalesce((SELECT max(id) FROM vectors), 0) AS vector",
    );
    if (passage > this.#lastPassage || vector > this.#lastVector) {
      const rows = this.#index.iterate<{ id: number; entry: number; vector: number; numbers: Uint8Array }>(
        `SELECT p.id, p.entry, v.id AS vector, v.vector AS numbers FROM vectors v JOIN passages p ON p.hash = v.hash
         WHERE v.embedder = ? AND v.id > ? AND v.id <= ? AND p.id <= ?
         UNION ALL
         SELECT p.id, p.entry, v.id, v.vector FROM passages p JOIN vectors v ON v.embedder = ? AND v.hash = p.hash
         WHERE p.id > ? AND p.id <= ? AND v.id <= ?`,
        this.#embedder,
        this.#lastVector,
        vector,
        passage,
        this.#embedder,
        this.#lastPassage,
        passage,
        this.#lastVector,
      );
      for (const row of rows) {
        if ((this.#rows & 1023) === 0) check();
        this.#push(row);
      }
      this.#lastPassage = passage;
      this.#lastVector = vector;
    }
    this.#dataVersion = version;
  }

  /** The nearest passages within the scope, best first; `also` are entries whose passages are compared in any case. */
  nearest(query: Float32Array, { scope, also }: { scope: Scope; also?: ReadonlySet<number> }): NearPassage[] {
    const wanted = Math.max(LEAST_RESCORED, Math.ceil(this.#rows * RESCORED_SHARE));
    const distances = this.#distances(query, scope);
    const limit = distanceOfRank(distances, { wanted, most: this.#words * 32 });
    const rows: number[] = [];
    for (let row = 0; row < this.#rows; row++) {
      const distance = distances[row] as number;
      if (distance <= limit || (distance !== OUT && also?.has(this.#entries[row] as number))) rows.push(row);
    }
    return this.#rescore(query, rows);
  }

  #distances(query: Float32Array, scope: Scope): Uint16Array {
    const words = this.#words;
    const bits = new Uint32Array(words);
    setSigns(bits, 0, query);
    const distances = new Uint16Array(this.#rows);
    for (let row = 0, at = 0; row < this.#rows; row++, at += words) {
      if (scope[this.#entries[row] as number] !== 1) {
        distances[row] = OUT;
        continue;
      }
      let distance = 0;
      for (let word = 0; word < words; word++) {
        let x = (this.#bits[at + word] as number) ^ (bits[word] as number);
        x -= (x >>> 1) & 0x55555555;
        x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
        distance += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
      }
      distances[row] = distance;
    }
    return distances;
  }

  #rescore(query: Float32Array, rows: readonly number[]): NearPassage[] {
    const numbers = new Map<number, number>();
    const length = lengthOf(query);
    for (const row of rows) {
      const id = this.#vectors[row] as number;
      if (numbers.has(id)) continue;
      const bytes = this.#index.get<{ vector: Uint8Array }>("SELECT vector FROM vectors WHERE id = ?", id)?.vector;
      if (bytes !== undefined) numbers.set(id, cosine(query, floatsOf(bytes), length));
    }
    return rows
      .flatMap((row) => {
        const similarity = numbers.get(this.#vectors[row] as number);
        if (similarity === undefined) return [];
        return [{ entry: this.#entries[row] as number, passage: this.#passages[row] as number, similarity }];
      })
      .sort((a, b) => b.similarity - a.similarity || a.entry - b.entry || a.passage - b.passage);
  }

  #push({ id, entry, vector, numbers }: { id: number; entry: number; vector: number; numbers: Uint8Array }): void {
    const floats = floatsOf(numbers);
    if (floats.length !== this.#dimensions) return;
    if (this.#rows === this.#entries.length) this.#grow();
    this.#entries[this.#rows] = entry;
    this.#passages[this.#rows] = id;
    this.#vectors[this.#rows] = vector;
    setSigns(this.#bits, this.#rows * this.#words, floats);
    this.#rows++;
  }

  #grow(): void {
    const length = this.#entries.length * 2;
    const grown = <A extends Int32Array | Float64Array | Uint32Array>(into: A, from: A): A => {
      into.set(from);
      return into;
    };
    this.#entries = grown(new Int32Array(length), this.#entries);
    this.#passages = grown(new Float64Array(length), this.#passages);
    this.#vectors = grown(new Float64Array(length), this.#vectors);
    this.#bits = grown(new Uint32Array(length * this.#words), this.#bits);
  }
}

const OUT = 0xffff;

function distanceOfRank(distances: Uint16Array, { wanted, most }: { wanted: number; most: number }): number {
  const counts = new Uint32Array(most + 1);
  for (const distance of distances) if (distance !== OUT) (counts[distance] as number)++;
  for (let distance = 0, sum = 0; distance <= most; distance++) {
    sum += counts[distance] as number;
    if (sum >= wanted) return distance;
  }
  return most;
}

function setSigns(bits: Uint32Array, at: number, numbers: Float32Array): void {
  for (let n = 0; n < numbers.length; n++) {
    if ((numbers[n] as number) > 0) bits[at + (n >>> 5)] = (bits[at + (n >>> 5)] as number) | (1 << (n & 31));
  }
}

function floatsOf(bytes: Uint8Array): Float32Array {
  // A copy, because what the driver gives need not begin at a multiple of four.
  return new Float32Array(bytes.slice().buffer);
}

function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (const number of vector) sum += number * number;
  return Math.sqrt(sum) || 1;
}

function cosine(query: Float32Array, vector: Float32Array, queryLength: number): number {
  let sum = 0;
  let square = 0;
  for (let n = 0; n < vector.length; n++) {
    const number = vector[n] as number;
    sum += (query[n] ?? 0) * number;
    square += number * number;
  }
  return sum / (queryLength * (Math.sqrt(square) || 1));
}

const kept = new WeakMap<Db, { key: string; vectors: VectorIndex }>();

/** The vectors of a model, up to date; `undefined` where it has none. */
export function vectorIndexOf(index: Db, model: string, check: () => void): VectorIndex | undefined {
  const row = embedderRow(index, model);
  if (row === undefined) return undefined;
  // An index that was made anew gives its numbers out again.
  const made = index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'vectors_made'")?.value ?? "";
  const key = `${made}/${row.id}/${row.model}`;
  let state = kept.get(index);
  if (state?.key !== key) {
    state = { key, vectors: new VectorIndex(index, row) };
    kept.set(index, state);
  }
  state.vectors.refresh(check);
  return state.vectors.size === 0 ? undefined : state.vectors;
}
