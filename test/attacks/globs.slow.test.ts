// Globs come from clients, and .gitignore files from strange projects: neither can keep the store busy.
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

/** A backtracking matcher would not finish with these in a lifetime. The timeout only catches that hang. */
const HANGS = { timeout: 60_000 };

const NAME = "a".repeat(120);

describe("globs match in linear time", () => {
  it("in list", HANGS, async () => {
    using place = new Place({ [NAME]: "x", [`deep/${"a/".repeat(100)}${NAME}`]: "y" });
    await place.run(["store", "add", "."]);
    for (const pattern of [
      `${"*a".repeat(14)}*b`,
      `${"**/*a".repeat(14)}*b`,
      `${"**a".repeat(14)}**b`,
      `${"{a,aa,*}".repeat(30)}b`,
      `${"{*a,".repeat(20)}a${"}".repeat(20)}${"*a".repeat(14)}b`,
      `${"*[a-z]*?".repeat(20)}b`,
    ]) {
      expect(await place.run(["store", "list", pattern]), pattern).toMatchObject({ code: 1, stdout: "" });
    }
  });

  it("in every other operation that takes one", HANGS, async () => {
    using place = new Place({ [NAME]: "x" });
    await place.run(["store", "add", "."]);
    const glob = `${"*a".repeat(14)}*b`;
    for (const args of [
      ["grep", "x", "--include", glob],
      ["grep", "nothing", "--exclude", glob],
      ["search", "x", "--path-pattern", glob],
      ["delete", glob, "--dry-run"],
      ["add", ".", "--exclude", glob],
      ["restore", "default", "--to", "../out", "--include", glob],
    ]) {
      expect((await place.run(["store", ...args])).stderr, args[0]).not.toContain("INTERNAL");
    }
  });

  it("the operation filter of log", HANGS, async () => {
    using place = new Place();
    await place.run(["query", JSON.stringify([{ op: "status" }])]);
    expect((await place.run(["log", "--operation", `${"*t".repeat(40)}*b`])).code).toBe(0);
  });

  it("rejects a pattern that is longer than any path", async () => {
    using place = new Place({ [NAME]: "x" });
    await place.run(["store", "add", "."]);
    const { code, stderr } = await place.run(["store", "list", "*a".repeat(10_000)]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("A glob has at most 1024 characters.");
  });
});

describe("a glob with more stars than anyone writes", () => {
  it("is rejected", async () => {
    using place = new Place({ [NAME]: "x" });
    await place.run(["store", "add", "."]);
    const { code, stderr } = await place.run(["store", "list", `${"*a".repeat(400)}*b`]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("A glob has at most 64 stars.");
    expect(await place.run(["store", "list", `{${"**/*.ts,".repeat(30)}*aaa}`])).toMatchObject({ code: 0 });
  });

  it("is not a rule of .gitignore: a thousand of them would keep an add busy for hours", async () => {
    const rules = [...Array.from({ length: 60 }, () => `${"*a".repeat(40)}*`), "*.log"].join("\n");
    using place = new Place({ ".gitignore": rules, [NAME]: "x", "debug.log": "y", "logs/b.log": "z" });
    await place.run(["store", "add", "."]);
    const { stdout } = await place.run(["store", "list", "--paths-only"]);
    expect(stdout).toContain(NAME);
    expect(stdout).not.toContain(".log");
  });
});

describe("a project's .gitignore", () => {
  it("cannot hang an add with its rules", HANGS, async () => {
    const rules = [`${"*a".repeat(14)}*b`, `${"**/*a".repeat(14)}*b`, `${"a*".repeat(40)}!`].join("\n");
    using place = new Place({ ".gitignore": rules, [NAME]: "x", [`f/${NAME}`]: "y" });
    expect(await place.run(["store", "add", "."])).toMatchObject({ code: 0 });
  });

  it.runIf(process.platform !== "win32")("is not read through a link, or from a pipe", HANGS, async () => {
    using place = new Place({ "one/a.md": "x", "two/b.md": "y" });
    symlinkSync("/dev/zero", join(place.cwd, "one", ".gitignore"));
    execFileSync("mkfifo", [join(place.cwd, "two", ".gitignore")]);
    expect(await place.run(["store", "add", "."])).toMatchObject({ code: 0 });
    expect((await place.run(["store", "list", "*.md", "--paths-only"])).stdout.trim().split("\n")).toHaveLength(2);
  });
});
