// Tab completion of what a store holds: collections, snapshots and sessions.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { json, store } from "./store-support.js";

/** What the completion scripts are offered, by value. */
async function offered(place: Place, ...words: string[]): Promise<Map<string, string>> {
  const { code, stdout, stderr } = await place.run(["__complete", "--", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n").slice(1);
  return new Map(lines.map((line) => line.split("\t")).map(([value = "", about = ""]) => [value, about]));
}

describe.concurrent("completion", () => {
  const place = new Place({ "a.md": "alpha", "b.md": "beta" });
  let open: string;
  let stopped: string;
  let unlabelled: string;
  beforeAll(async () => {
    await json(place, ["add", "a.md", "--label", "before"]);
    await json(place, ["add", "b.md", "--collection", "manual"]);
    await json(place, ["add", "b.md", "--collection", "two words\u0007"]);
    await json(place, ["snapshot", "--collection", "manual"]);
    const { snapshots } = await json(place, ["snapshots", "--collection", "manual"]);
    unlabelled = snapshots[0].id;
    const start = async (label: string) => (await store(place, ["start", "--label", label])).stdout.trim();
    [stopped, open] = [await start("first"), await start("second")];
    await store(place, ["stop", stopped]);
  });
  afterAll(() => place[Symbol.dispose]());

  it.each(["search", "graph", "add"])("knows the collections after `store %s --collection`", async (command) => {
    const found = await offered(place, "store", command, "--collection", "");
    expect([...found.keys()].sort()).toEqual(["default", "manual"]);
    expect(found.get("manual")).toBe("1 document");
    expect([...(await offered(place, "store", command, "--collection=m")).keys()]).toEqual(["--collection=manual"]);
  });

  it("knows snapshots by label, or else by id, for diff, restore and --snapshot", async () => {
    for (const words of [
      ["diff", ""],
      ["diff", "before", ""],
      ["search", "--snapshot", ""],
    ]) {
      const found = await offered(place, "store", ...words);
      expect([...found.keys()]).toEqual(expect.arrayContaining(["before", unlabelled]));
      expect(found.get("before")).toMatch(/^default, \d{4}-\d\d-\d\d /);
    }
    const restorable = await offered(place, "store", "restore", "");
    expect([...restorable.keys()]).toEqual(expect.arrayContaining(["before", "manual"]));
    expect([...(await offered(place, "store", "diff", "--collection", "manual", "")).keys()]).toEqual([unlabelled]);
    // Not a snapshot: the folder to write to.
    expect((await offered(place, "store", "restore", "before", "--to", "")).size).toBe(0);
  });

  it("knows the sessions, and for stop only the open ones", async () => {
    const found = await offered(place, "store", "search", "--session", "");
    expect([...found.keys()].sort()).toEqual([open, stopped].sort());
    expect(found.get(stopped)).toMatch(/^first, stopped /);
    expect([...(await offered(place, "store", "stop", "")).keys()]).toEqual([open]);
  });

  it("uses the store given with --store, and creates none", async () => {
    expect((await offered(place, "store", "--store", "elsewhere", "diff", "")).size).toBe(0);
    expect(existsSync(join(place.cwd, "elsewhere"))).toBe(false);
  });

  it("says nothing about a project's store that is not approved", async () => {
    using other = new Place({ ".git/HEAD": "", "c.md": "gamma" });
    await store(other, ["add", "c.md", "--collection", "theirs", "--store", ".trunkline/store"]);
    expect((await offered(other, "store", "search", "--collection", "")).size).toBe(0);
  });
});
