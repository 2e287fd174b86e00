// Reproducible random choices: a failing test prints its seed, and `TEST_SEED=<seed>` repeats the run with it.
import { createCipheriv } from "node:crypto";
import { onTestFailed } from "vitest";

export interface Random {
  readonly seed: number;
  /** Returns a number from 0 up to but not including 1. */
  next(): number;
  /** Returns an integer from 0 up to but not including `limit`. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  /** Returns bytes that do not compress. */
  bytes(length: number): Buffer;
}

/** Creates random numbers for the running test, seeded with `TEST_SEED` or with a new seed in each run. */
export function seededRandom(): Random {
  const given = process.env.TEST_SEED;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  if (!Number.isInteger(seed)) throw new Error(`TEST_SEED is not a whole number: ${given}`);
  onTestFailed(({ task }) => console.error(`"${task.name}" failed with TEST_SEED=${seed}`));
  return randomFrom(seed);
}

/** Implements mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    seed,
    next,
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    bytes: (length) => {
      const key = Buffer.from(Array.from({ length: 16 }, () => below(256)));
      return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
    },
  };
}
