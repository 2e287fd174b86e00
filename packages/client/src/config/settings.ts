// Settings other than servers: policy, what `download` can reach, and what agents can do without asking.
import { nearestNames } from "@trunkline/core";
import type { ConfigScope, Diagnostic } from "./loaded-config.js";
import type { PolicyRules, PolicyVerdict } from "./policy.js";
import { type ConfigNode, kindOf, memberOf, textOf } from "./tree.js";

export interface FileSettings {
  readonly policy?: PolicyRules;
  /** Lets `download` reach private addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** Globs of tools that agents can call without asking, even if the tools make changes. */
  readonly agentAllow?: readonly string[];
}

/** The policy of an unreadable file: upstream tools are denied, store operations still work. */
export const UNKNOWN_RULES: PolicyRules = { "*.*": "deny" };

const VERDICTS: readonly PolicyVerdict[] = ["allow", "ask", "deny"];

/**
 * Reads `policy`, `download` and `agent`. An unreadable rule denies, so anything meant to be restricted stays
 * restricted.
 */
export function readSettings(
  root: ConfigNode,
  { file, scope }: { file: string; scope: ConfigScope },
): { settings: FileSettings; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const warn = (node: ConfigNode, message: string) =>
    diagnostics.push({ severity: "warning", message: `${file}: ${message}.`, file, ...node.at });
  const policy = readPolicy(memberOf(root, "policy"), warn);
  const download = memberOf(root, "download");
  const allowed = memberOf(download, "allowPrivate");
  if (download !== undefined && download.kind !== "map")
    warn(download, `"download" is ${kindOf(download)}, not an object`);
  let allowPrivateAddresses: boolean | undefined;
  if (allowed !== undefined) {
    const text = textOf(allowed);
    if (text !== "true" && text !== "false") warn(allowed, '"download.allowPrivate" must be true or false');
    else if (text === "true" && scope === "project") {
      warn(allowed, '"download.allowPrivate" has an effect only in your own settings, not in a project\'s');
    } else allowPrivateAddresses = text === "true";
  }
  const agentAllow = readAgentAllow(memberOf(root, "agent"), scope, warn);
  return {
    settings: {
      ...(policy === undefined ? {} : { policy }),
      ...(allowPrivateAddresses === undefined ? {} : { allowPrivateAddresses }),
      ...(agentAllow === undefined ? {} : { agentAllow }),
    },
    diagnostics,
  };
}

/** Reads `"agent": {"allow": ["docs.*"]}`. The author of a project must not be able to suppress a question. */
function readAgentAllow(
  agent: ConfigNode | undefined,
  scope: ConfigScope,
  warn: (node: ConfigNode, message: string) => void,
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
  if (scope === "project") {
    warn(allow, '"agent.allow" has an effect only in your own settings, not in a project\'s');
    return undefined;
  }
  return globs;
}

function readPolicy(
  node: ConfigNode | undefined,
  warn: (node: ConfigNode, message: string) => void,
): PolicyRules | undefined {
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
export interface ConfigSettings {
  readonly policies: readonly PolicyRules[];
  readonly allowPrivateAddresses: boolean;
  /** Globs of tools that agents can call without asking, from the user's own files. */
  readonly agentAllow?: readonly string[];
}

export function mergeSettings(files: readonly FileSettings[]): ConfigSettings {
  const agentAllow = files.flatMap((file) => file.agentAllow ?? []);
  return {
    policies: files.flatMap(({ policy }) => (policy === undefined ? [] : [policy])),
    allowPrivateAddresses:
      files.find((file) => file.allowPrivateAddresses !== undefined)?.allowPrivateAddresses ?? false,
    ...(agentAllow.length === 0 ? {} : { agentAllow }),
  };
}
