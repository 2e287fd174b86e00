import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CallDays } from "../../src/journal/call-days.js";
import { FileJournal } from "../../src/journal/file-journal.js";
import type { CallRecord } from "../../src/journal/journal.js";
import { readAround, readPage } from "../../src/journal/journal-pages.js";
import { followEntries, readJournal } from "../../src/journal/read-journal.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-pages-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const call = (operation: string, more: Partial<CallRecord> = {}): CallRecord => ({
  atMs: new Date(2026, 10, 15, 12).getTime(),
  client: "tester",
  operation,
  durationMs: 1,
  sizeBytes: 2,
  outcome: "ok",
  ...more,
});

/** Writes calls `0`, `1` and so on to several files. */
async function write(count: number, more: (index: number) => Partial<CallRecord> = () => ({})): Promise<void> {
  const journal = new FileJournal({ folder, segmentBytes: 1_000, segments: 100 });
  for (let index = 0; index < count; index++) {
    journal.record(call(String(index), more(index)));
    if (index % 7 === 6) await journal.flush();
  }
  await journal.close();
}

async function allPages(limit: number): Promise<string[]> {
  const names: string[] = [];
  let before: string | undefined;
  do {
    const page = await readPage({ folder, limit, before });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    names.push(...page.entries.map((entry) => entry.call.operation));
    before = page.next;
  } while (before !== undefined);
  return names;
}

describe("pages of the journal", () => {
  it.each([1, 3, 50, 1_000])("of %i calls have each call once, newest first, across files", async (limit) => {
    await write(120);
    expect(await allPages(limit)).toEqual(Array.from({ length: 120 }, (_, index) => String(119 - index)));
  });

  it("continue where they ended although calls were added meanwhile", async () => {
    await write(10);
    const first = await readPage({ folder, limit: 4 });
    await write(5, () => ({ client: "later" }));
    const second = await readPage({ folder, limit: 4, before: first.next });
    expect(second.entries.map(({ call: { operation } }) => operation)).toEqual(["5", "4", "3", "2"]);
  });

  it("skip lines that are torn, foreign or still being written", async () => {
    await write(3);
    const path = join(folder, "calls-000001.jsonl");
    const broken = Buffer.concat([Buffer.from('{"at":"x"}\n\n'), Buffer.from([0xff, 0xc3, 0x0a])]);
    writeFileSync(path, Buffer.concat([broken, readFileSync(path), Buffer.from('{"at":"2026')]));
    expect(await allPages(2)).toEqual(["2", "1", "0"]);
    expect(await allPages(100)).toEqual(["2", "1", "0"]);
  });

  it("pass a block without a line break", async () => {
    await write(2);
    appendFileSync(join(folder, "calls-000001.jsonl"), `${"x".repeat(600_000)}\n`);
    expect(await allPages(10)).toEqual(["1", "0"]);
  });

  it("skip files that are links", async () => {
    await write(2);
    const elsewhere = join(folder, "elsewhere");
    renameSync(join(folder, "calls-000001.jsonl"), elsewhere);
    symlinkSync(elsewhere, join(folder, "calls-000001.jsonl"));
    expect(await allPages(10)).toEqual([]);
    expect((await readJournal({ folder, limit: 10 })).calls).toEqual([]);
  });

  it("leave out calls that are not wanted, and are empty without a journal", async () => {
    await write(20);
    const isWanted = ({ operation }: CallRecord) => operation.endsWith("5");
    const { entries, next } = await readPage({ folder, limit: 10, isWanted });
    expect(entries.map((entry) => entry.call.operation)).toEqual(["15", "5"]);
    expect(next).toBeUndefined();
    expect(await readPage({ folder: join(folder, "none"), limit: 10 })).toEqual({ entries: [], next: undefined });
    await expect(readPage({ folder, limit: 1, before: "../x" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("name an entry as following does, and find it with its neighbours", async () => {
    const { position } = await readJournal({ folder, limit: 0 });
    await write(30, (index) => ({ client: "ü", request: index % 10 === 0 ? "r1" : undefined }));
    const leaving = new AbortController();
    const followed = [];
    for await (const entries of followEntries({ folder, position, signal: leaving.signal })) {
      followed.push(...entries);
      leaving.abort();
    }
    const { entries } = await readPage({ folder, limit: 100 });
    expect(followed).toEqual(entries.toReversed());
    const found = followed[10];
    const around = await readAround(folder, found?.id ?? "");
    expect(around).toContainEqual(found);
    expect(around.filter(({ call: { request } }) => request === "r1").length).toBeGreaterThanOrEqual(1);
  });
});

describe("calls by day", () => {
  it("are counted once, by client, in the user's time zone", async () => {
    const days = new CallDays(folder, ({ operation }) => operation !== "1");
    expect(await days.read()).toEqual([]);
    const at = (day: number) => new Date(2026, 10, day, 23, 59).getTime();
    await write(4, (index) => ({ atMs: at(index < 2 ? 15 : 16), outcome: index === 3 ? "error" : "ok" }));
    const expected = [
      { day: "2026-11-15", client: "tester", calls: 1, errors: 0 },
      { day: "2026-11-16", client: "tester", calls: 2, errors: 1 },
    ];
    expect(await days.read()).toEqual(expected);
    expect(await days.read()).toEqual(expected);
  });
});
