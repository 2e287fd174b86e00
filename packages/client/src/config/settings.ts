// Settings other than servers: policy, what `download` can reach, what agents can do without asking, and what they see.
import { isAbsolute } from "node:path";
import { nearestNames, withoutUndefined } from "@trunkline/core";
import { type BrokerSettings, readBroker } from "./broker-settings.js";
import type { ConfigScope, Diagnostic } from "./loaded-config.js";
import type { PolicyRules, PolicyVerdict } from "./policy.js";
import {
  type MergedSurface,
  mergeSurface,
  readFavourites,
  readSurface,
  type SurfaceSettings,
} from "./surface-settings.js";
import { type ConfigNode, kindOf, memberOf, textOf } from "./tree.js";

type Warn = (node: ConfigNode, message: string) => void;

export interface FileSettings {
  readonly policy?: PolicyRules;
  /** Lets `download` reach private addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** Globs of tools that agents can call without asking, even if the tools make changes. */
  readonly agentAllow?: readonly string[];
  readonly paths?: PathSettings;
  readonly surface?: SurfaceSettings;
  /** Globs of tools that are always listed. */
  readonly favourites?: readonly string[];
  readonly broker?: BrokerSettings;
  /** The address of the registry that `servers search` and `servers add` use. Only the user's own counts. */
  readonly registry?: string;
  /** Whether to say that a newer version exists. Only the user's own counts. */
  readonly updateNotice?: boolean;
  /** The address of the database in which the store is, in place of the user's own folder. */
  readonly store?: string;
}

/** Files and folders that clients can use besides the workspace. */
export interface PathSettings {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** What happens with other paths: ask the user, or refuse. */
  readonly outside?: "ask" | "deny";
}

/** The policy of an unreadable file: upstream tools are denied, store operations still work. */
export const UNKNOWN_RULES: PolicyRules = { "*.*": "deny" };

const VERDICTS: readonly PolicyVerdict[] = ["allow", "ask", "deny"];

/**
 * Reads `policy`, `download`, `agent`, `paths`, `surface`, `favourites`, `broker`, `registry`, `updateNotice` and
 * `store`. An unreadable rule denies, so anything meant to be restricted stays restricted.
 */
export function readSettings(
  root: ConfigNode,
  { file, scope }: { file: string; scope: ConfigScope },
): { settings: FileSettings; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const warn = (node: ConfigNode, message: string) =>
    diagnostics.push({ severity: "warning", message: `${file}: ${message}.`, file, ...node.at });
  // The author of a project must not decide for its user: where servers come from, where documents go, which files
  // clients reach, which questions are asked, what tool lists cost.
  const isOwn = (node: ConfigNode, name: string) => {
    if (scope !== "project") return true;
    warn(node, `"${name}" has an effect only in your own settings, not in a project's`);
    return false;
  };
  const own = (name: string) => {
    const node = memberOf(root, name);
    return node !== undefined && isOwn(node, name) ? node : undefined;
  };
  const policy = readPolicy(memberOf(root, "policy"), warn);
  const download = memberOf(root, "download");
  const allowed = memberOf(download, "allowPrivate");
  if (download !== undefined && download.kind !== "map")
    warn(download, `"download" is ${kindOf(download)}, not an object`);
  let allowPrivateAddresses: boolean | undefined;
  if (allowed !== undefined) {
    const text = textOf(allowed);
    if (text !== "true" && text !== "false") warn(allowed, '"download.allowPrivate" must be true or false');
    else if (text === "false" || isOwn(allowed, "download.allowPrivate")) allowPrivateAddresses = text === "true";
  }
  const agentAllow = readAgentAllow(memberOf(root, "agent"), isOwn, warn);
  const paths = readPaths(own("paths"), warn);
  const surface = readSurface(own("surface"), warn);
  const favourites = readFavourites(memberOf(root, "favourites"), warn);
  const broker = readBroker(own("broker"), warn);
  const registry = readRegistry(own("registry"), warn);
  const updateNotice = readUpdateNotice(own("updateNotice"), warn);
  const store = readStore(own("store"), warn);
  return {
    settings: withoutUndefined({
      policy,
      allowPrivateAddresses,
      agentAllow,
      paths,
      surface,
      favourites,
      broker,
      registry,
      updateNotice,
      store,
    }),
    diagnostics,
  };
}

/** Reads `"registry": "https://…"`. */
function readRegistry(node: ConfigNode | undefined, warn: Warn): string | undefined {
  if (node === undefined) return undefined;
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  if (text === undefined) warn(node, '"registry" must be an address such as "https://registry.example.com"');
  return text;
}

/** Reads `"updateNotice": false`. */
function readUpdateNotice(node: ConfigNode | undefined, warn: Warn): boolean | undefined {
  if (node === undefined) return undefined;
  const text = textOf(node);
  if (text === "true" || text === "false") return text === "true";
  warn(node, '"updateNotice" must be true or false');
  return undefined;
}

/** Reads `"store": "postgres://user@host/database"`. */
function readStore(node: ConfigNode | undefined, warn: Warn): string | undefined {
  if (node === undefined) return undefined;
  const text = textOf(node);
  if (text !== undefined && /^postgres(?:ql)?:\/\//i.test(text)) return text;
  warn(node, '"store" is not the address of a database, such as "postgres://user@host/database"');
  return undefined;
}

/** Reads `"paths": {"read": ["~/notes"], "write": [], "outside": "ask"}`. */
function readPaths(node: ConfigNode | undefined, warn: Warn): PathSettings | undefined {
  if (node === undefined) return undefined;
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
function readAgentAllow(
  agent: ConfigNode | undefined,
  isOwn: (node: ConfigNode, name: string) => boolean,
  warn: Warn,
): readonly string[] | undefined {
  if (agent === undefined) return undefined;
  if (agent.kind !== "map") {
    warn(agent, `"agent" is ${kindOf(agent)}, not an object such as { "allow": ["docs.*"] }`);
    return undefined;
  }
  const allow = memberOf(agent, "allow");
  if (allow === undefined) return undefined;
  const globs = allow.kind === "list" ? allow.items.map((item) => textOf(item)) : [undefined];
  if (!globs.every((glob) => glob !== undefined)) {
    warn(allow, '"agent.allow" must be a list of tools such as ["docs.*"]');
    return undefined;
  }
  return isOwn(allow, "agent.allow") ? globs : undefined;
}

function readPolicy(node: ConfigNode | undefined, warn: Warn): PolicyRules | undefined {
  if (node === undefined) return undefined;
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

/** The settings of all files: every set of rules, strongest file first. */
export interface ConfigSettings extends MergedSurface {
  readonly policies: readonly PolicyRules[];
  readonly allowPrivateAddresses: boolean;
  /** Globs of tools that agents can call without asking, from the user's own files. */
  readonly agentAllow?: readonly string[];
  /** From the user's own files. */
  readonly paths?: PathSettings;
  /** From the user's own files. */
  readonly broker?: BrokerSettings;
  /** From the user's own files: the address of the store's database. */
  readonly store?: string;
}

export function mergeSettings(files: readonly (FileSettings & { readonly scope: ConfigScope })[]): ConfigSettings {
  const agentAllow = files.flatMap((file) => file.agentAllow ?? []);
  return {
    policies: files.flatMap(({ policy }) => (policy === undefined ? [] : [policy])),
    allowPrivateAddresses:
      files.find((file) => file.allowPrivateAddresses !== undefined)?.allowPrivateAddresses ?? false,
    ...(agentAllow.length === 0 ? {} : { agentAllow }),
    ...mergePaths(files),
    ...mergeSurface(files),
    ...mergeBroker(files),
    ...mergeStore(files),
  };
}

function mergeBroker(files: readonly FileSettings[]): Pick<ConfigSettings, "broker"> {
  const broker = files.find((file) => file.broker?.idleMs !== undefined)?.broker;
  return broker === undefined ? {} : { broker };
}

function mergeStore(files: readonly FileSettings[]): Pick<ConfigSettings, "store"> {
  const store = files.find((file) => file.store !== undefined)?.store;
  return store === undefined ? {} : { store };
}

function mergePaths(files: readonly FileSettings[]): Pick<ConfigSettings, "paths"> {
  const given = files.flatMap(({ paths }) => (paths === undefined ? [] : [paths]));
  if (given.length === 0) return {};
  const outside = given.find((paths) => paths.outside !== undefined)?.outside;
  return {
    paths: {
      read: given.flatMap(({ read = [] }) => read),
      write: given.flatMap(({ write = [] }) => write),
      ...(outside === undefined ? {} : { outside }),
    },
  };
}
