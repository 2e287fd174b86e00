// Plans a move: which servers of other programs come to Trunkline, and how the other programs' files change.
import { access, constants, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type EntryPlace,
  entryIn,
  type FoundImport,
  type ImportedServer,
  type LoadedConfig,
  type PermissionRule,
  readEditableConfig,
  readProgramFile,
  withEntry,
  withoutEntry,
} from "@trunkline/config";
import {
  isAbsent,
  isTrunklineError,
  isWithin,
  type ProgramId,
  realPathOf,
  resolvedPath,
  TrunklineError,
} from "@trunkline/core";
import { type ImportPlan, planImports } from "../app/import-plan.js";
import { userTarget } from "../app/write-config.js";
import { type AgentProgram, agentProgram } from "../install/agent-programs.js";
import { launchCommand, startsTrunkline } from "../install/launch-command.js";
import { ENTRY_NAME, entryPlace } from "../install/program-states.js";
import { checkRules, type RuleCheck } from "../install/rule-check.js";
import type { CommandContext } from "../terminal/context.js";

/** How the file of another program changes. */
export interface FileChange {
  readonly path: string;
  /** The file that is written, where links lead. */
  readonly target: string;
  readonly program: AgentProgram;
  readonly scope: "user" | "project";
  /** Undefined if the file does not exist. */
  readonly before: string | undefined;
  readonly after: string;
  /** The servers that come to Trunkline. */
  readonly removed: readonly ImportedServer[];
  /** Where Trunkline's entry is added; undefined if the file has it already. */
  readonly added: readonly string[] | undefined;
}

/** A server that stays with its program. */
interface StayingServer {
  readonly name: string;
  readonly from: FoundImport;
  readonly reason: string;
  /** The permission rule that it stays for. */
  readonly rule?: PermissionRule;
}

export interface MovePlan {
  /** What is written to Trunkline's own files. */
  readonly copies: readonly ImportPlan[];
  readonly changes: readonly FileChange[];
  readonly staying: readonly StayingServer[];
  /** Files that are left alone because something is wrong with them. */
  readonly problems: readonly TrunklineError[];
  /** Files of the project, which are left alone unless the user names them. */
  readonly projects: readonly FoundImport[];
  /** Files with servers that their program uses only in other folders. */
  readonly elsewhere: readonly FoundImport[];
  /** The permission rules of programs. */
  readonly rules: RuleCheck;
}

interface MoveOptions {
  readonly config: LoadedConfig;
  readonly overwrite?: boolean;
  /** Whether to move the servers in the project's files as well, to the project. */
  readonly includeProject?: boolean;
  /** Programs that get Trunkline although none of their servers may move. */
  readonly getting?: readonly ProgramId[];
}

/** A file that can be changed. */
interface Candidate {
  readonly from: FoundImport;
  readonly target: string;
  readonly program: AgentProgram;
  /** Where it gets Trunkline's entry. */
  readonly place: EntryPlace;
}

export async function planMove(
  context: CommandContext,
  found: readonly FoundImport[],
  { config, overwrite = false, includeProject = false, getting = [] }: MoveOptions,
): Promise<MovePlan> {
  const staying: StayingServer[] = [];
  const candidates: Candidate[] = [];
  const isProjects = (from: FoundImport) => from.scope === "project" && !includeProject;
  const movableFrom = found.filter((from) => !isProjects(from) && from.servers.length > 0);
  const programs = new Set([...getting, ...movableFrom.map(({ source }) => source.id)]);
  const replacing = overwrite ? movableFrom.flatMap(({ servers }) => servers) : [];
  const rules = await checkRules(context, { config, getting: programs, replacing });
  const problems: TrunklineError[] = [...rules.problems];
  for (const from of found) {
    const { problem } = from;
    if (problem !== undefined && !problems.some(({ message }) => message === problem.message)) problems.push(problem);
    if (isProjects(from)) continue;
    staying.push(...(await stayingIn(context, from)), ...heldIn(from, rules));
    const servers = from.servers.filter(
      ({ name }) => !staying.some((each) => each.from === from && each.name === name),
    );
    if (servers.length === 0) continue;
    try {
      const candidate = await candidateOf(context, { ...from, servers });
      // Two programs can share one file through links: it is changed once.
      if (!candidates.some(({ target }) => target === candidate.target)) candidates.push(candidate);
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      problems.push(error);
    }
  }
  const movable = candidates.map(({ from }) => ({ ...from, skipped: [] }));
  const copies = await planImports(context, movable, { config, options: { overwrite } });
  const changes: FileChange[] = [];
  for (const [at, { from, target, program, place }] of candidates.entries()) {
    const isGone = ({ server, from: owner }: { server: ImportedServer; from: FoundImport }) =>
      owner === movable[at] && from.servers.includes(server);
    const removed = copies.flatMap(({ servers, same }) =>
      [...servers, ...same].filter(isGone).map(({ server }) => server),
    );
    for (const server of from.servers) {
      if (removed.includes(server)) continue;
      staying.push({ name: server.name, from, reason: conflictOf(server, from, copies) });
    }
    if (removed.length === 0) continue;
    const { path, scope, text } = from;
    const { after, added } = await changedText(context, { text, path, program, place, removed, scope });
    changes.push({ path, target, program, scope, before: text, after, removed, added });
  }
  const projects = found.filter((from) => isProjects(from) && from.servers.length > 0);
  const elsewhere = found
    .map((from) => ({ ...from, elsewhere: (from.elsewhere ?? []).filter(({ name }) => name !== ENTRY_NAME) }))
    .filter((from) => from.elsewhere.length > 0);
  return { copies, changes, staying, problems, projects, elsewhere, rules };
}

/** Servers with permission rules that would no longer apply. */
function heldIn(from: FoundImport, rules: RuleCheck): StayingServer[] {
  return from.servers.flatMap((server) => {
    const held = rules.blocker(server, from);
    return held === undefined ? [] : [{ name: server.name, from, ...held }];
  });
}

/** Says which server has the name already, and how to use this one instead. */
function conflictOf({ name }: ImportedServer, { source }: FoundImport, copies: readonly ImportPlan[]): string {
  const other = copies.flatMap(({ servers }) => servers).find(({ server }) => server.name === name);
  const owner = other === undefined ? "Trunkline" : other.from.source.title;
  return `${owner} has a different server with this name; rename one of them, or use this one everywhere: \`trunkline import ${source.id} --move --overwrite\``;
}

/** Plans only to add Trunkline to a program's file. */
export async function planInstall(
  context: CommandContext,
  program: AgentProgram,
  path: string,
): Promise<FileChange | undefined> {
  const target = await targetOf(path);
  const place = entryPlace(program);
  const { text } = await readProgramFile(path, place);
  if (text !== undefined) await requireWritable(path, target);
  const options = { text: text ?? "", path, program, place, removed: [], scope: "user" } as const;
  const { after, added } = await changedText(context, options);
  if (added === undefined) return undefined;
  return { path, target, program, scope: "user", before: text, after, removed: [], added };
}

/** Servers that cannot be moved: we could not start them, or not in the same way. */
async function stayingIn(context: CommandContext, from: FoundImport): Promise<StayingServer[]> {
  const { dialect } = await readEditableConfig(userTarget(context).path, { signal: context.signal });
  // In our dialect, a value that the program asks for would become an environment variable that nobody has set.
  const asks = from.scope === "user" && dialect !== "servers" ? from.servers.filter(asksForInput) : [];
  return [
    ...from.skipped
      .filter(({ name }) => name !== ENTRY_NAME || !isTrunklines(from))
      .map(({ name, reason }) => ({ name, from, reason })),
    ...asks.map(({ name }) => ({
      name,
      from,
      reason: `${from.source.title} asks for its values, and only it has them`,
    })),
  ];
}

function asksForInput({ entry }: ImportedServer): boolean {
  return JSON.stringify(entry).includes("${input:");
}

function isTrunklines({ source, path, text }: FoundImport): boolean {
  return text !== "" && startsTrunkline(entryIn(text, entryPlace(agentProgram(source.id)), path));
}

async function candidateOf(context: CommandContext, from: FoundImport): Promise<Candidate> {
  const { path, scope, servers } = from;
  const program = agentProgram(from.source.id);
  const target = await targetOf(path);
  if (scope === "project" && !isWithin(target, realPathOf(projectOf(from)))) {
    throw new TrunklineError("CONFIG_INVALID", `${path} leads out of the project through a symbolic link.`, {
      hint: "Replace the link with a file.",
    });
  }
  await requireWritable(path, target);
  // Also checks that the text can be written back exactly.
  const { text } = await readProgramFile(path, entryPlace(program));
  if (text !== from.text) throw changedMeanwhile(path, "It is left alone.");
  // Before VS Code had a file for it, its table was below "mcp".
  const isOld = servers.some(({ at }) => program.id === "vscode" && at[0] === "mcp");
  const place = isOld ? { format: program.format, path: ["mcp", "servers", ENTRY_NAME] } : entryPlace(program);
  // Fails here, before anything is planned, if the file cannot be changed without touching something else.
  await changedText(context, { text, path, program, place, removed: servers, scope });
  return { from, target, program, place };
}

/** The folder that a project's file belongs to. */
function projectOf({ path, source }: FoundImport): string {
  const ending = source.projectFiles.map((file) => join("/", file)).find((file) => path.endsWith(file));
  return ending === undefined ? dirname(path) : path.slice(0, -ending.length) || "/";
}

/** Where links lead, even if the file does not exist yet. */
export async function targetOf(path: string): Promise<string> {
  return realPathOf(await resolvedPath(path));
}

/** A read-only file stays as it is, even if replacing it would be possible. */
async function requireWritable(path: string, target: string): Promise<void> {
  const { mode } = await stat(target);
  if (process.platform !== "win32" && (mode & 0o200) === 0) {
    throw new TrunklineError("IO", `${path} is read-only, so it is left alone.`, {
      hint: `Make it writable: chmod u+w ${path}`,
    });
  }
  try {
    await access(dirname(target), constants.W_OK);
  } catch (error) {
    if (isAbsent(error)) throw error;
    throw new TrunklineError("IO", `${path} is left alone: its folder cannot be written to.`, {
      cause: error,
      hint: `Check the permissions of ${dirname(target)}.`,
    });
  }
}

export function changedMeanwhile(path: string, outcome?: string): TrunklineError {
  const message = `${path} has changed since it was read.`;
  return new TrunklineError("IO", outcome === undefined ? message : `${message} ${outcome}`, {
    hint: "Run the command again.",
  });
}

interface TextChange {
  readonly text: string;
  readonly path: string;
  readonly program: AgentProgram;
  readonly place: EntryPlace;
  readonly removed: readonly ImportedServer[];
  readonly scope: "user" | "project";
}

/** Removes servers and adds Trunkline, as `install` does, unless it is there. */
async function changedText(
  { env, version }: CommandContext,
  { text, path, program, place, removed, scope }: TextChange,
): Promise<Pick<FileChange, "after" | "added">> {
  const entry = entryIn(text, place, path);
  if (entry !== undefined && !startsTrunkline(entry)) {
    throw new TrunklineError("USAGE", `${path} has a server "${ENTRY_NAME}" that does not start this program.`, {
      hint: "Rename it, and try again.",
    });
  }
  const { format } = place;
  const rest = removed.reduce((left, { at }) => withoutEntry(left, { format, path: at, file: path }), text);
  if (entry !== undefined) return { after: rest, added: undefined };
  const inShell = program.inShell || scope === "project";
  const launch = await launchCommand(["serve"], { env, platform: process.platform, version, inShell });
  return { after: withEntry(rest, { ...place, file: path }, program.entry(launch)), added: place.path };
}
