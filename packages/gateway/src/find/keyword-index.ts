// Keyword ranking: BM25 over weighted fields. Small and in memory, since there are hundreds of operations, not
// millions.
import { bm25Gain, bm25LengthFactor, bm25Weight } from "@trunkline/core";
import { wordsOf } from "./words.js";

/** The text of each searchable field, by name. */
type Fields<F extends string> = Readonly<Record<F, string>>;

/** How much a word in a field counts, and how strongly a long field lowers that. */
interface FieldWeight {
  readonly weight: number;
  readonly lengthPenalty: number;
}

/** An index over a fixed list of entries. */
export class KeywordIndex<F extends string> {
  readonly #size: number;
  /** By word: its frequency in each entry, weighted and normalized by field length. */
  readonly #postings = new Map<string, Map<number, number>>();

  constructor(entries: readonly Fields<F>[], weights: Readonly<Record<F, FieldWeight>>) {
    this.#size = entries.length;
    for (const [field, { weight, lengthPenalty }] of Object.entries<FieldWeight>(weights)) {
      const words = entries.map((entry) => wordsOf(entry[field as F]));
      const average = words.reduce((sum, each) => sum + each.length, 0) / Math.max(1, entries.length);
      words.forEach((each, entry) => {
        const scale = weight / bm25LengthFactor(each.length, Math.max(1, average), lengthPenalty);
        for (const word of each) this.#add(word, entry, scale);
      });
    }
  }

  #add(word: string, entry: number, amount: number): void {
    let posting = this.#postings.get(word);
    if (posting === undefined) {
      posting = new Map();
      this.#postings.set(word, posting);
    }
    posting.set(entry, (posting.get(entry) ?? 0) + amount);
  }

  /**
   * Scores every entry for words, each given as its alternatives with their weights: the best alternative counts. The
   * logarithm of the size is the unit, because it is the weight of a word that hardly any entry has: scores of small and
   * large indexes are comparable.
   */
  scores(words: readonly ReadonlyMap<string, number>[]): Float64Array {
    const scores = new Float64Array(this.#size);
    const unit = Math.log(Math.max(2, this.#size));
    for (const alternatives of words) {
      const gains = new Map<number, number>();
      for (const [word, importance] of alternatives) {
        const posting = this.#postings.get(word);
        if (posting === undefined) continue;
        const weight = (bm25Weight(posting.size, this.#size) * importance) / unit;
        for (const [entry, amount] of posting) {
          gains.set(entry, Math.max(gains.get(entry) ?? 0, weight * bm25Gain(amount)));
        }
      }
      for (const [entry, gain] of gains) scores[entry] = (scores[entry] ?? 0) + gain;
    }
    return scores;
  }
}
