// @with-broker
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { Terminal } from "./terminal.js";

const json = (text: string) => JSON.parse(text);

describe("trunkline init", () => {
  it("creates the project's own store and indexes the project, except for files Git ignores", async () => {
    using place = new Place({ "a.md": "apples", "src/b.md": "pears", "secret.env": "x", ".gitignore": "*.env\n" });
    const { code, stdout, stderr } = await place.run(["init"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Created a store for ${place.cwd}`);
    expect(stderr).toContain("trunkline install claude-code --project -- --watch .");
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toMatch(/^\/store\/$/m);
    const listed = json((await place.run(["store", "list", "--json"])).stdout);
    const paths = listed.documents.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining([join(place.cwd, "a.md"), join(place.cwd, "src", "b.md")]));
    expect(paths.join()).not.toMatch(/secret|\.sqlite/);
    expect(existsSync(join(place.home, ".trunkline", "store"))).toBe(false);
  });

  it("takes an empty store folder for none: an init that failed leaves one", async () => {
    using place = new Place({ "a.md": "apples" });
    mkdirSync(join(place.cwd, ".trunkline", "store"), { recursive: true });
    expect((await place.run([])).stdout).toMatch(/^ {2}store +none$/m);
    const { code, stdout } = await place.run(["init"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Created a store for ${place.cwd}`)]);
    expect((await place.run(["store", "search", "apples", "--paths-only"])).stdout).toBe("a.md\n");
  });

  it("does not suggest an installation if a program has Trunkline", async () => {
    using place = new Place();
    expect((await place.run(["install", "cursor", "--yes"])).code).toBe(0);
    const { stderr } = await place.run(["init", "--no-add"]);
    expect(stderr).toContain("Cursor has Trunkline. A new session in this project uses this store.");
    expect(stderr).not.toContain("trunkline install");
  });

  it("is suggested when the store is empty, and when nothing has changed since a snapshot", async () => {
    using place = new Place({ "a.md": "apples" });
    const { stderr: empty } = await place.run(["store", "list"]);
    expect(empty).toMatch(/is empty\.\n {2}Index this project with `trunkline init`, or /);
    await place.run(["init"]);
    await place.run(["store", "snapshot", "--label", "before"]);
    place.write("a.md", "other apples");
    const { code, stderr: unchanged } = await place.run(["store", "diff", "before"]);
    expect(code).toBe(0);
    expect(unchanged).toMatch(/^Nothing changed\.\n {2}.* `trunkline init` and /);
    expect((await place.run(["store", "diff", "before", "before"])).stderr).toBe("Nothing changed.\n");
    await place.run(["init"]);
    expect(await place.run(["store", "diff", "before"])).toEqual({ code: 0, stdout: "M  a.md\n", stderr: "" });
  });

  it("indexes what has changed when run again, even from a subfolder", async () => {
    using place = new Place({ "a.md": "apples", "deep/b.md": "pears" });
    await place.run(["init"]);
    const ignored = readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8");
    place.write("a.md", "other apples");
    const { code, stdout } = await place.run(["init"], { cwd: join(place.cwd, "deep") });
    expect(code).toBe(0);
    expect(stdout).toContain(`Found a store for ${place.cwd}`);
    expect(stdout).toContain("Indexed 1 file ");
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toBe(ignored);
  });

  it("skips Trunkline's and Git's folders", async () => {
    using place = new Place({
      "a.md": "apples",
      ".trunkline/mcp.json": { servers: {} },
      ".git/config": "[core]",
      "sub/.trunkline/prompts/PROMPT-x.md": "# x",
      "sub/.GIT/config": "[core]",
    });
    await place.run(["init"]);
    const { paths } = json((await place.run(["query", "list", "paths_only=true"])).stdout);
    expect(paths).toEqual([join(place.cwd, "a.md")]);
  });

  it("creates the store that commands below the project folder use", async () => {
    using place = new Place({ ".git/HEAD": "", "a.md": "apples", "deep/er/b.md": "pears" });
    await place.run(["init"]);
    const { code, stdout } = await place.run(["query", "search", "query=pears"], {
      cwd: join(place.cwd, "deep", "er"),
    });
    expect(code).toBe(0);
    expect(json(stdout).results[0].path).toBe(join(place.cwd, "deep", "er", "b.md"));
  });

  it("keeps an existing .gitignore and adds the store to it", async () => {
    using place = new Place({ ".trunkline/.gitignore": "mine" });
    await place.run(["init", "--no-add"]);
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toBe("mine\n/store/\n");
    await place.run(["init", "--no-add"]);
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toBe("mine\n/store/\n");
  });

  it("does not index a whole home folder", async () => {
    using place = new Place();
    for (const cwd of [place.home, place.base, "/"]) {
      const { code, stderr } = await place.run(["init"], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining("--force")]);
      expect(stderr).toMatch(/it (?:is your home folder|contains your home folder|is the root of the file system)/);
    }
    expect(existsSync(join(place.home, ".trunkline"))).toBe(false);
  });

  it("says so if the folder cannot be created", async () => {
    using place = new Place({ ".trunkline": "a file" });
    const { code, stderr } = await place.run(["init"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("Cannot create")]);
    expect((await place.run(["init", "nowhere"])).code).toBe(2);
  });
});

describe("the model for search by meaning", () => {
  it("is offered at a terminal when a store is created, and not again", async () => {
    using place = new Place({ "a.md": "apples" });
    const first = new Terminal(place, ["init"]);
    await first.answer("Download it now with npm? [y/N]", "");
    await first.sees("`trunkline models pull` downloads it later");
    await first.sees("Next:");
    expect((await first.end()).code).toBe(0);
    const { code, screen } = await new Terminal(place, ["init"]).end();
    expect({ code, isAsked: screen.includes("Download") }).toEqual({ code: 0, isAsked: false });
  });

  it("is not offered by install or by another init after a no", async () => {
    using place = new Place({ "a.md": "apples", "other/b.md": "pears" });
    const first = new Terminal(place, ["init"]);
    await first.answer("Download it now with npm? [y/N]", "n");
    expect((await first.end()).code).toBe(0);
    const install = new Terminal(place, ["install", "cursor"]);
    await install.answer("Write it? [y/N]", "y");
    const installed = await install.end();
    const other = await new Terminal(place, ["init", "other"]).end();
    expect([installed.code, other.code]).toEqual([0, 0]);
    expect(`${installed.screen}${other.screen}`).not.toContain("Download");
    expect(readFileSync(join(place.home, ".trunkline", "model-declined"), "utf8")).toContain("to be asked again");
  });

  it("is offered by install if no command has asked yet, and a removed record brings the question back", async () => {
    using place = new Place();
    const install = async (program: string) => {
      const terminal = new Terminal(place, ["install", program]);
      await terminal.answer("Write it? [y/N]", "y");
      await terminal.answer("Download it now with npm? [y/N]", "n");
      expect((await terminal.end()).code).toBe(0);
    };
    await install("cursor");
    rmSync(join(place.home, ".trunkline", "model-declined"));
    await install("gemini");
  });

  it.each([
    ["install --yes", ["install", "cursor", "--yes"]],
    ["install --dry-run", ["install", "cursor", "--dry-run"]],
  ])("is not offered by %s", async (_, args) => {
    using place = new Place();
    const { code, screen } = await new Terminal(place, args).end();
    expect({ code, isAsked: screen.includes("Download") }).toEqual({ code: 0, isAsked: false });
  });

  it("is not offered without a terminal", async () => {
    using place = new Place({ "a.md": "apples" });
    const { code, stderr } = await place.run(["init"]);
    expect({ code, isAsked: stderr.includes("Download") }).toEqual({ code: 0, isAsked: false });
  });
});
