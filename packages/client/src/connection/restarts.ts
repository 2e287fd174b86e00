// How long to wait before a server that crashed is started again, and when to give it up.

/** Waits between restarts after a crash, the n-th crash in a row taking the n-th. */
const DELAYS_MS = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** A server that has run this long without a crash starts the count anew. */
const STABLE_MS = 30_000;

/** The restarts of one server. */
export class Restarts {
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** The server has crashed after it had run for so long. */
  crashed(upMs: number): void {
    if (upMs >= STABLE_MS) this.#count = 0;
  }

  /** Has it started again after a while. False where it has crashed too often in a row for that. */
  schedule(start: () => void): boolean {
    const delayMs = DELAYS_MS[this.#count];
    if (delayMs === undefined) return false;
    this.#count++;
    this.#timer = setTimeout(start, delayMs);
    // Waiting for a server that crashed is no reason to keep a program alive that has nothing else to do.
    this.#timer.unref();
    return true;
  }

  /** Starts nothing that was scheduled. */
  cancel(): void {
    clearTimeout(this.#timer);
  }
}
