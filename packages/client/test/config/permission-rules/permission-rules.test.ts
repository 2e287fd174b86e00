import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProgramId } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findPermissionRules } from "../../../src/config/permission-rules/find-permission-rules.js";
import { couldMatch, matchesAll, toolGlob } from "../../../src/config/permission-rules/tool-patterns.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-rules-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(file: string, text: string): string {
  const path = join(base, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function rulesOf(agent: ProgramId, platform: NodeJS.Platform = "linux") {
  const [rules] = await findPermissionRules({
    ...{ cwd: join(base, "shop"), userHome: join(base, "home"), platform, env: {}, programs: [agent] },
    systemFolder: join(base, "etc"),
  });
  if (rules === undefined) throw new Error("no rules");
  return rules;
}

describe("the files of an administrator", () => {
  it.each<[ProgramId, string, string, string]>([
    ["claude-code", "claude-code/managed-settings.json", '{ "permissions": { "ask": ["mcp__files"] } }', "ask"],
    [
      "claude-code",
      "claude-code/managed-settings.d/10.json",
      '{ "deniedMcpServers": [{ "serverName": "files" }] }',
      "off",
    ],
    ["claude-code", "claude-code/managed-settings.json", '{ "allowedMcpServers": [{ "serverName": "x" }] }', "only"],
    ["claude-code", "claude-code/managed-mcp.json", '{ "mcpServers": {} }', "only"],
    ["codex", "codex/requirements.toml", '[mcp_servers.x.identity]\ncommand = "x"\n', "only"],
    ["codex", "codex/requirements.toml", '[mcp_servers.files.identity]\ncommand = "x"\n', "only"],
    ["gemini", "gemini-cli/settings.json", '{ "mcp": { "excluded": ["files"] } }', "off"],
    ["gemini", "gemini-cli/policies/a.toml", '[[rule]]\nmcpName = "files"\ndecision = "ask_user"\n', "ask"],
    ["opencode", "opencode/opencode.json", '{ "permission": { "files_*": "deny" } }', "deny"],
  ])("have rules of %s: %s", async (agent, file, text, kind) => {
    const path = write(`etc/${file}`, text);
    const rules = (await rulesOf(agent)).on({ name: "files", entry: { command: "files-mcp" } });
    expect(rules).toMatchObject([{ agent, file: path, kind, server: "files", effect: "stops" }]);
  });

  it("are in another folder on macOS", async () => {
    write("etc/ClaudeCode/managed-settings.json", '{ "permissions": { "deny": ["mcp__files__x"] } }');
    expect((await rulesOf("claude-code", "darwin")).on({ name: "files" })).toMatchObject([{ kind: "deny", tool: "x" }]);
  });
});

it("a server is known under the name that its tools have", async () => {
  write("home/.claude/settings.json", '{ "permissions": { "deny": ["mcp__my_files__x", "mcp__my files__y"] } }');
  const found = (await rulesOf("claude-code")).on({ name: "my files" });
  expect(found.map(({ tool }) => tool)).toEqual(["x", "y"]);
});

it("a file that cannot be parsed is a problem, and the others still count", async () => {
  write("home/.claude/settings.json", '{ "permissions": { "deny": ["mcp__files__x"] } }');
  const broken = write("shop/.claude/settings.local.json", "{");
  const { problems, on } = await rulesOf("claude-code");
  expect(problems.map(({ data }) => data?.file)).toEqual([broken]);
  expect(on({ name: "files" })).toHaveLength(1);
});

describe("a pattern", () => {
  it.each([
    ["mcp__files__read", "read"],
    ["mcp__files__*", "*"],
    ["mcp__*", "*"],
    ["mcp__*__write", "*"],
    ["mcp__fi?es__x", "*"],
    ["mcp__files2__read", undefined],
    ["mcp__file", undefined],
    ["Bash", undefined],
    ["Edit*", undefined],
  ])("%s means the tools %s of files", (glob, tools) => {
    expect(toolGlob(glob, "mcp__files__")).toBe(tools);
  });

  it.each([
    ["mcp__files__.*", true],
    ["mcp__.*__write", true],
    ["mcp__.*", true],
    ["mcp__files__read|Bash", true],
    ["mcp__(git|files)__(read|write)", true],
    ["mcp__(?:git|files).*", true],
    ["mcp__filesx?__.*", true],
    [".*write.*", true],
    ["^(?!Bash).*", true],
    ["[a-z|]+__read", true],
    ["mcp__git__.*", false],
    ["mcp__(git|hub)__.*", false],
    ["mcp__files2__.*", false],
    ["Edit|Write.*|Notebook\\w+", false],
    ["Bash", false],
    ["read", false],
    // Regular expressions are not anchored.
    ["__write$", true],
    ["files__.*", true],
    ["files__write.*", true],
    ["__write(_file)?$", true],
    ["write.*", true],
    ["Bash|__write$", true],
    ["(Bash|Write|.*__write)", true],
    ["^(Bash|.*__write)$", true],
    ["(Xx)?files.*", true],
    ["mcp__(git__.*|files__x$)", true],
    ["Bash(?=x)|Edit.*__write", true],
    ["my-write", true],
    ["Task.*__x", true],
    ["^mcp__git__.*|^Bash$", false],
    ["^(mcp__git__read|Bash)$", false],
    ["^write$", false],
    ["^write.*", false],
    ["Bash, Edit", false],
    ["Web(Fetch|Search).*", false],
    ["Write$|Web\\w+", false],
  ])("of a hook, %s, could match a tool of files: %s", (matcher, does) => {
    expect(couldMatch(matcher, ["mcp__files__"])).toBe(does);
  });

  it("of a hook that could be part of the server's name is not taken for a program's own tool", () => {
    expect(couldMatch("Web.*", ["mcp__myWeb__"])).toBe(true);
    expect(couldMatch("mcp__git__.*", ["mcp__my-mcp__git__"])).toBe(true);
  });

  it.each([
    ["write", true],
    ["write_file|replace", true],
    ["run_shell_command|", true],
    ["run_shell_command|^write_file$", false],
    ["files_write", true],
    ["mcp_git_read", false],
  ])("of a Gemini CLI hook, %s, is never a list of names, and could match a tool of files: %s", (matcher, does) => {
    expect(couldMatch(matcher, ["mcp_files_", "files__"], "expression")).toBe(does);
  });

  it.each([
    ["mcp__.*", true],
    ["mcp__files__.*|mcp__trunkline__.*", true],
    ["(mcp__files__|mcp__trunkline__).*", true],
    ["^(?!Bash).*", true],
    ["^(?!Bash|Edit$).+$", true],
    ["^mcp__.*$", true],
    ["Bash|mcp__.+", true],
    ["__.*", true],
    ["mcp__", false],
    ["mcp__trunkline", false],
    ["mcp__.*__write", false],
    ["mcp__trunkline__execute.*", false],
    ["^(?!mcp__trunkline).*", false],
    ["^(?!m).*", false],
    ["^(?!.*trunkline).*", false],
    ["^__.*", false],
    ["mcp__$|^mcp__trunkline__$", false],
    ["mcp__files.*", false],
    ["(mcp__.*)?x", false],
    ["(?!Bash).*x", false],
  ])("of a hook, %s, matches whatever Trunkline calls a tool: %s", (matcher, does) => {
    expect(matchesAll(matcher, ["mcp__trunkline__"])).toBe(does);
  });

  it.each(["", "*", ".*", "^.*$", ".+", "(.*)"])("%j matches every tool", (matcher) => {
    expect(matchesAll(matcher)).toBe(true);
  });
});
