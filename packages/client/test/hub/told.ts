// Records what a listener receives, so that tests can await the values one by one.

/** Keeps values until they are asked for. */
export class Told<T> {
  readonly #kept: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];
  /** How many values it has received. */
  count = 0;

  readonly tell = (value: T): void => {
    this.count++;
    const next = this.#waiting.shift();
    if (next === undefined) this.#kept.push(value);
    else next(value);
  };

  /** Returns the next value, and waits for it if necessary. */
  async next(): Promise<T> {
    const kept = this.#kept.shift();
    return kept ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }
}
