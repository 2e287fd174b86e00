// `setup` leaves a server with its program if a permission rule of a program would no longer apply to it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { homeFiles, settingsOf, writeHome } from "./move-support.js";

const FILES = { command: "files-mcp" };
const json = (value: unknown) => JSON.stringify(value);
const moved = (place: Place) => Object.keys(settingsOf(place)?.mcpServers ?? {}).sort();

/** A program with the servers `files` and `docs`, and a rule about `files`. */
interface Case {
  readonly program: string;
  readonly rule: string;
  /** Below the home folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly says: string;
}

const servers = (fields: object = {}, table = "mcpServers") =>
  json({ [table]: { files: { ...FILES, ...fields }, docs: { command: "docs" } } });
const claude = (settings: object, file = ".claude/settings.json"): Record<string, string> => ({
  ".claude.json": servers(),
  [file]: json(settings),
});
const hook = (matcher: string) => ({
  hooks: { PreToolUse: [{ matcher, hooks: [{ type: "command", command: "check" }] }] },
});
const codex = (fields: string, more = ""): Record<string, string> => ({
  ".codex/config.toml": `[mcp_servers.files]\ncommand = "files-mcp"\n${fields}\n[mcp_servers.docs]\ncommand = "docs"\n${more}`,
});
const gemini = (settings: object, fields: object = {}): Record<string, string> => ({
  ".gemini/settings.json": json({ ...JSON.parse(servers(fields)), ...settings }),
});
const opencode = (settings: object): Record<string, string> => ({
  ".config/opencode/opencode.json": json({
    mcp: { files: { type: "local", command: ["files-mcp"] }, docs: { type: "local", command: ["docs"] } },
    ...settings,
  }),
});

const CASES: readonly Case[] = [
  ...["mcp__files__delete", "mcp__files__del*", "mcp__files__*", "mcp__files", "mcp__fil*", "mcp__files__x(a:b)"].map(
    (text) => ({
      program: "claude-code",
      rule: `permissions.deny ${text}`,
      files: claude({ permissions: { deny: ["Bash(rm *)", text] } }),
      says: `permissions.deny in ~/.claude/settings.json has ${text}`,
    }),
  ),
  {
    program: "claude-code",
    rule: "permissions.ask",
    files: claude({ permissions: { ask: ["mcp__files__write"] } }),
    says: 'Add "policy": {"files.write":"ask"} to ~/.trunkline/settings.json',
  },
  ...["mcp__files__.*", "Bash|mcp__files__write", "mcp__(files|git)__.*", "^mcp__fil.*"].map((matcher) => ({
    program: "claude-code",
    rule: `a hook on ${matcher}`,
    files: claude(hook(matcher)),
    says: `hooks.PreToolUse in ~/.claude/settings.json runs for ${matcher}`,
  })),
  {
    program: "claude-code",
    rule: "disabledMcpServers of a project",
    files: {
      ".claude.json": json({ ...JSON.parse(servers()), projects: { "/srv/shop": { disabledMcpServers: ["files"] } } }),
    },
    says: "projects./srv/shop.disabledMcpServers in ~/.claude.json has files",
  },
  {
    program: "claude-code",
    rule: "deniedMcpServers",
    files: claude({ deniedMcpServers: [{ serverCommand: ["files-mcp"] }] }),
    says: "deniedMcpServers in ~/.claude/settings.json has serverCommand",
  },
  {
    program: "claude-code",
    rule: "allowedMcpServers",
    files: claude({ allowedMcpServers: [{ serverName: "docs" }, { serverName: "trunkline" }] }),
    says: "allowedMcpServers in ~/.claude/settings.json has a list without it",
  },
  ...[
    { tools: { "files_*": false } },
    { permission: { files_delete: "deny" } },
    { permission: { "*": "allow", "file*": { "*": "ask" } } },
    { agent: { plan: { tools: { "files_*": false } } } },
    { agent: { plan: { permission: { "files_*": "ask" } } } },
  ].map((settings) => ({
    program: "opencode",
    rule: json(settings),
    files: opencode(settings),
    says: "~/.config/opencode/opencode.json has {",
  })),
  ...[
    'default_tools_approval_mode = "prompt"',
    'default_tools_approval_mode = "writes"',
    '[mcp_servers.files.tools.write]\napproval_mode = "prompt"',
    "enabled_tools = []",
    'enabled_tools = ["*"]',
    "enabled_tools = [1]",
    'omit_tools_from = ["code_mode"]',
  ].map((fields) => ({ program: "codex", rule: fields, files: codex(fields), says: "mcp_servers.files." })),
  {
    program: "codex",
    rule: "a hook",
    files: codex("", '[[hooks.PreToolUse]]\nmatcher = "mcp__files__.*"\n'),
    says: "hooks.PreToolUse in ~/.codex/config.toml runs for mcp__files__.*",
  },
  ...[{ excludeTools: ["mcp_files_delete"] }, { tools: { exclude: ["files__*"] } }].map((settings) => ({
    program: "gemini",
    rule: json(settings),
    files: gemini(settings),
    says: "in ~/.gemini/settings.json has",
  })),
  {
    program: "gemini",
    rule: "an empty includeTools",
    files: gemini({}, { includeTools: [] }),
    says: "mcpServers.files.includeTools",
  },
  ...['mcpName = "files"', 'mcpName = "*"\ntoolName = "write"', 'toolName = "mcp_files_*"'].map((rule) => ({
    program: "gemini",
    rule: `a policy with ${rule}`,
    files: {
      ...gemini({}),
      ".gemini/policies/mine.toml": `[[rule]]\n${rule.replace('"*"', '"f*"')}\ndecision = "deny"\npriority = 1\n`,
    },
    says: "in ~/.gemini/policies/mine.toml has",
  })),
  {
    program: "gemini",
    rule: "`gemini mcp disable`",
    files: { ...gemini({}), ".gemini/mcp-server-enablement.json": json({ files: { enabled: false } }) },
    says: "files in ~/.gemini/mcp-server-enablement.json has enabled: false",
  },
  ...[
    [
      "cline",
      ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "mcpServers",
      { disabledTools: ["delete"] },
    ],
    ["vscode", ".config/Code/User/mcp.json", "servers", { sandboxEnabled: true }],
    ["cursor", ".cursor/mcp.json", "mcpServers", { allowedTools: ["read"] }],
    ["windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", { disabledTools: "all" }],
    ["kiro", ".kiro/settings/mcp.json", "mcpServers", { enabledTools: ["read"] }],
  ].map(([program, file, table, fields]) => ({
    program: String(program),
    rule: json(fields),
    files: { [String(file)]: servers(fields as object, String(table)) },
    says: `${table}.files.${Object.keys(fields as object)[0]} in ~/${file} has`,
  })),
  {
    program: "cursor",
    rule: "Mcp(files:delete)",
    files: {
      ".cursor/mcp.json": servers(),
      ".cursor/cli-config.json": json({ permissions: { deny: ["Mcp(files:delete)"] } }),
    },
    says: "permissions.deny in ~/.cursor/cli-config.json has Mcp(files:delete)",
  },
  {
    program: "zed",
    rule: "tool_permissions",
    files: {
      ".config/zed/settings.json": json({
        ...JSON.parse(servers({}, "context_servers")),
        agent: { tool_permissions: { tools: { "mcp:files:delete": { default: "deny" } } } },
      }),
    },
    says: "agent.tool_permissions.tools in ~/.config/zed/settings.json has",
  },
];

describe.runIf(process.platform === "linux")("setup", () => {
  it.each(CASES)("leaves a server with $program for $rule", async ({ files, says }) => {
    using place = new Place();
    for (const [file, text] of Object.entries(files)) writeHome(place, file, text);
    // The same server elsewhere would bring it to Trunkline, which this program gets.
    const windsurf = ".codeium/windsurf/mcp_config.json";
    const other = Object.hasOwn(files, windsurf) ? ".kiro/settings/mcp.json" : windsurf;
    writeHome(place, other, json({ mcpServers: { files: FILES, same: FILES } }));
    const shown = await place.run(["setup", "--dry-run"]);
    expect([shown.code, shown.stdout.replaceAll(/\s+/g, " ")]).toEqual([0, expect.stringContaining(says)]);
    expect((await place.run(["setup", "--yes"])).code).toBe(0);
    expect(moved(place)).toEqual(["docs"]);
    expect(readFileSync(join(place.home, other), "utf8")).toContain("files-mcp");
    expect(Object.keys(files).some((file) => readFileSync(join(place.home, file), "utf8").includes("files-mcp"))).toBe(
      true,
    );
  });

  it.each([
    [
      "permissions of other tools",
      claude({ permissions: { deny: ["Bash(curl *)", "mcp__files2__x"], allow: ["mcp__files__read"] } }),
    ],
    ["a hook on every tool", claude(hook("*"))],
    ["a hook on mcp__.*", claude(hook("mcp__.*"))],
    ["a hook on ^(?!Bash).*", claude(hook("^(?!Bash).*"))],
    ["a hook on Trunkline's tools as well", claude(hook("mcp__files__.*|mcp__trunkline__.*"))],
    ["a hook on Claude Code's own tools", claude(hook("Edit|Write.*|NotebookEdit"))],
    ["a hook on another server", claude(hook("mcp__git__.*"))],
    ["rules for every tool", opencode({ permission: { "*": "ask", bash: "deny" } })],
    [
      "modes that ask as often or less",
      codex('default_tools_approval_mode = "auto"\n[mcp_servers.files.tools.x]\napproval_mode = "approve"'),
    ],
    ["trust", gemini({}, { trust: true })],
  ])("moves a server in spite of %s", async (_, files) => {
    using place = new Place();
    for (const [file, text] of Object.entries(files)) writeHome(place, file, text);
    expect((await place.run(["setup", "--yes"])).code).toBe(0);
    expect(moved(place)).toEqual(["docs", "files"]);
    for (const file of Object.keys(files)) {
      const text = readFileSync(join(place.home, file), "utf8");
      if (text.includes("trunkline")) expect(text).not.toMatch(/"?(?:trust|autoApprove|alwaysAllow)"?\s*[:=]/);
    }
  });

  it.each([
    ["disabled_tools", codex('disabled_tools = ["delete"]'), { tools: { deny: ["delete"] } }],
    ["enabled_tools", codex('enabled_tools = ["read"]'), { tools: { allow: ["read"] } }],
    ["enabled = false", codex("enabled = false"), { disabled: true }],
    ["excludeTools", gemini({}, { excludeTools: ["delete"] }), { tools: { deny: ["delete"] } }],
    ["mcp.excluded", gemini({ mcp: { excluded: ["files"] } }), { disabled: true }],
  ])("carries %s over, and leaves the same server without it where it is", async (_, files, fields) => {
    using place = new Place();
    for (const [file, text] of Object.entries(files)) writeHome(place, file, text);
    writeHome(place, ".cursor/mcp.json", json({ mcpServers: { files: FILES } }));
    expect((await place.run(["setup", "--yes"])).code).toBe(0);
    expect(settingsOf(place)?.mcpServers?.files).toMatchObject({ ...FILES, ...fields });
    expect(readFileSync(join(place.home, ".cursor/mcp.json"), "utf8")).toContain("files-mcp");
  });

  it("reads the rules of projects that Claude Code has been used in", async () => {
    using place = new Place();
    const shop = join(place.base, "shop");
    writeHome(place, ".claude.json", json({ ...JSON.parse(servers()), projects: { [shop]: {} } }));
    writeHome(place, "../shop/.claude/settings.local.json", json({ permissions: { deny: ["mcp__files__delete"] } }));
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual(["docs"]);
  });

  it("leaves a program alone whose rules cannot be read, and says so", async () => {
    using place = new Place();
    for (const [file, text] of Object.entries(claude({}))) writeHome(place, file, text);
    writeHome(place, ".claude/settings.json", '{ "permissions": ');
    writeHome(place, ".cursor/mcp.json", json({ mcpServers: { git: { command: "git-mcp" } } }));
    const before = homeFiles(place)[".claude.json"];
    const { code, stdout } = await place.run(["setup", "--yes"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\.claude\/settings\.json:1:\d+ cannot be used/);
    expect(stdout).toContain(
      "the permission rules of Claude Code are not known, because ~/.claude/settings.json cannot be read",
    );
    expect(homeFiles(place)[".claude.json"]).toBe(before);
    expect(moved(place)).toEqual(["git"]);
  });

  it("moves nothing if the unreadable rules are those of a program that has Trunkline", async () => {
    using place = new Place();
    writeHome(place, ".claude.json", json({ mcpServers: { trunkline: { command: "trunkline", args: ["serve"] } } }));
    writeHome(place, ".claude/settings.json", "[");
    writeHome(place, ".cursor/mcp.json", json({ mcpServers: { git: { command: "git-mcp" } } }));
    expect((await place.run(["setup", "--yes"])).code).toBe(1);
    expect(moved(place)).toEqual([]);
  });

  it("does not add Trunkline to a program with a rule about a server that Trunkline has", async () => {
    using place = new Place();
    writeHome(place, ".trunkline/settings.json", json({ mcpServers: { files: FILES } }));
    writeHome(place, ".claude.json", "{}");
    writeHome(place, ".claude/settings.json", json({ permissions: { deny: ["mcp__files__delete"] } }));
    const { code, stdout } = await place.run(["setup", "--yes"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('Claude Code does not get Trunkline: Trunkline has "files" already'),
    ]);
    expect(readFileSync(join(place.home, ".claude.json"), "utf8")).toBe("{}");
  });

  it("warns of such a rule if the program has Trunkline already", async () => {
    using place = new Place();
    writeHome(place, ".trunkline/settings.json", json({ mcpServers: { files: FILES } }));
    writeHome(place, ".claude.json", json({ mcpServers: { trunkline: { command: "trunkline", args: ["serve"] } } }));
    writeHome(place, ".claude/settings.json", json({ permissions: { deny: ["mcp__files__delete"] } }));
    const { stdout } = await place.run(["setup"]);
    expect(stdout).toContain('Trunkline has "files" already, but permissions.deny in ~/.claude/settings.json');
  });

  it("lets `import --move --overwrite` replace such a server with the program's own, which has the rule", async () => {
    using place = new Place();
    writeHome(place, ".trunkline/settings.json", json({ mcpServers: { files: FILES } }));
    for (const [file, text] of Object.entries(codex('disabled_tools = ["delete"]'))) writeHome(place, file, text);
    const refused = await place.run(["import", "codex", "--move", "--yes"]);
    expect([refused.code, refused.stderr]).toEqual([
      0,
      expect.stringContaining("disabled_tools in ~/.codex/config.toml"),
    ]);
    expect(readFileSync(join(place.home, ".codex/config.toml"), "utf8")).not.toContain("trunkline");
    await place.run(["import", "codex", "--move", "--overwrite", "--yes"]);
    expect(settingsOf(place)?.mcpServers).toMatchObject({ files: { ...FILES, tools: { deny: ["delete"] } }, docs: {} });
  });

  it("moves a server that a program's list of servers leaves out, if the list leaves out Trunkline too", async () => {
    using place = new Place();
    writeHome(
      place,
      ".gemini/settings.json",
      json({ mcp: { allowed: ["docs"] }, mcpServers: { docs: { command: "docs" } } }),
    );
    writeHome(place, ".cursor/mcp.json", servers());
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual(["docs", "files"]);
  });

  it("leaves a server that a program's list of servers leaves out, if the list has Trunkline", async () => {
    using place = new Place();
    const allowed = ["docs", "trunkline"];
    writeHome(place, ".gemini/settings.json", json({ mcp: { allowed }, mcpServers: { docs: { command: "docs" } } }));
    writeHome(place, ".cursor/mcp.json", servers());
    await place.run(["setup", "--yes"]);
    expect(moved(place)).toEqual(["docs"]);
  });

  it("notes what changes for programs without letting them do more", async () => {
    using place = new Place();
    for (const [file, text] of Object.entries(claude({ ...hook("*"), permissions: { allow: ["mcp__files__read"] } })))
      writeHome(place, file, text);
    writeHome(
      place,
      ".gemini/settings.json",
      json({ mcpServers: { trunkline: { command: "trunkline", args: ["serve"], trust: true } } }),
    );
    const { stderr } = await place.run(["setup"]);
    expect(stderr).toContain(
      "permissions.allow in ~/.claude/settings.json (mcp__files__read) does not apply to Trunkline's tools",
    );
    expect(stderr).toContain(
      "hooks.PreToolUse in ~/.claude/settings.json (*) gets the calls under the names of Trunkline's tools",
    );
    expect(stderr).toContain("lets Gemini CLI call Trunkline's tools without asking");
  });

  it("reports the rule as JSON", async () => {
    using place = new Place();
    for (const [file, text] of Object.entries(claude({ permissions: { deny: ["mcp__files__delete"] } })))
      writeHome(place, file, text);
    const { stdout } = await place.run(["setup", "--dry-run", "--json"]);
    expect(JSON.parse(stdout).staying).toEqual([
      {
        name: "files",
        file: join(place.home, ".claude.json"),
        reason: expect.stringContaining("permissions.deny"),
        rule: {
          agent: "claude-code",
          file: join(place.home, ".claude/settings.json"),
          setting: "permissions.deny",
          kind: "deny",
          server: "files",
          tool: "delete",
          text: "mcp__files__delete",
        },
      },
    ]);
  });
});

describe.runIf(process.platform === "linux")("rules that a copy in Trunkline does not have", () => {
  const rules = json({ permissions: { ask: ["mcp__files__write"] } });
  const warning =
    /warning: files: permissions\.ask in ~\/\.claude\/settings\.json has mcp__files__write.*"files\.write":"ask"/;

  it("are named when a server is copied and the program has Trunkline", async () => {
    using place = new Place();
    writeHome(place, ".claude.json", json({ mcpServers: { trunkline: { command: "trunkline", args: ["serve"] } } }));
    writeHome(place, ".claude/settings.json", rules);
    writeHome(place, ".cursor/mcp.json", servers());
    const { code, stderr } = await place.run(["import", "cursor", "--yes"]);
    expect([code, stderr.replaceAll("\n", " ")]).toEqual([0, expect.stringMatching(warning)]);
    expect(stderr).not.toContain("warning: docs");
  });

  it("are named when Trunkline is installed in a program", async () => {
    using place = new Place();
    writeHome(place, ".trunkline/settings.json", servers());
    writeHome(place, ".claude.json", "{}");
    writeHome(place, ".claude/settings.json", rules);
    const { code, stderr } = await place.run(["install", "claude-code", "--yes"]);
    expect([code, stderr.replaceAll("\n", " ")]).toEqual([0, expect.stringMatching(warning)]);
  });
});
