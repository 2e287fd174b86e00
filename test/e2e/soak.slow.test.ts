// Runs `npm run soak` for a few seconds, and tests its checks with injected faults.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore, type Store } from "../../packages/store/dist/index.js";
import { hasFailed, shownChecks } from "../../soak/checks.js";
import { contentOf } from "../../soak/documents.js";
import { Ledger } from "../../soak/ledger.js";
import { canLook } from "../../soak/processes.js";
import { readOne, STORE_CHECKS } from "../../soak/store.js";
import { Tally } from "../../soak/tally.js";
import { grown, verifyMemory, verifyProcesses } from "../../soak/verify-gateway.js";
import { lostDocuments } from "../../soak/verify-store.js";
import { needs } from "../support/needs.js";
import { Place, root } from "./command.js";

const NEEDS_PROC = needs("/proc", canLook);

describe("npm run soak", () => {
  it("runs, verifies everything, and leaves nothing behind", async () => {
    using place = new Place();
    const args = [join(root, "soak", "run.js"), "--seconds", "3", "--small", "--seed", "7", "--no-result"];
    const env = { PATH: process.env.PATH, HOME: place.home, TMPDIR: place.cwd };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toContain("seed 7");
    expect(stdout).not.toContain("FAILED");
    for (const done of ["calls of sound servers", "calls of faulty servers", "clients that vanished", "kill -9 of a"]) {
      expect(stdout).toMatch(new RegExp(`${done}.*[1-9]`));
    }
    expect(stdout).toMatch(/^ok +everything acknowledged is there, byte for byte \([1-9]/m);
    expect(stdout).toMatch(/The soak is passed\.\n$/);
  });
});

describe("the store check", () => {
  let place: Place;
  let store: Store;

  beforeAll(async () => {
    place = new Place();
    store = await openStore({ path: join(place.cwd, "store") });
    for (const name of ["a-1.txt", "a-3.txt", "a-4.txt"]) await store.add({ name, content: contentOf(name, 1) });
  });
  afterAll(async () => {
    await store.close();
    place[Symbol.dispose]();
  });

  /** Returns the problems found in the three documents after these writer lines. */
  async function lost(...said: string[]): Promise<string[]> {
    const ledger = new Ledger();
    for (const name of ["a-1.txt", "a-3.txt", "a-4.txt"]) ledger.read(`done put ${name} 1`);
    for (const line of said) ledger.read(line);
    return (await lostDocuments(store, ledger)).sort();
  }

  it("accepts acknowledged documents, and either state of an unacknowledged change", async () => {
    expect(await lost("begin put a-1.txt 2", "begin delete a-3.txt 2", "begin put a-5.txt 1")).toEqual([]);
  });

  it("finds an acknowledged document that is missing", async () => {
    expect(await lost("done put a-9.txt 1")).toEqual(["a-9.txt: not there, but version 1 was acknowledged"]);
  });

  it("finds a document with different bytes, and one that still exists after its deletion", async () => {
    expect(await lost("done put a-1.txt 2", "done delete a-4.txt 2")).toEqual([
      expect.stringMatching(/^a-1\.txt: \d+ other bytes, but version 2 was acknowledged$/),
      expect.stringMatching(/^a-4\.txt: \d+ other bytes, but not there was acknowledged$/),
    ]);
  });
});

describe("the reader's check", () => {
  /** Reads one document and returns the problems. */
  async function problems(store: Partial<Store>, { ledger, name }: { ledger: Ledger; name: string }) {
    const tally = new Tally();
    await readOne({ store: store as Store, tally, ledger, name });
    return tally.problems(STORE_CHECKS.reader);
  }

  it("finds an acknowledged document whose word finds nothing, and accepts one that is deleted in between", async () => {
    using place = new Place();
    const name = "a-1.txt";
    const ledger = new Ledger();
    ledger.read(`done put ${name} 1`);
    const store = await openStore({ path: join(place.cwd, "store") });
    try {
      await store.add({ name, content: contentOf(name, 1) });
      expect(await problems(store, { ledger, name })).toEqual([]);
      // Between the read and the search.
      const between = (before: () => Promise<void>): Partial<Store> => ({
        get: (...args) => store.get(...args),
        bytes: (...args) => store.bytes(...args),
        search: async () => {
          await before();
          return { paths: [], total: 0 } as never;
        },
      });
      const nothing = between(async () => {});
      expect(await problems(nothing, { ledger, name })).toEqual([
        `${name} exists but a search for its word does not find it`,
      ]);
      const deleting = between(async () => {
        ledger.read(`begin delete ${name} 2`);
        await store.delete({ name });
      });
      expect(await problems(deleting, { ledger, name })).toEqual([]);
    } finally {
      await store.close();
    }
  });
});

describe("the gateway check", () => {
  it.skipIf(!canLook)(`finds a leftover process, even an orphan${NEEDS_PROC}`, async () => {
    using place = new Place();
    const env = { PATH: process.env.PATH, HOME: place.home };
    const sleep = "setTimeout(() => {}, 60_000)";
    const orphaning = `const { pid } = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(sleep)}], { stdio: "ignore", detached: true }); console.log(pid); process.exit(0)`;
    const child: ChildProcess = spawn(process.execPath, ["-e", orphaning], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    const orphan = Number(printed.toString());
    const { problems } = await verifyProcesses(`HOME=${place.home}`, 0);
    process.kill(orphan, "SIGKILL");
    expect(problems.join("\n")).toContain(`${orphan} ${process.execPath}`);
    expect(await verifyProcesses(`HOME=${place.home}`, 20_000)).toMatchObject({ problems: [] });
  });

  it("finds growing descriptors", () => {
    const before = new Map([["socket", 20]]);
    expect(grown(before, new Map([["socket", 24]]))).toEqual([]);
    expect(grown(before, new Map([["socket", 60]]))).toEqual(["socket: 20 after the warm-up, 60 at the end"]);
  });

  describe.skipIf(!canLook)(`of memory${NEEDS_PROC}`, () => {
    const samples = (seconds: number, at: (second: number) => number) =>
      Array.from({ length: seconds }, (_, s) => at(s));
    const level = samples(600, (second) => 200 + (second % 7));
    // Garbage comes and goes, so only the level after a collection counts.
    const sawtooth = samples(600, (second) => 40 + (second % 10) * 20);
    const sound = { total: level, heap: sawtooth, live: { halfway: 40, end: 41 } };
    const failedChecks = (memory: Parameters<typeof verifyMemory>[0]) =>
      verifyMemory(memory).flatMap((check) => (hasFailed(check) ? [check.name] : []));

    it("accepts memory that goes up and down", () => {
      expect(failedChecks(sound)).toEqual([]);
      expect(verifyMemory(sound).every(({ skipped }) => skipped === undefined)).toBe(true);
    });

    it("finds memory that grows by more than 15 percent in the second half", () => {
      const total = level.map((size, second) => size * (second < 320 ? 1 : 1.2));
      expect(failedChecks({ ...sound, total })).toEqual(["memory is flat from half-way to the end"]);
    });

    it("finds memory and a heap that grow by more than a quarter from third to third", () => {
      const grow = (size: number, second: number) => size + second * 2;
      expect(failedChecks({ ...sound, total: level.map(grow) })).toContain("memory is flat from third to third");
      expect(failedChecks({ ...sound, heap: sawtooth.map(grow) })).toEqual([
        "the heap after garbage collections is flat from third to third",
      ]);
    });

    it("finds a heap that forced collections leave more than 5 percent larger, or that could not be measured", () => {
      const name = "the heap after forced garbage collections is flat from half-way to the end";
      expect(failedChecks({ ...sound, live: { halfway: 40, end: 42.5 } })).toEqual([name]);
      expect(failedChecks({ ...sound, live: { halfway: 40, end: undefined } })).toEqual([name]);
    });

    it("compares the thirds of a run of two minutes, but not its halves", () => {
      const short = { ...sound, total: level.slice(0, 120), heap: sawtooth.slice(0, 120) };
      expect(verifyMemory(short).map(({ skipped }) => skipped !== undefined)).toEqual([false, false, true, true]);
    });
  });

  it("reports failed and skipped checks", () => {
    const lines = shownChecks([
      { name: "one", problems: [] },
      { name: "two", problems: ["lost"], detail: "1 of 2" },
      { name: "three", problems: [], skipped: "needs Linux" },
    ]);
    expect(lines.map((line) => line.replaceAll(/ +/g, " ").trim())).toEqual([
      "ok one",
      "FAILED two (1 of 2)",
      "lost",
      "not checked three (needs Linux)",
    ]);
  });
});
