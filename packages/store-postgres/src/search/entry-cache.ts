// The state of all entries, in the memory of the gateway. Pure; KeywordCache reads the rows.

export interface EntryStates {
  /** By entry id. 0: gone, 1: only in a snapshot, 2: live. */
  readonly states: Uint8Array;
  /** By entry id: 1 for stored results. */
  readonly results: Uint8Array;
  /** By entry id: the kind of supporting file. */
  readonly kinds: Uint8Array;
  /** Entries that are not gone. */
  readonly searchable: number;
  /** Texts in the index, and their mean length in words. */
  readonly count: number;
  readonly meanLength: number;
}

export interface EntryRow {
  readonly id: number;
  readonly state: number;
  readonly results: boolean;
  readonly kind: number;
  readonly texts: number;
  readonly length: number;
}

export class EntryTable {
  #states = new Uint8Array(1024);
  #results = new Uint8Array(1024);
  #kinds = new Uint8Array(1024);
  #seen = new Uint8Array(1024);
  #last = 0;
  #searchable = 0;
  #count = 0;
  #length = 0;

  /** Notes a row and returns whether the entry is new here. */
  take({ id, state, results, kind, texts, length }: EntryRow): boolean {
    if (id >= this.#states.length) this.#grow(id);
    if (id > this.#last) this.#last = id;
    const sign = Number(state !== 0) - Number(this.#states[id] !== 0);
    this.#searchable += sign;
    this.#count += sign * texts;
    this.#length += sign * length;
    this.#states[id] = state;
    this.#results[id] = results ? 1 : 0;
    this.#kinds[id] = kind;
    const isNew = this.#seen[id] === 0;
    this.#seen[id] = 1;
    return isNew;
  }

  /** Whether an entry can be found, at least in a snapshot. An entry that is gone never comes back. */
  isThere(entry: number): boolean {
    return (this.#states[entry] ?? 0) !== 0;
  }

  /** A copy: later rows do not change it. */
  copy(): EntryStates {
    const size = this.#last + 1;
    return {
      states: this.#states.slice(0, size),
      results: this.#results.slice(0, size),
      kinds: this.#kinds.slice(0, size),
      searchable: this.#searchable,
      count: this.#count,
      meanLength: this.#count === 0 ? 0 : this.#length / this.#count,
    };
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
    this.#seen = grown(this.#seen);
  }
}
