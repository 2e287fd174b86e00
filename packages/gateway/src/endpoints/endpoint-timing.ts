// One shared timer for all periodic work of an endpoint: a timer per stream and request would cost more than the
// streams themselves.

export interface Beating {
  beat(): void;
}

/** Calls every registered object once per interval. */
export class Heartbeat {
  readonly #all = new Set<Beating>();
  readonly #timer: NodeJS.Timeout;

  constructor(intervalMs: number) {
    this.#timer = setInterval(() => {
      for (const beating of [...this.#all]) beating.beat();
    }, intervalMs);
    this.#timer.unref();
  }

  add(beating: Beating): void {
    this.#all.add(beating);
  }

  remove(beating: Beating): void {
    this.#all.delete(beating);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#all.clear();
  }
}
