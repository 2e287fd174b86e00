import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileJournal } from "../../src/journal/file-journal.js";
import type { CallRecord } from "../../src/journal/journal.js";
import { ToolUsage, type ToolUsageOptions } from "../../src/journal/tool-usage.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOON = new Date(2026, 10, 15, 12).getTime();

let folder: string;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON });
  folder = mkdtempSync(join(tmpdir(), "trunkline-usage-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const call = (operation: string, more: Partial<CallRecord> & { daysAgo?: number } = {}): CallRecord => {
  const { daysAgo = 0, ...fields } = more;
  return {
    atMs: NOON - daysAgo * DAY_MS,
    client: "tester 1.0",
    operation,
    durationMs: 1,
    sizeBytes: 2,
    outcome: "ok",
    ...fields,
  };
};

async function write(calls: readonly CallRecord[], options: { workspace?: string; segmentBytes?: number } = {}) {
  const journal = new FileJournal({ folder, ...options });
  for (const each of calls) {
    journal.record(each);
    if (options.segmentBytes !== undefined) await journal.flush();
  }
  await journal.close();
}

async function loaded(options: Partial<ToolUsageOptions> = {}): Promise<ToolUsage> {
  const usage = new ToolUsage({ folder, ...options });
  await usage.load();
  return usage;
}

const line = (more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ at: new Date(NOON).toISOString(), client: "c", op: "a.b", ms: 1, bytes: 1, outcome: "ok", ...more })}\n`;

const segment = (number = 1) => join(folder, `calls-00000${number}.jsonl`);

describe("tool usage", () => {
  it("counts successful calls and the days they were made on", async () => {
    await write([call("git.log"), call("git.log"), call("git.log", { daysAgo: 1 }), call("docs.find", { daysAgo: 3 })]);
    const uses = (await loaded()).uses();
    expect([...uses.keys()].sort()).toEqual(["docs.find", "git.log"]);
    expect(uses.get("git.log")).toMatchObject({ count: 3, days: 2 });
    expect(uses.get("docs.find")).toMatchObject({ count: 1, days: 1 });
  });

  it("does not count failures, cancelled calls, our own operations or news about definitions", async () => {
    await write([
      call("git.log", { outcome: "error", code: "UPSTREAM" }),
      call("git.log", { outcome: "cancelled", code: "ABORTED" }),
      call("search"),
      call("git.push", { client: "new definition" }),
      call("git.push", { client: "changed definition" }),
      call("git.push", { client: "held definition", outcome: "error" }),
    ]);
    expect((await loaded()).uses()).toEqual(new Map());
  });

  it("halves the weight of a call in seven days", async () => {
    await write([call("a.now"), call("a.week", { daysAgo: 7 }), call("a.fortnight", { daysAgo: 14 })]);
    const usage = await loaded();
    expect(usage.weightOf("a.now")).toBeCloseTo(1);
    expect(usage.weightOf("a.week")).toBeCloseTo(0.5);
    expect(usage.weightOf("a.fortnight")).toBeCloseTo(0.25);
    expect(usage.weightOf("a.never")).toBe(0);
  });

  it("lets several days of use outweigh one loop over many items", async () => {
    const loop = Array.from({ length: 500 }, () => call("a.loop"));
    const daily = [0, 1, 2, 3, 4].flatMap((daysAgo) => Array.from({ length: 4 }, () => call("a.daily", { daysAgo })));
    await write([...loop, ...daily]);
    const usage = await loaded();
    expect(usage.uses().get("a.loop")?.count).toBe(500);
    expect(usage.weightOf("a.daily")).toBeGreaterThan(usage.weightOf("a.loop"));
  });

  it("keeps workspaces apart, and counts lines of earlier versions, which name none", async () => {
    await write([call("a.mine")], { workspace: "one" });
    await write([call("a.other")], { workspace: "two" });
    await write([call("a.old")]);
    expect([...(await loaded({ workspace: "one" })).uses().keys()].sort()).toEqual(["a.mine", "a.old"]);
    expect([...(await loaded()).uses().keys()].sort()).toEqual(["a.mine", "a.old", "a.other"]);
  });

  it("keeps principals apart", async () => {
    await write([call("a.mine"), call("a.ci", { principal: "ci" })]);
    const usage = await loaded();
    usage.note("a.ci", "ci");
    expect([...usage.uses().keys()]).toEqual(["a.mine"]);
    expect([...usage.uses("ci").keys()]).toEqual(["a.ci"]);
    expect(usage.uses("nobody").size).toBe(0);
    expect(usage.weightOf("a.ci")).toBe(0);
    expect(usage.weightOf("a.ci", "ci")).toBeCloseTo(2);
  });

  it("weighs the calls of this process at once, but leaves the journal's uses as they were", async () => {
    const usage = await loaded();
    usage.note("a.b", "local");
    expect(usage.weightOf("a.b")).toBeCloseTo(1);
    expect(usage.uses().size).toBe(0);
  });

  it("reads only what was added when it loads again", async () => {
    await write([call("a.first")]);
    const usage = await loaded();
    appendFileSync(segment(), line({ op: "a.later" }));
    await usage.load();
    await usage.load();
    expect(usage.uses().get("a.first")?.count).toBe(1);
    expect(usage.uses().get("a.later")?.count).toBe(1);
  });

  it("waits for the rest of a line that is still being written", async () => {
    const text = line();
    writeFileSync(segment(), text.slice(0, 20));
    const usage = await loaded();
    expect(usage.uses().size).toBe(0);
    appendFileSync(segment(), text.slice(20));
    await usage.load();
    expect(usage.uses().get("a.b")?.count).toBe(1);
  });

  it("adds up several files, and forgets those that were removed", async () => {
    await write([call("a.b"), call("a.b"), call("a.b")], { segmentBytes: 1 });
    const usage = await loaded();
    expect(usage.uses().get("a.b")?.count).toBe(3);
    rmSync(segment(1));
    await usage.load();
    expect(usage.uses().get("a.b")?.count).toBe(2);
  });

  it("starts again if a file was replaced by a shorter one", async () => {
    await write([call("a.long"), call("a.long")]);
    const usage = await loaded();
    writeFileSync(segment(), line());
    await usage.load();
    expect([...usage.uses().keys()]).toEqual(["a.b"]);
  });

  it("has no uses without a journal", async () => {
    expect((await loaded({ folder: join(folder, "missing") })).uses().size).toBe(0);
  });
});

describe("a damaged or hostile journal", () => {
  it("is read without the lines that are not calls", async () => {
    const odd = [
      "",
      "not json",
      "null",
      "[]",
      '{"at":1}',
      `{"__proto__":{"op":"x.y"}}`,
      "[".repeat(3_000),
      `{"at":${"9".repeat(400)}`,
      line({ op: "a\u001b[2J.b" }).trimEnd(),
      line({ op: "a.b\u202e" }).trimEnd(),
      line({ op: ".b" }).trimEnd(),
      line({ op: "a." }).trimEnd(),
      line({ op: `a.${"x".repeat(300)}` }).trimEnd(),
      line({ op: "a.huge", client: "x".repeat(10_000) }).trimEnd(),
      line({ op: "a.future", at: "9999-01-01T00:00:00.000Z" }).trimEnd(),
      line({ op: "a.ancient", at: "1970-01-01T00:00:00.000Z" }).trimEnd(),
      line({ op: "a.who", principal: "p".repeat(300) }).trimEnd(),
    ];
    writeFileSync(segment(), `${odd.join("\n")}\n${line()}\u0000\u0000\n${line()}`);
    const usage = await loaded();
    expect([...usage.uses().keys()]).toEqual(["a.b"]);
    expect(usage.uses().get("a.b")?.count).toBe(2);
    expect(({} as { op?: string }).op).toBeUndefined();
  });

  it("treats names of built-in properties like any other", async () => {
    writeFileSync(segment(), line({ op: "__proto__.constructor", principal: "__proto__" }));
    const usage = await loaded();
    expect(usage.uses("__proto__").get("__proto__.constructor")?.count).toBe(1);
    expect(usage.uses("constructor").size).toBe(0);
    expect(usage.weightOf("toString")).toBe(0);
  });

  it("is only read at its end if it is giant", async () => {
    writeFileSync(segment(), `${line({ op: "a.first" })}`);
    appendFileSync(segment(), Buffer.alloc(20 * 1024 * 1024, 0x78));
    appendFileSync(segment(), `\n${line({ op: "a.last" })}`);
    expect([...(await loaded()).uses().keys()]).toEqual(["a.last"]);
  });

  it("keeps a limited number of names", async () => {
    writeFileSync(segment(), Array.from({ length: 12_000 }, (_, i) => line({ op: `a.t${i}` })).join(""));
    expect((await loaded()).uses().size).toBe(10_000);
  });

  it.skipIf(process.platform === "win32")("is not read through a link, from a folder or from a pipe", async () => {
    const target = join(folder, "elsewhere");
    writeFileSync(target, line({ op: "a.linked" }));
    symlinkSync(target, segment(1));
    mkdirSync(segment(2));
    execFileSync("mkfifo", [segment(3)]);
    writeFileSync(segment(4), line());
    expect([...(await loaded()).uses().keys()]).toEqual(["a.b"]);
  });
});
