// What several programs have alike: lists, hooks, and fields of a server's entry.
import { firstChars, isGlob, isRecord, printableJson } from "@trunkline/core";
import type { RuleKind, RuleServer, WrittenRule } from "./rule-types.js";
import { couldMatch, matchesAll } from "./tool-patterns.js";

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The value at a path of keys. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

/** The strings of a list; a single string is a list of one. */
export function textsOf(value: unknown): string[] {
  return [value].flat().filter((item): item is string => typeof item === "string");
}

/** The rule as one line. Not for values that can contain secrets. */
export function shownRule(value: unknown): string {
  return firstChars(typeof value === "string" ? value : printableJson(value), 120);
}

/** A rule that allows no other servers than those of a list. */
export function onlyRule(setting: string, text: string, isListed: (server: RuleServer) => boolean): WrittenRule {
  const covered = { tool: "*", effect: "stops" } as const;
  return { setting, kind: "only", text, covers: (server) => (isListed(server) ? undefined : covered) };
}

/** A rule that switches servers off by name. */
export function offRule(setting: string, text: string, isOff: (server: RuleServer) => boolean): WrittenRule {
  return {
    setting,
    kind: "off",
    text,
    covers: (server) => (isOff(server) ? { tool: "*", effect: "stops" } : undefined),
  };
}

/** The name that Trunkline has as a server of the program. */
const TRUNKLINE = "trunkline";

/** How a program compares hooks with names of tools. */
interface HookRulesOptions {
  /** What the names of a server's tools begin with. */
  readonly prefixesOf: (server: string) => string[];
  /** Default: a matcher of letters and digits is a list of names. */
  readonly syntax?: "names" | "expression";
}

/** Hooks around calls, whose matchers are patterns over names of tools. */
export function* hookRules(
  hooks: unknown,
  setting: string,
  { prefixesOf, syntax = "names" }: HookRulesOptions,
): Generator<WrittenRule> {
  for (const [event, groups] of Object.entries(fieldsOf(hooks))) {
    // The matchers of the other events are about something else.
    if (!/Tool|Permission|Elicitation|MCP/.test(event)) continue;
    for (const group of [groups].flat()) {
      const value = fieldsOf(group).matcher;
      const matcher = typeof value === "string" ? value : "";
      const isNamed = event.startsWith("Elicitation");
      yield {
        setting: `${setting}.${event}`,
        kind: "hook",
        text: shownRule(matcher || "*"),
        covers: ({ name }) => {
          if (matchesAll(matcher, isNamed ? undefined : prefixesOf(TRUNKLINE), syntax))
            return { tool: "*", effect: "holds" };
          const matches = isNamed
            ? couldMatch(matcher, [name], "server")
            : couldMatch(matcher, prefixesOf(name), syntax);
          return matches ? { tool: "*", effect: "stops" } : undefined;
        },
      };
    }
  }
}

const DENY_LISTS = ["disabledTools", "disabled_tools", "excludeTools", "excludedTools", "deniedTools", "blockedTools"];
const ALLOW_LISTS = ["enabledTools", "enabled_tools", "includeTools", "includedTools", "allowedTools", "tools"];
const SANDBOXES = ["sandbox", "sandboxEnabled"];
const APPROVALS = ["autoApprove", "alwaysAllow", "trust"];

/** How a program's entries differ. */
interface EntryRulesOptions {
  /** Where the table is in the file. */
  readonly at: readonly string[];
  /** The lists of tools that our copy of the entry has. */
  readonly carried?: readonly string[];
  /** Rules that only this program's entries have. */
  readonly rest?: (entry: Fields) => Iterable<{ setting: string; kind: RuleKind; tool: string; value: unknown }>;
}

/** Fields of entries that leave out tools, switch the server off or restrict it. */
export function* entryRules(root: unknown, { at, carried = [], rest }: EntryRulesOptions): Generator<WrittenRule> {
  for (const [name, entry] of Object.entries(fieldsOf(valueAt(root, at)))) {
    if (!isRecord(entry)) continue;
    const place = [...at, name];
    const rule = (
      field: string,
      kind: RuleKind,
      how: { tool?: string; isCarried?: boolean; value?: unknown } = {},
    ): WrittenRule => {
      const { tool = "*", isCarried = false, value = entry[field] } = how;
      const covered = isCarried
        ? ({ tool, effect: "carried", at: place } as const)
        : ({ tool, effect: "stops" } as const);
      return {
        setting: [...place, field].join("."),
        kind,
        text: shownRule(value),
        covers: (server) => (server.name === name ? covered : undefined),
      };
    };
    if (entry.disabled === true) yield rule("disabled", "off", { isCarried: true });
    if (entry.enabled === false) yield rule("enabled", "off", { isCarried: true });
    for (const field of DENY_LISTS) {
      const value = entry[field];
      if (isUnset(value) || (Array.isArray(value) && value.length === 0)) continue;
      yield rule(field, "deny", { isCarried: carried.includes(field) && isListOfNames(value) });
    }
    for (const field of ALLOW_LISTS) {
      const value = entry[field];
      if (isUnset(value) || (field === "tools" && (!Array.isArray(value) || value.includes("*")))) continue;
      // Programs compare whole names. Our copy has patterns, and without any names it would have no list.
      const isSame = isListOfNames(value) && !value.some(isGlob);
      yield rule(field, "only", { isCarried: carried.includes(field) && isSame });
    }
    for (const field of SANDBOXES) if (!isUnset(entry[field])) yield rule(field, "sandbox", { value: true });
    for (const field of APPROVALS) {
      const value = entry[field];
      if (!isUnset(value) && !(Array.isArray(value) && value.length === 0)) yield rule(field, "allow");
    }
    for (const { setting, kind, tool, value } of rest?.(entry) ?? []) yield rule(setting, kind, { tool, value });
  }
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === false;
}

function isListOfNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}
