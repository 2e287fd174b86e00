// Claude Code: permissions and hooks in its settings files, and the servers that are switched off.
import { isDeepStrictEqual } from "node:util";
import { isRecord, matchesGlob } from "@trunkline/core";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RulePlace, RuleReader, RuleServer, WrittenRule } from "./rule-types.js";
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
  folders: (place) =>
    managedFolders(place).map((managed) => {
      const folder = joinOn(place.platform, managed, "managed-settings.d");
      return { folder, format: "json", read: readSettings };
    }),
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

function permissionRule(kind: "deny" | "ask" | "allow", text: string): WrittenRule {
  // What is in parentheses is about arguments.
  const [pattern = ""] = text.trim().split("(", 1);
  return {
    setting: `permissions.${kind}`,
    kind,
    text: shownRule(text),
    covers: ({ name }) => {
      if (pattern === "*") return { tool: "*", effect: "holds" };
      for (const prefix of prefixesOf(name)) {
        const tool = pattern === prefix.slice(0, -2) ? "*" : toolGlob(pattern, prefix);
        if (tool !== undefined) return { tool, effect: "stops" };
      }
      return undefined;
    },
  };
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
