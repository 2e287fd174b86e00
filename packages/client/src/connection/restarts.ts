// How long to wait before restarting a crashed server, and when to give up.

/** Delays between restarts: the n-th crash in a row uses the n-th. */
const DELAYS_MS = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** After this long without a crash the count starts over. */
const STABLE_MS = 30_000;

export class Restarts {
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Records a crash after this uptime. */
  crashed(upMs: number): void {
    if (upMs >= STABLE_MS) this.#count = 0;
  }

  /** Schedules a restart. Returns false if the server has crashed too often in a row. */
  schedule(start: () => void): boolean {
    const delayMs = DELAYS_MS[this.#count];
    if (delayMs === undefined) return false;
    this.#count++;
    this.#timer = setTimeout(start, delayMs);
    // Waiting for a crashed server must not keep an otherwise finished program alive.
    this.#timer.unref();
    return true;
  }

  /** Cancels a scheduled restart. */
  cancel(): void {
    clearTimeout(this.#timer);
  }
}
