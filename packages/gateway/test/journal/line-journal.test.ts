import { TrunklineError } from "@trunkline/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type CallRecord, type JournalLine, LineJournal, lineJournalReader } from "../../src/journal/index.js";

/** Lines of several gateways, in memory. */
class MemoryLines {
  readonly place = "memory";
  readonly lines: JournalLine[] = [];
  isAway = false;

  async append(lines: readonly string[]): Promise<void> {
    if (this.isAway) throw new TrunklineError("STORE_UNAVAILABLE", "The database is away.");
    for (const line of lines) this.lines.push({ id: this.lines.length + 1, line });
  }

  async before(id: number | undefined, limit: number): Promise<readonly JournalLine[]> {
    return this.lines
      .filter((line) => id === undefined || line.id < id)
      .reverse()
      .slice(0, limit);
  }

  async after(id: number, limit: number): Promise<readonly JournalLine[]> {
    if (this.isAway) throw new TrunklineError("STORE_UNAVAILABLE", "The database is away.");
    return this.lines.filter((line) => line.id > id).slice(0, limit);
  }
}

const call = (operation: string, client = "one"): CallRecord => ({
  ...{ atMs: Date.UTC(2026, 10, 17, 12), client, operation, durationMs: 1, sizeBytes: 2, outcome: "ok" },
});

describe("the journal of several gateways", () => {
  it("is read by each of them: the last calls, pages, neighbours and days", async () => {
    const lines = new MemoryLines();
    const [one, two] = [1, 2].map(
      (n) => new LineJournal({ lines: async () => lines, workspace: `w${n}`, gateway: `g${n}` }),
    );
    for (let n = 0; n < 5; n++) one?.record(call(`a.${n}`));
    await one?.close();
    for (let n = 0; n < 5; n++) two?.record(call(`b.${n}`, "two"));
    await two?.close();
    lines.lines.push({ id: 11, line: "not a call" });
    const reader = lineJournalReader(lines);
    const { calls } = await reader.last({ limit: 3, isWanted: ({ client }) => client === "one" });
    expect(calls.map(({ operation, workspace, gateway }) => [operation, workspace, gateway])).toEqual([
      ["a.2", "w1", "g1"],
      ["a.3", "w1", "g1"],
      ["a.4", "w1", "g1"],
    ]);
    const first = await reader.page({ limit: 6 });
    const second = await reader.page({ limit: 6, before: first.next });
    expect([...first.entries, ...second.entries].map(({ id }) => id)).toEqual("10 9 8 7 6 5 4 3 2 1".split(" "));
    expect(second.next).toBeUndefined();
    expect((await reader.around("5")).map(({ id }) => id)).toEqual("1 2 3 4 5 6 7 8 9 10".split(" "));
    await expect(reader.around("no")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const days = reader.days(() => true);
    expect((await days.read()).map(({ client, calls: count }) => [client, count])).toEqual([
      ["one", 5],
      ["two", 5],
    ]);
    expect(await days.read()).toHaveLength(2);
  });

  it("is followed, also after the database was away", async () => {
    const lines = new MemoryLines();
    const { follow } = await lineJournalReader(lines).last({ limit: 0 });
    const ending = new AbortController();
    const followed = follow(ending.signal);
    lines.isAway = true;
    const next = followed.next();
    lines.isAway = false;
    const journal = new LineJournal({ lines: async () => lines });
    journal.record(call("late"));
    expect((await next).value).toMatchObject([{ call: { operation: "late" } }]);
    ending.abort();
    expect(await followed.next()).toMatchObject({ done: true });
    await journal.close();
  });

  it("keeps lines while the database is away, up to a limit, and warns once when it drops some", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const lines = new MemoryLines();
    lines.isAway = true;
    const problems: unknown[] = [];
    const journal = new LineJournal({
      lines: async () => lines,
      onProblem: (error) => problems.push(error),
    });
    journal.record(call("first"));
    await vi.advanceTimersByTimeAsync(100);
    expect(problems).toEqual([]);
    const long = "x".repeat(150);
    for (let round = 0; round < 200 && problems.length === 0; round++) {
      for (let n = 0; n < 100; n++) journal.record(call(`${long}${n}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(problems).toHaveLength(1);
    lines.isAway = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(lines.lines.length).toBeGreaterThan(1000);
    expect(lines.lines[0]?.line).toContain('"first"');
    expect(lines.lines.length).toBeLessThan(20_000);
    await journal.close();
  });
});
