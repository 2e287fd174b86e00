// What a listener was told, to be waited for one by one.

/** Keeps what it is told until somebody asks for it. */
export class Told<T> {
  readonly #kept: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];
  /** How often it was told anything. */
  count = 0;

  /** The listener. */
  readonly tell = (value: T): void => {
    this.count++;
    const next = this.#waiting.shift();
    if (next === undefined) this.#kept.push(value);
    else next(value);
  };

  /** The next thing it was, or will be, told. */
  async next(): Promise<T> {
    const kept = this.#kept.shift();
    return kept ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }
}
