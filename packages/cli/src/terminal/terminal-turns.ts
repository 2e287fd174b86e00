// One question at a time at the terminal, whoever asks: a server, or we ourselves before a tool runs.

/** Lets one piece of work at a time have the terminal. */
export class TerminalTurns {
  #last: Promise<unknown> = Promise.resolve();
  /** Keeps everything else off the screen meanwhile. */
  hold: (() => Disposable) | undefined;

  /** Runs `work` when those before it have ended. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(async () => {
      using _held = this.hold?.();
      return await work();
    });
    // The next one waits for this one's end, whatever that is; the caller sees how it ended.
    this.#last = mine.catch(() => {});
    return mine;
  }
}
