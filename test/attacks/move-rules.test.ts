// `setup` must not take a server out of reach of the permission rules that a program has for it, whichever program it
// comes from and whatever a project's files contain.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";
import { settingsOf, writeHome } from "../e2e/move-support.js";

const files = { command: "files-mcp", args: ["/srv"] };
const moved = (place: Place) => Object.keys(settingsOf(place)?.mcpServers ?? {});

/** Claude Code with a server and a rule about it. */
function withRule(place: Place, settings: object = { permissions: { deny: ["mcp__files__delete"] } }): void {
  writeHome(place, ".claude.json", JSON.stringify({ mcpServers: { files } }));
  writeHome(place, ".claude/settings.json", JSON.stringify(settings));
}

describe.runIf(process.platform === "linux")("a permission rule", () => {
  it("keeps its server where it is", async () => {
    using place = new Place();
    withRule(place);
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual([]);
  });

  it("keeps the same server from coming through another program under another name, with other variables", async () => {
    using place = new Place();
    withRule(place);
    const mcpServers = { disk: { ...files, env: { LEVEL: "1" } }, git: { command: "git-mcp" } };
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers }));
    const { stdout } = await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual(["git"]);
    expect(stdout).toContain('it starts the same program as "files"');
  });

  it.each([
    [
      { command: "npx", args: ["-y", "@x/fs", "/data"] },
      { command: "npx", args: ["--yes", "@x/fs", "/data"] },
    ],
    [
      { command: "npx", args: ["-y", "@x/fs", "/data"] },
      { command: "npx", args: ["@x/fs@latest", "/data"] },
    ],
    [
      { command: "npx", args: ["-y", "@x/fs"] },
      { command: "C:\\nodejs\\npx.cmd", args: ["-y", "@x/fs"] },
    ],
    [
      { command: "npx.exe", args: ["-y", "@x/fs"] },
      { command: "/usr/local/bin/npx", args: ["-y", "@x/fs"] },
    ],
    [
      { command: "npx", args: ["-y", "@x/fs"] },
      { command: "cmd", args: ["/c", "npx", "-y", "@x/fs"] },
    ],
    [{ url: "https://mcp.example.com/mcp" }, { url: "https://MCP.example.com:443/mcp/" }],
    [{ url: "https://mcp.example.com" }, { url: "HTTPS://mcp.example.com/" }],
  ])("keeps the same server from coming through another program in another spelling: %j, %j", async (known, other) => {
    using place = new Place();
    writeHome(place, ".claude.json", JSON.stringify({ mcpServers: { files: known } }));
    writeHome(place, ".claude/settings.json", JSON.stringify({ permissions: { deny: ["mcp__files__write"] } }));
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { fs: other, git: { command: "git-mcp" } } }));
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual(["git"]);
  });

  it("keeps no other program's server because of a similar command", async () => {
    using place = new Place();
    withRule(place);
    const other = {
      docs: { command: "files-mcp", args: ["/srv/docs"] },
      web: { command: "npx", args: ["-y", "files-mcp", "/srv"] },
      remote: { url: "https://mcp.example.com/Files" },
    };
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: other }));
    await place.run(["setup", "--yes"]);
    expect(moved(place).sort()).toEqual(["docs", "remote", "web"]);
  });

  it("keeps it out of Trunkline if only the other program's servers are moved", async () => {
    using place = new Place();
    withRule(place);
    await place.run(["install", "claude-code", "--yes"]);
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { files } }));
    await place.run(["import", "cursor", "--move", "--yes"]);
    expect(moved(place)).toEqual([]);
  });

  it("keeps it out of Trunkline if its program has Trunkline only in this project", async () => {
    const trunkline = { command: "trunkline", args: ["serve"] };
    using place = new Place({ ".git/HEAD": "", ".mcp.json": { mcpServers: { trunkline } } });
    withRule(place);
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { files } }));
    await place.run(["import", "cursor", "--move", "--yes"]);
    expect(moved(place)).toEqual([]);
  });

  it("of one program is not lost in the copy of another program's entry", async () => {
    using place = new Place();
    writeHome(place, ".cursor/mcp.json", JSON.stringify({ mcpServers: { files } }));
    writeHome(
      place,
      ".kiro/settings/mcp.json",
      JSON.stringify({ mcpServers: { files: { ...files, disabled: true } } }),
    );
    await place.run(["setup", "--yes"]);
    expect(settingsOf(place)?.mcpServers).toEqual({ files: expect.objectContaining({ disabled: true }) });
  });

  it("that cannot be read stops the move, also if it is a pipe", async () => {
    using place = new Place();
    withRule(place);
    writeHome(place, ".claude/settings.json", "");
    execFileSync("mkfifo", [join(place.home, ".claude", "settings.local.json")]);
    const { code, stdout } = await place.run(["setup", "--yes"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("settings.local.json cannot be read")]);
    expect(moved(place)).toEqual([]);
  });

  it.each([
    ...["__write$", "files__.*", "files__write.*", "__write(_file)?$", "write.*", "Bash|__write$"],
    ...["(Bash|Write|.*__write)", "(Xx)?files.*"],
  ])("of a hook on %s is not taken for one on other tools, because the program does not anchor it", async (matcher) => {
    using place = new Place();
    withRule(place, { hooks: { PreToolUse: [{ matcher, hooks: [] }] } });
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual([]);
  });

  it("in the front matter of an agent keeps its server", async () => {
    using place = new Place();
    withRule(place, {});
    writeHome(place, ".claude/agents/a.md", "---\nname: a\ndisallowedTools: mcp__files__write\n---\nText.\n");
    const { stdout } = await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual([]);
    expect(stdout).toContain("~/.claude/agents/a.md");
  });

  it("of a project is not run as a regular expression", async () => {
    const matcher = "^mcp__(((\\w*)*)*)*!$";
    const hooks = { PreToolUse: [{ matcher, hooks: [] }] };
    using place = new Place({ ".git/HEAD": "", ".claude/settings.json": { hooks } });
    withRule(place, {});
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual([]);
  });

  it("is shown without control characters", async () => {
    using place = new Place();
    withRule(place, { permissions: { deny: ["mcp__files__\u001b[2J\u202e"] } });
    const { stdout, stderr } = await place.run(["setup"]);
    expect(stdout).toContain("permissions.deny");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});
