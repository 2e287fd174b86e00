// Codex: its entries have lists of tools and modes of approval; administrators can require servers.
import { isRecord } from "@trunkline/core";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RuleReader, RuleServer, WrittenRule } from "./rule-types.js";
import { entryRules, fieldsOf, hookRules, onlyRule, valueAt } from "./shared-readers.js";
import { namesInTools } from "./tool-patterns.js";

const prefixesOf = (server: string) => namesInTools(server).map((name) => `mcp__${name}__`);

export const codexRules: RuleReader = {
  files: ({ platform, userHome, env, folders, systemFolder }) => {
    const own = env.CODEX_HOME || joinOn(platform, userHome, ".codex");
    // On macOS as well.
    const etc = platform === "darwin" ? "/etc" : systemFolder;
    const system = joinOn(platform, etc, ...(platform === "win32" ? ["OpenAI", "Codex"] : ["codex"]));
    const file = (read: RuleFile["read"], ...parts: string[]): RuleFile => ({
      path: joinOn(platform, ...parts),
      format: parts.at(-1)?.endsWith(".json") ? "json" : "toml",
      read,
    });
    return [own, ...folders.map((folder) => joinOn(platform, folder, ".codex")), system].flatMap((folder) => [
      file(readConfig, folder, "config.toml"),
      file(readHooks, folder, "hooks.json"),
      ...(folder === system
        ? [file(readConfig, folder, "managed_config.toml"), file(readRequirements, folder, "requirements.toml")]
        : []),
    ]);
  },
  // Profiles.
  folders: ({ platform, userHome, env }) => {
    const folder = env.CODEX_HOME || joinOn(platform, userHome, ".codex");
    return [{ folder, ending: ".config.toml", format: "toml", read: readProfile }];
  },
};

const CARRIED = ["enabled_tools", "disabled_tools"];

function* readConfig(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* entryRules(root, { at: ["mcp_servers"], carried: CARRIED, rest: approvals });
  for (const profile of Object.keys(fieldsOf(root.profiles)))
    yield* entryRules(root, { at: ["profiles", profile, "mcp_servers"], rest: approvals });
  yield* hookRules(root.hooks, "hooks", { prefixesOf });
}

/** Our copy of an entry has no lists of a profile. */
function* readProfile(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* entryRules(root, { at: ["mcp_servers"], rest: approvals });
  yield* hookRules(root.hooks, "hooks", { prefixesOf });
}

function* readHooks(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* hookRules(root.hooks, "hooks", { prefixesOf });
}

function* approvals(entry: Readonly<Record<string, unknown>>) {
  const mode = entry.default_tools_approval_mode;
  if (isRestriction(mode))
    yield { setting: "default_tools_approval_mode", kind: modeKind(mode), tool: "*", value: mode };
  for (const [tool, settings] of Object.entries(fieldsOf(entry.tools))) {
    const approval = fieldsOf(settings).approval_mode;
    if (isRestriction(approval))
      yield { setting: `tools.${tool}.approval_mode`, kind: modeKind(approval), tool, value: approval };
  }
  const omitted = entry.omit_tools_from;
  if (Array.isArray(omitted) && omitted.length > 0)
    yield { setting: "omit_tools_from", kind: "deny" as const, tool: "*", value: omitted };
}

/** A mode that is not known could be stricter than any. */
function isRestriction(mode: unknown): boolean {
  return mode !== undefined && mode !== "auto";
}

function modeKind(mode: unknown): "ask" | "allow" {
  return mode === "approve" ? "allow" : "ask";
}

/** Only servers that are named here start, and only as they are described here. */
function* readRequirements(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  const { mcp_servers: required } = root;
  if (!isRecord(required)) return;
  yield onlyRule("mcp_servers", "other servers only", (server) => isRequired(required, server));
}

function isRequired(required: Readonly<Record<string, unknown>>, { name, entry }: RuleServer): boolean {
  if (!Object.hasOwn(required, name)) return false;
  const command = valueAt(required[name], ["identity", "command"]);
  const url = valueAt(required[name], ["identity", "url"]);
  return entry === undefined || (command === entry.command && url === entry.url);
}
