// A server that asks for roots is shared only by hubs that offer the same ones.
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Hub, Root } from "../../src/index.js";
import { isAlive, stdio } from "../hub/fixtures.js";
import { PoolHubs, pidOf, pidsOf } from "./fixtures.js";

const roots = (name: string): readonly Root[] => [{ uri: `file:///${name}` }];

async function rootsSeen(hub: Hub): Promise<string> {
  const { text, isError } = await hub.call({ server: "asking", tool: "ask_roots" });
  return isError
    ? "none"
    : JSON.parse(text)
        .answer.roots.map(({ uri }: Root) => uri)
        .join();
}

describe("hubs with different roots", () => {
  it("share a server that has not asked for them", async () => {
    await using hubs = new PoolHubs();
    const opened = [
      await hubs.open(stdio("hello", ["--legacy-only"]), { roots: roots("a") }),
      await hubs.open(stdio("hello", ["--legacy-only"]), { roots: roots("b") }),
    ];
    expect(pidsOf(opened)).toHaveLength(1);
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("part when a %s server asks: the caller stays, and no one else gets its roots", async (_, args) => {
    await using hubs = new PoolHubs();
    const server = stdio("asking", args);
    const one = await hubs.open(server, { roots: roots("a") });
    const two = await hubs.open(server, { roots: roots("b") });
    const unused = await hubs.open(server, { roots: roots("b"), lazy: true });
    const pid = pidOf(one);
    expect(pidOf(two)).toBe(pid);
    expect(await rootsSeen(two)).toBe("file:///b");
    // The other one's tools stay listed while it moves.
    expect(one.tools().length).toBeGreaterThan(0);
    expect(await Promise.all([one, two, unused].map(rootsSeen))).toEqual(["file:///a", "file:///b", "file:///b"]);
    expect([one, two, unused].map((hub) => pidOf(hub) === pid)).toEqual([false, true, true]);
    const three = await hubs.open(server, { roots: roots("a") });
    const four = await hubs.open(server, { roots: roots("c") });
    expect(pidOf(three)).toBe(pidOf(one));
    expect(pidsOf([one, two, four])).toHaveLength(3);
  });

  it("all part from a legacy server that asks while it works for several, and it gets no answer", async () => {
    await using hubs = new PoolHubs();
    const server = stdio("asking", ["--legacy-only"]);
    const opened = [await hubs.open(server, { roots: roots("a") }), await hubs.open(server, { roots: roots("b") })];
    const [pid] = pidsOf(opened);
    expect(await Promise.all(opened.map(rootsSeen))).toEqual(["none", "none"]);
    expect(await Promise.all(opened.map(rootsSeen))).toEqual(["file:///a", "file:///b"]);
    expect(pidsOf(opened)).toHaveLength(2);
    expect(pidsOf(opened)).not.toContain(pid);
    await hubs.pool.close();
    expect(isAlive(pid ?? 0)).toBe(false);
  });
});

describe("hubs with the same roots", () => {
  it("share a server that asks, also if several have calls in flight", async () => {
    await using hubs = new PoolHubs();
    const server = stdio("asking", ["--legacy-only"]);
    const opened = await Promise.all([1, 2, 3].map(() => hubs.open(server, { roots: roots("a") })));
    expect(await Promise.all(opened.map(rootsSeen))).toEqual(["file:///a", "file:///a", "file:///a"]);
    expect(pidsOf(opened)).toHaveLength(1);
  });

  it("part when one of them changes its roots, and meet again", async () => {
    await using hubs = new PoolHubs();
    const server = stdio("asking", ["--legacy-only"]);
    const [one, two] = [await hubs.open(server, { roots: roots("a") }), await hubs.open(server, { roots: roots("a") })];
    await rootsSeen(one);
    await one.setRoots(roots("b"));
    expect(await rootsSeen(one)).toBe("file:///b");
    expect(await rootsSeen(two)).toBe("file:///a");
    expect(pidsOf([one, two])).toHaveLength(2);
    await two.setRoots(roots("b"));
    expect(await rootsSeen(two)).toBe("file:///b");
    expect(pidsOf([one, two])).toHaveLength(1);
  });
});

describe("a hub whose roots change while a server that has asked for them still connects", () => {
  it("tells the server as soon as it is connected", async () => {
    await using hubs = new PoolHubs();
    const place = mkdtempSync(join(tmpdir(), "rooted-"));
    const script = fileURLToPath(new URL("./rooted-server.js", import.meta.url));
    const server = stdio("hello", [], { name: "rooted", args: [script, place] });
    const hub = await hubs.open(server, { lazy: true, answers: { roots: { listChanged: true } } });
    const connecting = hub.connect();
    await expect.poll(() => existsSync(join(place, "asked"))).toBe(true);
    await hub.setRoots(roots("a"));
    writeFileSync(join(place, "go"), "");
    await connecting;
    await expect.poll(async () => (await hub.call("rooted.roots")).text).toBe("file:///a");
  });
});
