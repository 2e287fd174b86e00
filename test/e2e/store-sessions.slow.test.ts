// Sessions and watching at the command line.
// @with-broker
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "./command.js";
import { json, store } from "./store-support.js";

describe.concurrent("store sessions", () => {
  it("continue across commands by id", async () => {
    using place = new Place({ "a.txt": "heron\n", "b.txt": "other\n", "c.txt": "heron too\n" });
    const start = await store(place, ["start", "--label", "review"]);
    expect(start).toMatchObject({ code: 0, stderr: "" });
    const session = start.stdout.trim();
    expect(session).toMatch(/^ses-[0-9a-f]{16}$/);
    await json(place, ["add", "a.txt", "--session", session]);
    await json(place, ["add", "b.txt"]);
    await json(place, ["add", "c.txt"]);
    expect((await store(place, ["list", "--paths-only", "--session", session])).stdout).toBe("a.txt\n");
    expect(await json(place, ["search", "heron", "--session", session])).toMatchObject({ total: 1 });

    const { hash } = await json(place, ["pin", "b.txt", "--session", session]);
    await json(place, ["delete", "b.txt", "--session", session]);
    await json(place, ["gc"]);
    expect((await store(place, ["get", hash.slice(0, 12)])).stdout).toBe("other\n");
    expect(await json(place, ["sessions", "--open"])).toMatchObject({
      sessions: [{ session_id: session, label: "review", stopped: null, documents: 1, pinned: 1 }],
      total: 1,
    });

    expect(await store(place, ["stop", session])).toEqual({
      code: 0,
      stdout: `A  a.txt\nP  ${hash}\n`,
      stderr: `session ${session}: 1 added, 0 changed, 0 removed, 1 pinned\n`,
    });
    expect(await store(place, ["sessions", "--open"])).toMatchObject({ code: 0, stdout: "" });
    expect((await store(place, ["sessions"])).stdout).toMatch(/^ses-\S+ .* until .* 1 pinned {2}review\n$/);

    // A pin outlives its session until it is removed.
    expect((await store(place, ["unpin", hash, "--session", session])).stdout).toBe(`unpinned ${hash.slice(0, 12)}\n`);
    await json(place, ["gc"]);
    expect((await store(place, ["get", hash])).code).toBe(1);

    for (const [args, code, message] of [
      [["stop", session], 2, /has been stopped/],
      [["add", "c.txt", "--session", session], 2, /has been stopped/],
      [["stop", "ses-none"], 1, /no session "ses-none"\.\n.*trunkline store sessions/],
      [["unpin", "a.txt", "--session", session], 1, /is not pinned/],
      [["pin", "a.txt"], 2, /--session/],
    ] as const) {
      expect(await store(place, args)).toEqual({ code, stdout: "", stderr: expect.stringMatching(message) });
    }
  });
});

describe.concurrent("store watch", () => {
  it("indexes changes until it is interrupted, reports each one, and prints a summary", async () => {
    using place = new Place({ "src/old.txt": "before\n", "src/gone.txt": "soon gone\n", "src/.gitignore": "*.tmp\n" });
    const at = (name: string) => join(place.cwd, "src", name);
    const child = place.start(["store", "watch", "src", "--label", "editing"]);
    const outcome = outcomeOf(child);
    await seen(child.stderr, /watching src; press Ctrl-C to stop/);
    // Existing files have been added.
    expect((await store(place, ["get", "old.txt"])).stdout).toBe("before\n");

    const step = async (pattern: RegExp, act: () => void) => {
      const shown = seen(child.stdout, pattern);
      act();
      await shown;
    };
    place.write("src/not.tmp", "ignored\n");
    await step(/^A {2}\S+new\.txt$/m, () => void place.write("src/new.txt", "fresh\n"));
    await step(/^M {2}\S+old\.txt$/m, () => void place.write("src/old.txt", "after\n"));
    await step(/^D {2}\S+gone\.txt$/m, () => rmSync(at("gone.txt")));
    expect((await store(place, ["get", "old.txt"])).stdout).toBe("after\n");

    child.kill("SIGINT");
    const { code, stdout, stderr } = await outcome;
    expect(code).toBe(0);
    expect(stdout).toBe("A  src/new.txt\nM  src/old.txt\nD  src/gone.txt\n");
    expect(stderr).toMatch(/session ses-[0-9a-f]{16}: \d added, \d changed, \d removed\n$/);
    const { sessions } = await json(place, ["sessions"]);
    expect(sessions).toMatchObject([{ label: "editing", stopped: expect.any(String) }]);
    expect((await store(place, ["list", "gone.txt"])).code).toBe(1);
    expect(await json(place, ["verify"])).toMatchObject({ ok: true });
  });

  it("reports paths that it cannot watch", async () => {
    using place = new Place();
    const outcome = await store(place, ["watch", "nowhere"]);
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toMatch(/Cannot open \S+nowhere: it does not exist/);
    mkdirSync(join(place.cwd, "here"));
    expect(await store(place, ["watch", "here", "--session", "ses-none"])).toMatchObject({ code: 1, stdout: "" });
  });
});
