// The state of all entries, cached in the gateway. Every change has a number in the order of commits, so a search only
// reads what changed since the last one.
import type { Sql } from "../database/sql.js";

export interface EntryStates {
  /** By entry id. 0: gone, 1: only in a snapshot, 2: live. */
  readonly states: Uint8Array;
  /** By entry id: 1 for stored results. */
  readonly results: Uint8Array;
  /** By entry id: the kind of supporting file. */
  readonly kinds: Uint8Array;
  /** Texts in the index, and their mean length in words. */
  readonly count: number;
  readonly meanLength: number;
}

interface EntryRow {
  readonly id: number;
  readonly state: number;
  readonly results: boolean;
  readonly kind: number;
  readonly texts: number;
  readonly length: number;
  readonly seq: number;
}

export class EntryCache {
  #states = new Uint8Array(1024);
  #results = new Uint8Array(1024);
  #kinds = new Uint8Array(1024);
  #last = 0;
  #seq = -1;
  #count = 0;
  #length = 0;

  /** Reads what changed since the last time. */
  async current(sql: Sql): Promise<EntryStates> {
    const rows = await sql.rows<EntryRow>(
      "SELECT id, state, results, kind, texts, length, seq FROM entries WHERE seq > $1 ORDER BY seq",
      this.#seq,
    );
    // Another search may have read further meanwhile.
    const reached = this.#seq;
    for (const row of rows) if (row.seq > reached) this.#take(row);
    return {
      states: this.#states.subarray(0, this.#last + 1),
      results: this.#results.subarray(0, this.#last + 1),
      kinds: this.#kinds.subarray(0, this.#last + 1),
      count: this.#count,
      meanLength: this.#count === 0 ? 0 : this.#length / this.#count,
    };
  }

  /** Forgets everything, after the index was built again. */
  clear(): void {
    this.#states.fill(0);
    this.#seq = -1;
    this.#count = 0;
    this.#length = 0;
  }

  #take({ id, state, results, kind, texts, length, seq }: EntryRow): void {
    this.#seq = Math.max(this.#seq, seq);
    if (id >= this.#states.length) this.#grow(id);
    if (id > this.#last) this.#last = id;
    const sign = Number(state !== 0) - Number(this.#states[id] !== 0);
    this.#count += sign * texts;
    this.#length += sign * length;
    this.#states[id] = state;
    this.#results[id] = results ? 1 : 0;
    this.#kinds[id] = kind;
  }

  #grow(id: number): void {
    const size = Math.max(id + 1, this.#states.length * 2);
    const grown = (old: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
      const next = new Uint8Array(size);
      next.set(old);
      return next;
    };
    this.#states = grown(this.#states);
    this.#results = grown(this.#results);
    this.#kinds = grown(this.#kinds);
  }
}
