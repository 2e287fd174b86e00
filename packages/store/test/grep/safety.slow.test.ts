import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../grep/test/tree.js";
import { GrepPool, grep } from "../../src/grep/index.js";
import { MemorySource } from "./memory-source.js";

let pool: GrepPool;
beforeAll(() => {
  pool = new GrepPool({ threads: 2 });
});
afterAll(async () => await pool.close());

/** Creates a text where every position starts thousands of alternatives: the most work a pattern can cause. */
function toil(bytes: number): Buffer {
  const below = random(3);
  return Buffer.from(new Uint8Array(bytes).map(() => (below(2) === 0 ? 0x61 : 0x62)));
}
const TOIL = "a[ab]{30000}c";

describe("a pattern that makes other engines backtrack", () => {
  it.each([
    ["(a+)+$"],
    ["(a|a)*$"],
    ["(a*)*b$"],
    ["(x+x+)+y"],
    ["^(([a-z])+.)+[A-Z]([a-z])+$"],
    ["(.*)*(.*)*(.*)*=!"],
    ["\\s*,?\\s*(\\w+\\s*)*;"],
  ])("finishes immediately: %s", async (pattern) => {
    const source = new MemorySource([
      { name: "a", bytes: Buffer.from(`${"a".repeat(200_000)}!\n`) },
      { name: "x", bytes: Buffer.from(`${"x".repeat(200_000)}\n${" ".repeat(100_000)}\n`) },
    ]);
    expect((await grep({ pattern }, { source, pool })).timedOut).toBeUndefined();
  });
});

describe("the time limit", () => {
  it("ends a query that is too much work and names the document", async () => {
    const source = new MemorySource([{ name: "toil", bytes: toil(4 << 20) }]);
    await expect(grep({ pattern: TOIL }, { source, pool, limits: { budgetMs: 300 } })).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("toil"),
      data: { path: "toil" },
    });
  });

  it("keeps earlier matches, says where the query stopped, and continues from there", async () => {
    const source = new MemorySource([
      { name: "a", bytes: Buffer.from("quick\n") },
      { name: "toil", bytes: toil(4 << 20) },
      { name: "z", bytes: Buffer.from("quick\n") },
    ]);
    // Enough for the first document on a busy machine; the second one takes half an hour.
    const limits = { budgetMs: 3000 };
    const pattern = `quick|${TOIL}`;
    const first = await grep({ pattern }, { source, pool, limits });
    expect(first).toMatchObject({ total: 1, files: 1, truncated: true, timedOut: { path: "toil", budgetMs: 3000 } });
    const { cursor } = first;
    await expect(grep({ pattern, cursor }, { source, pool, limits })).rejects.toMatchObject({
      code: "TIMEOUT",
      data: { path: "toil" },
    });
    expect(await grep({ pattern, exclude: ["toil"] }, { source, pool })).toMatchObject({ total: 2, truncated: false });
  });

  it("applies per query, so others continue", async () => {
    const source = new MemorySource(
      Array.from({ length: 12 }, (_, number) => ({ name: `toil${number}`, bytes: toil(1 << 20) })),
    );
    const toils = [1, 2, 3].map(() => grep({ pattern: TOIL }, { source, pool, limits: { budgetMs: 2500 } }));
    const settled = Promise.allSettled(toils);
    let done = false;
    void settled.then(() => {
      done = true;
    });
    const quick = new MemorySource([{ name: "q", bytes: Buffer.from("foo\n") }]);
    expect(await grep({ pattern: "foo" }, { source: quick, pool })).toMatchObject({ total: 1 });
    expect(done).toBe(false);
    await settled;
  });
});

describe("a signal", () => {
  it("stops a query immediately", async () => {
    const source = new MemorySource([{ name: "toil", bytes: toil(4 << 20) }]);
    const controller = new AbortController();
    const result = grep({ pattern: TOIL }, { source, pool }, { signal: controller.signal });
    result.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("that is already aborted starts nothing", async () => {
    const source = new MemorySource([]);
    await expect(grep({ pattern: "x" }, { source, pool }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(source.requests).toEqual([]);
  });
});

describe("closing the pool", () => {
  it("ends running queries with CLOSED", async () => {
    const own = new GrepPool();
    const source = new MemorySource([{ name: "toil", bytes: toil(4 << 20) }]);
    const result = grep({ pattern: TOIL }, { source, pool: own });
    result.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    await own.close();
    await own.close();
    await expect(result).rejects.toMatchObject({ code: "CLOSED" });
    await expect(grep({ pattern: "x" }, { source, pool: own })).rejects.toMatchObject({ code: "CLOSED" });
  });
});
