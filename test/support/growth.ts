// How the processor time of some work grows with the size of its input. A ratio does not depend on the machine, and the
// time that other processes take does not count.

/** Below this, the clock decides. */
const TELLING_MS = 60;
const STEP = 1.25;
/** The fastest counts. The two sizes take turns, so that a busy moment does not hit only one of them. */
const ROUNDS = 5;

/** Linear work gives 16, quadratic work 256. */
export const MAX_GROWTH = 64;
/** The same if much memory is taken: the garbage collector gets busier with the size. */
export const MAX_GROWTH_WITH_MEMORY = 128;
/** A busy machine can make one measurement wrong, but not all of them in the same direction. */
const TRIES = 4;

export interface GrowthOptions {
  /** The first size. Small, because exponential work never ends. */
  readonly from?: number;
  /** The largest size. If even that takes no telling time, the growth counts as 16. */
  readonly to?: number;
}

/**
 * How many times longer the work takes for 16 times the input: 16 if it is linear, 256 if it is quadratic. Increases the
 * size until the work takes a telling time, so that it ends soon however it grows. Measures again if the growth is not
 * linear, and returns the smallest.
 */
export async function growthOf<T>(
  make: (size: number) => T,
  work: (input: T) => unknown,
  options: GrowthOptions = {},
): Promise<number> {
  const { from = 16, to = 1_000_000 } = options;
  for (let size = from; size <= to; size *= STEP) {
    const large = make(Math.ceil(size));
    if ((await processorMs(work, large)) < TELLING_MS || (await processorMs(work, large)) < TELLING_MS) continue;
    const small = make(Math.ceil(size / 16));
    let least = Number.POSITIVE_INFINITY;
    for (let left = TRIES; left > 0 && least >= MAX_GROWTH; left--) {
      let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let round = 0; round < ROUNDS; round++) {
        smallMs = Math.min(smallMs, await processorMs(work, small));
        largeMs = Math.min(largeMs, await processorMs(work, large));
      }
      least = Math.min(least, largeMs / Math.max(smallMs, 0.01));
    }
    return least;
  }
  return 16;
}

async function processorMs<T>(work: (input: T) => unknown, input: T): Promise<number> {
  const before = process.cpuUsage();
  await work(input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
