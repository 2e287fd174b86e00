// Contents that a thread of grep has read and checked, kept for the next query: reading one takes several times as long
// as searching it. A content never changes under its hash, so that nothing here can be out of date.

/** A content as the scanner wants it. `undefined`: it is binary. */
export type ScannableText = Buffer | undefined;

/** A block of memory that holds contents one after the other, and is forgotten as a whole. */
interface Arena {
  readonly memory: Buffer;
  used: number;
  /** The query that last found something in it. */
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
/** What a content takes beside its bytes, by and large: its hash, where it lies, its place in the table. */
const ENTRY_BYTES = 256;

/**
 * Keeps as much as its budget allows. What the queries before have not used goes first. What the query at hand has used
 * does not go to make room for more of it: of a store that is larger than the budget, a part then stays from query to
 * query, where the oldest content would always be the one that is needed next.
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

  /** What it takes, never more than the budget. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Says for which query contents are asked from now on. */
  begin(query: number): void {
    this.#query = query;
  }

  /** The content, in an object of its own so that binary content can be told from none. */
  get(hash: string): { readonly text: ScannableText } | undefined {
    const kept = this.#kept.get(hash);
    if (kept === undefined) return undefined;
    const { arena, start, end, binary } = kept;
    arena.query = this.#query;
    return { text: binary ? undefined : arena.memory.subarray(start, end) };
  }

  /** Keeps a copy, if there is room or can be made. */
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

  /** Gives all memory back. */
  clear(): void {
    this.#kept.clear();
    this.#arenas.clear();
    this.#filling = undefined;
    this.#sizeBytes = 0;
  }

  #arenaFor(length: number): Arena | undefined {
    // A long content has an arena to itself, so that little is lost at the end of the others.
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

  /** Forgets arenas until there is room for so many bytes more; false where there cannot be. */
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
