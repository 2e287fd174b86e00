// Reads postings and scores them with BM25, as FTS5 does. Postings of most entries are in blocks of 1024 entries for each
// term; those of new entries are in rows of their own until they are merged.
import { bm25WeightOfFts5 } from "@trunkline/core";
import { joinedTerm, type Postings, splitIdentifier, type Term, tokensOf } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";
import { UNITS } from "../words/keyword-counts.js";
import type { EntryStates } from "./entry-cache.js";

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

/** The texts with a term. A text is a number: entry * 4096 + piece. */
class Texts {
  texts = new Float64Array(64);
  counts = new Uint16Array(64);
  lengths = new Uint32Array(64);
  size = 0;

  add(text: number, count: number, length: number): void {
    if (this.size === this.texts.length) this.#grow();
    this.texts[this.size] = text;
    this.counts[this.size] = count;
    this.lengths[this.size] = length;
    this.size++;
  }

  #grow(): void {
    const [texts, counts, lengths] = [this.texts, this.counts, this.lengths];
    this.texts = new Float64Array(2 * texts.length);
    this.counts = new Uint16Array(2 * texts.length);
    this.lengths = new Uint32Array(2 * texts.length);
    this.texts.set(texts);
    this.counts.set(counts);
    this.lengths.set(lengths);
  }

  has(): (text: number) => boolean {
    const all = new Set(this.texts.subarray(0, this.size));
    return (text) => all.has(text);
  }
}

const NO_TEXTS = new Texts();

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
    for (const term of unknown) this.#texts.set(term, new Texts());
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
    for (const { term, entry, piece, count, length } of recent) {
      if (this.#isThere(entry)) this.#texts.get(term)?.add(entry * PIECES + piece, Math.min(count, MOST_COUNT), length);
    }
  }

  #takeBlock(term: string, block: number, data: Uint8Array): void {
    const words = new Uint32Array(new Uint8Array(data).buffer);
    const texts = this.#texts.get(term) as Texts;
    for (let at = 0; at < words.length; at += 2) {
      const place = words[at] as number;
      const weight = words[at + 1] as number;
      const entry = block * BLOCK + (place & (BLOCK - 1));
      if (this.#isThere(entry)) texts.add(entry * PIECES + (place >>> 10), weight & MOST_COUNT, weight >>> 12);
    }
  }

  /** Entries that are gone stay in the blocks until the index is built again. */
  #isThere(entry: number): boolean {
    return (this.#entries.states[entry] ?? 0) !== 0;
  }

  /** How many texts have a word, or all its parts. It must be loaded. */
  textsWith(word: string): number {
    return partTerms(word).length === 0 ? this.#of(wholeTerm(word)).size : this.#scores([word]).size;
  }

  /** Scores the entries that have a term. Its words must be loaded. */
  postings({ word, corrected, unknown }: Term): Postings {
    const words = corrected === undefined ? [word] : unknown ? [corrected] : [word, corrected];
    const [only = "", ...others] = words;
    if (others.length === 0 && partTerms(only).length === 0) return bestPieces(this.#scoresOf(wholeTerm(only)));
    const sums = this.#scores(words);
    return bestPieces({ texts: Float64Array.from(sums.keys()), scores: Float32Array.from(sums.values()) });
  }

  /** Scores texts that have one of the words, or all its parts. */
  #scores(words: readonly string[]): Map<number, number> {
    const sums = new Map<number, number>();
    const add = (term: string, isWanted: (text: number) => boolean = () => true) => {
      const { texts, scores } = this.#scoresOf(term);
      for (let at = 0; at < texts.length; at++) {
        const text = texts[at] as number;
        if (isWanted(text)) sums.set(text, (sums.get(text) ?? 0) + (scores[at] as number));
      }
    };
    for (const word of words) {
      add(wholeTerm(word));
      const parts = partTerms(word);
      const tests = parts.map((term) => this.#of(term).has());
      for (const term of parts) add(term, (text) => tests.every((isIn) => isIn(text)));
    }
    return sums;
  }

  /** BM25 of one term in each text, as FTS5 computes it. */
  #scoresOf(term: string): ScoredTexts {
    const found = this.#of(term);
    const { count, meanLength } = this.#entries;
    const rarity = bm25WeightOfFts5(found.size, Math.max(count, found.size));
    const scores = new Float32Array(found.size);
    for (let at = 0; at < found.size; at++) {
      const frequency = (found.counts[at] as number) / UNITS;
      const norm = K1 * (1 - B + (B * (found.lengths[at] as number)) / Math.max(1, meanLength));
      scores[at] = (rarity * frequency * (K1 + 1)) / (frequency + norm);
    }
    return { texts: found.texts.subarray(0, found.size), scores };
  }

  #of(term: string): Texts {
    return this.#texts.get(term) ?? NO_TEXTS;
  }
}

interface ScoredTexts {
  readonly texts: Float64Array;
  readonly scores: Float32Array;
}

/** Returns entries in place of texts. The best piece of a text counts. */
function bestPieces({ texts, scores }: ScoredTexts): Postings {
  const best = new Map<number, number>();
  const entries = new Int32Array(texts.length);
  const found = new Float32Array(texts.length);
  let count = 0;
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] as number;
    const entry = Math.floor(text / PIECES);
    const score = scores[at] as number;
    const known = best.get(entry);
    if (known !== undefined) found[known] = Math.max(found[known] as number, score);
    else {
      best.set(entry, count);
      entries[count] = entry;
      found[count++] = score;
    }
  }
  return { entries: entries.subarray(0, count), scores: found.subarray(0, count) };
}

function wholeTerm(word: string): string {
  return word.includes("_") ? joinedTerm(word) : ([...tokensOf(word)][0] ?? "");
}

/** The terms of the parts of a compound word; none for others. */
function partTerms(word: string): string[] {
  const parts = splitIdentifier(word);
  return parts.length < 2 ? [] : [...new Set(parts.flatMap((part) => [...tokensOf(part)]))];
}
