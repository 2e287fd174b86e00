// Programs whose rules are, or are mostly, in the entries of their servers.

import type { ProgramId } from "@trunkline/core";
import { importSource } from "../import/find-imports.js";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RuleReader, WrittenRule } from "./rule-types.js";
import { entryRules, fieldsOf, hookRules, shownRule, textsOf, valueAt } from "./shared-readers.js";
import { toolGlob } from "./tool-patterns.js";

/** Reads only the fields of entries, in the files that `import` reads. */
export function entriesOnly(
  id: ProgramId,
  tables: readonly (readonly string[])[],
  carried: readonly string[] = [],
): RuleReader {
  return {
    files: (place) => {
      const { userFiles, projectFiles } = importSource(id);
      const own = place.folders.flatMap((folder) => projectFiles.map((file) => joinOn(place.platform, folder, file)));
      return [...userFiles(place), ...own].map((path) => ({
        path,
        format: "json",
        read: (root) => tables.flatMap((at) => [...entryRules(root, { at, carried })]),
      }));
    },
  };
}

const cursorEntries = entriesOnly("cursor", [["mcpServers"]]);

export const cursorRules: RuleReader = {
  files: (place) => {
    const { platform, userHome, env, folders, systemFolder } = place;
    const paths = [
      joinOn(platform, userHome, ".cursor", "cli-config.json"),
      ...(env.XDG_CONFIG_HOME ? [joinOn(platform, env.XDG_CONFIG_HOME, "cursor", "cli-config.json")] : []),
      ...folders.map((folder) => joinOn(platform, folder, ".cursor", "cli.json")),
    ];
    return [
      ...cursorEntries.files(place),
      ...paths.map((path): RuleFile => ({ path, format: "json", read: readCursorPermissions })),
      ...[userHome, ...folders].map((folder): RuleFile => {
        return { path: joinOn(platform, folder, ".cursor", "hooks.json"), format: "json", read: readCursorHooks };
      }),
      {
        path: joinOn(platform, systemFolder, platform === "linux" ? "cursor" : "Cursor", "hooks.json"),
        ...{ format: "json", read: readCursorHooks },
      },
    ];
  },
};

/** `Mcp(server:tool)`, in which both are globs. */
function* readCursorPermissions(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const kind of ["deny", "allow"] as const) {
    for (const text of textsOf(valueAt(root, ["permissions", kind]))) {
      const [, server, tool = "*"] = /^Mcp\(\s*([^:,)]*)\s*(?:[:,]\s*([^)]*?)\s*)?\)$/.exec(text.trim()) ?? [];
      if (server === undefined) continue;
      yield {
        ...{ setting: `permissions.${kind}`, kind, text: shownRule(text) },
        covers: ({ name }) =>
          toolGlob(`${server.trim()}:`, `${name}:`) === undefined ? undefined : { tool, effect: "stops" },
      };
    }
  }
}

/** A call is `MCP:<tool>` to its hooks, without the server, and only `<tool>` in the events for such calls. */
function* readCursorHooks(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const [event, groups] of Object.entries(fieldsOf(root.hooks))) {
    const prefixesOf = () => [event.includes("MCP") ? "" : "MCP:"];
    yield* hookRules({ [event]: groups }, "hooks", { prefixesOf, syntax: "expression" });
  }
}

const zedEntries = entriesOnly("zed", [["context_servers"]]);

export const zedRules: RuleReader = {
  files: (place) =>
    zedEntries.files(place).map((file) => ({
      ...file,
      read: (root) => [...file.read(root), ...readZedAgent(fieldsOf(root.agent))],
    })),
};

/** Zed calls a tool `mcp:<server>:<tool>`. Its profiles choose tools of each server. */
function* readZedAgent(agent: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  for (const [id, value] of Object.entries(fieldsOf(valueAt(agent, ["tool_permissions", "tools"])))) {
    const { default: verdict, always_deny: deny, always_confirm: confirm } = fieldsOf(value);
    const has = (list: unknown) => Array.isArray(list) && list.length > 0;
    const kind = verdict === "deny" || has(deny) ? "deny" : verdict === "confirm" || has(confirm) ? "ask" : "allow";
    yield {
      ...{ setting: "agent.tool_permissions.tools", kind, text: shownRule({ [id]: value }) },
      covers: ({ name }) => {
        const tool = toolGlob(id, `mcp:${name}:`);
        return tool === undefined ? undefined : { tool, effect: "stops" };
      },
    };
  }
  for (const [profile, value] of Object.entries(fieldsOf(agent.profiles))) {
    for (const [server, settings] of Object.entries(fieldsOf(fieldsOf(value).context_servers))) {
      for (const [tool, isOn] of Object.entries(fieldsOf(fieldsOf(settings).tools))) {
        if (isOn !== false) continue;
        yield {
          setting: `agent.profiles.${profile}.context_servers.${server}.tools`,
          ...{ kind: "deny", text: shownRule({ [tool]: false }) },
          covers: ({ name }) => (name === server ? { tool, effect: "stops" } : undefined),
        };
      }
    }
  }
}
