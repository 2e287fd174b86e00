// Compares servers that come to Trunkline with the permission rules of the programs that can call them there. Such a
// rule names a server's tools as the program does, and Trunkline's tools have other names: it would no longer apply.
import { join, win32 } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type FoundImport,
  findImports,
  findPermissionRules,
  type ImportedServer,
  type LoadedConfig,
  type PermissionRule,
  type ProgramRules,
  type ServerEntry,
} from "@trunkline/config";
import { KNOWN_PROGRAMS, type ProgramId, printable, type TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { homePath } from "../terminal/shown-path.js";
import { startsTrunkline } from "./launch-command.js";
import { withoutTrunkline } from "./other-servers.js";
import { ENTRY_NAME, programStates } from "./program-states.js";

/** Why a server stays, or a program does not get Trunkline. */
interface RuleReason {
  readonly reason: string;
  /** Undefined if it is not known which rules there are. */
  readonly rule?: PermissionRule;
}

export interface RuleCheck {
  /** Files with rules that cannot be read. */
  readonly problems: readonly TrunklineError[];
  /** Programs that would get around their own rules with the servers that Trunkline already has. */
  readonly withheld: ReadonlyMap<ProgramId, RuleReason>;
  /** Rules that already do not apply to what Trunkline has. */
  readonly warnings: readonly string[];
  /** Why the server must not move; undefined if it can. */
  blocker(server: ImportedServer, from: FoundImport): RuleReason | undefined;
  /** What changes for programs if these servers move, without widening what they can do. */
  notes(servers: readonly ImportedServer[]): readonly string[];
}

interface RuleCheckOptions {
  readonly config: LoadedConfig;
  /** The programs that get Trunkline unless a rule is against it. */
  readonly getting: ReadonlySet<ProgramId>;
  /** Servers that replace Trunkline's of the same name. */
  readonly replacing: readonly ImportedServer[];
}

/** A server as Trunkline or a program has it. */
type Known = Pick<ImportedServer, "name"> & { readonly entry: Pick<ServerEntry, "command" | "args" | "url" | "tools"> };

export async function checkRules(
  context: CommandContext,
  { config, getting, replacing }: RuleCheckOptions,
): Promise<RuleCheck> {
  const place = placeOf(context);
  const found = await findImports(place);
  const having = await programsWithTrunkline(context, found);
  const everywhere = found.map(withoutTrunkline);
  const programs = [...new Set([...having, ...getting])];
  const rules = await findPermissionRules({ ...place, programs });
  const own = ownServers(config).map((server) => replacing.find(({ name }) => name === server.name) ?? server);
  const withheld = new Map<ProgramId, RuleReason>();
  const warnings: string[] = [];
  for (const each of rules) {
    const rule = own.flatMap((server) =>
      rulesOn(server, each, everywhere).filter((found) => !isKept(found, server, everywhere)),
    )[0];
    if (having.has(each.agent)) {
      if (rule !== undefined)
        warnings.push(
          `Trunkline has "${rule.server}" already, but ${describeRule(rule, context)}. ${adviceOn(rule, context)}`,
        );
    } else if (each.problems.length > 0) {
      withheld.set(each.agent, { reason: unknownRules(each, context) });
    } else if (rule !== undefined) {
      const reason = `Trunkline has "${rule.server}" already, and ${describeRule(rule, context)}`;
      withheld.set(each.agent, { rule, reason: `${reason}. ${adviceOn(rule, context)}` });
    }
  }
  const callers = rules.filter(({ agent }) => !withheld.has(agent));
  return {
    problems: rules.flatMap(({ problems }) => problems),
    withheld,
    warnings,
    blocker: (server, from) => {
      const held = withheld.get(from.source.id);
      if (held !== undefined) return held;
      for (const each of callers) {
        if (each.problems.length > 0) return { reason: unknownRules(each, context) };
        const rule = rulesOn(server, each, everywhere).find((found) => !isKept(found, server, everywhere));
        if (rule === undefined) continue;
        const other = rule.server === server.name ? "" : `it starts the same program as "${rule.server}", and `;
        return { rule, reason: `${other}${describeRule(rule, context)}. ${adviceOn(rule, context)}` };
      }
      return undefined;
    },
    notes: (servers) => notesOn(servers, callers, context),
  };
}

/**
 * Says which rules of programs do not apply to a server in Trunkline: those of a program that gets Trunkline, or by default
 * of all that have it.
 */
export async function ruleWarner(context: CommandContext, program?: ProgramId): Promise<(server: Known) => string[]> {
  const place = placeOf(context);
  const found = await findImports(place);
  const everywhere = found.map(withoutTrunkline);
  const programs = program === undefined ? [...(await programsWithTrunkline(context, found))] : [program];
  const rules = await findPermissionRules({ ...place, programs });
  return (server) =>
    rules.flatMap((each) => {
      if (each.problems.length > 0) return [`${server.name}: ${unknownRules(each, context)}.`];
      const warnings = rulesOn(server, each, everywhere)
        .filter((rule) => !isKept(rule, server, everywhere))
        .map((rule) => `${server.name}: ${describeRule(rule, context)}. ${policyFor(rule, context)}.`);
      // The program may have the server itself: then the rule is found for both.
      return [...new Set(warnings)];
    });
}

/** The servers that Trunkline can call. */
export function ownServers({ servers }: LoadedConfig): Known[] {
  return servers.filter(({ disabled }) => !disabled).map((server) => ({ name: server.name, entry: server }));
}

function placeOf({ cwd, env, signal, userHome }: CommandContext) {
  return { cwd, env, signal, userHome, platform: process.platform };
}

/** The programs that have Trunkline, for the user or in this project. */
async function programsWithTrunkline(
  context: CommandContext,
  found: readonly FoundImport[],
): Promise<ReadonlySet<ProgramId>> {
  const states = await programStates(placeOf(context));
  const users = states.filter(({ state }) => state === "installed").map(({ program }) => program.id);
  const projects = found.filter(({ servers }) => servers.some(({ entry }) => startsTrunkline(entry)));
  return new Set([...users, ...projects.map(({ source }) => source.id)]);
}

/** The program's rules about the server under its name and under those that the program has for the same command. */
function rulesOn(server: Known, rules: ProgramRules, everywhere: readonly FoundImport[]): PermissionRule[] {
  const own = everywhere.filter(({ source }) => source.id === rules.agent).flatMap(({ servers }) => servers);
  const same = own.filter((other) => other.name === server.name || isSameProgram(other, server));
  const found = [server, ...same].flatMap(({ name, entry }) => rules.on({ name, entry }));
  if (same.length > 0) return found;
  // The program has never used this server, and its list keeps it from using Trunkline.
  const isShut = (rule: PermissionRule) =>
    rules.on({ name: ENTRY_NAME }).some(({ file, setting }) => file === rule.file && setting === rule.setting);
  return found.filter((rule) => rule.kind !== "only" || !isShut(rule));
}

/** Whether they run the same, even if with other variables: a rule about one is meant for what it can do. */
function isSameProgram({ entry: a }: Known, { entry: b }: Known): boolean {
  if (a.command === undefined && a.url === undefined) return false;
  return isDeepStrictEqual(programOf(a), programOf(b));
}

/** What an entry runs or connects to, the same for several ways to write it. */
function programOf({ command = "", args = [], url }: Known["entry"]): readonly string[] {
  if (url !== undefined) return [addressOf(url)];
  const name = win32
    .basename(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, "");
  const [first, inner, ...rest] = args;
  if (name === "cmd" && first?.toLowerCase() === "/c" && inner !== undefined)
    return programOf({ command: inner, args: rest });
  const start = args.findIndex((arg) => !arg.startsWith("-"));
  const isAnswer = (arg: string, index: number) =>
    name === "npx" && (start === -1 || index < start) && /^(?:-y|--yes)$/.test(arg);
  // The version that a package without one has anyway.
  return [name, ...args.filter((arg, index) => !isAnswer(arg, index)).map((arg) => arg.replace(/(.)@latest$/, "$1"))];
}

function addressOf(text: string): string {
  if (!URL.canParse(text)) return text.replace(/\/$/, "");
  const url = new URL(text);
  url.hash = "";
  url.pathname = url.pathname.replace(/\/$/, "");
  return url.href;
}

/** Whether the rule still has its effect if a program calls this server through Trunkline. */
function isKept(rule: PermissionRule, server: Known, everywhere: readonly FoundImport[]): boolean {
  if (rule.kind === "allow" || rule.effect === "holds") return true;
  if (rule.effect === "stops") return false;
  const carrier = everywhere
    .filter(({ path }) => path === rule.file)
    .flatMap(({ servers }) => servers)
    .find(({ at }) => isDeepStrictEqual(at, rule.at));
  return carrier !== undefined && isDeepStrictEqual(restrictions(carrier.entry), restrictions(server.entry));
}

function restrictions({ disabled = false, tools }: Pick<ServerEntry, "disabled" | "tools">): unknown {
  return { disabled, allow: tools?.allow ?? null, deny: tools?.deny ?? [] };
}

function unknownRules({ agent, problems }: ProgramRules, { userHome }: CommandContext): string {
  const file = problems[0]?.data?.file;
  const where = typeof file === "string" ? homePath(file, userHome) : "a file";
  return `the permission rules of ${KNOWN_PROGRAMS[agent]} are not known, because ${where} cannot be read`;
}

function describeRule(rule: PermissionRule, { userHome }: CommandContext): string {
  const { agent, setting, text, file, kind } = rule;
  const where = `${setting} in ${homePath(file, userHome)}`;
  if (kind === "hook")
    return `${where} runs for ${text}, but would not run for Trunkline's tools, which have other names`;
  return `${where} has ${text}, which would not apply to ${KNOWN_PROGRAMS[agent]}'s calls through Trunkline`;
}

/** How to move it all the same. */
function adviceOn(rule: PermissionRule, context: CommandContext): string {
  return `${howToMove(rule, context)}, and run the command again`;
}

function howToMove(rule: PermissionRule, context: CommandContext): string {
  if (rule.kind === "deny" || rule.kind === "ask") return `${policyFor(rule, context)}, remove the rule`;
  if (rule.kind !== "hook") return "Remove the rule";
  const pattern = rule.agent === "claude-code" ? '"|mcp__trunkline__.*"' : "Trunkline's tools";
  return `To move ${rule.server}, add ${pattern} to the hook's matcher`;
}

/** How to have the rule in Trunkline. */
function policyFor({ kind, server, tool }: PermissionRule, { home, userHome }: CommandContext): string {
  const policy = JSON.stringify({ [`${server}.${tool}`]: kind === "ask" ? "ask" : "deny" });
  return `Add "policy": ${policy} to ${homePath(join(home, "settings.json"), userHome)}`;
}

function notesOn(
  servers: readonly ImportedServer[],
  rules: readonly ProgramRules[],
  context: CommandContext,
): string[] {
  const notes: string[] = [];
  for (const each of rules) {
    const title = KNOWN_PROGRAMS[each.agent];
    const where = ({ setting, text, file }: PermissionRule) =>
      `${setting} in ${homePath(file, context.userHome)} (${text})`;
    for (const rule of servers.flatMap((server) => each.on(server))) {
      if (rule.kind === "allow" && rule.effect === "stops")
        notes.push(`${where(rule)} does not apply to Trunkline's tools: ${title} asks again.`);
      if (rule.kind === "hook" && rule.effect === "holds")
        notes.push(`${where(rule)} gets the calls under the names of Trunkline's tools.`);
      if (rule.kind === "ask" && rule.effect === "holds")
        notes.push(`${where(rule)} asks once for an "execute" with several calls.`);
    }
    if (servers.length === 0) continue;
    for (const rule of each
      .on({ name: ENTRY_NAME })
      .filter(({ kind, effect }) => kind === "allow" && effect === "stops"))
      notes.push(
        `${where(rule)} lets ${title} call Trunkline's tools without asking: from now on, also those of the moved servers.`,
      );
  }
  return [...new Set(notes)].map(printable);
}
