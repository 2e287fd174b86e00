// One model's vectors in memory, one bit per dimension: its sign. A search makes three passes, each more precise and
// over fewer candidates. The first counts differing bits for all; the second compares the query's numbers with the bits
// of the likely ones; the third reads full vectors from the database for the best of those.

import type { Db } from "../engine/sqlite/database.js";
import { ABSENT, type Entries, entriesOf } from "./entry-states.js";
import type { Scope } from "./search-scope.js";
import { cosine, lengthOf, likelyRows, numbersOf, setSigns, wordsOf } from "./vector-math.js";
import { type EmbedderRow, embedderRow } from "./vectors-indexer.js";

/** A passage and its cosine to the query. */
interface NearPassage {
  readonly entry: number;
  readonly passage: number;
  readonly similarity: number;
}

const LEAST_ROOM = 1024;

/** Keeps up with the database by itself: every search adds new vectors and drops removed ones. */
class VectorIndex {
  readonly #index: Db;
  readonly #embedder: number;
  readonly #dimensions: number;
  readonly #words: number;
  #bits: Int32Array;
  #entries = new Int32Array(LEAST_ROOM);
  #passages = new Float64Array(LEAST_ROOM);
  #vectors = new Float64Array(LEAST_ROOM);
  #rows = 0;
  #lastPassage = 0;
  #lastVector = 0;
  #dataVersion = -1;
  #entriesKey = "";

  constructor(index: Db, { id, dimensions }: EmbedderRow) {
    this.#index = index;
    this.#embedder = id;
    this.#dimensions = dimensions;
    this.#words = Math.ceil(dimensions / 32);
    this.#bits = new Int32Array(LEAST_ROOM * this.#words);
  }

  get size(): number {
    return this.#rows;
  }

  /** Its memory use. */
  get sizeBytes(): number {
    return this.#bits.byteLength + this.#entries.byteLength + this.#passages.byteLength + this.#vectors.byteLength;
  }

  /** Adds new passages and vectors, and drops those of removed entries. */
  refresh(check: () => void): void {
    const version = this.#index.pragma<number>("data_version");
    if (version === this.#dataVersion) return;
    this.#takeNew(check);
    const entries = entriesOf(this.#index);
    if (entries.key !== this.#entriesKey) this.#forget(entries);
    this.#entriesKey = entries.key;
    this.#dataVersion = version;
  }

  #takeNew(check: () => void): void {
    const { passage, vector } = this.#index.one<{ passage: number; vector: number }>(
      "SELECT coalesce((SELECT max(id) FROM passages), 0) AS passage, coalesce((SELECT max(id) FROM vectors), 0) AS vector",
    );
    if (passage <= this.#lastPassage && vector <= this.#lastVector) return;
    const isFirst = this.#rows === 0;
    if (isFirst) [this.#lastPassage, this.#lastVector] = [0, 0];
    // Signs are a thirtieth of the vectors, so a large store is ready soon after opening.
    const rows = this.#index.tuples<[number, number, number, Uint8Array | null]>(
      `SELECT p.id, p.entry, v.id, s.signs FROM vectors v JOIN passages p ON p.hash = v.hash
         LEFT JOIN vector_signs s ON s.vector = v.id
       WHERE v.embedder = ? AND v.id > ? AND v.id <= ? AND p.id <= ? AND ? > 0
       UNION ALL
       SELECT p.id, p.entry, v.id, s.signs FROM passages p JOIN vectors v ON v.embedder = ? AND v.hash = p.hash
         LEFT JOIN vector_signs s ON s.vector = v.id
       WHERE p.id > ? AND p.id <= ? AND v.id <= ?`,
      this.#embedder,
      this.#lastVector,
      vector,
      // The first time, the second part returns everything in passage order.
      isFirst ? 0 : passage,
      isFirst ? 0 : 1,
      this.#embedder,
      this.#lastPassage,
      passage,
      isFirst ? vector : this.#lastVector,
    );
    for (const [id, entry, of, signs] of rows) {
      if ((this.#rows & 1023) === 0) check();
      this.#push({ id, entry, vector: of, signs });
    }
    this.#lastPassage = passage;
    this.#lastVector = vector;
  }

  /** Closes the gaps left by removed entries, and frees memory if most of it is empty. */
  #forget({ states }: Entries): void {
    const words = this.#words;
    let to = 0;
    for (let row = 0; row < this.#rows; row++) {
      if ((states[this.#entries[row] as number] ?? ABSENT) === ABSENT) continue;
      if (to !== row) {
        this.#entries[to] = this.#entries[row] as number;
        this.#passages[to] = this.#passages[row] as number;
        this.#vectors[to] = this.#vectors[row] as number;
        this.#bits.copyWithin(to * words, row * words, (row + 1) * words);
      }
      to++;
    }
    // Rows are filled bit by bit, so free ones must be zero.
    this.#bits.fill(0, to * words, this.#rows * words);
    this.#rows = to;
    const room = this.#entries.length;
    if (room > LEAST_ROOM && to * 4 < room) this.#resize(Math.max(LEAST_ROOM, to * 2));
  }

  /**
   * Returns the nearest passages in the scope, best first. The best passage of each entry in `also` is always compared.
   */
  nearest(query: Float32Array, { scope, also = [] }: { scope: Scope; also?: Iterable<number> }): NearPassage[] {
    const table = { bits: this.#bits, words: this.#words, entries: this.#entries, rows: this.#rows };
    return this.#compare(query, likelyRows(query, table, { scope, also }));
  }

  #compare(query: Float32Array, rows: readonly number[]): NearPassage[] {
    const length = lengthOf(query);
    // In table order, so neighbours are read together.
    const ids = Float64Array.from(new Set(rows.map((row) => this.#vectors[row] as number))).sort();
    const numbers = new Map<number, number>();
    const found = this.#index.tuples<[number, Uint8Array]>(
      "SELECT v.id, v.vector FROM json_each(?) j CROSS JOIN vectors v ON v.id = j.value",
      JSON.stringify([...ids]),
    );
    for (const [id, bytes] of found) {
      const vector = numbersOf(bytes, this.#dimensions);
      if (vector !== undefined) numbers.set(id, cosine(query, vector, length));
    }
    return rows
      .flatMap((row) => {
        const similarity = numbers.get(this.#vectors[row] as number);
        if (similarity === undefined) return [];
        return [{ entry: this.#entries[row] as number, passage: this.#passages[row] as number, similarity }];
      })
      .sort((a, b) => b.similarity - a.similarity || a.entry - b.entry || a.passage - b.passage);
  }

  #push({ id, entry, vector, signs }: { id: number; entry: number; vector: number; signs: Uint8Array | null }): void {
    if (this.#rows === this.#entries.length) this.#resize(this.#rows * 2);
    const at = this.#rows * this.#words;
    if (signs !== null && signs.length === this.#words * 4) this.#bits.set(wordsOf(signs), at);
    else {
      // Written by a version without signs.
      const row = this.#index.get<{ vector: Uint8Array }>("SELECT vector FROM vectors WHERE id = ?", vector);
      const numbers = row === undefined ? undefined : numbersOf(row.vector, this.#dimensions);
      if (numbers === undefined) return;
      setSigns(this.#bits, at, numbers);
    }
    this.#entries[this.#rows] = entry;
    this.#passages[this.#rows] = id;
    this.#vectors[this.#rows] = vector;
    this.#rows++;
  }

  #resize(length: number): void {
    const resized = <A extends Int32Array | Float64Array>(into: A, from: A, used: number): A => {
      into.set(from.subarray(0, used));
      return into;
    };
    this.#entries = resized(new Int32Array(length), this.#entries, this.#rows);
    this.#passages = resized(new Float64Array(length), this.#passages, this.#rows);
    this.#vectors = resized(new Float64Array(length), this.#vectors, this.#rows);
    this.#bits = resized(new Int32Array(length * this.#words), this.#bits, this.#rows * this.#words);
  }
}

const kept = new WeakMap<Db, { key: string; vectors: VectorIndex }>();

/** Returns a model's vectors, up to date; `undefined` if it has none. */
export function vectorIndexOf(index: Db, model: string, check: () => void): VectorIndex | undefined {
  const row = embedderRow(index, model);
  if (row === undefined) return undefined;
  // An older index that this process can only read.
  if (index.get("SELECT 1 FROM sqlite_schema WHERE name = 'vector_signs'") === undefined) return undefined;
  // A rebuilt index reuses its ids.
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
