// Reads postings and scores them with BM25, as FTS5 does. Postings of most entries are in blocks of 1024 entries for each
// term; those of new entries are in rows of their own until they are merged.
import { bm25WeightOfFts5 } from "@trunkline/core";
import { joinedTerm, type Postings, splitIdentifier, type Term, tokensOf } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";
import type { EntryStates } from "./entry-cache.js";
import { UNITS } from "./keyword-counts.js";

/** Entries in a block. */
export const BLOCK = 1024;
const PIECES = 4096;
const MOST_COUNT = 0xfff;
const MOST_LENGTH = 0xfffff;

const K1 = 1.2;
const B = 0.75;

/** One text that has a term: a piece of an entry. */
export interface Posting {
  readonly entry: number;
  readonly piece: number;
  readonly count: number;
  readonly length: number;
}

/** Two words each: place in the block and piece; count and length. */
export function encodePostings(postings: readonly Posting[]): Uint8Array {
  const words = new Uint32Array(postings.length * 2);
  for (const [at, { entry, piece, count, length }] of postings.entries()) {
    words[2 * at] = (entry % BLOCK) | (piece << 10);
    words[2 * at + 1] = Math.min(count, MOST_COUNT) | (Math.min(length, MOST_LENGTH) << 12);
  }
  return new Uint8Array(words.buffer);
}

/** The texts with a term, by text: entry * 4096 + piece. */
type Texts = Map<number, { readonly count: number; readonly length: number }>;

/** Postings of some terms, within one transaction. */
export class KeywordReader {
  readonly #sql: Sql;
  readonly #entries: EntryStates;
  readonly #texts = new Map<string, Texts>();

  constructor(sql: Sql, entries: EntryStates) {
    this.#sql = sql;
    this.#entries = entries;
  }

  /** Reads the postings of all terms that words consist of. */
  async load(words: Iterable<string>): Promise<void> {
    const terms = [...new Set([...words].flatMap((word) => [wholeTerm(word), ...partTerms(word)]))];
    const unknown = terms.filter((term) => term !== "" && !this.#texts.has(term));
    if (unknown.length === 0) return;
    for (const term of unknown) this.#texts.set(term, new Map());
    const blocks = await this.#sql.rows<{ term: string; block: number; data: Uint8Array }>(
      "SELECT term, block, data FROM keyword_blocks WHERE term = ANY($1::text[])",
      unknown,
    );
    for (const { term, block, data } of blocks) this.#takeBlock(term, block, data);
    const recent = await this.#sql.rows<{ entry: number; piece: number; length: number; term: string; count: number }>(
      `SELECT r.entry, r.piece, r.length, t.term, t.count FROM keyword_recent r, unnest(r.terms, r.counts) AS t(term, count)
       WHERE r.terms && $1::text[] AND t.term = ANY($1::text[])`,
      unknown,
    );
    for (const { term, entry, piece, count, length } of recent)
      this.#take(term, entry * PIECES + piece, { count, length });
  }

  #takeBlock(term: string, block: number, data: Uint8Array): void {
    const words = new Uint32Array(new Uint8Array(data).buffer);
    for (let at = 0; at < words.length; at += 2) {
      const place = words[at] as number;
      const weight = words[at + 1] as number;
      const entry = block * BLOCK + (place & (BLOCK - 1));
      this.#take(term, entry * PIECES + (place >>> 10), { count: weight & MOST_COUNT, length: weight >>> 12 });
    }
  }

  /** Entries that are gone stay in the blocks until these are written again. */
  #take(term: string, text: number, found: { count: number; length: number }): void {
    if ((this.#entries.states[Math.floor(text / PIECES)] ?? 0) !== 0) this.#texts.get(term)?.set(text, found);
  }

  /** How many texts have a word, or all its parts. It must be loaded. */
  textsWith(word: string): number {
    return this.#scores(word).size;
  }

  /** Scores the entries that have a term. Its words must be loaded. */
  postings({ word, corrected, unknown }: Term): Postings {
    const words = corrected === undefined ? [word] : unknown ? [corrected] : [word, corrected];
    const sums = new Map<number, number>();
    for (const each of words)
      for (const [text, score] of this.#scores(each)) sums.set(text, (sums.get(text) ?? 0) + score);
    // The best piece of a text counts.
    const best = new Map<number, number>();
    for (const [text, score] of sums) {
      const entry = Math.floor(text / PIECES);
      best.set(entry, Math.max(best.get(entry) ?? 0, score));
    }
    return { entries: Int32Array.from(best.keys()), scores: Float32Array.from(best.values()) };
  }

  /** Scores texts that have the word itself or all its parts. */
  #scores(word: string): Map<number, number> {
    const scores = new Map<number, number>();
    const add = (term: string, among?: ReadonlySet<number>) => {
      const texts = this.#texts.get(term) ?? new Map();
      const { count, meanLength } = this.#entries;
      const rarity = bm25WeightOfFts5(texts.size, Math.max(count, texts.size));
      for (const [text, found] of texts) {
        if (among !== undefined && !among.has(text)) continue;
        const frequency = found.count / UNITS;
        const norm = K1 * (1 - B + (B * found.length) / Math.max(1, meanLength));
        scores.set(text, (scores.get(text) ?? 0) + (rarity * frequency * (K1 + 1)) / (frequency + norm));
      }
    };
    add(wholeTerm(word));
    const parts = partTerms(word);
    if (parts.length > 0) {
      const [first, ...others] = parts.map((term) => this.#texts.get(term) ?? new Map<number, unknown>());
      const having = new Set([...(first?.keys() ?? [])].filter((text) => others.every((texts) => texts.has(text))));
      for (const term of parts) add(term, having);
    }
    return scores;
  }
}

function wholeTerm(word: string): string {
  return word.includes("_") ? joinedTerm(word) : ([...tokensOf(word)][0] ?? "");
}

/** The terms of the parts of a compound word; none for others. */
function partTerms(word: string): string[] {
  const parts = splitIdentifier(word);
  return parts.length < 2 ? [] : [...new Set(parts.flatMap((part) => [...tokensOf(part)]))];
}
