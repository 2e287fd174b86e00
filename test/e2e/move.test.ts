import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { StandInKeychain } from "../support/stand-in-keychain.js";
import { bin, Place } from "./command.js";
import { backupsOf, homeFiles, MOVABLE, settingsOf, writeHome } from "./move-support.js";
import { KEY, Terminal } from "./terminal.js";

const onLinux = process.platform === "linux";
const DOCS = { command: "docs-mcp" };
const CURSOR = '{ "mcpServers": { "docs": { "command": "docs-mcp" } } }\n';

describe.runIf(onLinux)("trunkline import --move", () => {
  it.each(MOVABLE)("moves the servers of %s, and restores its file byte for byte", async (program, file, text) => {
    using place = new Place();
    const path = writeHome(place, file, text, 0o640);
    const before = homeFiles(place);
    const moved = await place.run(["import", program, "--move", "--yes"]);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining("trunkline uninstall --restore") });
    expect(moved.stdout).toContain(`--- ${path}\n+++ ${path}\n@@ `);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    const after = readFileSync(path, "utf8");
    expect(after).not.toContain("docs-mcp");
    expect(after).toContain(JSON.stringify(bin));
    expect(statSync(path).mode & 0o777).toBe(0o640);
    // The same entry that `install` writes.
    expect((await place.run(["install", program, "--dry-run"])).stdout).toContain("already has Trunkline");

    const again = await place.run(["import", program, "--move", "--yes"]);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("There is nothing to move.")]);

    const restored = await place.run(["uninstall", "--restore", "--yes"]);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("as it was") });
    expect(homeFiles(place)).toEqual(before);
    expect(settingsOf(place)).toBeUndefined();
    expect(backupsOf(place)).toEqual([]);
    expect((await place.run(["uninstall", "--restore"])).stdout).toBe("There is nothing to restore.\n");
  });

  it("moves all programs at once, and each server once", async () => {
    using place = new Place();
    for (const [, file, text] of MOVABLE) writeHome(place, file, text);
    const before = homeFiles(place);
    expect((await place.run(["import", "--move", "--yes"])).code).toBe(0);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    for (const [, file] of MOVABLE) expect(readFileSync(join(place.home, file), "utf8")).not.toContain("docs-mcp");
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(homeFiles(place)).toEqual(before);
  });

  it("keeps private backups with a manifest", async () => {
    using place = new Place();
    const path = writeHome(place, ".cursor/mcp.json", CURSOR, 0o644);
    await place.run(["import", "cursor", "--move", "--yes"]);
    const [folder = ""] = backupsOf(place);
    const modes = [dirname(folder), folder, join(folder, "manifest.json"), join(folder, "1")];
    expect(modes.map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
    expect(readFileSync(join(folder, "1"), "utf8")).toBe(CURSOR);
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))).toMatchObject({
      files: [
        { existed: false, after: hash, copied: [{ name: "docs" }] },
        { path, existed: true, mode: 0o644, before: hash, after: hash, copy: "1" },
      ],
    });
  });

  it("explains what is not shown, and says before it moves that comments are lost", async () => {
    using place = new Place();
    const entry = '"docs": { "command": "docs-mcp", /* ask Bob */ "args": [] } // last';
    writeHome(place, ".cursor/mcp.json", `{\n  // mine\n  "zoom": 3,\n  "mcpServers": {\n    ${entry}\n  }\n}\n`);
    const { stdout, stderr } = await place.run(["import", "--move", "--dry-run"]);
    expect(stdout).toContain('"zoom": "…"');
    expect(stdout).toContain("\n… marks values and comments that are not shown.\n");
    expect(stderr).toContain(
      "mcp.json: 2 comments in the moved entries are lost; the backup has the file as it is now.",
    );
  });

  it("needs --yes without a terminal", async () => {
    using place = new Place();
    const path = writeHome(place, ".cursor/mcp.json", CURSOR);
    const { code, stdout, stderr } = await place.run(["import", "--move"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Write it with --yes")]);
    expect(stdout).toContain('-{ "mcpServers": { "docs"');
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
    expect(backupsOf(place)).toEqual([]);
  });

  it.each([
    [["import", "--move", "--user"], "neither --user nor --project"],
    [["import", "--move", "--project"], "neither --user nor --project"],
    [["import", "all", "--include-project"], "is for --move"],
    [["uninstall"], "needs a program, or --restore"],
    [["uninstall", "--restore", "--project"], "Omit --project"],
    [["uninstall", "curser", "--restore"], "Did you mean cursor?"],
  ])("%j is wrong usage", async (args, message) => {
    using place = new Place();
    const { code, stderr } = await place.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("leaves a server alone if Trunkline has another one of that name, and says so", async () => {
    using place = new Place();
    writeHome(place, ".cursor/mcp.json", CURSOR);
    const gemini = writeHome(place, ".gemini/settings.json", CURSOR.replace("docs-mcp", "other-docs"));
    const { stderr } = await place.run(["import", "--move", "--yes"]);
    const reason = (owner: string) =>
      `docs stays in Gemini CLI (~/.gemini/settings.json): ${owner} has a different server with this name; rename one of them, or use this one everywhere: \`trunkline import gemini --move --overwrite\`.`;
    expect(stderr).toContain(reason("Cursor"));
    expect(readFileSync(gemini, "utf8")).toContain("other-docs");
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    expect((await place.run(["import", "--move", "--yes"])).stderr).toContain(reason("Trunkline"));
    await place.run(["import", "gemini", "--move", "--overwrite", "--yes"]);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: { command: "other-docs" } } });
  });

  it("leaves servers alone that only the program can start", async () => {
    using place = new Place();
    const text =
      '{ "servers": { "a": { "command": "a", "env": { "T": "${input:token}" } }, "b": { "command": "b" } } }';
    const path = writeHome(place, ".config/Code/User/mcp.json", text);
    const { stderr } = await place.run(["import", "vscode", "--move", "--yes"]);
    expect(stderr).toContain("a stays in VS Code");
    expect(Object.keys(JSON.parse(readFileSync(path, "utf8")).servers)).toEqual(["a", "trunkline"]);
    expect(Object.keys(settingsOf(place)?.mcpServers ?? {})).toEqual(["b"]);
  });

  it("moves the servers that Claude Code keeps for this folder", async () => {
    using place = new Place({ ".git/HEAD": "" });
    const docs = { docs: { type: "stdio", command: "docs-mcp" } };
    const content = { mcpServers: {}, projects: { [place.cwd]: { mcpServers: docs, history: [1] } } };
    const path = writeHome(place, ".claude.json", JSON.stringify(content, null, 2));
    const before = homeFiles(place);
    const { stderr } = await place.run(["import", "claude-code", "--move", "--yes"]);
    expect(stderr).toContain(
      `note: docs: Claude Code uses it only in ${place.cwd}\nnote: docs: Trunkline will use it in every folder\n`,
    );
    const written = JSON.parse(readFileSync(path, "utf8"));
    expect(written.projects[place.cwd]).toEqual({ mcpServers: {}, history: [1] });
    expect(Object.keys(written.mcpServers)).toEqual(["trunkline"]);
    await place.run(["uninstall", "--restore", "--yes"]);
    expect(homeFiles(place)).toEqual(before);
  });

  it.each([
    ["malformed", '{ "mcpServers": { oops', 0o644, /config\.json:1:\d+ cannot be used/],
    ["read-only", CURSOR, 0o444, /config\.json is read-only, so it is left alone/],
    ["not UTF-8", Buffer.from('{ "mcpServers": { "é": { "command": "x" } } }', "latin1"), 0o644, /not UTF-8/],
    ["ambiguous", '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }', 0o644, /without touching/],
  ])("leaves a %s file alone, names it, and moves the others", async (_, content, mode, message) => {
    using place = new Place();
    const path = writeHome(place, ".codeium/windsurf/mcp_config.json", "");
    writeFileSync(path, content);
    chmodSync(path, mode);
    const cursor = writeHome(place, ".cursor/mcp.json", CURSOR.replace('"docs"', '"files"'));
    const { code, stderr } = await place.run(["import", "--move", "--yes"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(readFileSync(path)).toEqual(Buffer.from(content));
    expect(readFileSync(cursor, "utf8")).not.toContain("docs-mcp");
  });

  it.skipIf(process.getuid?.() === 0)("leaves a file in an unwritable folder alone (not as root)", async () => {
    using place = new Place();
    const path = writeHome(place, ".cursor/mcp.json", CURSOR);
    chmodSync(dirname(path), 0o555);
    const { code, stderr } = await place.run(["import", "cursor", "--move", "--yes"]);
    chmodSync(dirname(path), 0o755);
    expect([code, stderr]).toEqual([1, expect.stringContaining("its folder cannot be written to")]);
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
  });

  it("puts everything back if one of the files cannot be written", async () => {
    using place = new Place();
    // The file can be read; the longer name under which it is written first would be too long for a path.
    let folder = place.home;
    while (folder.length < 3800) folder = join(folder, "x".repeat(200));
    folder = join(folder, "x".repeat(4096 - folder.length - "/config.toml".length - 8));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.toml"), '[mcp_servers.a]\ncommand = "a"\n');
    const cursor = writeHome(place, ".cursor/mcp.json", CURSOR);
    const { code, stderr } = await place.run(["import", "--move", "--yes"], { env: { CODEX_HOME: folder } });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("its name is too long. All other files are as they were."),
    ]);
    expect(readFileSync(cursor, "utf8")).toBe(CURSOR);
    expect(settingsOf(place)).toBeUndefined();
    expect(backupsOf(place)).toEqual([]);
  });

  it.each([
    ["of another program", { command: "other" }],
    ["of an unknown type", { type: "carrier-pigeon" }],
  ])("leaves a file alone that has a server named trunkline %s, and moves the others", async (_, entry) => {
    const text = JSON.stringify({ mcpServers: { a: { command: "a" }, trunkline: entry } });
    for (const args of [
      ["import", "--move", "--yes"],
      ["setup", "--yes"],
    ]) {
      using place = new Place();
      const cursor = writeHome(place, ".cursor/mcp.json", text);
      const gemini = writeHome(place, ".gemini/settings.json", CURSOR);
      const { code, stdout, stderr } = await place.run(args);
      const message = `${cursor} has a server "trunkline" that does not start this program.`;
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(message)]);
      expect(readFileSync(cursor, "utf8")).toBe(text);
      expect(readFileSync(gemini, "utf8")).toContain("trunkline");
      expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    }
  });

  it.each(["import", "setup", "uninstall"])("%s removes what killed moves left of backups", async (command) => {
    using place = new Place();
    const backups = join(place.home, ".trunkline", "backups");
    const left = (pid: number, id: string) => join(backups, `2026-01-01T00-00-00-000Z-${id}.${pid}.part`);
    // No process has this number.
    const [dead, old, running] = [left(2 ** 30, "aaaa"), left(process.pid, "bbbb"), left(process.pid, "cccc")];
    for (const folder of [dead, old, running]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "0"), "s3cret");
    }
    utimesSync(old, 1, 1);
    const args = { import: ["import", "--move"], setup: ["setup"], uninstall: ["uninstall", "--restore"] }[command];
    expect((await place.run(args ?? [])).code).toBe(0);
    expect(backupsOf(place)).toEqual([running]);
  });

  it.each(["import", "setup"])("%s writes nothing after Ctrl-C or a no", async (command) => {
    using place = new Place();
    writeHome(
      place,
      ".cursor/mcp.json",
      CURSOR.replace('"docs-mcp"', '"docs-mcp", "env": { "API_KEY": "abcdefgh12" }'),
    );
    const before = homeFiles(place);
    const args = command === "import" ? ["import", "--move"] : ["setup"];
    const first = command === "import" ? "of other programs? [y/N]" : "Do it? [y/N";
    for (const keys of [KEY.interrupt, KEY.enter]) {
      const terminal = new Terminal(place, args);
      await terminal.sees(first);
      terminal.press(keys);
      expect((await terminal.end()).code).toBe(keys === KEY.interrupt ? 130 : 0);
    }
    // At the question about the secret.
    const { path: PATH } = new StandInKeychain(join(place.base, "bin"));
    const terminal = new Terminal(place, args, { PATH });
    await terminal.answer(first, "y");
    await terminal.sees("Move 1 secret");
    terminal.press(KEY.interrupt);
    expect((await terminal.end()).code).toBe(130);
    expect(homeFiles(place)).toEqual(before);
    expect([settingsOf(place), backupsOf(place)]).toEqual([undefined, []]);
  });

  it("refuses a file that changes while the diff is on the screen", async () => {
    using place = new Place();
    const cursor = writeHome(place, ".cursor/mcp.json", CURSOR);
    const gemini = writeHome(place, ".gemini/settings.json", CURSOR);
    const terminal = new Terminal(place, ["import", "--move"]);
    await terminal.sees("[y/N]");
    appendFileSync(gemini, "\n");
    terminal.press(`y${KEY.enter}`);
    const { code, screen } = await terminal.end();
    expect([code, screen]).toEqual([1, expect.stringContaining("has changed since it was read. Nothing was written.")]);
    expect(readFileSync(cursor, "utf8")).toBe(CURSOR);
    expect(settingsOf(place)).toBeUndefined();
  });

  it("writes through a link and leaves it a link", async () => {
    using place = new Place();
    const real = writeHome(place, "dotfiles/mcp.json", CURSOR);
    const path = join(place.home, ".cursor", "mcp.json");
    mkdirSync(dirname(path));
    symlinkSync(real, path);
    await place.run(["import", "cursor", "--move", "--yes"]);
    expect(readFileSync(real, "utf8")).toContain("trunkline");
    await place.run(["uninstall", "--restore", "--yes"]);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toBe(CURSOR);
  });

  it("moves a project's file to the project if the user says so", async () => {
    using place = new Place({ ".git/HEAD": "", ".mcp.json": CURSOR });
    const { code, stderr } = await place.run(["import", "claude-code", "--move", "--include-project", "--yes"]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("everyone who shares these files through git will need Trunkline."),
    ]);
    const file = (name: string) => JSON.parse(readFileSync(join(place.cwd, name), "utf8"));
    expect(file(".trunkline/mcp.json").servers).toEqual({ docs: DOCS });
    expect(Object.keys(file(".mcp.json").mcpServers)).toEqual(["trunkline"]);
    expect(settingsOf(place)).toBeUndefined();
    await place.run(["uninstall", "--restore", "--yes"]);
    expect(readFileSync(join(place.cwd, ".mcp.json"), "utf8")).toBe(CURSOR);
    expect(existsSync(join(place.cwd, ".trunkline", "mcp.json"))).toBe(false);
  });
});

describe.runIf(onLinux)("trunkline import --move --move-secrets", () => {
  const server = (token: string) => ({ command: "github-mcp", env: { GITHUB_TOKEN: token } });
  const stage = (files: Record<string, unknown>) => {
    const place = new Place(files);
    const keychain = new StandInKeychain(join(place.base, "bin"));
    const run = (...args: string[]) => place.run(args, { env: { PATH: keychain.path } });
    return { place, keychain, run, [Symbol.dispose]: () => place[Symbol.dispose]() };
  };
  const tokenOf = (entry: unknown) => (entry as ReturnType<typeof server>).env.GITHUB_TOKEN;

  it.each([["import"], ["move"]])("gives every secret a name of its own (%s)", async (how) => {
    using at = stage({ ".git/HEAD": "", ".mcp.json": { mcpServers: { github: server("project-token-1") } } });
    const { place, keychain } = at;
    keychain.set("a-b.GITHUB_TOKEN", "kept-before-123");
    const servers = {
      github: server("user-token-1"),
      "a b": server("user-token-2"),
      "a-b": server("user-token-3"),
    };
    writeHome(place, ".claude.json", JSON.stringify({ mcpServers: servers }));
    const more = how === "move" ? ["--move", "--include-project"] : [];
    const { code } = await at.run("import", "claude-code", ...more, "--move-secrets", "--yes");
    expect(code).toBe(0);
    const user = settingsOf(place)?.mcpServers ?? {};
    const project = JSON.parse(readFileSync(join(place.cwd, ".trunkline", "mcp.json"), "utf8")).servers;
    const names = [user.github, user["a b"], user["a-b"], project.github].map(
      (entry) => /^\$\{secret:(.*)\}$/.exec(tokenOf(entry))?.[1] ?? "",
    );
    expect(new Set(names).size).toBe(4);
    expect(names.map((name) => keychain.kept[name])).toEqual([
      "user-token-1",
      "user-token-2",
      "user-token-3",
      "project-token-1",
    ]);
    expect(keychain.kept["a-b.GITHUB_TOKEN"]).toBe("kept-before-123");
  });

  it("uses a secret that the keychain has already", async () => {
    using at = stage({});
    at.keychain.set("github.GITHUB_TOKEN", "user-token-1");
    writeHome(at.place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { github: server("user-token-1") } }));
    expect((await at.run("import", "cursor", "--move", "--move-secrets", "--yes")).code).toBe(0);
    expect(at.keychain.kept).toEqual({ "github.GITHUB_TOKEN": "user-token-1" });
  });

  it("leaves a server alone whose token is not the one in the keychain", async () => {
    using at = stage({});
    const cursor = writeHome(
      at.place,
      ".cursor/mcp.json",
      JSON.stringify({ mcpServers: { github: server("user-token-1") } }),
    );
    await at.run("import", "cursor", "--move", "--move-secrets", "--yes");
    const other = writeHome(
      at.place,
      ".gemini/settings.json",
      JSON.stringify({ mcpServers: { github: server("other-token") } }),
    );
    const { stderr } = await at.run("import", "gemini", "--move", "--move-secrets", "--yes");
    expect(stderr).toContain("github stays in Gemini CLI (~/.gemini/settings.json): Trunkline has a different server");
    expect(readFileSync(other, "utf8")).toContain("other-token");
    // The same one is removed.
    writeFileSync(other, JSON.stringify({ mcpServers: { github: server("user-token-1") } }));
    expect((await at.run("import", "gemini", "--move", "--yes")).code).toBe(0);
    expect(readFileSync(other, "utf8")).not.toContain("user-token-1");
    expect(readFileSync(cursor, "utf8")).not.toContain("user-token-1");
    expect(at.keychain.kept).toEqual({ "github.GITHUB_TOKEN": "user-token-1" });
  });
});

describe.runIf(onLinux)("trunkline uninstall --restore", () => {
  const moved = async (place: Place) => {
    const path = writeHome(place, ".cursor/mcp.json", CURSOR);
    await place.run(["import", "cursor", "--move", "--yes"]);
    return path;
  };

  it("keeps edits, puts the servers back and takes Trunkline out", async () => {
    using place = new Place();
    const path = await moved(place);
    const now = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ mcpServers: { ...now.mcpServers, mine: { command: "m" } }, theme: "dark" }));
    const { code, stdout, stderr } = await place.run(["uninstall", "--restore", "--yes"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("edited since: the edits stay")]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      mcpServers: { mine: { command: "m" }, docs: DOCS },
      theme: "dark",
    });
    // The old version stays at hand.
    const [folder = ""] = backupsOf(place);
    expect(stderr).toContain(folder);
    expect(readFileSync(join(folder, "1"), "utf8")).toBe(CURSOR);
    expect((await place.run(["uninstall", "--restore", "--yes"])).stdout).toBe("There is nothing to restore.\n");
  });

  it("replaces edits with --force, and keeps a copy of them", async () => {
    using place = new Place();
    const path = await moved(place);
    writeFileSync(path, "{ my edit");
    const refused = await place.run(["uninstall", "--restore", "--yes"]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("--force restores the old version")]);
    expect(readFileSync(path, "utf8")).toBe("{ my edit");
    expect((await place.run(["uninstall", "--restore", "--force", "--yes"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
    expect(backupsOf(place).length).toBe(1);
  });

  it("does not recreate a removed file without --force", async () => {
    using place = new Place();
    const path = await moved(place);
    rmSync(path);
    const refused = await place.run(["uninstall", "--restore", "--yes"]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("it was removed since")]);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    await place.run(["uninstall", "--restore", "--force", "--yes"]);
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
  });

  it("keeps a copied server that was changed since, and other settings", async () => {
    using place = new Place();
    const path = writeHome(place, ".cursor/mcp.json", CURSOR.replace('"docs":', '"b": { "command": "b" }, "docs":'));
    await place.run(["import", "cursor", "--move", "--yes"]);
    const settings = { mcpServers: { b: { command: "b" }, docs: { command: "mine" }, c: { command: "c" } } };
    writeHome(place, ".trunkline/settings.json", JSON.stringify(settings));
    const { code, stdout } = await place.run(["uninstall", "--restore", "--yes"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("docs was changed since and stays")]);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: { command: "mine" }, c: { command: "c" } } });
    expect(readFileSync(path, "utf8")).toContain("docs-mcp");
  });

  it("restores one program, and keeps servers that another one has through Trunkline", async () => {
    using place = new Place();
    const cursor = await moved(place);
    const gemini = writeHome(place, ".gemini/settings.json", CURSOR);
    await place.run(["import", "gemini", "--move", "--yes"]);
    expect((await place.run(["uninstall", "cursor", "--restore", "--yes"])).code).toBe(0);
    expect(readFileSync(cursor, "utf8")).toBe(CURSOR);
    expect(settingsOf(place)).toEqual({ mcpServers: { docs: DOCS } });
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(readFileSync(gemini, "utf8")).toBe(CURSOR);
    expect(settingsOf(place)).toBeUndefined();
  });

  it("undoes several moves of one file, newest first", async () => {
    using place = new Place();
    const path = await moved(place);
    const added = readFileSync(path, "utf8").replace('"trunkline"', '"late": { "command": "late" }, "trunkline"');
    writeFileSync(path, added);
    await place.run(["import", "cursor", "--move", "--yes"]);
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ mcpServers: { late: { command: "late" }, docs: DOCS } });
    expect(settingsOf(place)).toBeUndefined();
  });

  it("puts back the server that was overwritten, even if the settings were edited since", async () => {
    using place = new Place();
    const mine = { docs: { command: "mine" } };
    writeHome(place, ".trunkline/settings.json", JSON.stringify({ mcpServers: mine }));
    writeHome(place, ".cursor/mcp.json", CURSOR);
    await place.run(["import", "cursor", "--move", "--overwrite", "--yes"]);
    const edited = { mcpServers: { docs: DOCS, late: { command: "late" } } };
    writeHome(place, ".trunkline/settings.json", JSON.stringify(edited));
    const { code, stderr } = await place.run(["uninstall", "--restore", "--yes"]);
    expect(code).toBe(0);
    expect(settingsOf(place)).toEqual({ mcpServers: { ...mine, late: { command: "late" } } });
    const [folder = ""] = backupsOf(place);
    expect(stderr).toContain(`The previous version is in ${folder}.`);
    expect(JSON.parse(readFileSync(join(folder, "0"), "utf8"))).toEqual({ mcpServers: mine });
  });

  it("keeps an old version that was merged, even if another program is restored later", async () => {
    using place = new Place();
    const cursor = writeHome(place, ".cursor/mcp.json", CURSOR);
    writeHome(place, ".gemini/settings.json", CURSOR);
    await place.run(["import", "--move", "--yes"]);
    writeFileSync(cursor, readFileSync(cursor, "utf8").replace("{", '{ "theme": "dark",'));
    await place.run(["uninstall", "cursor", "--restore", "--yes"]);
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(backupsOf(place).map((folder) => readFileSync(join(folder, "1"), "utf8"))).toEqual([CURSOR]);
  });

  it("names the servers to remove by hand if the settings are YAML and were edited since", async () => {
    using place = new Place();
    const settings = writeHome(place, ".trunkline/settings.json", "mcpServers:\n  mine:\n    command: mine\n");
    const path = await moved(place);
    const written = readFileSync(settings, "utf8");
    writeFileSync(settings, `${written}# edited\n`);
    const { code, stdout } = await place.run(["uninstall", "--restore", "--yes"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("by hand: `trunkline servers remove docs`")]);
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(1);
    expect((await place.run(["servers", "remove", "docs"])).code).toBe(0);
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect((await place.run(["uninstall", "--restore"])).stdout).toBe("There is nothing to restore.\n");
    expect(readFileSync(settings, "utf8")).toContain("mine");
  });

  it("restores YAML settings that were not edited", async () => {
    using place = new Place();
    const text = "mcpServers:\n  mine:\n    command: mine\n";
    const settings = writeHome(place, ".trunkline/settings.json", text);
    await moved(place);
    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(readFileSync(settings, "utf8")).toBe(text);
  });

  it("works in a home folder behind a link", async () => {
    using place = new Place();
    symlinkSync(place.home, join(place.base, "link"));
    const run = (args: string[]) =>
      place.run(args, { env: { TRUNKLINE_HOME: join(place.base, "link", ".trunkline") } });
    const path = writeHome(place, ".cursor/mcp.json", CURSOR);
    expect((await run(["import", "cursor", "--move", "--yes"])).code).toBe(0);
    const { code, stdout } = await run(["uninstall", "--restore", "--yes"]);
    expect([code, stdout]).toEqual([0, expect.not.stringContaining("another file")]);
    expect(readFileSync(path, "utf8")).toBe(CURSOR);
    expect([settingsOf(place), backupsOf(place)]).toEqual([undefined, []]);
  });

  it.each([
    ["a file", () => {}],
    ["a damaged backup", (folder: string) => writeFileSync(join(folder, "manifest.json"), "oops")],
  ])("does not keep a plain uninstall from working: %s among the backups", async (what, damage) => {
    using place = new Place();
    const path = await moved(place);
    const [folder = ""] = backupsOf(place);
    writeFileSync(join(dirname(folder), ".DS_Store"), "");
    damage(folder);
    const { code, stderr } = await place.run(["uninstall", "cursor", "--yes"]);
    expect([code, readFileSync(path, "utf8")]).toEqual([0, expect.not.stringContaining("trunkline")]);
    if (what === "a file") expect(stderr).toContain("--restore` brings them back");
  });

  it.each(MOVABLE)(
    "restores the file of %s byte for byte after a plain uninstall, too",
    async (program, file, text) => {
      using place = new Place();
      const path = writeHome(place, file, text);
      await place.run(["import", program, "--move", "--yes"]);
      expect((await place.run(["uninstall", program, "--yes"])).code).toBe(0);
      expect(readFileSync(path, "utf8")).not.toBe(text);
      expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
      expect(readFileSync(path, "utf8")).toBe(text);
      expect(backupsOf(place)).toEqual([]);
    },
  );

  it("is pointed out by a plain uninstall", async () => {
    using place = new Place();
    await moved(place);
    const { stderr } = await place.run(["uninstall", "cursor", "--yes"]);
    expect(stderr).toContain("`trunkline uninstall cursor --restore` brings them back");
  });
});
