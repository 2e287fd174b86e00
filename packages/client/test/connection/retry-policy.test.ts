import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RETRIES, Restarts, retrying } from "../../src/connection/retry-policy.js";

describe("work that is tried again", () => {
  const failing = (failures: number) => {
    let runs = 0;
    return async () => {
      if (++runs <= failures) throw new Error(`failure ${runs}`);
      return runs;
    };
  };

  it("succeeds once the cause of its failure is removed", async () => {
    expect(await retrying("stepUp", failing(RETRIES.stepUp), async () => true)).toBe(RETRIES.stepUp + 1);
  });

  it("fails with its own error if nothing helps, or not within the limit", async () => {
    await expect(retrying("signIn", failing(1), async () => false)).rejects.toThrow("failure 1");
    await expect(retrying("signIn", failing(9), async () => true)).rejects.toThrow(`failure ${RETRIES.signIn + 1}`);
  });
});

describe("a server that crashes", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /**
   * Collects the delays before each restart of a server that always crashes after this uptime, until it is no longer
   * restarted.
   */
  function waits(restarts: Restarts, upMs: number): number[] {
    const waited: number[] = [];
    for (;;) {
      let startedMs: number | undefined;
      const crashedMs = Date.now();
      restarts.crashed(upMs);
      const isScheduled = restarts.schedule(() => {
        startedMs = Date.now();
      });
      if (!isScheduled || waited.length === 20) return waited;
      vi.runAllTimers();
      waited.push((startedMs ?? Number.NaN) - crashedMs);
    }
  }

  it("is restarted at once, then after growing delays, and finally not at all", () => {
    expect(waits(new Restarts(), 0)).toEqual([0, 500, 1_000, 2_000, 5_000, 10_000, 30_000]);
  });

  it("is always restarted if it runs for a while each time", () => {
    expect(waits(new Restarts(), 30_000)).toEqual(Array.from({ length: 20 }, () => 0));
    expect(waits(new Restarts(), 29_999)).toHaveLength(7);
  });

  it("is not started if the restart was cancelled", () => {
    const restarts = new Restarts();
    const start = vi.fn();
    restarts.schedule(start);
    restarts.cancel();
    vi.runAllTimers();
    expect(start).not.toHaveBeenCalled();
  });
});
