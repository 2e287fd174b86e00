// Settings other than servers: those of each file, and those of all files together.
import { withoutUndefined } from "@trunkline/core";
import type { ConfigScope, Diagnostic } from "./loaded-config.js";
import type { PolicyRules } from "./policy.js";
import { type FileSettings, type PathSettings, SETTINGS, type SettingField } from "./setting-fields.js";
import { type MergedSurface, mergeSurface } from "./surface-settings.js";
import { type ConfigNode, kindOf, memberOf } from "./tree.js";

/** The policy of an unreadable file: upstream tools are denied, store operations still work. */
export const UNKNOWN_RULES: PolicyRules = { "*.*": "deny" };

/** Reads the settings of a file. An unreadable rule denies, so anything meant to be restricted stays restricted. */
export function readSettings(
  root: ConfigNode,
  { file, scope }: { file: string; scope: ConfigScope },
): { settings: FileSettings; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const warn = (node: ConfigNode, message: string) =>
    diagnostics.push({ severity: "warning", message: `${file}: ${message}.`, file, ...node.at });
  const read = (node: ConfigNode, { setBy, isNarrowing, read, path }: SettingField & { path: string }) => {
    const isOwn = setBy.includes(scope === "project" ? "project" : "user");
    const value = isOwn || isNarrowing !== undefined ? read(node, warn) : undefined;
    if (isOwn || (value !== undefined && isNarrowing?.(value))) return value;
    if (isNarrowing === undefined || value !== undefined)
      warn(node, `"${path}" has an effect only in your own settings, not in a project's`);
    return undefined;
  };
  const settings = SETTINGS.map((setting): [string, unknown] => {
    const node = findNode(root, setting.path, warn);
    return [setting.name, node && read(node, setting)];
  });
  return { settings: withoutUndefined(Object.fromEntries(settings)) as FileSettings, diagnostics };
}

/** Finds a setting; for `agent.allow`, the member of an object. */
function findNode(
  root: ConfigNode,
  path: string,
  warn: (node: ConfigNode, message: string) => void,
): ConfigNode | undefined {
  const [name = "", member] = path.split(".");
  const node = memberOf(root, name);
  if (node === undefined || member === undefined) return node;
  if (node.kind === "map") return memberOf(node, member);
  warn(node, `"${name}" is ${kindOf(node)}, not an object such as { "${member}": … }`);
  return undefined;
}

/** The settings of all files. A setting comes from the strongest file that makes it, with these exceptions. */
export interface ConfigSettings
  extends MergedSurface,
    Omit<FileSettings, "policy" | "surface" | "favourites" | "allowPrivateAddresses"> {
  /** Every set of rules, strongest file first. */
  readonly policies: readonly PolicyRules[];
  readonly allowPrivateAddresses: boolean;
}

export function mergeSettings(files: readonly (FileSettings & { readonly scope: ConfigScope })[]): ConfigSettings {
  const strongest = SETTINGS.map(({ name }) => [
    name,
    files.map((file) => file[name]).find((value) => value !== undefined),
  ]);
  const { policy: _, surface: __, favourites: ___, ...rest }: FileSettings = Object.fromEntries(strongest);
  const agentAllow = files.flatMap((file) => file.agentAllow ?? []);
  return withoutUndefined({
    ...rest,
    policies: files.flatMap(({ policy }) => (policy === undefined ? [] : [policy])),
    allowPrivateAddresses: rest.allowPrivateAddresses ?? false,
    agentAllow: agentAllow.length === 0 ? undefined : agentAllow,
    broker: files.find((file) => file.broker?.idleMs !== undefined)?.broker,
    paths: mergePaths(files),
    ...mergeSurface(files),
  });
}

function mergePaths(files: readonly FileSettings[]): PathSettings | undefined {
  const given = files.flatMap(({ paths }) => (paths === undefined ? [] : [paths]));
  if (given.length === 0) return undefined;
  return withoutUndefined({
    read: given.flatMap(({ read = [] }) => read),
    write: given.flatMap(({ write = [] }) => write),
    outside: given.find((paths) => paths.outside !== undefined)?.outside,
  });
}
