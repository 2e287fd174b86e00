import { silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ThreadPool } from "../../src/engine/threads/thread-pool.js";
import type { StoreThreads } from "../../src/store.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

const entry = new URL("../../src/store-thread.js", import.meta.url);

/** Longer than any thread stays idle. */
const LONG_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function openPool(): Promise<StoreThreads> {
  const pool: StoreThreads = new ThreadPool({ entry, folder: await temporaryFolder(), logger: silentLogger });
  onTestFinished(() => pool.close());
  await pool.writer.ready({});
  await pool.indexed();
  return pool;
}

const bytes = new TextEncoder().encode("kept");

describe("idle threads", () => {
  it("end, and later calls start others", async () => {
    const pool = await openPool();
    const id = await pool.mover.put({ bytes });
    await pool.indexed();
    expect(await pool.reader.has({ id })).toBe(true);
    expect(new Set(pool.running)).toEqual(new Set(["writer", "reader", "mover", "indexer"]));
    vi.advanceTimersByTime(LONG_MS);
    // The writer waits for the movers, which are connected to it.
    vi.advanceTimersByTime(LONG_MS);
    expect(pool.running).toEqual([]);
    expect(await pool.reader.has({ id })).toBe(true);
    expect(await pool.mover.put({ bytes })).toBe(id);
  });

  it("that search outlive those that write", async () => {
    const pool = await openPool();
    const id = await pool.mover.put({ bytes });
    await pool.reader.has({ id });
    await pool.indexed();
    vi.advanceTimersByTime(60_000);
    expect(pool.running).toEqual(["reader"]);
  });

  it("do not end while they have a call", async () => {
    const pool = await openPool();
    const id = await pool.mover.put({ bytes });
    await pool.indexed();
    const reading = pool.reader.has({ id });
    vi.advanceTimersByTime(LONG_MS);
    expect(pool.running).toContain("reader");
    expect(await reading).toBe(true);
  });

  it("of grep end with their caches, and the next query starts others", async () => {
    const { store } = await temporaryStore({ idleMs: 1000 });
    await store.add({ name: "a.txt", content: "needle\n" });
    await store.indexed();
    for (let query = 0; query < 2; query++) {
      expect(await store.grep({ pattern: "needle", count: true })).toMatchObject({ total: 1 });
      vi.advanceTimersByTime(LONG_MS);
    }
  });
});

describe("background indexing", () => {
  it("starts no thread for a store that is already indexed", async () => {
    const pool = await openPool();
    expect(pool.running).toEqual(["writer"]);
  });

  it("of a few documents uses one thread", async () => {
    const pool = await openPool();
    await pool.mover.put({ bytes });
    await pool.indexed();
    expect(pool.running.filter((role) => role === "indexer")).toHaveLength(1);
  });
});
