// One clock for everything of an endpoint that has to be looked after from time to time: a timer for each stream and each
// request would cost more than the streams do.

/** Something that is looked after. */
export interface Beating {
  beat(): void;
}

/** Calls everything on it once per interval. */
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

/** Waits for work, but not longer than this. The work goes on. */
export async function atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
