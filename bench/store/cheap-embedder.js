// A model that costs almost nothing, to measure the search around it: a text's vector is the sum of one direction per
// word, so texts with common words are close together, as with a real model.
import { randomNumbers } from "./corpus.js";

const DIMENSIONS = 384;
const MOST_WORDS = 120;

/** @returns {import("@trunkline/core").Embedder} */
export function cheapEmbedder() {
  /** @type {Map<string, Float32Array>} */
  const directions = new Map();
  /** @param {string} word */
  const directionOf = (word) => {
    let direction = directions.get(word);
    if (direction === undefined) {
      let seed = 7;
      for (let at = 0; at < word.length; at++) seed = (Math.imul(seed, 31) + word.charCodeAt(at)) >>> 0;
      const random = randomNumbers(seed);
      direction = Float32Array.from({ length: DIMENSIONS }, () => random() + random() - 1);
      directions.set(word, direction);
    }
    return direction;
  };
  /** @param {string} text */
  const vectorOf = (text) => {
    const vector = new Float32Array(DIMENSIONS);
    for (const word of (text.toLowerCase().match(/[a-z]{3,}/g) ?? []).slice(0, MOST_WORDS)) {
      const direction = directionOf(word);
      for (let n = 0; n < DIMENSIONS; n++)
        vector[n] = /** @type {number} */ (vector[n]) + /** @type {number} */ (direction[n]);
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((number) => number / length);
  };
  return {
    model: "bench",
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map(vectorOf),
    [Symbol.asyncDispose]: async () => {},
  };
}
