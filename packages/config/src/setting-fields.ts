// The settings of a file besides servers. Adding a setting is one entry in this table: the reader, who may set it, the
// merged settings and the reference page derive from it.
import { isAbsolute } from "node:path";
import { nearestNames } from "@trunkline/core";
import { readBroker } from "./broker-settings.js";
import type { SetBy } from "./entry-fields.js";
import type { PolicyRules, PolicyVerdict } from "./policy.js";
import { readFavourites, readSurface } from "./surface-settings.js";
import { type ConfigNode, kindOf, memberOf, textOf } from "./tree.js";

type Warn = (node: ConfigNode, message: string) => void;

export interface SettingField<Value = unknown> {
  /** For the reference page. */
  readonly about: string;
  readonly type: string;
  readonly default?: string;
  /**
   * The author of a project must not decide for its user where servers come from, where documents go, which files clients
   * reach, which questions are asked or what tool lists cost.
   */
  readonly setBy: readonly Exclude<SetBy, "programs">[];
  /** Whether a value only restricts. Such a value counts in a project's file, too. */
  readonly isNarrowing?: (value: unknown) => boolean;
  /** The setting's name in the program, if it has another one there. */
  readonly as?: string;
  readonly read: (node: ConfigNode, warn: Warn) => Value;
}

const VERDICTS: readonly PolicyVerdict[] = ["allow", "ask", "deny"];

/** A name with a dot is a member of an object. */
export const SETTING_FIELDS = {
  policy: {
    about:
      "what agents may run: [rules](../guides/connect-your-servers.md#rules-for-operations) by `server.tool` or operation. The strictest file wins",
    type: "globs, each with `allow`, `ask` or `deny`",
    setBy: ["user", "project"],
    read: readPolicy,
  },
  "download.allowPrivate": {
    about: "whether `download` can reach private addresses. A project's file can only say `false`",
    type: "true or false",
    default: "false",
    setBy: ["user"],
    isNarrowing: (value: unknown) => value === false,
    as: "allowPrivateAddresses",
    read: (node: ConfigNode, warn: Warn) => readFlag(node, "download.allowPrivate", warn),
  },
  "agent.allow": {
    about: "tools that `agent` can call without asking, even if they make changes",
    type: "globs over `server.tool`",
    setBy: ["user"],
    as: "agentAllow",
    read: readAgentAllow,
  },
  paths: {
    about:
      "files that clients can use besides the workspace: `read` and `write` are lists of absolute paths, `outside` says what happens with others: `ask` or `deny`",
    type: '`{ "read": ["~/notes"], "write": [], "outside": "ask" }`',
    setBy: ["user"],
    read: readPaths,
  },
  surface: {
    about: "what [tool lists](../guides/connect-your-servers.md#what-an-agent-sees) may cost",
    type: '`{ "directTokens": 1200, "favouriteTokens": 800, "clients": { "my-agent": "direct" } }`',
    setBy: ["user"],
    read: readSurface,
  },
  favourites: {
    about:
      "tools to [list](../guides/connect-your-servers.md#what-an-agent-sees) even if they are not used yet; those of a project come last",
    type: "globs over `server.tool`",
    setBy: ["user", "project"],
    read: readFavourites,
  },
  broker: {
    about:
      "`idle`: how many seconds [the broker](../guides/one-trunkline-for-all-windows.md) stays after its last client",
    type: '`{ "idle": 900 }`',
    default: "900",
    setBy: ["user"],
    read: readBroker,
  },
  registry: {
    about: "the registry that `servers search` and `servers add` ask",
    type: "URL",
    default: "the MCP registry",
    setBy: ["user"],
    read: readRegistry,
  },
  updateNotice: {
    about: "whether to say that a newer version exists",
    type: "true or false",
    default: "true",
    setBy: ["user"],
    read: (node: ConfigNode, warn: Warn) => readFlag(node, "updateNotice", warn),
  },
  store: {
    about: "the database that holds [a team's store](../guides/team.md), in place of your own folder",
    type: "`postgres://` URL",
    setBy: ["user"],
    read: readStore,
  },
} as const satisfies Readonly<Record<string, SettingField>>;

type Fields = typeof SETTING_FIELDS;
type NameOf<Key extends keyof Fields> = Fields[Key] extends { as: infer As extends string } ? As : Key;

/** The settings that one file makes. */
export type FileSettings = {
  readonly [Key in keyof Fields as NameOf<Key>]?: NonNullable<ReturnType<Fields[Key]["read"]>>;
};

/** Every setting, with its path in a file and its name in the program. */
export const SETTINGS: readonly (SettingField & { readonly path: string; readonly name: keyof FileSettings })[] =
  Object.entries<SettingField>(SETTING_FIELDS).map(([path, field]) => ({
    ...field,
    path,
    name: (field.as ?? path) as keyof FileSettings,
  }));

/** Files and folders that clients can use besides the workspace. */
export interface PathSettings {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** What happens with other paths: ask the user, or refuse. */
  readonly outside?: "ask" | "deny";
}

function readFlag(node: ConfigNode, name: string, warn: Warn): boolean | undefined {
  const text = textOf(node);
  if (text === "true" || text === "false") return text === "true";
  warn(node, `"${name}" must be true or false`);
  return undefined;
}

/** Reads `"registry": "https://…"`. */
function readRegistry(node: ConfigNode, warn: Warn): string | undefined {
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  if (text === undefined) warn(node, '"registry" must be an address such as "https://registry.example.com"');
  return text;
}

/** Reads `"store": "postgres://user@host/database"`. */
function readStore(node: ConfigNode, warn: Warn): string | undefined {
  const text = textOf(node);
  if (text !== undefined && /^postgres(?:ql)?:\/\//i.test(text)) return text;
  warn(node, '"store" is not the address of a database, such as "postgres://user@host/database"');
  return undefined;
}

/** Reads `"paths": {"read": ["~/notes"], "write": [], "outside": "ask"}`. */
function readPaths(node: ConfigNode, warn: Warn): PathSettings | undefined {
  if (node.kind !== "map") {
    warn(node, `"paths" is ${kindOf(node)}, not an object such as { "read": ["~/notes"] }`);
    return undefined;
  }
  const list = (name: "read" | "write") => {
    const member = memberOf(node, name);
    if (member === undefined) return {};
    const texts = member.kind === "list" ? member.items.map((item) => textOf(item)) : [undefined];
    const paths = texts.filter((text) => text !== undefined && (isAbsolute(text) || /^~[\\/]/.test(text)));
    if (paths.length < texts.length)
      warn(member, `"paths.${name}" must be a list of absolute paths such as ["~/notes"]`);
    return { [name]: paths };
  };
  const outside = memberOf(node, "outside");
  const verdict = outside === undefined ? undefined : textOf(outside)?.toLowerCase();
  if (outside !== undefined && verdict !== "ask" && verdict !== "deny")
    warn(outside, '"paths.outside" must be "ask" or "deny"; until this is fixed it counts as "deny"');
  return {
    ...list("read"),
    ...list("write"),
    ...(outside === undefined ? {} : { outside: verdict === "ask" ? "ask" : "deny" }),
  };
}

/** Reads `"agent": {"allow": ["docs.*"]}`. */
function readAgentAllow(node: ConfigNode, warn: Warn): readonly string[] | undefined {
  const globs = node.kind === "list" ? node.items.map((item) => textOf(item)) : [undefined];
  if (globs.every((glob) => glob !== undefined)) return globs;
  warn(node, '"agent.allow" must be a list of tools such as ["docs.*"]');
  return undefined;
}

function readPolicy(node: ConfigNode, warn: Warn): PolicyRules | undefined {
  if (node.kind !== "map") {
    warn(
      node,
      `"policy" is ${kindOf(node)}, not an object such as { "github.*": "ask" }; until this is fixed it counts as { "*": "deny" }`,
    );
    return { "*": "deny" };
  }
  const rules = node.members.map(({ key, value }): [string, PolicyVerdict] => {
    const text = textOf(value) ?? "";
    const verdict = VERDICTS.find((known) => known === text.toLowerCase());
    if (verdict !== undefined) return [key, verdict];
    const near = nearestNames(text, VERDICTS, 1)[0];
    warn(
      value,
      `the rule for "${key}" must be "allow", "ask" or "deny"${near === undefined ? "" : ` (did you mean "${near}"?)`}; until this is fixed it counts as "deny"`,
    );
    return [key, "deny"];
  });
  return Object.fromEntries(rules);
}
