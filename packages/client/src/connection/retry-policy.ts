// What is tried again, how often and when. Besides this, a request that a server rejected because its session had
// expired is sent once more, and a call if its server exited and the tool is safe to repeat.

/** How often each is tried again. */
export const RETRIES = {
  /** Connecting, each time the user has signed in: some servers are never satisfied. */
  signIn: 3,
  /** A request, each time the user has granted what it lacked. */
  stepUp: 2,
  /** Connecting a server that exits while it is listed. */
  listing: 2,
} as const;

/** Does the work again if `recover` has removed the cause of its failure, at most as often as {@link RETRIES} says. */
export async function retrying<T>(
  what: keyof typeof RETRIES,
  work: () => Promise<T>,
  recover: (error: unknown) => Promise<boolean>,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await work();
    } catch (error) {
      if (retries === RETRIES[what] || !(await recover(error))) throw error;
    }
  }
}

/** Delays between restarts: the n-th crash in a row uses the n-th. */
const DELAYS_MS = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** After this long without a crash the count starts over. */
const STABLE_MS = 30_000;

/** Restarts of a server that crashes. */
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
