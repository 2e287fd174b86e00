import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trunkline/core";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HANG_MS } from "../../../../test/support/hang.js";
import { FileTokenAccount, tokenReport } from "../../src/journal/token-account.js";
import { TokenCounter } from "../../src/journal/token-counter.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-tokens-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Starting a thread can take long on a busy machine. */
const PATIENT_MS = HANG_MS;
const DAY_MS = 24 * 60 * 60 * 1000;
const at = (nowMs: number) => ({ ...systemClock, now: () => nowMs });

describe("the token account", () => {
  it("adds up what was sent and what the tools themselves would have cost", async () => {
    const tools = [{ name: "mcp__docs__find", description: "Finds a page.", inputSchema: { type: "object" } }];
    await using account = new FileTokenAccount({ folder, directTools: async () => tools });
    const list = '{"tools":[{"name":"query"}]}';
    account.add("surface", list);
    account.add("surface", list);
    account.add("schemas", '{"type":"object"}');
    account.add("results", "one two three");
    const surface = 2 * countTokens(list);
    const schemas = countTokens('{"type":"object"}');
    const perList = countTokens(JSON.stringify(tools[0]));
    const spent = { surface, schemas, results: 3, lists: 2, answers: 4, total: surface + schemas + 3 };
    expect(await account.report()).toEqual({
      encoding: "o200k_base",
      today: spent,
      all: spent,
      since: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      direct: { tools: 1, per_list: perList, today: 2 * perList, all: 2 * perList },
    });
  });

  it("can be read from another process and adds up the totals of several processes", async () => {
    for (let i = 0; i < 2; i++) {
      await using account = new FileTokenAccount({ folder, lastCountMs: PATIENT_MS });
      account.add("results", "one two three");
    }
    const { all } = await tokenReport({ folder });
    expect(all).toMatchObject({ results: 6, answers: 2 });
  });

  it("separates today from earlier days and keeps a finished day in one line", async () => {
    const now = Date.now();
    for (const daysAgo of [5, 5, 0]) {
      await using account = new FileTokenAccount({
        folder,
        lastCountMs: PATIENT_MS,
        clock: at(now - daysAgo * DAY_MS),
      });
      account.add("results", "one two three");
    }
    const [oldest = "", today = ""] = readdirSync(folder).sort();
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readFileSync(join(folder, oldest), "utf8").trimEnd().split("\n")).toHaveLength(1);
    appendFileSync(join(folder, today), "{ cut off");
    const { today: spentToday, all } = await tokenReport({ folder });
    expect([spentToday.results, all.results, all.answers]).toEqual([3, 9, 3]);
  });

  it("counts text that looks like a control token as text", async () => {
    await using counter = new TokenCounter();
    const [tokens = 0] = await counter.count(["<|endoftext|>"]);
    expect(tokens).toBeGreaterThan(1);
  });

  it("estimates texts that are too large to count", async () => {
    await using account = new FileTokenAccount({ folder, lastCountMs: PATIENT_MS });
    account.add("results", "x".repeat(8_000_000));
    await account.close();
    expect((await tokenReport({ folder })).all.results).toBe(2_000_000);
  });

  it("reports once that totals cannot be saved and never throws", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const problems: unknown[] = [];
    const account = new FileTokenAccount({ folder: file, onProblem: (error) => problems.push(error) });
    account.add("results", "one");
    await account.close();
    account.add("results", "two");
    await account.close();
    expect(problems).toHaveLength(1);
  });
});
