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

/** Returns undefined if the work takes longer. It goes on. */
export async function atMost<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
