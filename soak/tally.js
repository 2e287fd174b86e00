// Counts what a run did and the problems it hit. Each run has one tally.

/** Maximum number of problem texts stored per check; the rest are only counted. */
const KEPT = 10;

export class Tally {
  /** @type {Map<string, number>} */
  #counts = new Map();
  /** @type {Map<string, { count: number, texts: string[] }>} */
  #problems = new Map();
  /** The most recent problem. @type {string | undefined} */
  latest;

  /** @param {string} what @param {number} [by] */
  count(what, by = 1) {
    this.#counts.set(what, this.of(what) + by);
  }

  /** @param {string} what */
  of(what) {
    return this.#counts.get(what) ?? 0;
  }

  /** Records something that must not happen. @param {string} check the check it fails @param {string} text */
  problem(check, text) {
    const found = this.#problems.get(check) ?? { count: 0, texts: [] };
    this.#problems.set(check, found);
    found.count += 1;
    this.latest = text;
    if (found.texts.length < KEPT) found.texts.push(text);
  }

  /** @param {string} check @returns {string[]} */
  problems(check) {
    const { count, texts } = this.#problems.get(check) ?? { count: 0, texts: [] };
    return count > texts.length ? [...texts, `and ${count - texts.length} more`] : texts;
  }

  get problemCount() {
    return [...this.#problems.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** All counts, by name. @returns {[string, number][]} */
  counts() {
    return [...this.#counts].sort(([left], [right]) => left.localeCompare(right));
  }
}
