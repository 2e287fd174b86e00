import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StandInKeychain } from "../support/stand-in-keychain.js";
import { Place } from "./command.js";
import { backupsOf, homeFiles, MOVABLE, settingsOf, writeHome } from "./move-support.js";
import { Terminal } from "./terminal.js";

const onLinux = process.platform === "linux";
const DOCS = '{ "mcpServers": { "docs": { "command": "docs-mcp" } } }\n';

function prepared(): Place {
  const place = new Place({ ".git/HEAD": "", ".mcp.json": { mcpServers: { team: { command: "team" } } } });
  writeHome(place, ".cursor/mcp.json", DOCS);
  writeHome(
    place,
    ".claude.json",
    '{ "mcpServers": { "docs": { "command": "docs-mcp" }, "web": { "type": "http", "url": "https://x.example/mcp" } } }',
  );
  writeHome(place, ".gemini/settings.json", '{ "theme": "x" }');
  return place;
}

describe.runIf(onLinux)("trunkline setup", () => {
  it("shows one page without a terminal, and changes nothing", async () => {
    using place = prepared();
    const before = homeFiles(place);
    const { code, stdout, stderr } = await place.run(["setup"], { env: { TRUNKLINE_BROKER: "" } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}Cursor +~\/\.cursor\/mcp\.json +1 server: docs$/m);
    expect(stdout).toMatch(/^ {2}Claude Code +~\/\.claude\.json +2 servers: docs, web$/m);
    expect(stdout).toMatch(/^ {2}Gemini CLI +~\/\.gemini\/settings\.json +no servers$/m);
    expect(stdout).toMatch(
      /server processes +now +2, if each program has one window open\n +after +1 for all windows of a folder that have the same environment/,
    );
    expect(stdout).toContain("known once the servers are connected");
    expect(stdout).toMatch(/~\/\.claude\.json +2 servers moved out: .*docs.*; Trunkline added/);
    expect(stdout).toMatch(/~\/\.gemini\/settings\.json +Trunkline added/);
    expect(stdout).toContain("1 server (team) of this project stays");
    expect(stdout.split("\n").length).toBeLessThan(40);
    expect(stderr).toContain("Nothing was changed. `trunkline setup --yes` does it");
    expect(homeFiles(place)).toEqual(before);
    expect([settingsOf(place), backupsOf(place)]).toEqual([undefined, []]);
  });

  it("names servers that Claude Code uses only in other folders, and a server that has two names", async () => {
    using place = new Place();
    const notes = { command: "notes-mcp", args: ["--file", "/srv/notes"] };
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { notes } }));
    const shop = join(place.home, "shop");
    const projects = { [shop]: { mcpServers: { db: { command: "db" }, trunkline: { command: "trunkline" } } } };
    writeHome(place, ".claude.json", JSON.stringify({ mcpServers: { memory: { type: "stdio", ...notes } }, projects }));
    const { code, stdout, stderr } = await place.run(["setup", "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      "  1 server (db) stays in Claude Code (~/.claude.json), which uses it only in ~/shop. Run the command there to move it.\n",
    );
    expect(stderr).toContain(
      "note: notes and memory are the same server under different names; you need only one of them.",
    );
    expect(stdout).toContain("gets 2 servers: notes, memory");
    // Another server with this name is moving.
    writeHome(place, ".config/Code/User/mcp.json", JSON.stringify({ servers: { memory: { command: "other" } } }));
    expect((await place.run(["setup", "--dry-run"])).stderr).toContain(
      "note: notes and memory in Claude Code are the same",
    );
  });

  it("names a malformed file of the project", async () => {
    using place = new Place({ ".git/HEAD": "", ".mcp.json": '{ "mcpServers": { "a": ' });
    writeHome(place, ".cursor/mcp.json", DOCS);
    const { code, stdout } = await place.run(["setup", "--yes"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}\S+\/\.mcp\.json:1:\d+ cannot be used: it is not valid JSON/m);
    expect(Object.keys(settingsOf(place)?.mcpServers ?? {})).toEqual(["docs"]);
  });

  it("does it with --yes, does nothing the second time, and can be undone", async () => {
    using place = prepared();
    const before = homeFiles(place);
    const { code, stderr } = await place.run(["setup", "--yes"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Next: check that docs, web work\n  trunkline doctor")]);
    expect(Object.keys(settingsOf(place)?.mcpServers ?? {})).toEqual(["docs", "web"]);
    const after = homeFiles(place);
    for (const file of [".cursor/mcp.json", ".claude.json", ".gemini/settings.json"]) {
      expect(Object.keys(JSON.parse(readFileSync(join(place.home, file), "utf8")).mcpServers)).toEqual(["trunkline"]);
    }
    expect(existsSync(join(place.cwd, ".trunkline"))).toBe(false);

    const again = await place.run(["setup", "--yes"]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("Nothing to do.")]);
    expect(homeFiles(place)).toEqual(after);

    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    expect(homeFiles(place)).toEqual(before);
  });

  it("walks a newcomer through it at a terminal, with the diff on request", async () => {
    using place = prepared();
    const terminal = new Terminal(place, ["setup"], {}, { showsAnswer: true });
    await terminal.sees("What setup does");
    await terminal.answer("Do it? [y/N, d shows the diff]", "d");
    await terminal.sees('-{ "mcpServers": { "docs": { "command": "docs-mcp" } } }');
    await terminal.answer("Do it? [y/N, d shows the diff]", "y");
    await terminal.answer("Download it now with npm? [y/N]", "n");
    await terminal.sees("Cursor: replaced 1 server with Trunkline in");
    await terminal.sees("trunkline doctor");
    expect((await terminal.end()).code).toBe(0);
    expect(Object.keys(settingsOf(place)?.mcpServers ?? {})).toEqual(["docs", "web"]);
  });

  it("goes on without a keychain that cannot be used, and says so before it writes", async () => {
    using place = prepared();
    writeHome(
      place,
      ".gemini/settings.json",
      '{ "mcpServers": { "git": { "command": "git-mcp", "env": { "GIT_TOKEN": "s3cr3t-value-0815" } } } }',
    );
    const keychain = new StandInKeychain(join(place.base, "bin"));
    keychain.breakDown();
    const terminal = new Terminal(place, ["setup"], { PATH: keychain.path }, { columns: 300 });
    await terminal.answer("Do it? [y/N, d shows the diff]", "y");
    await terminal.sees("1 secret will be written as plain text, because");
    await terminal.answer("Download it now with npm? [y/N]", "n");
    const { code, screen } = await terminal.end();
    expect(code).toBe(0);
    expect(screen).not.toContain("Move 1 secret");
    expect(screen).not.toContain("s3cr3t-value-0815");
    expect(settingsOf(place)?.mcpServers?.git).toMatchObject({ env: { GIT_TOKEN: "s3cr3t-value-0815" } });
  });

  it("asks again after an unknown answer, and a no is not a failure", async () => {
    using place = prepared();
    const before = homeFiles(place);
    const terminal = new Terminal(place, ["setup"]);
    await terminal.answer("Do it? [y/N, d shows the diff]", "maybe");
    await terminal.sees("Please answer y, n or d.");
    await terminal.answer("Do it? [y/N, d shows the diff]", "n");
    await terminal.sees("Nothing was changed.");
    expect((await terminal.end()).code).toBe(0);
    expect(homeFiles(place)).toEqual(before);
  });

  it("reports the changes as JSON, with diffs and without secrets", async () => {
    using place = prepared();
    writeHome(
      place,
      ".gemini/settings.json",
      '{ "mcpServers": { "git": { "command": "git-mcp", "env": { "GIT_TOKEN": "s3cr3t-value-0815" } } } }',
    );
    const { code, stdout } = await place.run(["setup", "--dry-run", "--json"]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("s3cr3t-value-0815");
    const { done, own, files } = JSON.parse(stdout);
    expect(done).toBe(false);
    expect(own).toEqual([
      {
        file: join(place.home, ".trunkline", "settings.json"),
        servers: ["docs", "web", "git"],
        diff: expect.stringContaining('+    "docs": {'),
      },
    ]);
    expect(files).toContainEqual({
      program: "cursor",
      file: join(place.home, ".cursor", "mcp.json"),
      servers: ["docs"],
      adds_trunkline: true,
      diff: expect.stringContaining('-{ "mcpServers": { "docs": { "command": "docs-mcp" } } }'),
    });
  });

  it("changes nothing after Ctrl-C at the last question", async () => {
    using place = prepared();
    const before = homeFiles(place);
    const terminal = new Terminal(place, ["setup"]);
    await terminal.answer("Do it? [y/N, d shows the diff]", "y");
    await terminal.sees("Download it now with npm? [y/N]");
    terminal.press("\u0003");
    await terminal.sees("Nothing was changed.");
    expect((await terminal.end()).code).toBe(130);
    expect(homeFiles(place)).toEqual(before);
    expect(existsSync(join(place.home, ".trunkline", "model-declined"))).toBe(false);
    expect([settingsOf(place), backupsOf(place)]).toEqual([undefined, []]);
  });

  it("sets up every program", async () => {
    using place = new Place();
    for (const [, file, text] of MOVABLE) writeHome(place, file, text);
    const before = homeFiles(place);
    expect((await place.run(["setup", "--yes", "--json"])).code).toBe(0);
    for (const [, file] of MOVABLE) expect(readFileSync(join(place.home, file), "utf8")).toContain("trunkline");
    await place.run(["uninstall", "--restore", "--yes"]);
    expect(homeFiles(place)).toEqual(before);
  });

  it("uses the tool lists that are known", async () => {
    using place = prepared();
    const tools = [{ tool: "search", description: "Finds documents.", inputSchema: { type: "object" } }];
    writeHome(place, ".trunkline/cache/tools-docs.json", JSON.stringify({ format: 1, server: "docs", key: "", tools }));
    expect((await place.run(["setup"])).stdout).toMatch(/tokens of a tool list +now +\d+ for 1 tool of 1 server/);
  });

  it("names a file that it cannot read, and sets up the others", async () => {
    using place = prepared();
    writeHome(place, ".codex/config.toml", "[oops\n");
    const { code, stdout } = await place.run(["setup", "--yes"]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/config\.toml:1:\d+ cannot be used/)]);
    expect(readFileSync(join(place.home, ".codex/config.toml"), "utf8")).toBe("[oops\n");
    expect(Object.keys(settingsOf(place)?.mcpServers ?? {})).toEqual(["docs", "web"]);
  });

  it.each([
    ['{"mcpServers": []}', /mcp\.json cannot be used: "mcpServers" is a list instead of a table of servers\./],
    ['{"mcpServers": {', /mcp\.json:1:17 cannot be used: it is not valid JSON/],
  ])("names a file with a mistake, as the overview does: %s", async (text, message) => {
    using place = new Place();
    writeHome(place, ".cursor/mcp.json", text);
    expect((await place.run(["setup"])).stdout.replaceAll(/\s+/g, " ")).toMatch(message);
    expect((await place.run([])).stdout.replaceAll(/\s+/g, " ")).toMatch(message);
  });

  it("says what to do next on a machine without programs and servers", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["setup"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Nothing to do.")]);
    expect(stderr).toContain("trunkline servers add demo");
  });
});
