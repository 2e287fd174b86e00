// An in-memory cache of the numbers a table assigned to texts. Most words and keys of a document are already known, and
// looking up each of them took a large part of the indexing time.
import type { Db } from "../sqlite/database.js";

/** A table whose rows are only ever added, except when the whole index is rebuilt. */
interface NumberedTexts {
  readonly table: string;
  readonly column: string;
}

const MOST_KEPT = 200_000;
const kept = new WeakMap<Db, Map<string, KnownNumbers>>();

/** Returns the known numbers of a table. Call it again in each transaction. */
export function knownNumbers(index: Db, { table, column }: NumberedTexts): KnownNumbers {
  const tables = kept.get(index) ?? new Map<string, KnownNumbers>();
  kept.set(index, tables);
  const known = tables.get(table);
  if (known?.isStill(index)) return known;
  const fresh = new KnownNumbers(index, { table, column });
  tables.set(table, fresh);
  return fresh;
}

class KnownNumbers {
  readonly #texts: NumberedTexts;
  readonly #made: string | undefined;
  #numbers = new Map<string, number>();
  #highest: { readonly text: string; readonly number: number } | undefined;

  constructor(index: Db, texts: NumberedTexts) {
    this.#texts = texts;
    this.#made = madeOf(index);
  }

  /**
   * Whether the index is the same and no transaction that assigned numbers was rolled back. Numbers only increase, so
   * after a rollback the highest one is missing or belongs to another text.
   */
  isStill(index: Db): boolean {
    if (madeOf(index) !== this.#made) return false;
    if (this.#highest === undefined) return true;
    const { table, column } = this.#texts;
    const row = index.get<{ text: string }>(
      `SELECT ${column} AS text FROM ${table} WHERE id = ?`,
      this.#highest.number,
    );
    return row?.text === this.#highest.text;
  }

  has(text: string): boolean {
    return this.#numbers.has(text);
  }

  get(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  set(text: string, number: number): void {
    if (this.#numbers.size >= MOST_KEPT) this.#numbers = new Map();
    this.#numbers.set(text, number);
    if (number > (this.#highest?.number ?? 0)) this.#highest = { text, number };
  }
}

/** Returns a value that changes when the index is rebuilt. */
function madeOf(index: Db): string | undefined {
  return index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'vectors_made'")?.value;
}
