// Gemini CLI: lists of servers and tools in its settings, and its policy files.
import { dirname, join, resolve } from "node:path";
import { isRecord, matchesGlob } from "@trunkline/core";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RuleFolder, RulePlace, RulePlaces, RuleReader, WrittenRule } from "./rule-types.js";
import { entryRules, fieldsOf, hookRules, offRule, shownRule, textsOf, valueAt } from "./shared-readers.js";
import { namesInTools, toolGlob } from "./tool-patterns.js";

const prefixesOf = (server: string) => namesInTools(server).flatMap((name) => [`mcp_${name}_`, `${name}__`]);

export const geminiRules: RuleReader = {
  files: (place) => {
    const { platform, userHome, folders } = place;
    const file = (...parts: string[]): RuleFile => ({
      path: joinOn(platform, ...parts),
      format: "json",
      read: readSettings,
      more: (root) => policyPlaces(root, place),
    });
    const named = [place.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH, place.env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH];
    return [
      ...named.flatMap((path) => (path ? [file(path)] : [])),
      file(userHome, ".gemini", "settings.json"),
      ...folders.map((folder) => file(folder, ".gemini", "settings.json")),
      file(systemFolderOf(place), "settings.json"),
      file(systemFolderOf(place), "system-defaults.json"),
      { ...file(userHome, ".gemini", "mcp-server-enablement.json"), read: readEnablement },
    ];
  },
  folders: (place) =>
    [
      ...[place.userHome, ...place.folders].map((folder) => joinOn(place.platform, folder, ".gemini")),
      systemFolderOf(place),
    ].flatMap((folder): RuleFolder[] => {
      const extensions = { folder: joinOn(place.platform, folder, "extensions"), format: "json" } as const;
      return [
        policyFolder(joinOn(place.platform, folder, "policies")),
        {
          ...{ ...extensions, below: "gemini-extension.json", read: readSettings },
          more: (_, path) => ({ folders: [policyFolder(join(dirname(path), "policies"))] }),
        },
        { ...extensions, below: join("hooks", "hooks.json"), read: readHooks },
      ];
    }),
};

function policyFolder(folder: string): RuleFolder {
  return { folder, format: "toml", read: readPolicy };
}

/** The files and folders of policies that settings name. */
function policyPlaces(root: Readonly<Record<string, unknown>>, { userHome }: RulePlace): RulePlaces {
  const paths = [...textsOf(root.policyPaths), ...textsOf(root.adminPolicyPaths)].map((path) =>
    resolve(path.replace(/^~(?=[\\/]|$)/, () => userHome)),
  );
  const isFile = (path: string) => path.endsWith(".toml");
  return {
    files: paths.filter(isFile).map((path) => ({ path, format: "toml", read: readPolicy })),
    folders: paths.filter((path) => !isFile(path)).map(policyFolder),
  };
}

function systemFolderOf({ platform, systemFolder }: RulePlace): string {
  return joinOn(platform, systemFolder, platform === "darwin" ? "GeminiCli" : "gemini-cli");
}

function* readSettings(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* entryRules(root, { at: ["mcpServers"], carried: ["includeTools", "excludeTools"] });
  const servers = fieldsOf(root.mcpServers);
  const lists = {
    allowed: [["mcp", "allowed"], ["allowMCPServers"]],
    excluded: [["mcp", "excluded"], ["excludeMCPServers"]],
  };
  for (const [list, paths] of Object.entries(lists)) {
    for (const path of paths) {
      const names = valueAt(root, path);
      if (!Array.isArray(names)) continue;
      const isOff = (name: string) => names.includes(name) === (list === "excluded");
      // Our copy of an entry in the same file is switched off as well.
      const isCarried = (name: string) => path[0] === "mcp" && Object.hasOwn(servers, name);
      yield {
        setting: path.join("."),
        kind: list === "allowed" ? "only" : "off",
        text: shownRule(names),
        covers: ({ name }) => {
          if (!isOff(name)) return undefined;
          return isCarried(name)
            ? { tool: "*", effect: "carried", at: ["mcpServers", name] }
            : { tool: "*", effect: "stops" };
        },
      };
    }
  }
  for (const path of [["tools", "exclude"], ["excludeTools"]])
    for (const text of textsOf(valueAt(root, path))) yield toolRule({ setting: path.join("."), kind: "deny", text });
  yield* readHooks(root);
}

function* readHooks(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* hookRules(root.hooks, "hooks", { prefixesOf, syntax: "expression" });
}

/** The servers that `gemini mcp disable` has switched off. */
function* readEnablement(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const [id, state] of Object.entries(root)) {
    if (fieldsOf(state).enabled === false)
      yield offRule(id, "enabled: false", ({ name }) => name.toLowerCase().trim() === id.toLowerCase().trim());
  }
}

const KINDS = { deny: "deny", ask_user: "ask", allow: "allow" } as const;

function* readPolicy(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const rule of [root.rule].flat()) {
    if (!isRecord(rule)) continue;
    const kind = Object.entries(KINDS).find(([decision]) => decision === rule.decision)?.[1];
    if (kind === undefined) continue;
    const { toolName, mcpName, decision } = rule;
    const tools = toolName === undefined ? ["*"] : textsOf(toolName);
    if (typeof mcpName === "string") {
      const text = shownRule({ mcpName, toolName, decision });
      for (const tool of tools) {
        yield {
          ...{ setting: "rule", kind, text },
          covers: ({ name }) =>
            namesInTools(name).some((written) => matchesGlob(mcpName, written)) ? { tool, effect: "stops" } : undefined,
        };
      }
    } else {
      const { argsPattern, toolAnnotations } = rule;
      const isPartial = argsPattern !== undefined || toolAnnotations !== undefined;
      const setting = toolName === undefined ? "rule" : "rule.toolName";
      const shown = toolName === undefined ? shownRule({ argsPattern, toolAnnotations, decision }) : undefined;
      for (const text of tools) yield toolRule({ setting, kind, text, shown, isPartial });
    }
  }
}

interface ToolRule {
  readonly setting: string;
  readonly kind: "deny" | "ask" | "allow";
  readonly text: string;
  /** How it is written, if that is not the text. */
  readonly shown?: string;
  /** Whether it is about some calls only. */
  readonly isPartial?: boolean;
}

function toolRule({ setting, kind, text, shown = text, isPartial = false }: ToolRule): WrittenRule {
  return {
    ...{ setting, kind, text: shownRule(shown) },
    covers: ({ name }) => {
      if (text === "*" && !isPartial) return { tool: "*", effect: "holds" };
      for (const prefix of prefixesOf(name)) {
        const tool = toolGlob(text, prefix);
        if (tool !== undefined) return { tool, effect: "stops" };
      }
      return undefined;
    },
  };
}
