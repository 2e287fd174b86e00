/** This many reports of one call pass at once, as any sensible server sends them. */
const BURST = 50;
/** After that, one report passes in this time. */
const INTERVAL_MS = 50;
/** More calls than this are not tracked; the oldest starts over. */
const MOST_TOKENS = 10_000;
/** No token of ours is longer. */
const MOST_TOKEN_CHARS = 256;

interface Tracked {
  /** How many more reports may pass now. */
  left: number;
  sinceMs: number;
  /** The latest report that has not passed yet. */
  pending: (() => void) | undefined;
}

/**
 * Limits the progress reports of each call. A report that comes too soon replaces the one that waits before it, so the
 * last report is never lost: it passes when its time has come, or before the next answer.
 */
export class ProgressLimit {
  readonly #tracked = new Map<unknown, Tracked>();
  readonly #waiting = new Set<Tracked>();
  #timer: NodeJS.Timeout | undefined;

  /** Passes a report for this progress token on, now or later. */
  take(token: unknown, pass: () => void): void {
    if (typeof token === "string" && token.length > MOST_TOKEN_CHARS) return;
    const tracked = this.#tracked.get(token) ?? this.#track(token);
    const nowMs = performance.now();
    const earned = Math.floor((nowMs - tracked.sinceMs) / INTERVAL_MS);
    if (earned > 0) {
      tracked.left = Math.min(BURST, tracked.left + earned);
      tracked.sinceMs = nowMs;
    }
    if (tracked.left > 0 && tracked.pending === undefined) {
      tracked.left--;
      pass();
      return;
    }
    tracked.pending = pass;
    this.#waiting.add(tracked);
    this.#timer ??= setTimeout(() => this.#passWaiting(), INTERVAL_MS);
  }

  /** Passes on every report that waits: an answer must not overtake its own progress. */
  flush(): void {
    if (this.#timer !== undefined) this.#passWaiting();
  }

  #passWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tracked of waiting) {
      const { pending } = tracked;
      tracked.pending = undefined;
      pending?.();
    }
  }

  #track(token: unknown): Tracked {
    const [oldest] = this.#tracked.keys();
    if (this.#tracked.size >= MOST_TOKENS) this.#tracked.delete(oldest);
    const tracked: Tracked = { left: BURST, sinceMs: performance.now(), pending: undefined };
    this.#tracked.set(token, tracked);
    return tracked;
  }
}
