// Parts that are opened on first use.

/** A part that is opened at most once at a time; a failed attempt can be retried. */
export class Once<T> {
  #part: Promise<T> | undefined;

  get(open: () => Promise<T>): Promise<T> {
    this.#part ??= open().catch((error: unknown) => {
      this.#part = undefined;
      throw error;
    });
    return this.#part;
  }

  /** Returns the part if it is open or being opened. Failures were already reported to the caller of `get`. */
  async opened(): Promise<T | undefined> {
    return await this.#part?.catch(() => undefined);
  }
}
