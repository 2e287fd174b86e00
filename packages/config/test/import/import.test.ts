import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSensitiveToWrite } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expandText, renderParts } from "../../src/expand.js";
import { findImports, IMPORT_SOURCES, importSource, readImport } from "../../src/import/find-imports.js";
import type { ImportContext } from "../../src/import/imported-server.js";
import { toDialect } from "../../src/written-entry.js";

const fixture = (name: string) => readFileSync(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)), "utf8");

const context: ImportContext = {
  path: "/somewhere/file",
  userHome: "/home/ada",
  platform: "linux",
  env: {},
  folders: ["/home/ada/shop/src", "/home/ada/shop"],
};

function entriesOf(program: string, file: string) {
  const { servers } = importSource(program).parse(fixture(file), context);
  return Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
}

const PROGRAMS: { program: string; file: string; entries: Record<string, unknown> }[] = [
  {
    program: "vscode",
    file: "vscode-mcp.jsonc",
    entries: {
      github: {
        type: "http",
        url: "https://api.githubcopilot.com/mcp/",
        headers: { Authorization: "Bearer ${input:github-token}", "X-Region": "${env:REGION}" },
      },
      playwright: {
        command: "npx",
        args: ["-y", "@playwright/mcp@latest", "--output-dir", "${workspaceFolder}/shots", "--home", "${userHome}"],
      },
      shell: {
        command: "bash",
        args: ["-c", "exec my-server --port \\${PORT}"],
        env: { PORT: "8080", EDITOR_FONT: "${config:editor.fontFamily}" },
        envFile: "${workspaceFolder}/.env",
      },
      events: { type: "sse", url: "https://example.com/sse" },
    },
  },
  {
    program: "cursor",
    file: "cursor-mcp.json",
    entries: {
      postgres: {
        command: "uvx",
        args: ["postgres-mcp", "--access-mode=restricted"],
        env: { DATABASE_URI: "${env:DATABASE_URI}", LOG: "${LOG_LEVEL}" },
        envFile: "${workspaceFolder}/.env.local",
      },
      linear: { type: "http", url: "https://mcp.linear.app/mcp", headers: { Authorization: "Bearer lin_api_4f1c9a" } },
      figma: { type: "http", url: "http://127.0.0.1:3845/mcp" },
    },
  },
  {
    program: "claude-code",
    file: "claude-code.json",
    entries: {
      // The project's entry shadows the user's.
      memory: { command: "node", args: ["./tools/memory.js"], env: { FILE: "${MEMORY_FILE:-/tmp/memory.json}" } },
      sentry: { type: "http", url: "https://mcp.sentry.dev/mcp" },
      context7: { type: "http", url: "https://mcp.context7.com/mcp", headers: { CONTEXT7_API_KEY: "${C7_KEY}" } },
    },
  },
  {
    program: "claude-desktop",
    file: "claude-desktop.json",
    entries: {
      filesystem: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop", "/Users/ada/Downloads"],
      },
      "brave-search": {
        command: "docker",
        args: ["run", "-i", "--rm", "-e", "BRAVE_API_KEY", "mcp/brave-search"],
        env: { BRAVE_API_KEY: "BSA-f00dfacecafe" },
      },
    },
  },
  {
    program: "codex",
    file: "codex-config.toml",
    entries: {
      docs: {
        command: "npx",
        args: ["-y", "docs-mcp", "--template", "\\${title}", "--raw", "${env:TRUNKLINE_LITERAL:-${env:HOME}}"],
        env: { DOCS_TOKEN: "${env:DOCS_TOKEN}", DOCS_REGION: "${env:DOCS_REGION}", LOG: "info" },
        cwd: "/srv/docs",
        timeout: 20,
        callTimeout: 45.5,
        tools: { allow: ["search", "open"], deny: ["open"] },
      },
      figma: {
        type: "http",
        url: "https://mcp.figma.com/mcp",
        headers: {
          "X-Figma-Region": "us-east-1",
          "X-Team": "${env:FIGMA_TEAM}",
          Authorization: "Bearer ${env:FIGMA_OAUTH_TOKEN}",
        },
      },
      off: { command: "off-server", disabled: true, timeout: 1.5 },
    },
  },
  {
    program: "windsurf",
    file: "windsurf-mcp-config.json",
    entries: {
      github: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-github"],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${env:GITHUB_TOKEN}" },
        tools: { deny: ["delete_repository"] },
      },
      remote: {
        type: "http",
        url: "https://${env:HOST}/mcp",
        headers: { Authorization: "Bearer ${API_KEY}", "X-Literal": "\\${NAME}" },
        disabled: true,
      },
    },
  },
  {
    program: "zed",
    file: "zed-settings.jsonc",
    entries: {
      everything: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-everything", "$HOME/\\${dir}"],
        env: { TOKEN: "zed-secret-token" },
      },
      older: { command: "uvx", args: ["mcp-server-git"], env: { A: "1" } },
      remote: {
        type: "http",
        url: "https://example.com/mcp",
        headers: { Authorization: "Bearer abc123" },
        disabled: true,
      },
    },
  },
  {
    program: "gemini",
    file: "gemini-settings.json",
    entries: {
      bookmarks: {
        command: "uv",
        args: ["--directory", "${HOME}/bookmarks", "run", "server.py", "costs $5"],
        env: { API_KEY: "${BOOKMARKS_KEY}", REGION: "${REGION}" },
        cwd: "./server",
        callTimeout: 30,
        tools: { allow: ["search", "add"], deny: ["drop"] },
      },
      streaming: {
        type: "http",
        url: "https://mcp.example.com/mcp",
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
      legacy: { type: "sse", url: "https://mcp.example.com/sse", disabled: true },
    },
  },
  {
    program: "opencode",
    file: "opencode.json",
    entries: {
      browser: {
        command: "bun",
        args: ["x", "browser-mcp", "--price", "\\${amount}"],
        env: { DISPLAY_NAME: "${env:USER_NAME}", KEY: "${BROWSER_KEY}" },
        timeout: 15,
      },
      jira: {
        type: "http",
        url: "https://jira.example.com/mcp",
        headers: { Authorization: "Bearer ${env:JIRA_TOKEN}" },
        disabled: true,
      },
    },
  },
  {
    program: "cline",
    file: "cline-mcp-settings.json",
    entries: {
      local: {
        command: "node",
        args: ["/path/to/server.js", "\\${literal}"],
        env: { API_KEY: "${env:CLINE_KEY}" },
        disabled: true,
        callTimeout: 120,
      },
      old: { type: "sse", url: "https://example.com/sse", headers: { "X-Key": "cline-secret" } },
      new: { type: "http", url: "https://example.com/mcp" },
      legacy: { type: "http", url: "https://example.com/legacy" },
    },
  },
  {
    program: "kiro",
    file: "kiro-mcp.json",
    entries: {
      search: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-bravesearch"],
        env: { BRAVE_API_KEY: "${BRAVE_API_KEY}" },
        tools: { deny: ["delete_index"] },
      },
      remote: {
        type: "http",
        url: "https://api.example.com/mcp",
        headers: { Authorization: "Bearer ${API_TOKEN}" },
        disabled: true,
      },
    },
  },
];

describe("reading other programs' files", () => {
  it("has a sample file for every program", () => {
    const sampled = PROGRAMS.map(({ program }) => program);
    const missing = IMPORT_SOURCES.map(({ id }) => id).filter((id) => !sampled.includes(id));
    expect(missing, "add a file to fixtures/, and to PROGRAMS what is read from it").toEqual([]);
  });

  // An agent that may write there could add a server that the program starts.
  it.each(IMPORT_SOURCES)("$id's files are among those that need permission to be written", (source) => {
    const user = (["linux", "darwin", "win32"] as const).flatMap((platform) =>
      source.userFiles({ ...context, platform }),
    );
    const files = [...user, ...source.projectFiles.map((file) => `/home/ada/shop/${file}`)];
    expect(files.filter((file) => !isSensitiveToWrite(file))).toEqual([]);
  });

  it.each(PROGRAMS)("translates $program's servers", ({ program, file, entries }) => {
    expect(entriesOf(program, file)).toEqual(entries);
  });

  it.each([
    ["vscode", "vscode-mcp.jsonc", "shell", /env\.UNSET.*skipped/],
    ["vscode", "vscode-mcp.jsonc", "shell", /config:editor\.fontFamily.*only in VS Code/],
    ["cursor", "cursor-mcp.json", "figma", /"auth" was not imported/],
    ["claude-code", "claude-code.json", "memory", /only in \/home\/ada\/shop/],
    ["codex", "codex-config.toml", "figma", /"scopes" was not imported/],
    ["windsurf", "windsurf-mcp-config.json", "remote", /api-key was not copied: set the environment variable API_KEY/],
    ["gemini", "gemini-settings.json", "bookmarks", /"trust" was not imported/],
    ["opencode", "opencode.json", "browser", /environment variable BROWSER_KEY/],
    ["cline", "cline-mcp-settings.json", "local", /"autoApprove" was not imported/],
    ["kiro", "kiro-mcp.json", "search", /"autoApprove" was not imported/],
    ["kiro", "kiro-mcp.json", "remote", /"oauth" was not imported: sign in again/],
  ])("reports which parts of %s cannot be imported (%s, %s)", (program, file, name, note) => {
    const { servers } = importSource(program).parse(fixture(file), context);
    expect(servers.find((server) => server.name === name)?.notes).toContainEqual(expect.stringMatching(note));
  });

  it.each([
    ["claude-code", "claude-code.json", "socket", 'its type "ws" is not supported'],
    ["codex", "codex-config.toml", "broken", "it has neither a command nor a URL"],
    ["zed", "zed-settings.jsonc", "mcp-server-context7", expect.stringContaining("Zed extension")],
    ["opencode", "opencode.json", "organisation", "it has neither a command nor a URL"],
  ])("skips entries that only %s can use, with the reason (%s, %s)", (program, file, name, reason) => {
    expect(importSource(program).parse(fixture(file), context).skipped).toContainEqual({ name, reason });
  });

  it("imports only the inputs that an entry uses", () => {
    const { servers } = importSource("vscode").parse(fixture("vscode-mcp.jsonc"), context);
    expect(servers.map(({ name, inputs }) => [name, inputs.map(({ id }) => id)])).toEqual([
      ["github", ["github-token"]],
      ["playwright", []],
      ["shell", []],
      ["events", []],
    ]);
  });

  it.each(IMPORT_SOURCES)("$id: finds no servers in an empty file and locates a syntax error", (source) => {
    expect(source.parse("", context)).toEqual({ servers: [], skipped: [] });
    expect(() => source.parse("\n  {", context)).toThrow(/\/somewhere\/file:2:\d+ cannot be used: it is not valid /);
  });
});

const ENVIRONMENT: Record<string, string> = { X: "<x>", HOME: "/home/ada", dir: "<dir>", "env:X": "<wrong>" };

describe("the meaning of a string", () => {
  const folder = "/projects/shop";
  const expand = (text: string, dialect: "servers" | "mcpServers") =>
    renderParts(
      expandText(text, {
        dialect,
        env: (name) => ENVIRONMENT[name],
        workspaceFolder: folder,
        userHome: "/home/ada",
        inputs: new Map([["id", "<answer>"]]),
      }).parts,
    );

  const plain = [
    "$X ${X} ${env:X}",
    "\\${X}",
    "\\\\${X}",
    "C:\\${env:X}",
    "${X:-d}",
    "${input:id}",
    "${workspaceFolder}",
  ];
  it.each([
    ...plain.map((text) => ["codex", text, text]),
    ...plain.map((text) => ["zed", text, text]),
    ["zed", "${userHome}${/}${a b}${a:b}${}", "${userHome}${/}${a b}${a:b}${}"],
    ["vscode", "${X} ${env:X} ${workspaceFolder}", `\${X} <x> ${folder}`],
    ["vscode", "C:\\${env:X}", "C:\\<x>"],
    ["cursor", "${X} ${env:X} ${NOT_SET}", "<x> <x> ${NOT_SET}"],
    ["claude-code", "${X} ${NOT_SET:-d}", "<x> d"],
    ["windsurf", "${X} ${env:X} ${input:id}", "${X} <x> ${input:id}"],
    ["cline", "${X} ${env:X} ${workspaceFolder}", "${X} <x> ${workspaceFolder}"],
    ["kiro", "${X} ${NOT_SET} ${env:X}", "<x> ${NOT_SET} ${env:X}"],
    ["kiro", "C:\\${X} $X", "C:\\<x> $X"],
    ["gemini", "$X-${X} ${NOT_SET} $5 ${a:b}", "<x>-<x> ${NOT_SET} $5 ${a:b}"],
    ["gemini", "D:\\$X", "D:\\<x>"],
    ["opencode", "{env:X} ${X} ${env:X} {X}", "<x> ${X} $<x> {X}"],
  ])("%s: %j expands to %j", (program, text, meaning) => {
    const server = { command: program === "opencode" ? [text] : text };
    const files: Record<string, unknown> = {
      vscode: { servers: { a: server } },
      zed: { context_servers: { a: server } },
      opencode: { mcp: { a: server } },
    };
    const written =
      program === "codex"
        ? `[mcp_servers.a]\ncommand = ${JSON.stringify(text)}`
        : JSON.stringify(files[program] ?? { mcpServers: { a: server } });
    const [imported] = importSource(program).parse(written, context).servers;
    const entry = imported?.entry ?? {};
    expect(expand(toDialect(entry, "mcpServers").command ?? "", "mcpServers")).toBe(meaning);
    // In the other dialect an unset variable becomes empty instead of staying; the rest is the same.
    expect(expand(toDialect(entry, "servers").command ?? "", "servers")).toBe(
      meaning.replace(/(?<=<x> )\$\{NOT_SET\}/, ""),
    );
  });

  it("asks for inputs if the dialect supports it, and uses the environment if not", () => {
    const entry = { url: "https://x/${input:my-id}" };
    expect(toDialect(entry, "servers")).toEqual(entry);
    expect(toDialect(entry, "mcpServers")).toEqual({ url: "https://x/${env:MY_ID}" });
  });
});

describe("where the files are", () => {
  const places = {
    linux: { userHome: "/home/ada", platform: "linux", env: {} },
    darwin: { userHome: "/Users/ada", platform: "darwin", env: {} },
    win32: { userHome: "C:\\Users\\ada", platform: "win32", env: { APPDATA: "C:\\Users\\ada\\AppData\\Roaming" } },
  } as const;
  const storage = "User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
  it.each([
    ["vscode", "linux", "/home/ada/.config/Code/User/mcp.json"],
    ["vscode", "darwin", "/Users/ada/Library/Application Support/Code/User/mcp.json"],
    ["vscode", "win32", "C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json"],
    ["cursor", "linux", "/home/ada/.cursor/mcp.json"],
    ["cursor", "win32", "C:\\Users\\ada\\.cursor\\mcp.json"],
    ["claude-code", "darwin", "/Users/ada/.claude.json"],
    ["claude-desktop", "linux", "/home/ada/.config/Claude/claude_desktop_config.json"],
    ["claude-desktop", "darwin", "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"],
    ["claude-desktop", "win32", "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
    ["codex", "linux", "/home/ada/.codex/config.toml"],
    ["windsurf", "darwin", "/Users/ada/.codeium/windsurf/mcp_config.json"],
    ["zed", "linux", "/home/ada/.config/zed/settings.json"],
    ["zed", "darwin", "/Users/ada/.config/zed/settings.json"],
    ["zed", "win32", "C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json"],
    ["gemini", "linux", "/home/ada/.gemini/settings.json"],
    ["opencode", "linux", "/home/ada/.config/opencode/opencode.json"],
    ["kiro", "linux", "/home/ada/.kiro/settings/mcp.json"],
    ["kiro", "win32", "C:\\Users\\ada\\.kiro\\settings\\mcp.json"],
    ["cline", "linux", `/home/ada/.config/Code/${storage}`],
    ["cline", "darwin", `/Users/ada/Library/Application Support/Code/${storage}`],
    ["cline", "linux", "/home/ada/.cline/data/settings/cline_mcp_settings.json"],
  ] as const)("%s on %s keeps %s", (program, platform, path) => {
    expect(importSource(program).userFiles(places[platform])).toContain(path);
  });

  it.each([
    ["codex", { CODEX_HOME: "/elsewhere" }, "/elsewhere/config.toml"],
    ["zed", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/zed/settings.json"],
    ["cline", { CLINE_MCP_SETTINGS_PATH: "/cline.json" }, "/cline.json"],
  ])("%s respects %j", (program, env, path) => {
    expect(importSource(program).userFiles({ ...places.linux, env })).toContain(path);
  });
});

describe("finding files", () => {
  let base: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  const find = (cwd: string, programs?: string[]) =>
    findImports({
      cwd: join(base, cwd),
      userHome: join(base, "home"),
      platform: "linux",
      env: {},
      ...(programs === undefined ? {} : { programs }),
    });

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "trunkline-import-"));
    mkdirSync(join(base, "home/shop/.git"), { recursive: true });
    mkdirSync(join(base, "home/shop/src/deep"), { recursive: true });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it("searches for a project's files upward to the git root, and no further", async () => {
    write("home/shop/.vscode/mcp.json", fixture("vscode-mcp.jsonc"));
    write("home/shop/src/.mcp.json", fixture("claude-desktop.json"));
    write("home/.gemini/settings.json", fixture("gemini-settings.json"));
    write("home/opencode.json", fixture("opencode.json"));
    const found = await find("home/shop/src/deep");
    expect(found.map(({ source, path, scope }) => [source.id, path.slice(base.length + 1), scope])).toEqual([
      ["vscode", "home/shop/.vscode/mcp.json", "project"],
      ["claude-code", "home/shop/src/.mcp.json", "project"],
      ["gemini", "home/.gemini/settings.json", "user"],
    ]);
  });

  it("treats the file in the user's folder as the user's, even if that is the working directory", async () => {
    write("home/.cursor/mcp.json", fixture("cursor-mcp.json"));
    expect((await find("home")).map(({ source, scope }) => [source.id, scope])).toEqual([["cursor", "user"]]);
  });

  it("continues after an unreadable file", async () => {
    write("home/.cursor/mcp.json", "{ broken");
    write("home/.codex/config.toml", "[mcp_servers.a]\ncommand = 'x'");
    const found = await find("home/shop");
    expect(found.map(({ source, servers, problem }) => [source.id, servers.length, problem?.code])).toEqual([
      ["cursor", 0, "IO"],
      ["codex", 1, undefined],
    ]);
  });

  it("reads only the named programs", async () => {
    write("home/.cursor/mcp.json", fixture("cursor-mcp.json"));
    write("home/.codex/config.toml", fixture("codex-config.toml"));
    expect((await find("home/shop", ["codex"])).map(({ source }) => source.id)).toEqual(["codex"]);
    await expect(find("home/shop", ["codx"])).rejects.toMatchObject({ code: "USAGE", hint: "Did you mean codex?" });
  });

  it.each([
    ["a.toml", "codex-config.toml", "codex"],
    ["copy/of/settings.json", "zed-settings.jsonc", "zed"],
    ["copy.json", "vscode-mcp.jsonc", "vscode"],
    ["copy.json", "opencode.json", "opencode"],
    ["copy.json", "claude-desktop.json", "claude-code"],
    [".gemini/settings.json", "gemini-settings.json", "gemini"],
    [".kiro/settings/mcp.json", "kiro-mcp.json", "kiro"],
    ["x/windsurf/mcp_config.json", "windsurf-mcp-config.json", "windsurf"],
    ["Claude/claude_desktop_config.json", "claude-desktop.json", "claude-desktop"],
  ])("recognises %s with the content of %s as %s's", async (path, file, program) => {
    write(path, fixture(file));
    const place = { cwd: base, userHome: join(base, "home"), platform: "linux", env: {} } as const;
    const { source, servers } = await readImport(path, place);
    expect(source.id).toBe(program);
    expect(servers.length).toBeGreaterThan(0);
  });

  it("rejects a missing file and an empty one", async () => {
    write("other.json", "{}");
    const place = { cwd: base, userHome: join(base, "home"), platform: "linux", env: {} } as const;
    await expect(readImport("missing.json", place)).rejects.toMatchObject({ code: "USAGE" });
    await expect(readImport("other.json", place)).rejects.toMatchObject({ code: "USAGE" });
  });
});
