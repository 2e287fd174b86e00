// How the processor time of some work grows with the size of its input. A ratio does not depend on the machine, and the
// time that other processes take does not count.

/** Below this, the clock decides. */
const TELLING_MS = 60;
const STEP = 1.25;
/** The fastest counts. The two sizes take turns, so that a busy moment does not hit only one of them. */
const ROUNDS = 5;

export interface GrowthOptions {
  /** The first size. Small, because exponential work never ends. */
  readonly from?: number;
  /** The largest size. If even that takes no telling time, the growth counts as 16. */
  readonly to?: number;
}

/**
 * How many times longer the work takes for 16 times the input: 16 if it is linear, 256 if it is quadratic. Increases the
 * size until the work takes a telling time, so that it ends soon however it grows.
 */
export function growthOf<T>(
  make: (size: number) => T,
  work: (input: T) => unknown,
  options: GrowthOptions = {},
): number {
  const { from = 16, to = 1_000_000 } = options;
  for (let size = from; size <= to; size *= STEP) {
    const large = make(Math.ceil(size));
    if (processorMs(() => work(large)) < TELLING_MS || processorMs(() => work(large)) < TELLING_MS) continue;
    const small = make(Math.ceil(size / 16));
    const rounds = Array.from({ length: ROUNDS }, () => ({
      small: processorMs(() => work(small)),
      large: processorMs(() => work(large)),
    }));
    const fastest = (of: "small" | "large") => Math.min(...rounds.map((round) => round[of]));
    return fastest("large") / Math.max(fastest("small"), 0.01);
  }
  return 16;
}

function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
