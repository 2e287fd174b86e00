// The numbers that a table has given to texts, kept in memory: most words and keys of a document are known already, and
// asking for each of them took a good part of indexing.
import type { Db } from "../sqlite/database.js";

/** A table whose rows are only ever added, except when all of the index is made anew. */
interface NumberedTexts {
  readonly table: string;
  readonly column: string;
}

const MOST_KEPT = 200_000;
const kept = new WeakMap<Db, Map<string, KnownNumbers>>();

/** What is known of a table in the transaction at hand. To be asked for in each one. */
export function knownNumbers(index: Db, { table, column }: NumberedTexts): KnownNumbers {
  const tables = kept.get(index) ?? new Map<string, KnownNumbers>();
  kept.set(index, tables);
  const known = tables.get(table);
  if (known?.isStill(index)) return known;
  const fresh = new KnownNumbers(index, { table, column });
  tables.set(table, fresh);
  return fresh;
}

/** The numbers of one table. */
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
   * Whether no transaction was undone in which numbers were given, and the index is the same. Numbers rise, so that the
   * highest one is gone, or is another text's, if any is.
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

/** Changes when the index is made anew. */
function madeOf(index: Db): string | undefined {
  return index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'vectors_made'")?.value;
}
