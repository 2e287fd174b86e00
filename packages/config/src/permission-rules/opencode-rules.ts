// opencode: `tools` and `permission`, for everything or one of its agents, by glob over `<server>_<tool>`.
import { isRecord } from "@trunkline/core";
import type { ImportPlace } from "../import/imported-server.js";
import { joinOn } from "../import/programs.js";
import type { RuleFile, RuleFolder, RuleReader, WrittenRule } from "./rule-types.js";
import { entryRules, fieldsOf, shownRule } from "./shared-readers.js";
import { namesInTools, toolGlob } from "./tool-patterns.js";

const FOLDERS = ["agent", "agents", "mode", "modes"];
const FILES = ["opencode.json", "opencode.jsonc", "config.json"];

export const opencodeRules: RuleReader = {
  files: ({ platform, userHome, env, folders, systemFolder }) => {
    const file = (...parts: string[]): RuleFile => ({
      path: joinOn(platform, ...parts),
      format: "json",
      read: readConfig,
    });
    const variable = (name: string, read: RuleFile["read"]): RuleFile => {
      return { path: `$${name}`, format: "json", text: env[name] ?? "", read };
    };
    return [
      ...ownFolders({ platform, userHome, env }).flatMap((folder) => FILES.map((name) => file(folder, name))),
      variable("OPENCODE_CONFIG_CONTENT", readConfig),
      variable("OPENCODE_PERMISSION", (permission) => toolRules({ permission }, [])),
      ...(env.OPENCODE_CONFIG ? [file(env.OPENCODE_CONFIG)] : []),
      ...[...folders, ...folders.map((folder) => joinOn(platform, folder, ".opencode"))].flatMap((folder) =>
        ["opencode.json", "opencode.jsonc"].map((name) => file(folder, name)),
      ),
      ...["opencode.json", "opencode.jsonc"].map((name) => file(systemFolder, "opencode", name)),
    ];
  },
  folders: (place) => {
    const { platform, folders } = place;
    return [...ownFolders(place), ...folders.map((folder) => joinOn(platform, folder, ".opencode"))].flatMap((folder) =>
      FOLDERS.map((name): RuleFolder => {
        const agents = { folder: joinOn(platform, folder, name), isDeep: true };
        return { ...agents, format: "markdown", read: (root) => toolRules(root, []), mentions: isInText };
      }),
    );
  },
};

function ownFolders({ platform, userHome, env }: ImportPlace): string[] {
  const own = joinOn(platform, env.XDG_CONFIG_HOME || joinOn(platform, userHome, ".config"), "opencode");
  return [own, ...(env.OPENCODE_CONFIG_DIR ? [env.OPENCODE_CONFIG_DIR] : [])];
}

function isInText(text: string, server: string): boolean {
  return namesInTools(server).some((name) => text.includes(`${name}_`));
}

function* readConfig(root: Readonly<Record<string, unknown>>): Generator<WrittenRule> {
  yield* entryRules(root, { at: ["mcp"] });
  yield* toolRules(root, []);
  for (const table of ["agent", "mode"])
    for (const [name, agent] of Object.entries(fieldsOf(root[table]))) yield* toolRules(fieldsOf(agent), [table, name]);
}

function* toolRules(
  { tools, permission }: Readonly<Record<string, unknown>>,
  at: readonly string[],
): Generator<WrittenRule> {
  for (const [glob, isOn] of Object.entries(fieldsOf(tools)))
    yield toolRule({ setting: [...at, "tools"].join("."), glob, kind: isOn === false ? "deny" : "allow", value: isOn });
  const permissions = isRecord(permission) ? permission : permission === undefined ? {} : { "*": permission };
  for (const [glob, value] of Object.entries(permissions))
    yield toolRule({ setting: [...at, "permission"].join("."), glob, kind: strictest(value), value });
}

/** One verdict, or one for each pattern of arguments. */
function strictest(value: unknown): "deny" | "ask" | "allow" {
  const verdicts = isRecord(value) ? Object.values(value) : [value];
  if (verdicts.includes("deny")) return "deny";
  return verdicts.every((verdict) => verdict === "allow") ? "allow" : "ask";
}

interface ToolRule {
  readonly setting: string;
  readonly glob: string;
  readonly kind: "deny" | "ask" | "allow";
  readonly value: unknown;
}

function toolRule({ setting, glob, kind, value }: ToolRule): WrittenRule {
  return {
    ...{ setting, kind, text: shownRule({ [glob]: value }) },
    covers: ({ name }) => {
      if (glob === "*") return { tool: "*", effect: "holds" };
      for (const server of namesInTools(name)) {
        const tool = toolGlob(glob, `${server}_`);
        if (tool !== undefined) return { tool, effect: "stops" };
      }
      return undefined;
    },
  };
}
