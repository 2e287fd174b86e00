// Tracks the writers' output to know what the store must contain: the possible states of each document.

/**
 * A version, or undefined for "not in the store". A document has several possible states if its writer was killed after
 * starting a change and before acknowledging it.
 * @typedef {number | undefined} State
 */

/** The record of all writers. */
export class Ledger {
  /** @type {Map<string, State[]>} */
  #states = new Map();
  acknowledged = 0;

  /** @param {string} line of a writer's output */
  read(line) {
    const [phase, what, name, version] = line.split(" ");
    if (name === undefined) return;
    const state = what === "put" ? Number(version) : undefined;
    if (phase === "begin") this.#states.set(name, [...this.statesOf(name), state]);
    else {
      this.#states.set(name, [state]);
      this.acknowledged += 1;
    }
  }

  /** Returns the possible states of a document. @param {string} name @returns {State[]} */
  statesOf(name) {
    return this.#states.get(name) ?? [undefined];
  }

  /** Every document a writer ever mentioned. */
  get names() {
    return [...this.#states.keys()];
  }

  /** Documents that are certainly in the store, newest last. */
  get present() {
    return this.names.filter((name) => !this.statesOf(name).includes(undefined));
  }
}
