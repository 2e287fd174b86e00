// BM25 ranks texts by the words they share with a query. A text's score is the sum, over the query's words, of the
// word's weight times its gain in that text.

const K1 = 1.2;
const B = 0.75;
/** The gain approaches this as a word repeats. */
export const BM25_MAX_GAIN = K1 + 1;

/** Weight of a word found in `having` of `total` texts. Rare words weigh more; the weight is never negative. */
export function bm25Weight(having: number, total: number): number {
  return Math.log(1 + (total - having + 0.5) / (having + 0.5));
}

/** {@link bm25Weight} as SQLite's FTS5 computes it, for scores that mix with those of its `bm25()`. */
export function bm25WeightOfFts5(having: number, total: number): number {
  return Math.max(1e-6, Math.log((total - having + 0.5) / (having + 0.5)));
}

/** The length penalty of a text, relative to a text of average length. */
export function bm25LengthFactor(length: number, averageLength: number, penalty = B): number {
  return 1 - penalty + (penalty * length) / averageLength;
}

/** What a word gains by occurring `count` times. `lengthFactor` is 1 if the count already accounts for the length. */
export function bm25Gain(count: number, lengthFactor = 1): number {
  return (count * BM25_MAX_GAIN) / (count + K1 * lengthFactor);
}

/** Maps a sum of BM25 scores, which has no upper bound, to 0..1 in the same order. */
export function boundedBm25(score: number): number {
  return score / (score + 5);
}
