// Paths in the output of `trunkline store`: relative to the working directory for people, both ways for programs.
// @with-broker
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { json } from "./store-support.js";

describe("paths in the output of the store's commands", () => {
  const place = new Place({
    "src/main.ts": 'import { greet } from "./greet.js";\n\nexport const needle = greet();\n',
    "src/greet.ts": "export function greet() {}\n",
    "docs/guide.md": "# Guide\n\nA needle.\n",
    "docs/old.md": "# Old\n",
  });
  const at = (path: string) => join(place.cwd, path);
  const below = { cwd: at("src") };
  const far = { cwd: at("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z") };
  const out = async (args: readonly string[], options: { cwd?: string } = {}) => {
    const { code, stdout, stderr } = await place.run(["store", ...args, "--store", at("store")], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const data = async (args: readonly string[]) => await json(place, [...args, "--store", at("store")]);
  beforeAll(async () => {
    mkdirSync(far.cwd, { recursive: true });
    await data(["add", "src", "docs"]);
    await place.run(["store", "add", "--store", at("store"), "--name", "loose.txt", "-"], { input: "A loose needle." });
    await data(["snapshot", "--label", "before"]);
    place.write("docs/new.md", "# New\n");
    place.write("docs/guide.md", "# Guide\n\nMore.\n");
    rmSync(at("docs/old.md"));
    await data(["add", "docs"]);
  });
  afterAll(() => place[Symbol.dispose]());

  it("are relative to the working directory in lists", async () => {
    expect(await out(["list", "--paths-only", "*.md"])).toBe("docs/guide.md\ndocs/new.md\n");
    expect(await out(["list", "main.ts"])).toMatch(/ {2}src\/main\.ts\n$/);
    expect(await out(["list", "--paths-only", "*.md"], below)).toBe("../docs/guide.md\n../docs/new.md\n");
  });

  it("stay absolute if that is shorter, and names that are not paths stay as they are", async () => {
    expect(await out(["list", "--paths-only", "new.md"], far)).toBe(`${at("docs/new.md")}\n`);
    expect(await out(["list", "--paths-only", "loose.txt"], below)).toBe("loose.txt\n");
  });

  it("are relative in search and grep, and can be given back to a command", async () => {
    expect(await out(["search", "--type", "keyword", "greet", "--paths-only"])).toBe("src/greet.ts\nsrc/main.ts\n");
    expect(await out(["search", "--type", "keyword", "Guide"])).toMatch(/^docs\/guide\.md:1/);
    expect(await out(["grep", "needle"])).toBe(
      "src/main.ts:3:export const needle = greet();\nloose.txt:1:A loose needle.\n",
    );
    expect(await out(["grep", "-l", "Guide"], below)).toBe("../docs/guide.md\n");
    expect(await out(["grep", "-c", "Guide"], below)).toBe("../docs/guide.md:1\n");
    expect(await out(["get", "../docs/guide.md"], below)).toBe("# Guide\n\nMore.\n");
  });

  it("are relative in diffs of snapshots and of texts", async () => {
    expect(await out(["diff", "before"])).toBe("A  docs/new.md\nM  docs/guide.md\nD  docs/old.md\n");
    expect(await out(["diff", "before", "--path", "docs/guide.md"])).toBe(
      "--- docs/guide.md (before)\n+++ docs/guide.md (now)\n@@ -1,3 +1,3 @@\n # Guide\n \n-A needle.\n+More.\n",
    );
    expect(await out(["diff", "before", "--path", "guide.md"], below)).toMatch(/^--- \.\.\/docs\/guide\.md /);
  });

  it("are relative in the graph, also in the keys of nodes", async () => {
    expect(await out(["graph", "main.ts", "--relation", "imports"])).toBe(
      "src/main.ts\n└─ IMPORTS src/greet.ts (line 1)\n",
    );
    const keys = await out(["graph", "--list-type", "function"], below);
    expect(keys).toBe("greet  symbol:greet.ts#greet\n");
    expect(await out(["graph", "symbol:greet.ts#greet", "--reverse", "--relation", "defines"], below)).toBe(
      "greet function in greet.ts\n└─ <- DEFINES greet.ts (line 1)\n",
    );
    expect(await out(["graph", "--node-key", "file:src/main.ts", "--relation", "imports"])).toContain("src/greet.ts");
  });

  it("are in JSON both ways", async () => {
    const guide = { path: at("docs/guide.md"), relative_path: "docs/guide.md" };
    expect((await data(["search", "--type", "keyword", "Guide"])).results[0]).toMatchObject(guide);
    expect(await data(["search", "--type", "keyword", "Guide", "--paths-only"])).toMatchObject({
      paths: [guide.path],
      relative_paths: [guide.relative_path],
    });
    expect((await data(["list", "guide.md"])).documents).toMatchObject([guide]);
    expect((await data(["grep", "Guide"])).matches).toMatchObject([guide]);
    expect((await data(["grep", "-c", "Guide"])).files).toMatchObject([{ ...guide, count: 1 }]);
    expect(await data(["grep", "-l", "Guide"])).toMatchObject({
      files: [guide.path],
      relative_paths: ["docs/guide.md"],
    });
    expect(await data(["get", "docs/guide.md"])).toMatchObject(guide);
    expect(await data(["graph", "main.ts", "--relation", "imports"])).toMatchObject({
      origin: { path: at("src/main.ts"), relative_path: "src/main.ts" },
      nodes: [{ path: at("src/greet.ts"), relative_path: "src/greet.ts" }],
    });
    expect(await data(["diff", "before"])).toMatchObject({
      added: [at("docs/new.md")],
      relative: { added: ["docs/new.md"], removed: ["docs/old.md"], modified: ["docs/guide.md"], renamed: [] },
    });
    expect((await data(["list", "loose.txt"])).documents).toMatchObject([
      { path: "loose.txt", relative_path: "loose.txt" },
    ]);
  });
});
