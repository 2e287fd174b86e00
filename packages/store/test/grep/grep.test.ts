import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { writeTree } from "../../../grep/test/rg.js";
import { makeTree } from "../../../grep/test/tree.js";
import type { GrepResult } from "../../src/contract/index.js";
import { type GrepLimits, GrepPool, type GrepQuery, grep } from "../../src/grep/index.js";
import { MemorySource } from "./memory-source.js";

let pool: GrepPool;
beforeAll(() => {
  pool = new GrepPool({ threads: 2 });
});
afterAll(async () => await pool.close());

const text = (name: string, content: string) => ({ name, bytes: Buffer.from(content) });
const lines = (...all: string[]) => `${all.join("\n")}\n`;

async function ask(
  files: readonly { name: string; bytes: Uint8Array }[],
  params: GrepQuery,
  limits: GrepLimits = {},
): Promise<GrepResult> {
  return await grep(params, { source: new MemorySource(files), pool, limits });
}

function matchesOf(result: GrepResult) {
  if (!("matches" in result)) throw new Error("no matches in the answer");
  return result;
}

/** Returns all pages of a query. */
async function pages(
  files: readonly { name: string; bytes: Uint8Array }[],
  params: GrepQuery,
  limits: GrepLimits,
): Promise<GrepResult[]> {
  const all: GrepResult[] = [];
  for (let cursor: string | undefined; ; ) {
    const result = await ask(files, { ...params, cursor }, limits);
    all.push(result);
    expect(result.truncated).toBe(result.cursor !== undefined);
    cursor = result.cursor;
    if (cursor === undefined) return all;
  }
}

describe("only_matching", () => {
  const files = [
    text("a.txt", lines("foo bar foo", "none", "foofoo")),
    text("b.txt", "foo".repeat(10)),
    text("c.txt", "bar"),
  ];

  it("returns the matching parts one by one, and counts them", async () => {
    const params = { pattern: "fo+", onlyMatching: true, context: 2 };
    const { matches, total, files: count } = matchesOf(await ask(files, params));
    expect(matches.slice(0, 5)).toMatchObject([
      { path: "a.txt", line: 1, text: "foo" },
      { path: "a.txt", line: 1, text: "foo" },
      { path: "a.txt", line: 3, text: "foo" },
      { path: "a.txt", line: 3, text: "foo" },
      { path: "b.txt", line: 1, text: "foo" },
    ]);
    expect(matches[0]).not.toHaveProperty("before");
    expect({ length: matches.length, total, count }).toEqual({ length: 14, total: 14, count: 2 });
    expect(await ask(files, { ...params, count: true })).toMatchObject({
      total: 14,
      files: [
        { path: "a.txt", count: 4 },
        { path: "b.txt", count: 10 },
      ],
    });
    expect(await ask(files, { ...params, filesWithMatches: true })).toMatchObject({ files: ["a.txt", "b.txt"] });
    expect(matchesOf(await ask(files, { ...params, maxCount: 1 })).total).toBe(12);
    expect(matchesOf(await ask(files, { ...params, lineNumbers: true })).matches[2]?.text).toBe("3:foo");
  });

  it("returns whole lines if they must not match, like ripgrep", async () => {
    const { matches } = matchesOf(await ask(files, { pattern: "foo", onlyMatching: true, invert: true }));
    expect(matches.map((match) => match.text)).toEqual(["none", "bar"]);
  });

  it.each([1, 3, 4, 7])("splits a line across pages of %i without losing a part", async (maxMatches) => {
    const found = await pages(files, { pattern: "foo", onlyMatching: true }, { maxMatches });
    const matches = found.flatMap((page) => matchesOf(page).matches.map(({ path, line }) => `${path}:${line}`));
    expect(matches).toEqual([
      ...["a.txt:1", "a.txt:1", "a.txt:3", "a.txt:3"],
      ...Array.from({ length: 10 }, () => "b.txt:1"),
    ]);
    expect(found.map((page) => matchesOf(page).total)).toEqual(found.map(() => 14));
  });
});

describe("an answer", () => {
  const files = [
    text("b.txt", lines("one foo", "two", "foo three")),
    text("a.txt", lines("foo")),
    text("c.txt", "bar"),
  ];

  it("returns every matching line in path order, with totals", async () => {
    const result = matchesOf(await ask(files, { pattern: "foo" }));
    expect(result.matches.map(({ path, line, text }) => `${path}:${line}:${text}`)).toEqual([
      "a.txt:1:foo",
      "b.txt:1:one foo",
      "b.txt:3:foo three",
    ]);
    expect(result).toMatchObject({ total: 3, files: 2, truncated: false, binary: 0 });
    expect(result.matches[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each(["needle", "ne+dle", "[mn]eedle"])("says where in a long line %s matches", async (pattern) => {
    const long = text("long.json", `${"größer ".repeat(300)}needle${" more".repeat(300)}`);
    const { matches } = matchesOf(await ask([long, text("short.txt", "a needle")], { pattern }));
    const [match, short] = matches;
    const matchEnd = match?.matchEnd ?? 0;
    expect(match?.text.slice(matchEnd - 20, matchEnd + 1)).toContain("needl");
    expect(short).not.toHaveProperty("matchEnd");
    const [other] = matchesOf(await ask([long], { pattern: "absent", invert: true })).matches;
    expect(other).not.toHaveProperty("matchEnd");
  });

  it("counts lines by file", async () => {
    expect(await ask(files, { pattern: "foo", count: true })).toEqual({
      total: 3,
      files: [
        { path: "a.txt", count: 1 },
        { path: "b.txt", count: 2 },
      ],
      truncated: false,
      binary: 0,
    });
  });

  it("lists the files with a match", async () => {
    const result = await ask(files, { pattern: "foo", filesWithMatches: true });
    expect(result).toEqual({ files: ["a.txt", "b.txt"], truncated: false, binary: 0 });
  });

  it("stops in each file after max_count lines", async () => {
    const result = matchesOf(await ask(files, { pattern: "foo", maxCount: 1 }));
    expect(result.matches.map(({ path, line }) => [path, line])).toEqual([
      ["a.txt", 1],
      ["b.txt", 1],
    ]);
    expect(result.total).toBe(2);
  });

  it("skips binary content and counts it", async () => {
    const result = await ask([...files, { name: "x.bin", bytes: Buffer.from("foo\0") }], { pattern: "foo" });
    expect(result).toMatchObject({ total: 3, binary: 1 });
  });

  it("respects paths, include and exclude", async () => {
    const tree = ["src/a.ts", "src/b.js", "srcs/c.ts", "lib/d.ts"].map((name) => text(name, "foo"));
    const found = async (params: Partial<GrepQuery>) => {
      const result = await ask(tree, { pattern: "foo", filesWithMatches: true, ...params });
      return result.files;
    };
    expect(await found({ paths: ["src"] })).toEqual(["src/a.ts", "src/b.js"]);
    expect(await found({ paths: ["src/", "lib/d.ts"] })).toEqual(["lib/d.ts", "src/a.ts", "src/b.js"]);
    expect(await found({ include: ["*.ts"] })).toEqual(["lib/d.ts", "src/a.ts", "srcs/c.ts"]);
    expect(await found({ include: ["*.ts"], exclude: ["lib/**"] })).toEqual(["src/a.ts", "srcs/c.ts"]);
  });

  it("asks the source only for documents with the trigrams", async () => {
    const source = new MemorySource(makeTree(), { filters: true });
    const filtered = await grep({ pattern: "quick" }, { source, pool });
    const whole = await grep({ pattern: "quick" }, { source: new MemorySource(makeTree()), pool });
    expect(source.requests[0]?.trigrams).not.toBe("none");
    expect({ ...filtered, binary: 0 }).toEqual({ ...whole, binary: 0 });
  });

  it("rejects invalid requests", async () => {
    await expect(ask(files, { pattern: "(" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask(files, { pattern: "x", context: -1 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask(files, { pattern: "x", maxCount: 1.5 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask(files, { pattern: "x", cursor: "nonsense" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("threads with their own reader", () => {
  const module = new URL("./disk-reader.js", import.meta.url).href;

  it("find the same matches as in memory, and report documents they cannot read", async () => {
    const tree = makeTree();
    const folder = writeTree(tree);
    await using own = new GrepPool({ reader: { module, data: { folder } }, cacheBytes: 0 });
    const source = new MemorySource(tree);
    const fromDisk = await grep({ pattern: "o.o", context: 1 }, { source, pool: own });
    expect(fromDisk).toEqual(await grep({ pattern: "o.o", context: 1 }, { source, pool }));
    rmSync(folder, { recursive: true });
    await expect(grep({ pattern: "x" }, { source, pool: own })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("read each content once, cache it by hash, and end when idle", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const tree = makeTree();
    const folder = writeTree(tree);
    await using own = new GrepPool({ reader: { module, data: { folder } }, idleMs: 60_000 });
    const source = new MemorySource(tree);
    const first = await grep({ pattern: "o.o", context: 1 }, { source, pool: own });
    rmSync(folder, { recursive: true });
    expect(await grep({ pattern: "o.o", context: 1 }, { source, pool: own })).toEqual(first);
    expect(await grep({ pattern: "x" }, { source, pool: own })).toEqual(await grep({ pattern: "x" }, { source, pool }));
    const changed = new MemorySource([{ name: "one.txt", bytes: Buffer.from("other bytes at the same path\n") }]);
    await expect(grep({ pattern: "x" }, { source: changed, pool: own })).rejects.toMatchObject({ code: "NOT_FOUND" });
    vi.advanceTimersByTime(59_000);
    expect(own.running).toBeGreaterThan(0);
    vi.advanceTimersByTime(1000);
    expect(own.running).toBe(0);
    await expect(grep({ pattern: "x" }, { source, pool: own })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("stop at the same place with one or several threads, wherever a page is full", async () => {
    const tree = makeTree();
    const folder = writeTree(tree);
    const source = new MemorySource(tree);
    for (const threads of [1, 3]) {
      await using own = new GrepPool({ reader: { module, data: { folder } }, threads });
      for (const limits of [{ maxMatches: 1 }, { maxMatches: 7 }, { maxBytes: 50 }, { maxMatches: 1000 }]) {
        for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
          const params = { pattern: "o", context: 1, cursor };
          const page = await grep(params, { source, pool: own, limits });
          expect(page).toEqual(await grep(params, { source, pool, limits }));
          if (pages === 40) break;
          cursor = page.cursor;
        }
      }
    }
    rmSync(folder, { recursive: true });
  });
});

describe("onMatches", () => {
  it("receives the matches of the result, in order, before the rest is counted", async () => {
    const many = Array.from({ length: 9000 }, (_, number) => text(`f${String(number).padStart(4, "0")}`, "foo\n"));
    let searched = 0;
    const source = new MemorySource(many);
    const counting = {
      async *documents(request: Parameters<MemorySource["documents"]>[0]) {
        for await (const documents of source.documents(request)) {
          searched += documents.length;
          yield documents;
        }
      },
    };
    const told: unknown[] = [];
    let searchedAtFirst: number | undefined;
    const answer = await grep(
      { pattern: "foo" },
      { source: counting, pool, limits: { maxMatches: 5 } },
      {
        onMatches: (matches) => {
          searchedAtFirst ??= searched;
          told.push(...matches);
        },
      },
    );
    expect(answer).toMatchObject({ matches: told, total: 9000 });
    expect(told).toHaveLength(5);
    expect(searchedAtFirst).toBeLessThan(9000);
    expect(searched).toBe(9000);
  });
});

describe("context", () => {
  const file = text("f", lines("1", "2 foo", "3", "4", "5 foo", "6 foo", "7", "8", "9"));

  it("shows each line once", async () => {
    const result = matchesOf(await ask([file], { pattern: "foo", context: 2 }));
    expect(result.matches.map(({ line, before, after }) => [line, before, after])).toEqual([
      [2, ["1"], ["3", "4"]],
      [5, [], []],
      [6, [], ["7", "8"]],
    ]);
  });

  it("can differ before and after a match, and has line numbers on request", async () => {
    const result = matchesOf(
      await ask([file], { pattern: "5|9", beforeContext: 1, afterContext: 0, lineNumbers: true }),
    );
    expect(result.matches.map(({ text, before, after }) => [before, text, after])).toEqual([
      [["4-4"], "5:5 foo", undefined],
      [["8-8"], "9:9", undefined],
    ]);
  });

  it("follows the last match that max_count allows", async () => {
    const result = matchesOf(await ask([file], { pattern: "foo", maxCount: 2, afterContext: 2 }));
    expect(result.matches.map(({ line, after }) => [line, after])).toEqual([
      [2, ["3", "4"]],
      [5, ["6 foo", "7"]],
    ]);
  });
});

describe("pages", () => {
  const tree = makeTree();

  it.each([
    [{ pattern: "o" }],
    [{ pattern: "o", context: 2 }],
    [{ pattern: "o", beforeContext: 3, lineNumbers: true }],
    [{ pattern: "o", invert: true, maxCount: 7 }],
    [{ pattern: "", afterContext: 1 }],
  ])("add up to one complete answer, for any page size: %j", async (params) => {
    const whole = matchesOf(await ask(tree, params, { maxMatches: 1e6, maxBytes: 1e9 }));
    expect(whole.truncated).toBe(false);
    for (const limits of [{ maxMatches: 1 + Math.ceil(whole.total / 9) }, { maxMatches: 50 }, { maxBytes: 1500 }]) {
      const all = await pages(tree, params, limits);
      expect(all.length).toBeGreaterThan(1);
      expect(all.flatMap((page) => matchesOf(page).matches)).toEqual(whole.matches);
      for (const page of all) expect(page).toMatchObject({ total: whole.total, files: whole.files });
    }
  });

  it("of counts and of files continue exactly, too", async () => {
    const whole = await ask(tree, { pattern: "foo", count: true });
    const counts = await pages(tree, { pattern: "foo", count: true }, { maxFiles: 3 });
    expect(counts.flatMap((page) => page.files as unknown[])).toEqual(whole.files);
    for (const page of counts) expect(page).toMatchObject({ total: (whole as { total: number }).total });
    const files = await pages(tree, { pattern: "foo", filesWithMatches: true }, { maxFiles: 4 });
    const paths = (whole.files as readonly { path: string }[]).map(({ path }) => path);
    expect(files.flatMap((page) => page.files as unknown[])).toEqual(paths);
  });

  it("are not truncated if the last one is exactly full", async () => {
    const file = text("f", lines("foo", "foo", "foo", "foo"));
    const all = await pages([file], { pattern: "foo" }, { maxMatches: 2 });
    expect(all.map((page) => matchesOf(page).matches.length)).toEqual([2, 2]);
  });

  it("belong to one query", async () => {
    const { cursor } = await ask(tree, { pattern: "o" }, { maxMatches: 5 });
    await expect(ask(tree, { pattern: "x", cursor })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
