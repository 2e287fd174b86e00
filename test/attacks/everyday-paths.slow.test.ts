// Everyday use asks nothing: what a coding agent does with files in its own workspace.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { ServedStdio } from "../e2e/serve-stdio-client.js";
import { asking, attempt, Machine } from "./paths-support.js";

describe("a coding agent in its workspace", () => {
  it("adds, changes, restores and exports files without a question", async () => {
    using machine = new Machine({ "code/app/README.md": "# app\n", "code/app/.gitignore": "dist\n" });
    const { project } = machine;
    mkdirSync(join(project, ".git"));
    rmSync(join(project, ".env"));
    const client = asking("no");
    await using served = await ServedStdio.start(machine, [], { cwd: project, client });
    const added = await attempt(served, "add", { path: ".", collection: "app", snapshot_label: "before" });
    expect(added).toMatchObject({ files: expect.any(Number), snapshot_id: expect.any(String) });
    // It breaks a file, indexes that, and goes back.
    writeFileSync(join(project, "src/main.ts"), "broken");
    expect(await attempt(served, "add", { path: "src/main.ts", collection: "app" })).not.toHaveProperty("code");
    const restored = await attempt(served, "restore", {
      snapshot_id: "before",
      output_directory: ".",
      overwrite: true,
    });
    expect(restored).toMatchObject({ restored: 1, conflicts: [] });
    expect(readFileSync(join(project, "src/main.ts"), "utf8")).toContain("export const a");
    // A copy next to it, and one file on its own.
    expect(await attempt(served, "restore", { collection: "app", output_directory: "out/copy" })).toMatchObject({
      conflicts: [],
    });
    const got = await attempt(served, "get", { path: "src/main.ts", outputPath: "out/main.ts" }, "query");
    expect(got).toMatchObject({ outputPath: expect.stringContaining("out/main.ts") });
    await served.call("session", { action: "start" });
    const { value } = await served.call("session", { action: "watch", paths: ["src"] });
    expect(value).toMatchObject({ watching: [expect.stringContaining("src")] });
    expect(client.asked).toEqual([]);
  });

  it("works from a folder inside the repository, and reaches the rest of it", async () => {
    using machine = new Machine({ "code/app/packages/a/index.ts": "a", "code/app/docs/b.md": "b" });
    mkdirSync(join(machine.project, ".git"));
    const client = asking("no");
    const cwd = join(machine.project, "packages", "a");
    await using served = await ServedStdio.start(machine, [], { cwd, client });
    expect(await attempt(served, "add", { paths: ["index.ts", "../../docs/b.md"] })).not.toHaveProperty("code");
    expect(await attempt(served, "restore", { collection: "default", output_directory: "../../out" })).toMatchObject({
      conflicts: [],
    });
    expect(client.asked).toEqual([]);
  });

  it("works in a Git worktree, also one that an agent keeps in its own folder", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.email=a@b.c", "-c", "user.name=a", ...args], {
        cwd: project,
        env: { PATH: process.env.PATH ?? "", HOME: home },
      });
    git("init", "-q");
    git("add", "src");
    git("commit", "-qm", "first");
    const tree = join(project, ".claude", "worktrees", "fix");
    git("worktree", "add", "-q", tree);
    const client = asking("no");
    await using served = await ServedStdio.start(machine, [], { cwd: join(tree, "src"), client });
    expect(await attempt(served, "add", { path: ".." })).toMatchObject({ files: expect.any(Number) });
    await attempt(served, "add", { content: "new", name: "notes/new.md", collection: "new" });
    expect(await attempt(served, "restore", { collection: "new", output_directory: ".." })).toMatchObject({
      restored: 1,
    });
    expect(existsSync(join(tree, "notes", "new.md"))).toBe(true);
    expect(client.asked).toEqual([]);
  });

  it("uses the folders that its editor has open, whether the editor is asked before or during a call", async () => {
    using machine = new Machine();
    const uri = pathToFileURL(join(machine.home, "other")).href;
    const asked: string[] = [];
    const client = {
      capabilities: { roots: { listChanged: true }, elicitation: {} },
      answer: (method: string) => {
        asked.push(method);
        return { roots: [{ uri }] };
      },
    };
    await using served = await ServedStdio.start(machine, [], { cwd: machine.project, client });
    const path = join(machine.home, "other", "notes.md");
    expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    expect(new Set(asked)).toEqual(new Set(["roots/list"]));
  });

  it("uses folders given with --allow-path over stdio", async () => {
    using machine = new Machine();
    const other = join(machine.home, "other");
    const client = asking("no");
    await using served = await ServedStdio.start(machine, ["--allow-path", other], { cwd: machine.project, client });
    expect(await attempt(served, "add", { path: other })).not.toHaveProperty("code");
    expect(await attempt(served, "restore", { collection: "default", output_directory: other })).toMatchObject({
      conflicts: [],
    });
    expect(client.asked).toEqual([]);
  });
});

describe("a person at the terminal", () => {
  it("is not confined", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    const options = { cwd: project };
    const added = await machine.run(["store", "add", join(home, ".ssh", "id_rsa")], options);
    expect(added.code, added.stderr).toBe(0);
    const executed = await machine.run(["execute", "add", `path=${join(home, "other")}`], options);
    expect(executed.code, executed.stdout).toBe(0);
    const target = join(machine.base, "elsewhere");
    const restored = await machine.run(
      ["execute", "restore", "collection=default", `output_directory=${target}`],
      options,
    );
    expect(restored.code, restored.stdout).toBe(0);
    expect(existsSync(join(target, "id_rsa"))).toBe(true);
    const got = await machine.run(["store", "get", "notes.md", "-o", join(home, ".bashrc")], options);
    expect(got.code, got.stderr).toBe(0);
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("other notes");
  });
});

describe("trunkline doctor", () => {
  it("shows the allowed folders", async () => {
    using machine = new Machine({ ".trunkline/settings.json": JSON.stringify({ paths: { read: ["~/other"] } }) });
    const here = await machine.run(["doctor"], { cwd: machine.project });
    expect(here.stdout).toMatch(/allowed folders +.*code\/app, ~\/other \(read\); clients have to ask for other files/);
    const home = await machine.run(["doctor"], { cwd: machine.home });
    expect(home.stdout).toMatch(/allowed folders +none here, because it is your home folder/);
  });
});
