import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProgramId } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findPermissionRules } from "../../src/permission-rules/find-permission-rules.js";
import { couldMatch, matchesAll, toolGlob } from "../../src/permission-rules/tool-patterns.js";

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

async function rulesOf(
  agent: ProgramId,
  platform: NodeJS.Platform = "linux",
  env: Readonly<Record<string, string>> = {},
) {
  const [rules] = await findPermissionRules({
    ...{ cwd: join(base, "shop"), userHome: join(base, "home"), platform, env, programs: [agent] },
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

describe("a program", () => {
  const frontMatter = (text: string) => `---\nname: reviewer\n${text}\n---\nReviews files.\n`;

  it.each<[ProgramId, string, string, string]>([
    ["claude-code", "home/.claude/agents/a.md", frontMatter("disallowedTools: Bash, mcp__files__write"), "deny"],
    ["claude-code", "shop/.claude/agents/team/a.md", frontMatter("disallowedTools:\n  - mcp__files"), "deny"],
    ["claude-code", "home/.claude/agents/a.md", frontMatter("tools: Read, mcp__files__read"), "only"],
    ["claude-code", "home/.claude/agents/a.md", frontMatter("tools: Read, mcp__trunkline__search"), "only"],
    [
      "claude-code",
      "home/.claude/agents/a.md",
      frontMatter("hooks:\n  PreToolUse:\n    - matcher: mcp__files__.*"),
      "hook",
    ],
    [
      "claude-code",
      "home/.claude/agents/a.md",
      frontMatter("description: a: b\ndisallowedTools: mcp__files__x"),
      "deny",
    ],
    ["opencode", "home/.config/opencode/agent/a.md", frontMatter('permission:\n  "files_*": deny'), "deny"],
    ["opencode", "home/.config/opencode/agents/a.md", frontMatter("tools:\n  files_write: false"), "deny"],
    ["opencode", "shop/.opencode/agent/a.md", frontMatter("tools:\n  files_write: false"), "deny"],
    ["opencode", "shop/.opencode/agents/sub/a.md", frontMatter("permission:\n  files_write: ask"), "ask"],
    ["opencode", "shop/.opencode/mode/a.md", frontMatter("tools:\n  files_write: false"), "deny"],
    ["opencode", "shop/.opencode/agent/a.md", frontMatter("description: a: b\ntools:\n  files_write: false"), "deny"],
    ["gemini", "shop/.gemini/policies/a.toml", '[[rule]]\nmcpName = "files"\ndecision = "deny"\n', "deny"],
    [
      "gemini",
      "home/.gemini/policies/a.toml",
      '[[rule]]\ndecision = "deny"\ntoolAnnotations = { destructiveHint = true }\n',
      "deny",
    ],
    [
      "gemini",
      "home/.gemini/extensions/x/gemini-extension.json",
      '{ "excludeTools": ["mcp_files_write", "run_shell_command(rm)"] }',
      "deny",
    ],
    [
      "gemini",
      "home/.gemini/extensions/x/hooks/hooks.json",
      '{ "hooks": { "BeforeTool": [{ "matcher": "mcp_files_.*" }] } }',
      "hook",
    ],
    [
      "cursor",
      "home/.cursor/hooks.json",
      '{ "hooks": { "beforeMCPExecution": [{ "command": "x", "matcher": "write" }] } }',
      "hook",
    ],
    ["cursor", "shop/.cursor/hooks.json", '{ "hooks": { "preToolUse": [{ "matcher": "MCP:write" }] } }', "hook"],
    ["codex", "home/.codex/work.config.toml", '[mcp_servers.files]\ndisabled_tools = ["write"]\n', "deny"],
  ])("has rules: %s in %s: %s", async (agent, file, text, kind) => {
    const path = write(file, text);
    const { on, problems } = await rulesOf(agent);
    expect(problems).toEqual([]);
    expect(on({ name: "files", entry: { command: "files-mcp" } })).toMatchObject([
      { agent, file: path, kind, server: "files", effect: "stops" },
    ]);
  });

  it.each<[ProgramId, string, string]>([
    ["claude-code", "home/.claude/agents/a.md", frontMatter("tools: Read, Grep\ndisallowedTools: Bash, mcp__git__x")],
    ["claude-code", "home/.claude/agents/a.md", frontMatter("tools: mcp__files__*, mcp__trunkline__*")],
    ["claude-code", "home/.claude/agents/a.md", frontMatter("description: a: files")],
    ["claude-code", "home/.claude/agents/a.md", "Reviews mcp__files__x.\n"],
    ["claude-code", "home/.claude/agents/empty.md", "---\n---\n"],
    ["claude-code", "home/.claude/agents/notes.txt", frontMatter("disallowedTools: mcp__files__x")],
    ["opencode", "shop/.opencode/agent/a.md", frontMatter("permission:\n  edit: deny\n  bash:\n    '*': ask")],
    ["cursor", "home/.cursor/hooks.json", '{ "hooks": { "preToolUse": [{ "matcher": "Shell|Write" }] } }'],
  ])("has no rule about another server: %s in %s, %j", async (agent, file, text) => {
    write(file, text);
    const { on, problems } = await rulesOf(agent);
    expect([problems, on({ name: "files", entry: { command: "files-mcp" } })]).toEqual([[], []]);
  });

  it("has a hook on every call of Cursor that still runs", async () => {
    write("home/.cursor/hooks.json", '{ "hooks": { "beforeMCPExecution": [{ "command": "check" }] } }');
    expect((await rulesOf("cursor")).on({ name: "files" })).toMatchObject([{ kind: "hook", effect: "holds" }]);
  });

  it.each([
    ["OPENCODE_PERMISSION", '{ "files_*": "deny" }'],
    ["OPENCODE_CONFIG_CONTENT", '{ "permission": { "files_write": "deny" } }'],
  ])("has rules in the variable %s", async (variable, text) => {
    const { on } = await rulesOf("opencode", "linux", { [variable]: text });
    expect(on({ name: "files" })).toMatchObject([{ kind: "deny", file: `$${variable}` }]);
    const { problems } = await rulesOf("opencode", "linux", { [variable]: "{" });
    expect(problems.map(({ data }) => data?.file)).toEqual([`$${variable}`]);
  });

  it.each(["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"])(
    "has rules in the file that %s names",
    async (variable) => {
      const file = write("it/gemini.json", '{ "mcp": { "excluded": ["files"] } }');
      const { on } = await rulesOf("gemini", "linux", { [variable]: file });
      expect(on({ name: "files" })).toMatchObject([{ kind: "off", file }]);
    },
  );

  it("has rules in the files and folders of policyPaths", async () => {
    const rule = '[[rule]]\nmcpName = "files"\ndecision = "deny"\n';
    const paths = [write("it/one.toml", rule), write("it/more/two.toml", rule), write("home/three.toml", rule)];
    const policyPaths = [paths[0], join(base, "it/more"), "~/three.toml", join(base, "absent")];
    write("home/.gemini/settings.json", JSON.stringify({ policyPaths }));
    const { on, problems } = await rulesOf("gemini");
    expect(problems).toEqual([]);
    expect(on({ name: "files" }).map(({ file }) => file)).toEqual(expect.arrayContaining(paths));
  });

  it("has rules in the policies of an extension", async () => {
    write("home/.gemini/extensions/x/gemini-extension.json", '{ "name": "x" }');
    const rule = '[[rule]]\ntoolName = "mcp_files_x"\ndecision = "ask_user"\n';
    const file = write("home/.gemini/extensions/x/policies/a.toml", rule);
    expect((await rulesOf("gemini")).on({ name: "files" })).toMatchObject([{ kind: "ask", file }]);
  });

  it("has a problem if a folder has too many files to read", async () => {
    for (let i = 0; i <= 500; i++) write(`home/.claude/agents/${i}.md`, "");
    const { problems } = await rulesOf("claude-code");
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("more than 500 files")]);
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
