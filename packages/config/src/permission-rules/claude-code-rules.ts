// Claude Code: permissions and hooks in its settings files, what its agents can use, and the servers that are switched off.
import { isDeepStrictEqual } from "node:util";
import { isRecord, matchesGlob } from "@trunkline/core";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RuleFolder, RulePlace, RuleReader, RuleServer, WrittenRule } from "./rule-types.js";
import { entryRules, fieldsOf, hookRules, offRule, onlyRule, shownRule, textsOf, valueAt } from "./shared-readers.js";
import { namesInTools, toolGlob } from "./tool-patterns.js";

const prefixesOf = (server: string) => namesInTools(server).map((name) => `mcp__${name}__`);

export const claudeCodeRules: RuleReader = {
  files: ({ platform, userHome, env, folders, systemFolder }) => {
    const settings = (...parts: string[]): RuleFile => ({
      path: joinOn(platform, ...parts),
      format: "json",
      read: readSettings,
    });
    const own = env.CLAUDE_CONFIG_DIR || joinOn(platform, userHome, ".claude");
    const managed = managedFolders({ platform, env, systemFolder });
    return [
      settings(own, "settings.json"),
      settings(own, "settings.local.json"),
      ...folders.flatMap((folder) => [
        settings(folder, ".claude", "settings.json"),
        settings(folder, ".claude", "settings.local.json"),
      ]),
      ...managed.map((folder) => settings(folder, "managed-settings.json")),
      ...managed.map((folder): RuleFile => {
        return { path: joinOn(platform, folder, "managed-mcp.json"), format: "json", read: readManagedServers };
      }),
      { path: joinOn(platform, env.CLAUDE_CONFIG_DIR || userHome, ".claude.json"), format: "json", read: readState },
      ...folders.map((folder): RuleFile => {
        const read: RuleFile["read"] = (root) => entryRules(root, { at: ["mcpServers"] });
        return { path: joinOn(platform, folder, ".mcp.json"), format: "json", read };
      }),
    ];
  },
  folders: (place) => {
    const { platform, userHome, env, folders } = place;
    const managed = managedFolders(place);
    const own = env.CLAUDE_CONFIG_DIR || joinOn(platform, userHome, ".claude");
    const withAgents = [own, ...[...folders, ...managed].map((folder) => joinOn(platform, folder, ".claude"))];
    return [
      ...managed.map((folder): RuleFolder => {
        return { folder: joinOn(platform, folder, "managed-settings.d"), format: "json", read: readSettings };
      }),
      ...withAgents.map((folder): RuleFolder => {
        const agents = { folder: joinOn(platform, folder, "agents"), isDeep: true };
        return { ...agents, format: "markdown", read: readAgent, mentions: isInText };
      }),
    ];
  },
};

/** Where administrators put its settings. */
function managedFolders({
  platform,
  env,
  systemFolder,
}: Pick<RulePlace, "platform" | "env" | "systemFolder">): string[] {
  const folders = [joinOn(platform, systemFolder, platform === "linux" ? "claude-code" : "ClaudeCode")];
  if (platform === "win32") folders.push(joinOn(platform, env.ProgramFiles || "C:\\Program Files", "ClaudeCode"));
  return folders;
}

function* readSettings(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const kind of ["deny", "ask", "allow"] as const)
    for (const text of textsOf(valueAt(root, ["permissions", kind]))) yield permissionRule(kind, text);
  yield* hookRules(root.hooks, "hooks", { prefixesOf });
  yield* switchedOff(root, "disabledMcpjsonServers");
  yield* switchedOff(root, "disabledMcpServers");
  const { allowedMcpServers: allowed, deniedMcpServers: denied } = root;
  if (Array.isArray(allowed)) {
    yield onlyRule("allowedMcpServers", "a list without it", (server) =>
      allowed.some((item) => isMeant(item, server, allowed)),
    );
  }
  for (const item of Array.isArray(denied) ? denied : [])
    yield offRule("deniedMcpServers", Object.keys(fieldsOf(item)).join(", "), (server) => isMeant(item, server, []));
}

function permissionRule(kind: "deny" | "ask" | "allow", text: string, setting = `permissions.${kind}`): WrittenRule {
  return {
    setting,
    kind,
    text: shownRule(text),
    covers: ({ name }) => {
      if (text.trim() === "*") return { tool: "*", effect: "holds" };
      const tool = toolOf(text, name);
      return tool === undefined ? undefined : { tool, effect: "stops" };
    },
  };
}

/** The tools of the server that a permission is about, as a glob. */
function toolOf(text: string, server: string): string | undefined {
  // What is in parentheses is about arguments.
  const [pattern = ""] = text.trim().split("(", 1);
  for (const prefix of prefixesOf(server)) {
    const tool = pattern === prefix.slice(0, -2) ? "*" : toolGlob(pattern, prefix);
    if (tool !== undefined) return tool;
  }
  return undefined;
}

/** The front matter of an agent. Without `tools` it can use all of them. */
function* readAgent({ tools, disallowedTools, hooks }: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  const listed = (value: unknown) => textsOf(value).flatMap((text) => text.split(","));
  for (const text of listed(disallowedTools)) yield permissionRule("deny", text.trim(), "disallowedTools");
  const used = listed(tools);
  yield {
    ...{ setting: "tools", kind: "only", text: shownRule(used.join(",")) },
    covers: ({ name }) => {
      const own = used.flatMap((text) => toolOf(text, name) ?? []);
      // It is about some of the server's tools, or leaves them out and has Trunkline's.
      const isLimit = own.length > 0 || used.some((text) => toolOf(text, "trunkline") !== undefined);
      return isLimit && !own.includes("*") ? { tool: "*", effect: "stops" } : undefined;
    },
  };
  yield* hookRules(hooks, "hooks", { prefixesOf });
}

/** Whether a word of the text could be a name or pattern for the server's tools. */
function isInText(text: string, server: string): boolean {
  return text.split(/[\s,"'()[\]|]+/).some((word) => word.startsWith("mcp_") && toolOf(word, server) !== undefined);
}

function* switchedOff(root: unknown, setting: string, at: readonly string[] = []): Generator<WrittenRule> {
  for (const text of textsOf(valueAt(root, [...at, setting])))
    yield offRule([...at, setting].join("."), text, ({ name }) => name === text);
}

/** Whether an entry of a list of servers means this one. A list with commands or URLs allows no server by name that has one. */
function isMeant(item: unknown, { name, entry }: RuleServer, allowed: readonly unknown[]): boolean {
  const { serverName, serverCommand, serverUrl } = fieldsOf(item);
  const { command, args = [], url } = entry ?? {};
  if (Array.isArray(serverCommand))
    return command !== undefined && isDeepStrictEqual(serverCommand, [command, ...args]);
  if (typeof serverUrl === "string") return url !== undefined && matchesGlob(serverUrl, url);
  const isByName = allowed.every(
    (other) => fieldsOf(other)[command === undefined ? "serverUrl" : "serverCommand"] === undefined,
  );
  return isByName && serverName === name;
}

/** The administrator's servers: Claude Code uses no others. */
function* readManagedServers(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  const names = Object.keys(fieldsOf(root.mcpServers));
  yield onlyRule("mcpServers", "other servers only", ({ name }) => names.includes(name));
}

/** Its own file: entries, and the servers that the user has switched off in a project. */
function* readState(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* entryRules(root, { at: ["mcpServers"] });
  for (const [folder, project] of Object.entries(fieldsOf(root.projects))) {
    if (!isRecord(project)) continue;
    const at = ["projects", folder];
    yield* entryRules(root, { at: [...at, "mcpServers"] });
    yield* switchedOff(root, "disabledMcpServers", at);
    yield* switchedOff(root, "disabledMcpjsonServers", at);
  }
}
