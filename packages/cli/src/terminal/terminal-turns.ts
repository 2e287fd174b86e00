// Serializes questions at the terminal, whether a server asks or we ask before a tool runs.

/** Gives the terminal to one task at a time. */
export class TerminalTurns {
  #last: Promise<unknown> = Promise.resolve();
  /** Holds back all other output during a turn. */
  hold: (() => Disposable) | undefined;

  /** Runs `work` after all earlier turns have ended. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(async () => {
      using _held = this.hold?.();
      return await work();
    });
    // The next call waits for this one, even if it fails; the caller gets the error.
    this.#last = mine.catch(() => {});
    return mine;
  }
}
