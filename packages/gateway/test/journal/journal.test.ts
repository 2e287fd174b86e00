import { execFile } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileJournal } from "../../src/journal/file-journal.js";
import { CallLog, type CallRecord } from "../../src/journal/journal.js";
import { followEntries, readJournal } from "../../src/journal/read-journal.js";

let base: string;
let folder: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-journal-"));
  folder = join(base, "store", "journal");
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const call = (operation: string, more: Partial<CallRecord> = {}): CallRecord => ({
  atMs: Date.UTC(2026, 10, 15, 6, 30),
  client: "tester 1.0",
  operation,
  durationMs: 12.34,
  sizeBytes: 567,
  outcome: "ok",
  ...more,
});

const operations = (calls: readonly CallRecord[]) => calls.map(({ operation }) => operation);

describe("the journal", () => {
  it("writes one line per call, with nothing but the record's fields", async () => {
    const journal = new FileJournal({ folder });
    journal.record(call("search"));
    journal.record(call("github.create_issue", { outcome: "error", code: "UPSTREAM" }));
    await journal.close();
    const [name = ""] = readdirSync(folder);
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { at: "2026-11-15T06:30:00.000Z", client: "tester 1.0", op: "search", ms: 12.3, bytes: 567, outcome: "ok" },
      {
        at: "2026-11-15T06:30:00.000Z",
        client: "tester 1.0",
        op: "github.create_issue",
        ms: 12.3,
        bytes: 567,
        outcome: "error",
        code: "UPSTREAM",
      },
    ]);
    const { calls } = await readJournal({ folder, limit: 10 });
    expect(calls).toEqual([
      call("search", { durationMs: 12.3 }),
      call("github.create_issue", { durationMs: 12.3, outcome: "error", code: "UPSTREAM" }),
    ]);
  });

  it("records the workspace, and the principal unless it is the user at this machine", async () => {
    const journal = new FileJournal({ folder, workspace: "0123456789ab" });
    const log = new CallLog({ journal });
    log.note("git.log", { name: "tester 1.0", principal: "local" }, {});
    log.note("git.log", { name: "tester 1.0", principal: "ci" }, {});
    await journal.close();
    const { calls } = await readJournal({ folder, limit: 10 });
    expect(calls.map(({ workspace, principal }) => ({ workspace, principal }))).toEqual([
      { workspace: "0123456789ab", principal: undefined },
      { workspace: "0123456789ab", principal: "ci" },
    ]);
  });

  it("moves on to the next file when one is full and keeps a limited number", async () => {
    const journal = new FileJournal({ folder, segmentBytes: 500, segments: 3 });
    for (let i = 0; i < 40; i++) {
      journal.record(call(`op${i}`));
      await journal.flush();
    }
    await journal.close();
    const names = readdirSync(folder).sort();
    expect(names).toHaveLength(3);
    for (const name of names) expect(readFileSync(join(folder, name)).length).toBeLessThan(700);
    const { calls } = await readJournal({ folder, limit: 5 });
    expect(operations(calls)).toEqual(["op35", "op36", "op37", "op38", "op39"]);
  });

  it("writes a time and names exactly as JSON would, also when they change from line to line", async () => {
    const journal = new FileJournal({ folder });
    const times = [0, 7, 999, 1_000, 1_001, 59_999.6, 5].map((ms) => Date.UTC(2026, 10, 15, 6, 30) + ms);
    const names = ['say "hi"', "back\\slash", "grün 🌲", "a", 'say "hi"', "\ud800", ""];
    for (const [index, atMs] of times.entries()) journal.record(call(names[index] ?? "", { atMs, client: `${index}` }));
    await journal.close();
    const lines = readFileSync(join(folder, "calls-000001.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines).toEqual(
      times.map((atMs, index) =>
        JSON.stringify({
          at: new Date(atMs).toISOString(),
          client: `${index}`,
          op: names[index],
          ms: 12.3,
          bytes: 567,
          outcome: "ok",
        }),
      ),
    );
  });

  it("keeps names apart, however many there are", async () => {
    const journal = new FileJournal({ folder });
    for (let round = 0; round < 2; round++) for (let i = 0; i < 600; i++) journal.record(call(`op${i}`));
    await journal.close();
    const expected = Array.from({ length: 1_200 }, (_, i) => `op${i % 600}`);
    expect(operations((await readJournal({ folder, limit: 2_000 })).calls)).toEqual(expected);
  });

  it("writes lines that arrive during a write together, after the delay", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      // Every write fills its file, so there is one file for each.
      const journal = new FileJournal({ folder, segmentBytes: 1, segments: 100 });
      journal.record(call("first"));
      vi.advanceTimersByTime(100);
      journal.record(call("during"));
      while ((await readJournal({ folder, limit: 9 })).calls.length === 0) await setImmediate();
      for (const operation of ["after", "later"]) {
        await setImmediate();
        journal.record(call(operation));
      }
      vi.advanceTimersByTime(100);
      await journal.close();
      const written = readdirSync(folder)
        .sort()
        .map((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"));
      expect(written.map((lines) => lines.map((line) => JSON.parse(line).op))).toEqual([
        ["first"],
        ["during", "after", "later"],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("moves on to the file that another process has started", async () => {
    const journal = new FileJournal({ folder, segmentBytes: 500 });
    journal.record(call("ours"));
    await journal.flush();
    const other = new FileJournal({ folder, segmentBytes: 500 });
    for (let i = 0; i < 5; i++) {
      other.record(call(`other${i}`));
      await other.flush();
    }
    journal.record(call("ours again"));
    await Promise.all([journal.close(), other.close()]);
    const last = readdirSync(folder).sort().at(-1) ?? "";
    expect(last).toBe("calls-000002.jsonl");
    expect(readFileSync(join(folder, last), "utf8")).toContain('"ours again"');
  });

  it("creates its folder again if it is deleted while the journal is open", async () => {
    const journal = new FileJournal({ folder });
    journal.record(call("lost"));
    await journal.flush();
    rmSync(folder, { recursive: true });
    journal.record(call("kept"));
    await journal.close();
    expect(operations((await readJournal({ folder, limit: 10 })).calls)).toEqual(["kept"]);
  });

  it("truncates long names and removes line breaks and control characters from them", async () => {
    const journal = new FileJournal({ folder });
    journal.record(call("x".repeat(5000), { client: "two\nlines\u001b[2J" }));
    await journal.close();
    const { calls } = await readJournal({ folder, limit: 5 });
    expect(calls[0]?.client).toBe("two\ufffdlines\ufffd[2J");
    expect(calls[0]?.operation).toHaveLength(200);
  });

  it("keeps the lines of several processes intact", async () => {
    const program = `
      import { FileJournal } from ${JSON.stringify(new URL("../../dist/journal/index.js", import.meta.url).href)};
      const journal = new FileJournal({ folder: process.argv[1], segmentBytes: 20000, segments: 100 });
      for (let i = 0; i < 300; i++) {
        journal.record({ atMs: Date.now(), client: process.argv[2], operation: "op" + i, durationMs: 1, sizeBytes: 1, outcome: "ok" });
        if (i % 7 === 0) await journal.flush();
      }
      await journal.close();`;
    const run = promisify(execFile);
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => run(process.execPath, ["--input-type=module", "-e", program, folder, name])));
    const { calls } = await readJournal({ folder, limit: 10_000 });
    expect(calls).toHaveLength(900);
    for (const name of names) {
      const own = calls.filter(({ client }) => client === name);
      expect(operations(own)).toEqual(Array.from({ length: 300 }, (_, i) => `op${i}`));
    }
    expect(readdirSync(folder).length).toBeGreaterThan(2);
  });

  it("reports a write failure once and loses only the lines", async () => {
    mkdirSync(join(base, "store"));
    writeFileSync(folder, "a file where the folder should be");
    const problems: unknown[] = [];
    const journal = new FileJournal({ folder, onProblem: (error) => problems.push(error) });
    for (let i = 0; i < 3; i++) {
      journal.record(call("search"));
      await journal.flush();
    }
    await journal.close();
    expect(problems).toHaveLength(1);
  });

  it.skipIf(process.getuid?.() === 0)("survives a read-only folder (not as root)", async () => {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o500);
    const problems: unknown[] = [];
    const journal = new FileJournal({ folder, onProblem: (error) => problems.push(error) });
    journal.record(call("search"));
    await journal.close();
    expect(problems).toHaveLength(1);
  });

  it("does not fall behind: lines that arrive during a write are written together next, up to a limit", async () => {
    const journal = new FileJournal({ folder });
    const flushes = Array.from({ length: 20_000 }, (_, number) => {
      journal.record(call(`number.${number}`));
      return journal.flush();
    });
    await Promise.all(flushes);
    await journal.close();
    const lines = readFileSync(join(folder, "calls-000001.jsonl"), "utf8").trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "").op).toBe(`number.${lines.length - 1}`);
    expect(lines.length).toBeGreaterThan(5_000);
    expect(lines.length).toBeLessThan(15_000);
  });

  it("ignores lines after close and can be closed twice", async () => {
    const journal = new FileJournal({ folder });
    journal.record(call("search"));
    await journal.close();
    journal.record(call("late"));
    await journal.close();
    expect(operations((await readJournal({ folder, limit: 10 })).calls)).toEqual(["search"]);
  });

  it("skips invalid lines when reading", async () => {
    mkdirSync(folder, { recursive: true });
    const journal = new FileJournal({ folder });
    journal.record(call("search"));
    await journal.flush();
    const file = join(folder, "calls-000001.jsonl");
    appendFileSync(file, '{"at":"2026-11-15T06:3\n[]\nnull\n{"at":"x","client":1}\n\n');
    journal.record(call("grep"));
    await journal.close();
    // A line that is still being written.
    appendFileSync(file, '{"at":"2026');
    expect(operations((await readJournal({ folder, limit: 10 })).calls)).toEqual(["search", "grep"]);
  });

  it("has no calls if there is no folder", async () => {
    expect((await readJournal({ folder, limit: 10 })).calls).toEqual([]);
  });

  it("finds the last matching calls, including in older files", async () => {
    const journal = new FileJournal({ folder, segmentBytes: 400, segments: 100 });
    for (let i = 0; i < 20; i++) {
      journal.record(call(i % 5 === 0 ? `rare${i}` : "often"));
      await journal.flush();
    }
    await journal.close();
    const isWanted = ({ operation }: CallRecord) => operation.startsWith("rare");
    expect(operations((await readJournal({ folder, limit: 3, isWanted })).calls)).toEqual([
      "rare5",
      "rare10",
      "rare15",
    ]);
    expect((await readJournal({ folder, limit: 0 })).calls).toEqual([]);
  });

  it("can be followed across files from where reading stopped, with each call once", async () => {
    const journal = new FileJournal({ folder, segmentBytes: 300, segments: 100 });
    journal.record(call("before"));
    await journal.flush();
    const { position } = await readJournal({ folder, limit: 10 });
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const entries of followEntries({ folder, position, signal: stop.signal })) {
        seen.push(...operations(entries.map((entry) => entry.call)));
        if (seen.includes("op9")) stop.abort();
      }
    })();
    for (let i = 0; i < 10; i++) {
      journal.record(call(`op${i}`));
      await journal.flush();
    }
    await following;
    await journal.close();
    expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `op${i}`));
  });

  it("can be followed before its folder exists", async () => {
    const stop = new AbortController();
    const { position } = await readJournal({ folder, limit: 10 });
    const first = followEntries({ folder, position, signal: stop.signal }).next();
    const journal = new FileJournal({ folder });
    journal.record(call("first"));
    await journal.close();
    expect((await first).value).toMatchObject([{ call: { operation: "first" } }]);
    stop.abort();
  });
});

describe("the name of an unknown operation", () => {
  const recorded = (asked: string, principal: string, name?: string) => {
    const calls: CallRecord[] = [];
    const log = new CallLog({ journal: { record: (each) => void calls.push(each) } });
    log.note(name, { name: "tester", principal }, { asked, code: "NOT_FOUND" });
    return calls[0];
  };

  it("is recorded for a local client", () => {
    expect(recorded("git.comit", "local")).toMatchObject({ operation: "unknown", asked: "git.comit" });
  });

  it.each([
    ["comes from the network", "git.comit", "token-1", undefined],
    ["is text and not a name", "please run rm -rf", "local", undefined],
    ["belongs to a known operation", "git.commit", "local", "git.commit"],
  ])("is not recorded if it %s", (_, asked, principal, name) => {
    expect(recorded(asked, principal, name)?.asked).toBeUndefined();
  });
});
