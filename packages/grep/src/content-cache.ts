// Contents that a grep thread has read and verified, cached for the next query: reading one takes several times as long
// as searching it. Content never changes under its hash, so nothing in the cache can be stale.

/** A content as the scanner needs it. `undefined` if it is binary. */
export type ScannableText = Buffer | undefined;

/** A block of memory that holds consecutive contents and is dropped as a whole. */
interface Arena {
  readonly memory: Buffer;
  used: number;
  /** The query that last used this arena. */
  query: number;
  readonly hashes: string[];
}

interface Kept {
  readonly arena: Arena;
  readonly start: number;
  readonly end: number;
  readonly binary: boolean;
}

const ARENA_BYTES = 2 << 20;
/** The approximate overhead per content: its hash, offset and table entry. */
const ENTRY_BYTES = 256;

/**
 * Caches as much as its budget allows. Contents not used by recent queries are dropped first. Contents used by the
 * current query are never dropped to make room for more of them: if the store is larger than the budget, part of it
 * stays from query to query, whereas LRU would always drop what is needed next.
 */
export class ContentCache {
  readonly #budgetBytes: number;
  readonly #arenaBytes: number;
  readonly #kept = new Map<string, Kept>();
  readonly #arenas = new Set<Arena>();
  #filling: Arena | undefined;
  #sizeBytes = 0;
  #query = 0;

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
    this.#arenaBytes = Math.min(ARENA_BYTES, Math.floor(budgetBytes / 16));
  }

  /** The size of the cache, never more than the budget. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Sets the query that requests contents from now on. */
  begin(query: number): void {
    this.#query = query;
  }

  /** Returns the content, wrapped to tell binary content from a missing one. */
  get(hash: string): { readonly text: ScannableText } | undefined {
    const kept = this.#kept.get(hash);
    if (kept === undefined) return undefined;
    const { arena, start, end, binary } = kept;
    arena.query = this.#query;
    return { text: binary ? undefined : arena.memory.subarray(start, end) };
  }

  /** Stores a copy if there is room, or if room can be made. */
  add(hash: string, text: ScannableText): void {
    if (this.#kept.has(hash)) return;
    const length = text?.length ?? 0;
    const arena = this.#arenaFor(length);
    if (arena === undefined || !this.#makeRoom(ENTRY_BYTES, arena)) return;
    const start = arena.used;
    if (text !== undefined) text.copy(arena.memory, start);
    arena.used += length;
    arena.query = this.#query;
    arena.hashes.push(hash);
    this.#sizeBytes += ENTRY_BYTES;
    this.#kept.set(hash, { arena, start, end: start + length, binary: text === undefined });
  }

  /** Frees all memory. */
  clear(): void {
    this.#kept.clear();
    this.#arenas.clear();
    this.#filling = undefined;
    this.#sizeBytes = 0;
  }

  #arenaFor(length: number): Arena | undefined {
    // A long content gets its own arena, so little is wasted at the end of the others.
    const alone = length > this.#arenaBytes / 8;
    const filling = this.#filling;
    if (!alone && filling !== undefined && filling.used + length <= filling.memory.length) return filling;
    const size = alone ? length : this.#arenaBytes;
    if (!this.#makeRoom(size, undefined)) return undefined;
    const arena: Arena = { memory: Buffer.allocUnsafeSlow(size), used: 0, query: this.#query, hashes: [] };
    this.#arenas.add(arena);
    this.#sizeBytes += size;
    if (!alone) this.#filling = arena;
    return arena;
  }

  /** Drops arenas until there is room for this many more bytes; false if that is impossible. */
  #makeRoom(bytes: number, except: Arena | undefined): boolean {
    if (bytes > this.#budgetBytes / 2) return false;
    while (this.#sizeBytes + bytes > this.#budgetBytes) {
      let oldest: Arena | undefined;
      for (const arena of this.#arenas) {
        if (arena === except || arena.query === this.#query) continue;
        if (oldest === undefined || arena.query < oldest.query) oldest = arena;
      }
      if (oldest === undefined) return false;
      this.#forget(oldest);
    }
    return true;
  }

  #forget(arena: Arena): void {
    this.#arenas.delete(arena);
    if (this.#filling === arena) this.#filling = undefined;
    for (const hash of arena.hashes) this.#kept.delete(hash);
    this.#sizeBytes -= arena.memory.length + arena.hashes.length * ENTRY_BYTES;
  }
}
