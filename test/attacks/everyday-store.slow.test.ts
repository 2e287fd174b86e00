// Everyday use asks nothing: what people and agents do with the store every day, without a terminal to ask on.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "../e2e/command.js";

const FILES = {
  ".git/HEAD": "ref: refs/heads/main",
  ".gitignore": "node_modules/\n*.log\n!keep.log\n",
  "README.md": "# Pelicans\n\nSee [the guide](docs/guide.md).",
  "docs/guide.md": "how to watch pelicans",
  "src/server.ts": "export function listen() {}\n",
  "src/environment.ts": "export const environment = {};\n",
  "src/keys.ts": "export const keys = [];\n",
  "test/id_rsa_test.go": "package test\n",
  ".env.example": "API_KEY=\n",
  "keep.log": "kept",
  "node_modules/x/index.js": "x",
};

describe("everyday use asks nothing", () => {
  it("the user's own store, if the home folder is a link", async () => {
    using place = new Place({ "a.md": "pelicans" });
    const home = join(place.base, "home-link");
    symlinkSync(place.home, home);
    mkdirSync(join(place.home, "notes"));
    const env = { HOME: home };
    expect(await place.run(["store", "add", place.cwd], { cwd: place.home, env })).toMatchObject({ code: 0 });
    for (const cwd of [place.home, join(place.home, "notes"), home])
      expect(await place.run(["store", "search", "pelicans"], { cwd, env })).toMatchObject({ code: 0, stderr: "" });
  });

  it("a project with its own store: init, search, add, list, restore, agent calls, log and stats", async () => {
    using place = new Place(FILES);
    symlinkSync("docs/guide.md", join(place.cwd, "GUIDE.md"));
    const quiet = async (args: readonly string[], options: { cwd?: string } = {}) => {
      const { code, stdout, stderr } = await place.run(args, options);
      expect([args, code, stderr]).toEqual([args, 0, expect.not.stringMatching(/trust|Skipped|not added|\[y\/N\]/)]);
      return stdout;
    };
    await quiet(["init"]);
    const paths = (await quiet(["store", "list", "--paths-only"])).trim().split("\n");
    expect(paths.sort()).toEqual(
      [...Object.keys(FILES).filter((name) => !/^(?:\.git\/|node_modules)/.test(name)), "GUIDE.md"].sort(),
    );
    expect(await quiet(["store", "search", "pelicans"], { cwd: join(place.cwd, "src") })).toContain("guide.md");
    expect(await quiet(["query", '[{"op":"list","params":{"pattern":"src/**/*.ts"}}]'])).toContain("server.ts");
    place.write("src/new.ts", "export const heron = 1;\n");
    await quiet(["execute", '[{"op":"add","params":{"path":"src"}}]']);
    expect(await quiet(["store", "grep", "heron"])).toContain("new.ts");
    await quiet(["init"]);
    await quiet(["store", "verify"]);
    await quiet(["store", "restore", "default", "--to", "../back"]);
    expect(existsSync(join(place.base, "back", "docs", "guide.md"))).toBe(true);
    await quiet(["store", "export", "../all.trunkline"]);
    await quiet(["store", "import", "../all.trunkline", "--store", "../other"]);
    expect(await quiet(["log"])).toContain("add");
    await quiet(["stats"]);
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toMatch(/^\/store\/$/m);
  });

  it("the user's own store needs no approval, with or without a name", async () => {
    using place = new Place({ "a.md": "apples" });
    for (const args of [[], ["--store", "../mine"], ["--store", "../mine"]]) {
      const { code, stderr } = await place.run(["store", "add", "a.md", ...args]);
      expect([code, stderr]).toEqual([0, ""]);
    }
    expect((await place.run(["store", "list"], { env: { TRUNKLINE_STORE: "../mine" } })).code).toBe(0);
  });

  it("serve --watch indexes the project and its changes", async () => {
    using place = new Place(FILES);
    await place.run(["init"]);
    const serving = place.start(["serve", "--watch", "."]);
    const ended = outcomeOf(serving);
    serving.stdin?.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } })}\n`,
    );
    await seen(serving.stdout, /protocolVersion/);
    serving.stdin?.end();
    expect(await ended).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/trust|stopped|Skipped/) });
  });
});
