// Postings in blocks: a row for each term and 1,024 entries, 8 bytes for each text that has the term. Pure.

/** Entries in a block. */
export const BLOCK = 1024;
/** Pieces of a text, at most. A text is a number: entry * PIECES + piece. */
export const PIECES = 4096;
const MOST_COUNT = 0xfff;
const MOST_LENGTH = 0xfffff;

/** A weight is the count of a term in a text and the length of the text, as one number. */
export function weightOf(count: number, length: number): number {
  return (Math.min(count, MOST_COUNT) | (Math.min(length, MOST_LENGTH) << 12)) >>> 0;
}

export function countOf(weight: number): number {
  return weight & MOST_COUNT;
}

export function lengthOf(weight: number): number {
  return weight >>> 12;
}

/** The texts with a term, in any order, each once. */
export class TermTexts {
  texts: Float64Array;
  weights: Uint32Array;
  size = 0;

  constructor(room = 4) {
    this.texts = new Float64Array(room);
    this.weights = new Uint32Array(room);
  }

  add(text: number, weight: number): void {
    if (this.size === this.texts.length) this.#grow(Math.max(4, 2 * this.size));
    this.texts[this.size] = text;
    this.weights[this.size++] = weight;
  }

  #grow(room: number): void {
    const { texts, weights } = this;
    this.texts = new Float64Array(room);
    this.weights = new Uint32Array(room);
    this.texts.set(texts);
    this.weights.set(weights);
  }
}

/** Two words each: place in the block and piece; weight. */
export function encodeBlock({ texts, weights, size }: TermTexts): Uint8Array {
  const words = new Uint32Array(2 * size);
  for (let at = 0; at < size; at++) {
    const text = texts[at] as number;
    words[2 * at] = (Math.floor(text / PIECES) % BLOCK) | ((text % PIECES) << 10);
    words[2 * at + 1] = weights[at] as number;
  }
  return new Uint8Array(words.buffer);
}

/** Calls back for each text of a block. */
export function readBlock(
  block: number,
  data: Uint8Array,
  take: (entry: number, text: number, weight: number) => void,
) {
  const words = new Uint32Array(new Uint8Array(data).buffer);
  for (let at = 0; at < words.length; at += 2) {
    const place = words[at] as number;
    const entry = block * BLOCK + (place & (BLOCK - 1));
    take(entry, entry * PIECES + (place >>> 10), words[at + 1] as number);
  }
}
