// Seeded pseudo-random numbers. The same seed makes the same choices, but not at the same times.

/** One stream per name, so one actor's numbers do not depend on how many another has drawn. */
export class Random {
  #state;

  /** @param {number} seed @param {string} name */
  constructor(seed, name) {
    let hash = 2_166_136_261 ^ seed;
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
    this.#state = hash >>> 0;
  }

  /** Returns a number from 0 up to but not including 1 (mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `low` to `high`, inclusive. @param {number} low @param {number} high */
  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    const item = list[this.between(0, list.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}
