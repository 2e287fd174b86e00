import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../../../../test/support/hang.js";
import { FileTokenAccount, tokenDays, tokenReport } from "../../src/journal/token-account.js";
import { TokenCounter } from "../../src/journal/token-counter.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-tokens-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

/** Starting a thread can take long on a busy machine. */
const PATIENT_MS = HANG_MS;
const DAY_MS = 24 * 60 * 60 * 1000;

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
    const spent = { surface, schemas, results: 3, lists: 2, answers: 4, searches: 1, total: surface + schemas + 3 };
    expect(await account.report()).toEqual({
      encoding: "o200k_base",
      today: spent,
      all: spent,
      since: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      direct: { tools: 1, per_list: perList, today: 2 * perList, all: 2 * perList },
      per_search: 300,
    });
  });

  it("is written when a client has left, while others go on", async () => {
    await using account = new FileTokenAccount({ folder, lastCountMs: PATIENT_MS });
    account.add("results", "one two three");
    await account.settle();
    expect((await tokenReport({ folder, directTools: async () => [] })).all.results).toBe(3);
    account.add("results", "four five");
    await account.settle();
    expect((await tokenReport({ folder, directTools: async () => [] })).all.results).toBe(5);
  });

  describe("of lists under --surface auto", () => {
    const tools = [{ name: "mcp__docs__find", description: "Finds a page.", inputSchema: { type: "object" } }];
    const directTools = async () => tools;
    const perList = countTokens(JSON.stringify(tools[0]));
    const composite = '[{"name":"query"}]';
    const favourites = { client: "cursor 1.0", surface: "composite + favourites", reason: "12 > 10", composite };

    it("says what each client got, and what that saved", async () => {
      const text = '[{"name":"query"},{"name":"docs_find"}]';
      await using account = new FileTokenAccount({ folder, directTools });
      account.addList(text, favourites);
      account.addList(text, { ...favourites, reason: "13 > 10", direct: 1_000 });
      account.addFound(favourites);
      account.addList(composite, { ...favourites, client: "other", surface: "composite" });
      for (let i = 0; i < 5; i++) account.add("schemas", "one two three");
      await account.report();
      const report = await tokenReport({ folder, directTools });
      const [tokens, own] = [2 * countTokens(text), countTokens(composite)];
      const { composite: _, ...names } = favourites;
      expect(report.per_search).toBe(3);
      expect(report.surfaces).toEqual([
        {
          ...{ ...names, reason: "13 > 10", lists: 2, tokens, composite: 2 * own, found: 1 },
          ...{ direct: 1_000, unmeasured: 1 },
          saved_direct: 1_000 + perList - tokens,
          saved_composite: 2 * own + 3 - tokens,
        },
        {
          ...{ ...names, client: "other", surface: "composite", lists: 1, tokens: own, composite: own, found: 0 },
          ...{ direct: 0, unmeasured: 1 },
          saved_direct: perList - own,
          saved_composite: 0,
        },
      ]);
      expect(report.all).toMatchObject({ surface: tokens + own, lists: 3 });
    });

    it("does not count a list that the client searches itself", async () => {
      await using account = new FileTokenAccount({ folder, directTools });
      account.addList("[1,2,3]", { ...favourites, surface: "direct", isSearched: true });
      await account.report();
      const { surfaces, all } = await tokenReport({ folder, directTools });
      expect(surfaces).toMatchObject([{ lists: 1, tokens: 0, saved_direct: null, saved_composite: null }]);
      expect(all).toMatchObject({ surface: 0, lists: 0 });
    });

    it("does not tell one client about others", async () => {
      await using account = new FileTokenAccount({ folder });
      account.addList("[]", favourites);
      expect(JSON.stringify(await account.report())).not.toContain("cursor");
    });

    it("keeps a limited number of clients, with short names without control characters", async () => {
      await using account = new FileTokenAccount({ folder });
      for (let i = 0; i < 100; i++)
        account.addList("[]", { ...favourites, client: `${i} \u001b[2J${"x".repeat(500)}` });
      await account.report();
      const { surfaces } = await tokenReport({ folder });
      expect(surfaces).toHaveLength(41);
      expect(surfaces.reduce((sum, { lists }) => sum + lists, 0)).toBe(100);
      expect(surfaces.at(-1)).toMatchObject({ client: "other clients", lists: 60 });
      for (const { client } of surfaces) {
        expect(client.length).toBeLessThanOrEqual(120);
        expect(client).not.toContain("\u001b");
      }
    });

    it("skips damaged rows", async () => {
      const row = { client: "c", surface: "direct", reason: "", lists: 1, tokens: 5, composite: 2, found: 0 };
      const surfaces = [row, null, 7, {}, { ...row, client: 7 }, { ...row, lists: -1, tokens: "x", found: null }];
      const lines = [{ surfaces }, { surfaces: "x" }, { surfaces: { length: 9 } }, { surfaces: [row] }];
      const day = new Date().toISOString().slice(0, 10);
      writeFileSync(join(folder, `tokens-${day}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      expect((await tokenReport({ folder })).surfaces).toMatchObject([{ client: "c", lists: 2, tokens: 10 }]);
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
      vi.setSystemTime(now - daysAgo * DAY_MS);
      await using account = new FileTokenAccount({ folder, lastCountMs: PATIENT_MS });
      account.add("results", "one two three");
    }
    const [oldest = "", today = ""] = readdirSync(folder).sort();
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readFileSync(join(folder, oldest), "utf8").trimEnd().split("\n")).toHaveLength(1);
    appendFileSync(join(folder, today), "{ cut off");
    const { today: spentToday, all } = await tokenReport({ folder });
    expect([spentToday.results, all.results, all.answers]).toEqual([3, 9, 3]);
  });

  it("says by day what was spent, and what listing all tools would have cost in addition", async () => {
    const save = (day: string, spent: object) =>
      writeFileSync(join(folder, `tokens-${day}.jsonl`), JSON.stringify(spent));
    const row = { client: "c", surface: "s", reason: "", composite: 0, found: 0 };
    // Two plain lists of 100 tokens, where all tools would take 1,000 each.
    save("2026-11-14", { surface: 200, schemas: 50, results: 300, lists: 2 });
    // One list whose alternative was measured then, and one for a client that searches its list itself.
    const surfaces = [
      { ...row, lists: 1, tokens: 100, direct: 700, unmeasured: 0 },
      { ...row, client: "d", lists: 1, tokens: 0, direct: 900, unmeasured: 0 },
    ];
    save("2026-11-15", { surface: 100, schemas: 0, results: 10, lists: 1, surfaces });
    save("2026-11-16", { surface: 0, schemas: 40, results: 10, lists: 0 });
    expect(await tokenDays(folder, 1_000)).toEqual([
      { day: "2026-11-14", tokens: 550, saved: 1_750 },
      { day: "2026-11-15", tokens: 110, saved: 600 },
      { day: "2026-11-16", tokens: 50, saved: 0 },
    ]);
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
