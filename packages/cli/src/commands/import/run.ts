// Copies servers from other programs' files. Starts nothing, and shows first what would be written.
import {
  adviceOnRelativeWords,
  type ConfigEdit,
  dialectNotes,
  type FoundImport,
  findImports,
  IMPORT_SOURCES,
  type ImportedServer,
  type LoadedConfig,
  readImport,
  toDialect,
} from "@trunkline/config";
import { printable, printableJson, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { type ImportPlan, planImports } from "../../app/import-plan.js";
import { checkScope, type ScopeOptions, writeConfig } from "../../app/write-config.js";
import { withoutTrunkline } from "../../install/other-servers.js";
import { ruleWarner } from "../../install/rule-check.js";
import { shownEntry } from "../../install/shown-entry.js";
import {
  keepInKeychain,
  literalNote,
  literalSecrets,
  referringToKeychain,
  wantsKeychain,
} from "../../move/keychain-choice.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import { quantity } from "../../terminal/trust-prompt.js";

export interface ImportOptions extends Omit<ScopeOptions, "mcp"> {
  programs: readonly string[];
  from?: string;
  dryRun?: boolean;
  yes?: boolean;
  overwrite?: boolean;
  move?: boolean;
  includeProject?: boolean;
  moveSecrets?: boolean;
  json?: boolean;
}

interface ImportOutcome {
  written: boolean;
  files: unknown[];
}

/** Lists or imports other programs' servers. */
export async function importServers(context: CommandContext, options: ImportOptions): Promise<number> {
  checkScope(options);
  if (options.includeProject) throw new TrunklineError("USAGE", "--include-project is for --move.");
  if (options.programs.length === 0 && options.from === undefined) return await listImports(context, options);
  const outcome: ImportOutcome = { written: false, files: [] };
  return await reporting(context, { json: options.json, outcome }, (shown) => importFound(shown, options, outcome));
}

async function listImports(context: CommandContext, options: ImportOptions): Promise<number> {
  const { found, config, done } = await findAll(context, options);
  listFound(context, found, { config, json: options.json });
  return done;
}

async function findAll(context: CommandContext, options: ImportOptions) {
  const found = await find(context, options);
  const config = await openApp(context, { config: "own" }).config();
  const problems = found.flatMap(({ problem }) => problem ?? []);
  for (const { message } of problems) context.note(`error: ${message}`);
  // The other files are still listed and imported.
  return { found, config, done: problems.length > 0 ? EXIT.failure : EXIT.success };
}

async function importFound(context: CommandContext, options: ImportOptions, outcome: ImportOutcome): Promise<number> {
  const { found, config, done } = await findAll(context, options);
  const plans = await planImports(context, found, { config, options });
  for (const line of describePlans(plans, config)) context.out(line);
  outcome.files = plans.map(({ target, servers, skipped }) => ({
    file: target.path,
    servers: servers.map(({ server, from, replaces }) => ({ name: server.name, from: from.path, replaces })),
    skipped,
  }));
  const count = plans.reduce((sum, { servers }) => sum + servers.length, 0);
  if (count === 0) {
    context.note(
      found.length === 0 ? "No configuration file of these programs was found." : "There is nothing to import.",
    );
    return done;
  }
  const warningsOn = await ruleWarner(context);
  for (const warning of plans.flatMap(({ servers }) => servers.flatMap(({ server }) => warningsOn(server))))
    context.note(`warning: ${warning}`, "warning");
  const literal = await literalSecrets(plans);
  if (options.dryRun) {
    if (literal.length > 0) context.note(literalNote(literal));
    return done;
  }
  if (!options.yes && !isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was written: there is no terminal to ask on.", {
      hint: "Write it with --yes, or preview it with --dry-run.",
    });
  }
  if (!options.yes && !(await askYesNo(context, `Write ${quantity(count, "server")}?`))) {
    context.note("Nothing was written.");
    return EXIT.success;
  }
  const isMoving = await wantsKeychain(context, literal, options);
  const written = isMoving ? await referringToKeychain(context, plans) : { plans, secrets: [] };
  await keepInKeychain(context, written.secrets);
  for (const { target, servers } of written.plans) {
    if (servers.length === 0) continue;
    const edits = servers.map(({ server }): ConfigEdit => ({ op: "set", ...server }));
    await writeConfig(context, target, edits);
    context.out(`Wrote ${quantity(servers.length, "server")} to ${target.path}.`);
  }
  outcome.written = true;
  return done;
}

export async function find(context: CommandContext, options: ImportOptions): Promise<FoundImport[]> {
  const { cwd, env, signal, userHome } = context;
  const place = { cwd, env, signal, userHome, platform: process.platform };
  const { programs, from } = options;
  if (from !== undefined) {
    if (programs.length > 1 || programs.includes("all")) {
      throw new TrunklineError("USAGE", "--from takes one file, from at most one program.");
    }
    return [withoutTrunkline(await readImport(from, { ...place, program: programs[0] }))];
  }
  const all = programs.length === 0 || programs.includes("all");
  return (await findImports(all ? place : { ...place, programs })).map(withoutTrunkline);
}

function listFound(
  context: CommandContext,
  found: readonly FoundImport[],
  { config, json }: { config: LoadedConfig; json: boolean | undefined },
): void {
  const configured = new Set([...config.servers, ...config.rejected].map(({ name }) => name));
  if (json) {
    const listed = found.map(({ source, path, servers, skipped, problem }) => ({
      program: source.id,
      file: path,
      servers: servers.map(({ name }) => ({ name, configured: configured.has(name) })),
      skipped,
      ...(problem === undefined ? {} : { problem: problem.message }),
    }));
    context.out(printableJson(listed, 2));
    return;
  }
  for (const { source, path, servers, skipped, problem } of found) {
    if (problem !== undefined) continue;
    context.out(`${source.title} (${source.id})  ${path}`);
    for (const { name } of servers) {
      context.out(`  ${printable(name)}${configured.has(name) ? "  (already configured)" : ""}`);
    }
    for (const { name, reason } of skipped) context.out(`  ${printable(name)}  (cannot be imported: ${reason})`);
    if (servers.length + skipped.length === 0) context.out("  no servers");
  }
  if (found.length === 0) {
    const titles = IMPORT_SOURCES.map(({ title }) => title);
    context.note(`No other program's configuration file was found. Looked for: ${titles.join(", ")}.`);
  } else if (found.some(({ servers }) => servers.length > 0)) {
    context.note("Import them with `trunkline import <program…>` or `trunkline import all`.");
  }
}

function* describePlans(plans: readonly ImportPlan[], { workspaceFolder }: LoadedConfig): Generator<string> {
  for (const { target, file, servers, skipped } of plans) {
    if (servers.length > 0)
      yield `${file.exists ? "Will be written to" : "Will be written to the new file"} ${target.path}:`;
    for (const { server, from, replaces } of servers) {
      const { name, entry } = server;
      yield `  ${printable(name)}, from ${from.source.title} (${from.path})${replaces ? ", replacing the existing one" : ""}`;
      const shown = JSON.stringify(shownEntry(toDialect(entry, file.dialect)), null, 2);
      for (const line of shown.split("\n")) yield `    ${printable(line)}`;
      for (const note of notesOf({ target, file, server }, workspaceFolder)) yield `    note: ${printable(note)}`;
    }
    for (const { name, reason } of skipped) yield `  skipped ${printable(name)}: ${reason}`;
  }
}

/** What the user should know about a server that is imported. */
export function notesOf(
  { target, file, server }: Pick<ImportPlan, "target" | "file"> & { server: ImportedServer },
  workspaceFolder: string,
): string[] {
  const { name, entry, notes, at } = server;
  const isUsers = target.scope === "user";
  // Claude Code's table of the servers for one folder.
  const widens = isUsers && at[0] === "projects" ? ["Trunkline will use it in every folder"] : [];
  const relative = isUsers && entry.cwd === undefined ? adviceOnRelativeWords(entry, workspaceFolder) : undefined;
  return [
    ...notes,
    ...widens,
    ...dialectNotes(name, entry, file.dialect),
    ...(relative === undefined ? [] : [relative]),
  ];
}
