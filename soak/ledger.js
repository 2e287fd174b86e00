// What the writers said, and so what has to be in the store: for each document the states that it may be in.

/**
 * A state is a version, or undefined for "not there". More than one is possible where the writer was killed after it had begun
 * a change and before it acknowledged it.
 * @typedef {number | undefined} State
 */

/** The book of all writers. */
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

  /** The states that a document may be in. @param {string} name @returns {State[]} */
  statesOf(name) {
    return this.#states.get(name) ?? [undefined];
  }

  /** Every document that a writer ever spoke of. */
  get names() {
    return [...this.#states.keys()];
  }

  /** Documents that are certainly there, the newest last. */
  get present() {
    return this.names.filter((name) => !this.statesOf(name).includes(undefined));
  }
}
