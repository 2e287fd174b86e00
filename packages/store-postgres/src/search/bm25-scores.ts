// BM25 as FTS5 computes it, for the terms and the entries of one moment. Pure.
import { bm25WeightOfFts5 } from "@trunkline/core";
import { type Postings, splitIdentifier, type Term } from "@trunkline/store/parts";
import { termOfWord, termsOfParts, UNITS } from "../words/keyword-counts.js";
import { countOf, lengthOf, PIECES, type TermTexts } from "../words/posting-blocks.js";
import type { EntryStates } from "./entry-cache.js";

const K1 = 1.2;
const B = 0.75;
/** 8 bytes each: 32 MB. */
const KEPT_POSTINGS = 4_000_000;

/** Texts with a term that are not gone, and the score of the term in each. */
interface ScoredTexts {
  readonly texts: Float64Array;
  readonly scores: Float32Array;
}

/** Returns the terms that must be loaded before a word is counted or scored. */
export function termsOfWord(word: string): string[] {
  return [termOfWord(word), ...partTerms(word)].filter((term) => term !== "");
}

export class KeywordScores {
  readonly #entries: EntryStates;
  readonly #textsWith: (term: string) => readonly TermTexts[];
  readonly #postings = new Map<string, Postings>();
  #kept = 0;

  /** `textsWith` returns what is known of a term, which may include texts that are gone. */
  constructor(entries: EntryStates, textsWith: (term: string) => readonly TermTexts[]) {
    this.#entries = entries;
    this.#textsWith = textsWith;
  }

  get entries(): EntryStates {
    return this.#entries;
  }

  /** How many texts have a word, or all its parts. Its terms must be loaded. */
  textsWith(word: string): number {
    return partTerms(word).length === 0 ? this.#scoresOf(termOfWord(word)).texts.length : this.#sums([word]).size;
  }

  /** Scores the entries that have a term of a query. Its terms must be loaded. */
  postings({ word, corrected, unknown }: Term): Postings {
    const words = corrected === undefined ? [word] : unknown ? [corrected] : [word, corrected];
    const key = words.join(" ");
    const known = this.#postings.get(key);
    if (known !== undefined) return known;
    const [only = "", ...others] = words;
    const isSimple = others.length === 0 && partTerms(only).length === 0;
    const found = isSimple ? adjacentPieces(this.#scoresOf(termOfWord(only))) : bestPieces(this.#sums(words));
    this.#kept += found.entries.length;
    if (this.#kept > KEPT_POSTINGS) {
      this.#postings.clear();
      this.#kept = found.entries.length;
    }
    this.#postings.set(key, found);
    return found;
  }

  /** Scores texts that have one of the words, or all its parts. */
  #sums(words: readonly string[]): Map<number, number> {
    const sums = new Map<number, number>();
    for (const word of words) {
      addTo(sums, this.#scoresOf(termOfWord(word)));
      const parts = partTerms(word)
        .map((term) => this.#scoresOf(term))
        .sort((a, b) => a.texts.length - b.texts.length);
      const [rarest, ...others] = parts;
      if (rarest === undefined) continue;
      let having = new Set(rarest.texts);
      for (const { texts } of others) having = new Set(texts.filter((text) => having.has(text)));
      for (const part of parts) addTo(sums, part, having);
    }
    return sums;
  }

  #scoresOf(term: string): ScoredTexts {
    const { states, count, meanLength } = this.#entries;
    const found = this.#textsWith(term);
    const isThere = (text: number) => (states[Math.floor(text / PIECES)] ?? 0) !== 0;
    let alive = 0;
    for (const list of found) for (let at = 0; at < list.size; at++) alive += Number(isThere(list.texts[at] as number));
    const rarity = bm25WeightOfFts5(alive, Math.max(count, alive));
    const texts = new Float64Array(alive);
    const scores = new Float32Array(alive);
    let size = 0;
    for (const list of found) {
      for (let at = 0; at < list.size; at++) {
        const text = list.texts[at] as number;
        if (!isThere(text)) continue;
        const weight = list.weights[at] as number;
        const frequency = countOf(weight) / UNITS;
        const norm = K1 * (1 - B + (B * lengthOf(weight)) / Math.max(1, meanLength));
        texts[size] = text;
        scores[size++] = (rarity * frequency * (K1 + 1)) / (frequency + norm);
      }
    }
    return { texts, scores };
  }
}

function addTo(sums: Map<number, number>, { texts, scores }: ScoredTexts, wanted?: ReadonlySet<number>): void {
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] as number;
    if (wanted === undefined || wanted.has(text)) sums.set(text, (sums.get(text) ?? 0) + (scores[at] as number));
  }
}

/** Returns entries in place of texts. The best piece of a text counts; the pieces follow one another. */
function adjacentPieces({ texts, scores }: ScoredTexts): Postings {
  const entries = new Int32Array(texts.length);
  const found = new Float32Array(texts.length);
  let count = 0;
  for (let at = 0; at < texts.length; at++) {
    const entry = Math.floor((texts[at] as number) / PIECES);
    const score = scores[at] as number;
    if (count > 0 && entries[count - 1] === entry) found[count - 1] = Math.max(found[count - 1] as number, score);
    else {
      entries[count] = entry;
      found[count++] = score;
    }
  }
  return { entries: entries.subarray(0, count), scores: found.subarray(0, count) };
}

function bestPieces(sums: ReadonlyMap<number, number>): Postings {
  const sorted = Float64Array.from(sums.keys()).sort();
  return adjacentPieces({ texts: sorted, scores: Float32Array.from(sorted, (text) => sums.get(text) ?? 0) });
}

/** The terms of the parts of a compound word; none for others. */
function partTerms(word: string): string[] {
  const parts = splitIdentifier(word);
  return parts.length < 2 ? [] : termsOfParts(parts);
}
