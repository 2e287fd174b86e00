// `trunkline store …` under bad conditions: full or read-only disks, processes that die, concurrent writers, and files
// corrupted from outside.
// @with-broker

import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HANG_MS } from "../support/hang.js";
import { needs } from "../support/needs.js";
import { seededRandom } from "../support/seed.js";
import { outcomeOf, Place } from "./command.js";
import { json, store } from "./store-support.js";

const canMount = process.platform === "linux" && process.getuid?.() === 0;
const NEEDS_ROOT = needs("root on Linux", canMount);

/** Mounts a separate file system that is removed with the test. `freeze` makes it read-only. */
function mountSmall(folder: string, size: string): { freeze: () => void } {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  return { freeze: () => void execFileSync("mount", ["-o", "remount,ro", folder]) };
}

describe("the disk", () => {
  it.skipIf(!canMount)(`can be read-only: reads work and nothing changes${NEEDS_ROOT}`, async () => {
    const place = new Place({ "src/a.ts": "export function heron() {}\n" });
    onTestFinished(() => place[Symbol.dispose]());
    const { freeze } = mountSmall(join(place.cwd, "fixed"), "20m");
    const there = ["--store", "fixed/store"];
    await json(place, ["add", "src", "--label", "kept", ...there]);
    freeze();
    const path = join("src", "a.ts");
    const out = async (...args: string[]) => {
      const { code, stdout, stderr } = await store(place, [...args, ...there]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return stdout;
    };
    expect(await out("get", "a.ts")).toBe("export function heron() {}\n");
    expect(await out("list", "--paths-only")).toBe(`${path}\n`);
    expect(await out("search", "heron", "--paths-only")).toBe(`${path}\n`);
    expect(await out("grep", "her.n")).toBe(`${path}:1:export function heron() {}\n`);
    expect(await out("graph", "a.ts", "--relation", "defines")).toContain("DEFINES heron function");
    expect(await out("verify")).toMatch(/The store is intact\.\n$/);
    expect(await out("restore", "kept", "--to", "back")).toBe("1 file restored; 0 skipped\n");
    expect(readFileSync(join(place.cwd, "back", "a.ts"), "utf8")).toBe("export function heron() {}\n");
    for (const args of [["add", "src"], ["delete", "a.ts"], ["snapshot"], ["gc"], ["repair"], ["start"]]) {
      const refused = await store(place, [...args, ...there]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/cannot be changed: its file system is read-only\.\n {2}Reading works\./);
    }
  });

  it.skipIf(!canMount)(`can be full: the command says so and existing content stays intact${NEEDS_ROOT}`, async () => {
    const place = new Place({ "kept.txt": "kept\n" });
    onTestFinished(() => place[Symbol.dispose]());
    mountSmall(join(place.cwd, "small"), "6m");
    writeFileSync(join(place.cwd, "large.bin"), seededRandom().bytes(12_000_000));
    const there = ["--store", "small/store"];
    await json(place, ["add", "kept.txt", ...there]);
    const full = await store(place, ["add", "large.bin", ...there]);
    expect(full).toMatchObject({ code: 1, stdout: "" });
    expect(full.stderr).toMatch(/disk that holds the store is full.*\n {2}Free some space/);
    expect((await store(place, ["get", "kept.txt", ...there])).stdout).toBe("kept\n");
    expect(await json(place, ["verify", ...there])).toMatchObject({ ok: true });
  });
});

describe("other processes", () => {
  it("can be killed midway: they leave no lock, and the next process continues", async () => {
    using place = new Place();
    const many = join(place.cwd, "many");
    mkdirSync(many);
    for (let index = 0; index < 1500; index++) writeFileSync(join(many, `${index}.txt`), `text ${index} `.repeat(200));
    await json(place, ["add", "--name", "first.txt", "-"], { input: "first\n" });
    const folder = join(place.home, ".trunkline", "store");
    const before = statSync(join(folder, "content.sqlite")).size;
    const child = place.startProcess(["store", "add", "many"]);
    const ended = outcomeOf(child);
    // Part of the data has reached the disk, and more is to come.
    await vi.waitFor(
      () => expect(statSync(join(folder, "content.sqlite-wal")).size + before).toBeGreaterThan(before + 20_000),
      { timeout: HANG_MS, interval: 2 },
    );
    child.kill("SIGKILL");
    await ended;
    expect((await store(place, ["get", "first.txt"])).stdout).toBe("first\n");
    const again = await json(place, ["add", "many"]);
    expect(again.files + again.skipped).toBe(1500);
    expect(await json(place, ["list", "many/*.txt", "--limit", "1"])).toMatchObject({ total: 1500 });
    expect(await json(place, ["verify"])).toMatchObject({ ok: true });
    // Only the databases and SQLite's own files remain.
    expect(readdirSync(folder).filter((name) => !/^(?:content|index)\.sqlite(?:-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it("can write while gc runs: added documents stay, deleted ones are removed", async () => {
    using place = new Place();
    await json(place, ["add", "--name", "first.txt", "-"], { input: "first\n" });
    for (const round of [0, 1, 2]) {
      const writers = [0, 1].map(async (writer) => {
        const name = `${round}-${writer}`;
        const input = `kept ${name} `.repeat(3000);
        await json(place, ["add", "--name", `kept-${name}.txt`, "-"], { input });
        await json(place, ["add", "--name", `passing-${name}.txt`, "-"], { input: `passing ${name}` });
        await json(place, ["delete", `passing-${name}.txt`]);
      });
      const collected = place.runProcess(["store", "gc", "--json"]);
      await Promise.all([...writers, json(place, ["gc"])]);
      expect(await collected).toMatchObject({ code: 0, stderr: "" });
    }
    await json(place, ["gc"]);
    expect(await json(place, ["verify"])).toMatchObject({ ok: true, problems: [] });
    expect(await json(place, ["list", "--limit", "100"])).toMatchObject({ total: 7 });
    for (const round of [0, 1, 2]) {
      const { stdout } = await store(place, ["get", `kept-${round}-1.txt`]);
      expect(stdout).toBe(`kept ${round}-1 `.repeat(3000));
    }
    expect((await store(place, ["undelete", "passing-0-0.txt"])).code).toBe(1);
  });
});

describe("corrupted bytes", () => {
  /** Changes every `every`-th byte of a file, starting at `from`. */
  function flip(file: string, { from, every }: { from: number; every: number }): void {
    const fd = openSync(file, "r+");
    for (let at = from; at < statSync(file).size; at += every) writeSync(fd, Buffer.from([0xa5]), 0, 1, at);
    closeSync(fd);
  }

  it("in the index are repaired automatically, and repair rebuilds the index", async () => {
    using place = new Place({ "a.txt": "a heron stands\n" });
    await json(place, ["add", "a.txt"]);
    const index = join(place.home, ".trunkline", "store", "index.sqlite");
    flip(index, { from: 0, every: 1000 });
    expect((await store(place, ["search", "heron", "--paths-only"])).stdout).toBe("a.txt\n");
    expect(await json(place, ["repair"])).toMatchObject({ documents: 1, lost: [] });
    expect(await json(place, ["verify"])).toMatchObject({ ok: true });
  });

  it("in content are found and reported, and the rest stays readable", async () => {
    using place = new Place({ "sound.txt": "sound\n" });
    const hurt = seededRandom().bytes(400_000);
    writeFileSync(join(place.cwd, "hurt.bin"), hurt);
    await json(place, ["add", "sound.txt"]);
    await json(place, ["add", "hurt.bin"]);
    const file = join(place.home, ".trunkline", "store", "content.sqlite");
    // The offset of the document's bytes in the file; random bytes are not compressed.
    const at = readFileSync(file).indexOf(hurt.subarray(200_000, 200_040));
    expect(at).toBeGreaterThan(0);
    flip(file, { from: at + 3, every: Number.MAX_SAFE_INTEGER });

    const get = await store(place, ["get", "hurt.bin", "--output", "copy.bin"]);
    expect(get).toMatchObject({ code: 1, stdout: "" });
    expect(get.stderr).toMatch(/trunkline store (?:verify|repair)/);
    expect(readdirSync(place.cwd)).not.toContain("copy.bin");
    const verify = await store(place, ["verify"]);
    expect(verify.code).toBe(1);
    expect(verify.stdout).toMatch(/^damaged chunk [0-9a-f]{64}: .*\n {2}in \S+hurt\.bin$/m);
    expect((await store(place, ["get", "sound.txt"])).stdout).toBe("sound\n");
    expect(await json(place, ["repair"])).toMatchObject({ chunks: 1, lost: [] });
    expect(await json(place, ["get", "hurt.bin", "--output", "copy.bin"])).toMatchObject({ size: 400_000 });
    expect(readFileSync(join(place.cwd, "copy.bin"))).toEqual(hurt);
  });

  it("all over the database are reported, with what to do", async () => {
    using place = new Place({ "a.txt": "a heron stands\n" });
    await json(place, ["add", "a.txt"]);
    const file = join(place.home, ".trunkline", "store", "content.sqlite");
    writeFileSync(file, seededRandom().bytes(50_000));
    const outcome = await store(place, ["list"]);
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toMatch(/database is damaged.*\n {2}\S/);
  });
});
