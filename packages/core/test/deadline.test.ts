import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  abortable,
  atMost,
  Endable,
  formatMs,
  sleep,
  startDeadline,
  TrunklineError,
  withDeadline,
} from "../src/index.js";

describe("deadlines", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("abort the work with TIMEOUT when the time is up", () => {
    using deadline = startDeadline({ what: "Reading", timeoutMs: 1500, hint: "wait" });
    vi.advanceTimersByTime(1499);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toMatchObject({
      code: "TIMEOUT",
      message: "Reading took longer than 1.5 s.",
      hint: "wait",
    });
  });

  it.each([2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    "do not pass at once after %d ms",
    (timeoutMs) => {
      using deadline = startDeadline({ what: "Waiting", timeoutMs });
      vi.advanceTimersByTime(24 * 60 * 60 * 1000);
      expect(deadline.signal.aborted).toBe(false);
    },
  );

  it("restart when extended, but not after they have passed", () => {
    using deadline = startDeadline({ what: "Reading", timeoutMs: 100 });
    vi.advanceTimersByTime(90);
    deadline.extend();
    vi.advanceTimersByTime(90);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(10);
    const { reason } = deadline.signal;
    deadline.extend();
    vi.advanceTimersByTime(1000);
    expect(deadline.signal.reason).toBe(reason);
  });

  it("stop while paused, until resumed as often as they were paused", () => {
    using deadline = startDeadline({ what: "Asking", timeoutMs: 100 });
    deadline.pause();
    deadline.pause();
    vi.advanceTimersByTime(1000);
    deadline.resume();
    deadline.extend();
    vi.advanceTimersByTime(1000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.resume();
    vi.advanceTimersByTime(100);
    expect(deadline.signal.reason).toMatchObject({ code: "TIMEOUT" });
  });

  it("can be ended with a custom reason", () => {
    using deadline = startDeadline({ what: "Asking", timeoutMs: 100 });
    deadline.fail("too many questions");
    expect(deadline.signal.reason).toBe("too many questions");
    deadline.extend();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("pass the caller's abort on as ABORTED, and keep a reason that is a TrunklineError", () => {
    const controller = new AbortController();
    using deadline = startDeadline({ what: "Reading", signal: controller.signal });
    controller.abort("enough");
    expect(deadline.signal.reason).toMatchObject({ code: "ABORTED", cause: "enough" });

    const ours = new TrunklineError("CLOSED", "hub closed");
    using late = startDeadline({ what: "Reading", signal: AbortSignal.abort(ours) });
    expect(late.signal.reason).toBe(ours);
  });

  it("leave no timer or listener", () => {
    const controller = new AbortController();
    startDeadline({ what: "Reading", timeoutMs: 50, signal: controller.signal })[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });

  it("pass their signal to the work and reject even if the work ignores it", async () => {
    let given: AbortSignal | undefined;
    const running = withDeadline({ what: "Deaf work", timeoutMs: 10 }, (signal) => {
      given = signal;
      return new Promise(() => {});
    });
    const outcome = expect(running).rejects.toMatchObject({ code: "TIMEOUT" });
    await vi.advanceTimersByTimeAsync(10);
    await outcome;
    expect(given?.aborted).toBe(true);
  });
});

describe("abortable", () => {
  it("swallows the late failure of work that lost the race", async () => {
    let fail: (error: Error) => void = () => {};
    const failing = new Promise<never>((_, reject) => {
      fail = reject;
    });
    await expect(abortable(AbortSignal.abort("stop"), failing)).rejects.toBe("stop");
    fail(new Error("late"));
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("leaves no listener on a long-lived signal", async () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 50; i++) await abortable(signal, Promise.resolve(i));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("sleep", () => {
  it("ends immediately when aborted", async () => {
    const controller = new AbortController();
    const sleeping = sleep(60_000, controller.signal);
    controller.abort("now");
    await expect(sleeping).rejects.toBe("now");
    await expect(sleep(60_000, controller.signal)).rejects.toBe("now");
  });
});

describe("formatMs", () => {
  it.each([
    [0.4, "0 ms"],
    [250, "250 ms"],
    [1500, "1.5 s"],
    [30_000, "30 s"],
    [180_000, "3 min"],
  ])("formats %d as %s", (ms, text) => expect(formatMs(ms)).toBe(text));
});

describe("an ending", () => {
  it("reaches listeners and the signal, whichever is asked for first", () => {
    const early = new Endable();
    const heard: string[] = [];
    early.onPassed(() => heard.push("listener"));
    early.signal.addEventListener("abort", () => heard.push("signal"));
    early.fail("over");
    early.fail("again");
    expect(heard).toEqual(["signal", "listener"]);
    const late = new Endable();
    late.fail("over");
    expect(late.signal.reason).toBe("over");
  });

  it("ends a deadline like a signal does, and is released with it", () => {
    const ending = new Endable();
    using deadline = startDeadline({ what: "Reading", ending });
    const done = startDeadline({ what: "Writing", ending });
    done[Symbol.dispose]();
    ending.fail("gone");
    expect(deadline.reason).toMatchObject({ code: "ABORTED", message: "Reading was cancelled.", cause: "gone" });
    expect(deadline.signal.aborted).toBe(true);
    expect(done.hasPassed).toBe(false);
    expect(startDeadline({ what: "Later", ending }).hasPassed).toBe(true);
  });

  it("no longer reaches a listener that was forgotten", () => {
    const ending = new Endable();
    const listener = vi.fn();
    ending.onPassed(listener);
    ending.offPassed(listener);
    ending.fail("over");
    expect(listener).not.toHaveBeenCalled();
  });
});

describe("many deadlines of one signal", () => {
  it("cause no warning", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    const { signal } = new AbortController();
    const deadlines = Array.from({ length: 50 }, () => startDeadline({ what: "Reading", signal }));
    await new Promise((resolve) => setImmediate(resolve));
    for (const deadline of deadlines) deadline[Symbol.dispose]();
    process.off("warning", warned);
    expect(warned).not.toHaveBeenCalled();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("atMost", () => {
  it("returns what the work returns, or rejects with its error", async () => {
    await expect(atMost(60_000, Promise.resolve(1))).resolves.toBe(1);
    await expect(atMost(60_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("waits no longer than its limit and its signal", async () => {
    const stop = new AbortController();
    const endless = new Promise<number>(() => {});
    await expect(atMost(1, endless)).resolves.toBeUndefined();
    const waiting = atMost(60_000, endless, stop.signal);
    stop.abort();
    await expect(waiting).resolves.toBeUndefined();
    await expect(atMost(60_000, endless, stop.signal)).resolves.toBeUndefined();
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });
});
