/** More messages than this within a window are a flood: at most 10,000 a second. */
const MOST_MESSAGES = 1_000;
const WINDOW_MS = 100;

/**
 * Notices a server that sends messages faster than anyone could want. Its reader then pauses until the window ends, which
 * slows the server down instead of everyone else.
 */
export class Pace {
  #startedMs = 0;
  #count = 0;

  /** Counts one message. */
  count(): void {
    if (++this.#count < MOST_MESSAGES) return;
    const nowMs = performance.now();
    if (nowMs - this.#startedMs < WINDOW_MS) return;
    this.#startedMs = nowMs;
    this.#count = 1;
  }

  get isTooFast(): boolean {
    return this.#count > MOST_MESSAGES;
  }

  /** Waits until the window ends. */
  async slowDown(): Promise<void> {
    const leftMs = WINDOW_MS - (performance.now() - this.#startedMs);
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, leftMs)));
    this.#startedMs = performance.now();
    this.#count = 0;
  }
}
