// The agents: what to install, their settings, their command lines, and how they name a server's tool.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Call, Turn } from "./dialects/dialect.js";
import packages from "./packages.json" with { type: "json" };
import type { Place, StdioServer } from "./place.js";

export interface Agent {
  readonly title: string;
  readonly folder: keyof typeof packages;
  /** What it is started with, after the name of its program. */
  readonly args: readonly string[];
  env(url: string): Readonly<Record<string, string>>;
  /** Its settings, by path below the home: the servers, and a rule that denies one tool if `denies` is set. */
  settings(place: Place, options: SettingsOptions): Readonly<Record<string, string>>;
  /** How the model sees a tool of a server. */
  toolName(server: string, tool: string): string;
  /** What the model calls first to be able to call these tools: a search, or nothing at all but time to start. */
  prepare?(turn: Turn, tools: readonly string[]): Call | undefined | Promise<Call | undefined>;
  /** Whether the model learns from its first call which tools there are, instead of from the first request. */
  readonly asksForTools?: boolean;
  /** How the model calls a tool, if not by its name. */
  call?(tool: string, args: Call["args"]): Call;
}

export interface SettingsOptions {
  readonly url: string;
  readonly denies?: { readonly server: string; readonly tool: string };
}

const cache = process.env.TRUNKLINE_AGENTS ?? join(homedir(), ".cache", "trunkline", "agents");

export function programOf({ folder }: Agent): string {
  return join(cache, folder, "node_modules", ".bin", packages[folder].program);
}

export function isInstalled(agent: Agent): boolean {
  return existsSync(programOf(agent));
}

export function versionOf({ folder }: Agent): string {
  return packages[folder].version;
}

const PROMPT = "Use the tools.";

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function mapped<T>(servers: Readonly<Record<string, StdioServer>>, entry: (server: StdioServer, name: string) => T) {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, entry(server, name)]));
}

const claudeCode: Agent = {
  title: "Claude Code",
  folder: "claude-code",
  args: [
    ...["-p", PROMPT, "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"],
    ...["--output-format", "stream-json", "--verbose"],
  ],
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "test-key",
    // Lets it skip permissions as root.
    IS_SANDBOX: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  settings: ({ servers, workspace }, { denies }) => ({
    ".claude.json": toJson({
      numStartups: 3,
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ["test-key"], rejected: [] },
      mcpServers: mapped(servers, (server) => ({ type: "stdio", ...server })),
      projects: { [workspace]: { hasTrustDialogAccepted: true, allowedTools: [], mcpServers: {} } },
    }),
    ...(denies && {
      ".claude/settings.json": toJson({ permissions: { deny: [`mcp__${denies.server}__${denies.tool}`] } }),
    }),
  }),
  toolName: (server, tool) => `mcp__${server}__${tool}`,
  prepare: ({ tools, results }, wanted) =>
    results.length === 0 && tools.includes("ToolSearch")
      ? { tool: "ToolSearch", args: { query: `select:${wanted.join(",")}`, max_results: 30 } }
      : undefined,
};

/** How often a model of Codex looks for tools that are not there yet, and how long it waits in between. */
const LOOKS = 8;
const LOOK_PAUSE_MS = 500;

/** Codex starts before its servers have: calls `look` until a tool is there, and once more for those still missing. */
function looking(look: (missing: readonly string[]) => Call): Pick<Agent, "prepare"> {
  return {
    async prepare({ tools, results }, wanted) {
      const seen = results.map(({ text }) => text).join("\n");
      const missing = wanted.filter((name) => !tools.includes(name) && !seen.includes(name.replace("::", "__")));
      const isLate = results.length > 0 && missing.length === wanted.length;
      if (missing.length === 0 || results.length >= (isLate ? LOOKS : 2)) return undefined;
      if (isLate) await delay(LOOK_PAUSE_MS);
      return look(missing);
    },
  };
}

/** Codex asks its model for tools in three ways, depending on what it knows about the model. */
function codex(model: string, title: string, rest: Partial<Agent>): Agent {
  return {
    title: `Codex, ${title}`,
    folder: "codex",
    args: ["exec", "--skip-git-repo-check", "--json", "--model", model, PROMPT],
    env: () => ({ OPENAI_API_KEY: "test-key" }),
    settings: ({ servers, workspace }, { url, denies }) => {
      const entries = Object.entries(servers).flatMap(([name, { command, args, env = {} }]) => [
        "",
        `[mcp_servers.${name}]   # one of mine`,
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        ...(denies?.server === name ? [`disabled_tools = ["${denies.tool}"]`] : []),
        ...Object.entries(env).flatMap(([key, value]) => [`[mcp_servers.${name}.env]`, `${key} = "${value}"`]),
      ]);
      const lines = [
        "# my settings",
        'model_provider = "scripted"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        "check_for_update_on_startup = false",
        "",
        "[analytics]",
        "enabled = false",
        "",
        "[model_providers.scripted]",
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
        "",
        `[projects."${workspace}"]`,
        'trust_level = "trusted"',
        ...entries,
      ];
      return { ".codex/config.toml": `${lines.join("\n")}\n` };
    },
    toolName: (server, tool) => `mcp__${server}::${tool.replaceAll("-", "_")}`,
    ...rest,
  };
}

const gemini: Agent = {
  title: "Gemini CLI",
  folder: "gemini",
  args: ["-p", PROMPT, "-m", "gemini-2.5-pro", "--yolo", "--output-format", "stream-json"],
  env: (url) => ({
    GEMINI_API_KEY: "test-key",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_TELEMETRY_ENABLED: "false",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  settings: ({ servers }, { denies }) => ({
    ".gemini/settings.json": `// my settings\n${toJson({
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      telemetry: { enabled: false },
      mcpServers: mapped(servers, (server, name) => ({
        ...server,
        ...(denies?.server === name && { excludeTools: [denies.tool] }),
      })),
    })}`,
  }),
  toolName: (server, tool) => `mcp_${server}_${tool}`,
};

const SCRIPTED_MODEL = {
  attachment: true,
  modalities: { input: ["text", "image"], output: ["text"] },
  limit: { context: 200_000, output: 8192 },
};

const opencode: Agent = {
  title: "opencode",
  folder: "opencode",
  args: ["run", "--format", "json", PROMPT],
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  settings: ({ servers }, { url, denies }) => ({
    ".config/opencode/opencode.json": toJson({
      $schema: "https://opencode.ai/config.json",
      autoupdate: false,
      share: "disabled",
      model: "scripted/scripted",
      small_model: "scripted/scripted",
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          name: "Scripted",
          options: { baseURL: `${url}/v1`, apiKey: "test-key" },
          models: { scripted: { name: "Scripted", tool_call: true, ...SCRIPTED_MODEL } },
        },
      },
      ...(denies && { tools: { [`${denies.server}_${denies.tool}`]: false } }),
      mcp: mapped(servers, ({ command, args, env }) => ({
        type: "local",
        command: [command, ...args],
        ...(env && { environment: env }),
        enabled: true,
      })),
    }),
  }),
  toolName: (server, tool) => `${server}_${tool}`,
};

function programThatCalls(name: string, args: Call["args"]): string {
  return `const result = JSON.stringify(await tools.${name}(${JSON.stringify(args)})); text(result.length + " characters: " + result);`;
}

export const AGENTS = {
  "claude-code": claudeCode,
  "codex-search": codex("gpt-5.5", "a model that searches tools", {
    asksForTools: true,
    ...looking((missing) => ({
      tool: "tool_search",
      args: { query: missing.join(" ").replaceAll(/[_:]+/g, " "), limit: 40 },
    })),
  }),
  "codex-code": codex("gpt-6-sol", "a model that writes programs", {
    asksForTools: true,
    ...looking(() => ({ tool: "exec", args: {}, program: "text(ALL_TOOLS.map(({ name }) => name).join(' '));" })),
    call: (tool, args) => ({ tool: "exec", args: {}, program: programThatCalls(tool.replace("::", "__"), args) }),
  }),
  "codex-plain": codex("scripted", "an unknown model", {
    ...looking(() => ({ tool: "exec_command", args: { cmd: "true" } })),
  }),
  gemini,
  opencode,
} satisfies Record<string, Agent>;

export type AgentId = keyof typeof AGENTS;
