import { spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProgramId } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { bin, Place, seen } from "./command.js";
import { KEY, Terminal } from "./terminal.js";

const SERVE = [bin, "serve"];

/** Where each program keeps its servers on Linux, and what an entry looks like there. Codex has its own test. */
const FILES: Readonly<Record<Exclude<ProgramId, "codex">, readonly [file: string, table: string, entry: object]>> = {
  "claude-code": [".claude.json", "mcpServers", { type: "stdio", command: process.execPath, args: SERVE }],
  "claude-desktop": [
    ".config/Claude/claude_desktop_config.json",
    "mcpServers",
    { command: process.execPath, args: SERVE },
  ],
  cursor: [".cursor/mcp.json", "mcpServers", { command: process.execPath, args: SERVE }],
  vscode: [".config/Code/User/mcp.json", "servers", { type: "stdio", command: process.execPath, args: SERVE }],
  windsurf: [".codeium/windsurf/mcp_config.json", "mcpServers", { command: process.execPath, args: SERVE }],
  zed: [
    ".config/zed/settings.json",
    "context_servers",
    { source: "custom", command: process.execPath, args: SERVE, env: {} },
  ],
  gemini: [".gemini/settings.json", "mcpServers", { command: process.execPath, args: SERVE }],
  opencode: [
    ".config/opencode/opencode.json",
    "mcp",
    { type: "local", command: [process.execPath, ...SERVE], enabled: true },
  ],
  cline: [
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    "mcpServers",
    { type: "stdio", command: process.execPath, args: SERVE },
  ],
  kiro: [".kiro/settings/mcp.json", "mcpServers", { command: process.execPath, args: SERVE }],
};
const PROGRAMS = Object.entries(FILES).map(([program, written]) => [program, ...written] as const);

function write(place: Place, file: string, text: string): string {
  const path = join(place.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const onLinux = process.platform === "linux";

describe.runIf(onLinux)("trunkline install", () => {
  it.each(PROGRAMS)("writes the entry of %s, and uninstall removes it again", async (program, file, table, entry) => {
    using place = new Place();
    const path = join(place.home, file);
    const { code, stdout, stderr } = await place.run(["install", program, "--yes"]);
    expect({ code, written: JSON.parse(readFileSync(path, "utf8")) }).toEqual({
      code: 0,
      written: { [table]: { trunkline: entry } },
    });
    expect(stdout).toContain(`Wrote ${path}.`);
    expect(stderr).toContain(`trunkline uninstall ${program}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const again = await place.run(["install", program, "--yes"]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("already has Trunkline")]);

    expect((await place.run(["uninstall", program, "--yes"])).code).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect(await place.run(["uninstall", program, "--yes"])).toMatchObject({ code: 0 });
  });

  it("changes only the one entry, and uninstall restores the file byte for byte", async () => {
    using place = new Place();
    const text = `\uFEFF// my settings\r\n{\r\n    "theme": "One Dark", // dark\r\n    "context_servers": {\r\n        /* mine */\r\n        "docs": { "command": "docs", "env": { "KEY": "s3cret-of-mine" } }, // last\r\n    },\r\n}\r\n`;
    const path = write(place, ".config/zed/settings.json", text);
    const { code, stdout } = await place.run(["install", "zed", "--yes"]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("s3cret-of-mine");
    const written = readFileSync(path, "utf8");
    const lines = (of: string) => of.split("\r\n");
    expect(
      lines(written)
        .filter((line) => !lines(text).includes(line))
        .join("\n"),
    ).toMatch(/^ {8}"trunkline": \{/);
    for (const line of lines(text)) expect(lines(written)).toContain(line);
    expect(readFileSync(`${path}.before-trunkline`, "utf8")).toBe(text);
    expect(statSync(`${path}.before-trunkline`).mode & 0o777).toBe(0o600);

    expect((await place.run(["uninstall", "zed", "--yes"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(existsSync(`${path}.before-trunkline`)).toBe(false);
  });

  it("keeps changes that others have made to the file meanwhile", async () => {
    using place = new Place();
    const path = write(place, ".cursor/mcp.json", '{ "mcpServers": { "a": { "command": "a" } } }\n');
    await place.run(["install", "cursor", "--yes"]);
    writeFileSync(path, readFileSync(path, "utf8").replace('"command": "a"', '"command": "b"'));
    expect((await place.run(["uninstall", "cursor", "--yes"])).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ mcpServers: { a: { command: "b" } } });
  });

  it("edits Codex's TOML and leaves the rest alone", async () => {
    using place = new Place();
    const text =
      '# mine\nmodel = "x"\n\n[mcp_servers.docs]\ncommand = "docs" # docs\n\n# a profile\n[profiles.a]\nn = 1\n';
    const path = write(place, ".codex/config.toml", text);
    expect((await place.run(["install", "codex", "--yes", "--", "--watch", "."])).code).toBe(0);
    const args = [bin, "serve", "--watch", "."].map((word) => JSON.stringify(word)).join(", ");
    expect(readFileSync(path, "utf8")).toBe(
      `${text}\n[mcp_servers.trunkline]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [ ${args} ]\n`,
    );
    // Someone adds more text below, and variables to our entry.
    writeFileSync(
      path,
      `${readFileSync(path, "utf8")}\n[mcp_servers.trunkline.env]\nA = "1"\n\n# below\n[profiles.b]\n`,
    );
    expect((await place.run(["install", "codex", "--yes"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toContain('[mcp_servers.trunkline.env]\nA = "1"\n\n# below\n[profiles.b]\n');
    expect((await place.run(["uninstall", "codex", "--yes"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(`${text}\n# below\n[profiles.b]\n`);
  });

  it.each([["an inline table", 'mcp_servers = { docs = { command = "docs" } }\n']])(
    "rejects a TOML file with %s and says what to write",
    async (_, text) => {
      using place = new Place();
      const path = write(place, ".codex/config.toml", text);
      const { code, stderr } = await place.run(["install", "codex", "--yes"]);
      expect(code).toBe(2);
      expect(stderr).toContain(`${path}: "mcp_servers.trunkline" cannot be added`);
      expect(stderr).toContain("[mcp_servers.trunkline]");
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  it.each([
    [
      "cursor",
      ".cursor/mcp.json",
      '{\n  "mcpServers": {\n    oops\n',
      /mcp\.json:3:5 cannot be used: it is not valid JSON \(invalid symbol\)/,
    ],
    ["cursor", ".cursor/mcp.json", "[]", /mcp\.json:1:1 cannot be used: it does not contain an object/],
    ["codex", ".codex/config.toml", "[oops\n", /config\.toml:1:\d+ cannot be used: it is not valid TOML/],
  ])("does not touch an unreadable file of %s (%s)", async (program, file, text, reason) => {
    using place = new Place();
    const path = write(place, file, text);
    for (const command of ["install", "uninstall"]) {
      const { code, stderr } = await place.run([command, program, "--yes"]);
      expect(code).toBe(1);
      expect(stderr).toMatch(reason);
    }
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(existsSync(`${path}.before-trunkline`)).toBe(false);
    const list = await place.run(["install"]);
    expect(list.code).toBe(1);
    expect(list.stdout).toMatch(new RegExp(`^${program}.* unreadable `, "m"));
    expect(list.stderr).toMatch(reason);
  });

  it.each([
    [
      '{ "mcp": { "allowed": ["docs"] } }',
      /starts only the servers in "mcp\.allowed" of .*settings\.json: add "trunkline"/,
    ],
    [
      '{ "mcp": { "excluded": ["trunkline"] } }',
      /does not start the servers in "mcp\.excluded" of .*: remove "trunkline"/,
    ],
    ['{ "mcp": { "allowed": ["trunkline"] } }', undefined],
    ['{ "mcp": 7 }', undefined],
  ])("warns if a list keeps Gemini CLI from starting it: %s", async (text, warning) => {
    using place = new Place();
    write(place, ".gemini/settings.json", text);
    for (const args of [["install", "gemini", "--dry-run"], ["setup"]]) {
      const { code, stderr } = await place.run(args);
      expect(code).toBe(0);
      if (warning === undefined) expect(stderr).not.toContain("warning");
      else expect(stderr).toMatch(warning);
    }
  });

  it("rejects a TOML file with a value in place of the table", async () => {
    using place = new Place();
    const path = write(place, ".codex/config.toml", 'mcp_servers = "none"\n');
    const { code, stderr } = await place.run(["install", "codex", "--yes"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path} cannot be used: "mcp_servers" is a string`)]);
  });

  it("does not touch a file whose table of servers is something else", async () => {
    using place = new Place();
    const path = write(place, ".cursor/mcp.json", '{ "mcpServers": [] }');
    const { code, stderr } = await place.run(["install", "cursor", "--yes"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('mcp.json cannot be used: "mcpServers" is a list instead of a table'),
    ]);
    expect(readFileSync(path, "utf8")).toBe('{ "mcpServers": [] }');
  });

  it("says where options of serve go", async () => {
    using place = new Place();
    const { code, stderr } = await place.run(["install", "cursor", "--store", "notes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "Put `--` before options of `trunkline serve`: trunkline install cursor -- --store notes\n",
    );
  });

  it("says so if there is a folder in place of the file", async () => {
    using place = new Place();
    mkdirSync(join(place.home, ".cursor", "mcp.json"), { recursive: true });
    const { code, stderr } = await place.run(["install", "cursor", "--yes"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("mcp.json cannot be read: it is a folder.")]);
  });

  it("does not touch another program's entry without --force, and shows none of its secrets", async () => {
    using place = new Place();
    const text = '{ "mcpServers": { "trunkline": { "command": "railways", "env": { "TOKEN": "abcdef123456" } } } }';
    const path = write(place, ".cursor/mcp.json", text);
    for (const command of ["install", "uninstall"]) {
      const refused = await place.run([command, "cursor", "--yes"]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--force")]);
      expect(readFileSync(path, "utf8")).toBe(text);
    }
    const { code, stdout, stderr } = await place.run(["install", "cursor", "--yes", "--force"]);
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("abcdef123456");
    expect(stdout).toContain('-     "command": "railways"');
    expect(JSON.parse(readFileSync(path, "utf8")).mcpServers.trunkline.args).toEqual(SERVE);
  });

  it.each([
    ["as it was", (text: string) => text],
    ["beside what was changed meanwhile", (text: string) => text.replace('"x"', '"y"')],
  ])("keeps the entry that --force replaces, so uninstall restores it %s", async (_, edit) => {
    using place = new Place();
    const text =
      '{ "mcpServers": { "trunkline": { "command": "railways", "env": {"T": "abcdef"} }, "other": { "command": "x" } } }';
    const path = write(place, ".cursor/mcp.json", text);
    const installed = await place.run(["install", "cursor", "--yes", "--force"]);
    expect(installed.stdout).toContain(`${path}.before-trunkline`);
    expect(readFileSync(`${path}.before-trunkline`, "utf8")).toBe(text);
    // Reinstalling with different options must not lose the replaced entry.
    await place.run(["install", "cursor", "--yes", "--", "--no-spill"]);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
    const { code, stdout } = await place.run(["uninstall", "cursor", "--yes"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('+     "command": "railways"')]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(edit(text)));
    if (edit(text) === text) expect(readFileSync(path, "utf8")).toBe(text);
  });

  it.each(["{}", "", "  \n", '{ "mcpServers": {} }\n'])("restores an almost empty file: %j", async (text) => {
    using place = new Place();
    const path = write(place, ".cursor/mcp.json", text);
    for (const options of [[], ["--", "--no-spill"]]) await place.run(["install", "cursor", "--yes", ...options]);
    expect((await place.run(["uninstall", "cursor", "--yes"])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it.each(["{}", "", '{ "theme": "dark" }', undefined])(
    "writes through a link and leaves it a link, target %j",
    async (text) => {
      using place = new Place();
      const path = join(place.home, ".cursor", "mcp.json");
      const real = join(place.home, "dotfiles", "mcp.json");
      mkdirSync(dirname(path), { recursive: true });
      mkdirSync(dirname(real));
      symlinkSync(real, path);
      if (text !== undefined) writeFileSync(real, text);
      expect((await place.run(["install", "cursor", "--yes"])).code).toBe(0);
      expect(readFileSync(real, "utf8")).toContain("serve");
      expect((await place.run(["uninstall", "cursor", "--yes"])).code).toBe(0);
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
      expect(existsSync(real) ? readFileSync(real, "utf8") : undefined).toBe(text);
    },
  );

  it("removes another program's entry with --force, but not the file", async () => {
    using place = new Place();
    const foreign = { mcpServers: { trunkline: { command: "railways" } } };
    const path = write(place, ".cursor/mcp.json", `${JSON.stringify(foreign, null, 2)}\n`);
    expect((await place.run(["uninstall", "cursor", "--yes", "--force"])).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ mcpServers: {} });
  });

  it("does not touch a file that is not UTF-8", async () => {
    using place = new Place();
    const path = write(place, ".cursor/mcp.json", "");
    const bytes = Buffer.from('{ "name": "Zo\xeb" }', "latin1");
    writeFileSync(path, bytes);
    const { code, stderr } = await place.run(["install", "cursor", "--yes"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("not UTF-8")]);
    expect(readFileSync(path)).toEqual(bytes);
  });

  it("writes nothing to Codex's file if the entry is already there", async () => {
    using place = new Place();
    const first = await place.run(["install", "codex", "--yes", "--", "--watch", "."]);
    const again = await place.run(["install", "codex", "--yes", "--", "--watch", "."]);
    expect([first.stdout, again.stdout]).toEqual([
      expect.stringContaining("Wrote"),
      expect.stringContaining("already has Trunkline"),
    ]);
  });

  it("updates its own older entry and keeps additions to it", async () => {
    using place = new Place();
    const old = { command: "/old/node", args: ["/old/trunkline.cjs", "serve"], env: { TRUNKLINE_STORE: "/s" } };
    const path = write(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { trunkline: old } }));
    expect((await place.run(["install", "cursor", "--yes"])).code).toBe(0);
    expect(JSON.parse(readFileSync(path, "utf8")).mcpServers.trunkline).toEqual({
      command: process.execPath,
      args: SERVE,
      env: { TRUNKLINE_STORE: "/s" },
    });
  });

  it("says how to reach this project's store from elsewhere", async () => {
    using place = new Place({ ".git/HEAD": "", ".trunkline/store/x": "" });
    const named = ["--", "--store", join(place.cwd, ".trunkline", "store")];
    const { stderr } = await place.run(["install", "claude-desktop", "--dry-run"]);
    expect(stderr).toContain(`trunkline install claude-desktop ${named.join(" ")}`);
    expect((await place.run(["install", "claude-desktop", "--dry-run", ...named])).stderr).not.toContain(
      "another store",
    );
  });

  it("writes to the project's file, found from a subfolder", async () => {
    using place = new Place({ ".git/HEAD": "", "deep/er/x": "" });
    const { code, stderr } = await place.run(["install", "claude-code", "--project", "--yes"], {
      cwd: join(place.cwd, "deep", "er"),
    });
    expect(code).toBe(0);
    expect(stderr).toContain("path exists only on this machine");
    expect(JSON.parse(readFileSync(join(place.cwd, ".mcp.json"), "utf8")).mcpServers.trunkline.args).toEqual(SERVE);
    expect((await place.run(["uninstall", "claude-code", "--project", "--yes"])).code).toBe(0);
    expect(existsSync(join(place.cwd, ".mcp.json"))).toBe(false);
  });

  it("with --project never writes to the user's own file, even outside a repository", async () => {
    using place = new Place();
    const cwd = join(place.home, "work", "notes");
    mkdirSync(cwd, { recursive: true });
    mkdirSync(join(place.home, ".cursor"));
    writeFileSync(join(place.home, ".cursor", "mcp.json"), "{}");
    expect((await place.run(["install", "cursor", "--project", "--yes"], { cwd })).code).toBe(0);
    expect(readFileSync(join(place.home, ".cursor", "mcp.json"), "utf8")).toBe("{}");
    expect(existsSync(join(cwd, ".cursor", "mcp.json"))).toBe(true);
  });

  it("writes the short command if this installation is on a PATH that the program sees", async () => {
    using place = new Place();
    mkdirSync(join(place.base, "bin"));
    symlinkSync(bin, join(place.base, "bin", "trunkline"));
    const env = { PATH: `${join(place.base, "bin")}:${process.env.PATH}` };
    for (const program of ["gemini", "cursor"]) await place.run(["install", program, "--yes"], { env });
    const entryOf = (file: string) => JSON.parse(readFileSync(join(place.home, file), "utf8")).mcpServers.trunkline;
    expect(entryOf(".gemini/settings.json")).toEqual({ command: "trunkline", args: ["serve"] });
    // A desktop program has the desktop's PATH, not the shell's.
    expect(entryOf(".cursor/mcp.json")).toEqual({ command: process.execPath, args: SERVE });
  });

  it("writes an entry that starts a server", async () => {
    using place = new Place();
    await place.run(["install", "cursor", "--yes"]);
    const { command, args } = JSON.parse(readFileSync(join(place.home, ".cursor", "mcp.json"), "utf8")).mcpServers
      .trunkline;
    const child = spawn(command, args, {
      cwd: place.cwd,
      env: { HOME: place.home },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await seen(child.stdout, /"serverInfo":\{"name":"trunkline"/);
    child.stdin.end();
    await new Promise((resolve) => child.once("exit", resolve));
  });

  it("lists the programs and which of them have the entry", async () => {
    using place = new Place();
    write(place, ".gemini/settings.json", "{}");
    write(place, ".codex/config.toml", "oops");
    await place.run(["install", "cursor", "--yes"]);
    const { code, stdout, stderr } = await place.run(["install"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/config\.toml:1:\d+ cannot be used: it is not valid TOML/);
    expect(stdout).toMatch(/^cursor +Cursor +installed /m);
    expect(stdout).toMatch(/^gemini +Gemini CLI +not installed /m);
    expect(stdout).toMatch(/^zed +Zed +not found here /m);
    expect(stdout).toMatch(/^codex +Codex +unreadable /m);
  });

  it.each([
    [["install", "curser", "--yes"], "Did you mean cursor?"],
    [["install", "cursor", "gemini"], "takes one program"],
    [["install", "claude-desktop", "--project"], "has no project configuration"],
    [["install", "cursor"], "--yes"],
    [["install", "cursor", "--yes", "--", "--bogus"], "unknown option '--bogus'"],
    [["install", "cursor", "--yes", "--", "--surface", "none"], "composite"],
    [["install", "cursor", "--yes", "--", "--port", "1"], "--port needs --http"],
    [["install", "cursor", "--yes", "--", "--help"], "--help"],
    [["uninstall"], "needs a program"],
  ])("%j is wrong usage", async (args, message) => {
    using place = new Place();
    const { code, stderr } = await place.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(join(place.home, ".cursor"))).toBe(false);
  });

  it("only shows the change with --dry-run", async () => {
    using place = new Place();
    const { code, stdout } = await place.run(["install", "cursor", "--dry-run"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('+   "trunkline": {')]);
    expect(existsSync(join(place.home, ".cursor"))).toBe(false);
  });
});

describe("trunkline install at a terminal", () => {
  it.each([
    ["writes after a yes", `y${KEY.enter}`, 0, true],
    ["writes nothing after a no", KEY.enter, 0, false],
    ["writes nothing after Ctrl-C", KEY.interrupt, 130, false],
  ])("%s", async (_, keys, code, isWritten) => {
    using place = new Place();
    const terminal = new Terminal(place, ["install", "cursor"]);
    await terminal.sees("Write it? [y/N]");
    terminal.press(keys);
    if (isWritten) await terminal.answer("Download it now with npm? [y/N]", "n");
    expect((await terminal.end()).code).toBe(code);
    expect(existsSync(join(place.home, ".cursor", "mcp.json"))).toBe(isWritten);
  });
});
