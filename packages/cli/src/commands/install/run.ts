// Adds Trunkline to another program's configuration, and removes it again. First shows what would be written, keeps a
// backup next to the file, and changes only its own entry.
import { chmod, copyFile, rm } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type EntryPlace,
  entryText,
  type ImportPlace,
  type ProgramFile,
  readProgramFile,
  withEntry,
  withoutEntry,
} from "@trunkline/config";
import {
  fileReason,
  isRecord,
  printable,
  REDACTED,
  redactedArgs,
  redactedUrl,
  resolvedPath,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { projectStore } from "../../app/folders.js";
import { type AgentProgram, agentProgram, projectFile, userFile } from "../../install/agent-programs.js";
import { allowListNote } from "../../install/allow-list.js";
import { DEFAULT_URL, launchCommand, startsTrunkline } from "../../install/launch-command.js";
import { ENTRY_NAME, entryPlace, programStates } from "../../install/program-states.js";
import { ownServers, ruleWarner } from "../../install/rule-check.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import { table } from "../../terminal/table.js";
import { defaultToken } from "../../tokens/token-files.js";
import { offerModel } from "../models/offer.js";
import { restoreHint, wasThereBeforeMove } from "./restore-servers.js";

/** Suffix of the backup file. */
const BACKUP = ".before-trunkline";

export interface InstallOptions {
  program: string | undefined;
  /** Arguments for `trunkline serve`. */
  serveArgs: readonly string[];
  /** Connect to a running `serve --http` instead of starting a server: its URL, or true for the default one. */
  http?: string | boolean;
  project?: boolean;
  yes?: boolean;
  force?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** With `--json`: the file, and whether it was changed. */
interface InstallOutcome {
  program: string;
  file?: string;
  changed: boolean;
  backup?: string;
}

export type UninstallOptions = Omit<InstallOptions, "serveArgs" | "program"> & { program: string };

interface Target {
  readonly program: AgentProgram;
  readonly path: string;
  readonly place: EntryPlace;
  readonly file: ProgramFile;
}

/** Writes the entry; without a program, lists the programs. */
export async function install(context: CommandContext, options: InstallOptions): Promise<number> {
  const { program, json } = options;
  if (program === undefined) return await listPrograms(context, json);
  const outcome: InstallOutcome = { program, changed: false };
  return await reporting(context, { json, outcome }, (shown) => installIn(shown, { ...options, program }, outcome));
}

async function installIn(
  context: CommandContext,
  options: InstallOptions & { program: string },
  outcome: InstallOutcome,
): Promise<number> {
  const target = await targetOf(context, options.program, options);
  const { program, path, place, file } = target;
  outcome.file = path;
  const remote = options.http === undefined ? undefined : await remoteEntry(context, program, options);
  const launch =
    remote === undefined
      ? await launchCommand(["serve", ...options.serveArgs], {
          env: context.env,
          platform: process.platform,
          version: context.version,
          // A project's file is shared, so a path on this machine would be useless to others.
          inShell: program.inShell || options.project === true,
        })
      : undefined;
  const isOurs = startsTrunkline(file.entry);
  if (file.entry !== undefined && !isOurs && !options.force) {
    throw new TrunklineError("USAGE", `${path} has a server "${ENTRY_NAME}" that does not start this program.`, {
      hint: "Check it, and replace it with --force if you no longer need it.",
    });
  }
  // Keep what someone added to our entry, such as variables.
  const kept = isOurs && isRecord(file.entry) ? withoutConnection(file.entry) : {};
  const entry = { ...kept, ...(launch === undefined ? remote : program.entry(launch)) };
  if (isDeepStrictEqual(plain(entry), plain(file.entry))) {
    context.out(`${program.title} already has Trunkline (${path}).`);
    context.note(program.check);
    warnOfList(context, target, file.text);
    return EXIT.success;
  }
  const changed = withEntry(file.text ?? "", { ...place, file: path }, entry);
  describe(context, target, { entry });
  warnOfList(context, target, changed);
  if (options.project && launch?.command === process.execPath) {
    context.note(
      "note: this path exists only on this machine. Install trunkline globally (npm install -g) before you share the file.",
    );
  }
  await warnOfRules(context, program);
  const store = projectStore(context.cwd, context.home);
  if (
    launch !== undefined &&
    !options.project &&
    store !== undefined &&
    !options.serveArgs.some((arg) => arg.startsWith("--store"))
  ) {
    context.note(
      `note: started outside this project, it uses another store. To use this one: trunkline install ${program.id} -- --store ${store}`,
    );
  }
  if (!(await isConfirmed(context, options))) return EXIT.success;
  await writing(path, async () => {
    // The backup is the file without our entry. A second install must not replace it, and the backup of an earlier file
    // must not stay.
    if (file.text === undefined) await rm(`${path}${BACKUP}`, { force: true });
    else if (!isOurs) await keep(path);
    // The entry may contain a token: then the file is for its owner only, even if it was not before.
    const mode = options.project ? 0o644 : 0o600;
    await writeFileAtomically(path, changed, { mode, forceMode: remote !== undefined });
  });
  outcome.changed = true;
  if (file.text !== undefined && !isOurs) outcome.backup = `${path}${BACKUP}`;
  const backup = file.text === undefined || isOurs ? "" : ` The previous version is in ${path}${BACKUP}.`;
  context.out(`Wrote ${path}.${backup}`);
  context.note(program.check);
  context.note(`\`trunkline uninstall ${program.id}${options.project ? " --project" : ""}\` removes it again.`);
  // A server that runs elsewhere uses its own model, and --yes answers no other question.
  if (launch !== undefined && !options.yes && !options.json) await offerModel(context);
  return EXIT.success;
}

/**
 * Removes the entry and restores the one it replaced. If nothing else has changed since, the file is restored byte for
 * byte.
 */
export async function uninstall(context: CommandContext, options: UninstallOptions): Promise<number> {
  const outcome: InstallOutcome = { program: options.program, changed: false };
  return await reporting(context, { json: options.json, outcome }, (shown) => uninstallFrom(shown, options, outcome));
}

async function uninstallFrom(
  context: CommandContext,
  options: UninstallOptions,
  outcome: InstallOutcome,
): Promise<number> {
  const target = await targetOf(context, options.program, options);
  const { program, path, file } = target;
  outcome.file = path;
  if (file.text === undefined || file.entry === undefined) {
    context.out(`${program.title} does not have Trunkline (${path}).`);
    return EXIT.success;
  }
  if (!startsTrunkline(file.entry) && !options.force) {
    throw new TrunklineError("USAGE", `${path} has a server "${ENTRY_NAME}" that does not start this program.`, {
      hint: "Check it, and remove it with --force if you no longer need it.",
    });
  }
  const before = await contentBefore(context, target);
  describe(context, target, { entry: before.entry });
  if (!(await isConfirmed(context, options))) return EXIT.success;
  await writing(path, async () => {
    // Follow a link, as when writing: the link itself belongs to the user.
    if (before.text === undefined) await rm(await resolvedPath(path));
    else await writeFileAtomically(path, before.text);
    await rm(`${path}${BACKUP}`, { force: true });
  });
  outcome.changed = true;
  const back = before.entry === undefined ? "" : ` The previous entry "${ENTRY_NAME}" is restored.`;
  context.out(
    before.text === undefined ? `Removed ${path}, which contained nothing else.` : `Removed it from ${path}.${back}`,
  );
  const hint = restoreHint(context, { id: program.id, path });
  if (hint !== undefined) context.note(hint);
  return EXIT.success;
}

/** The fields that say how to reach a server. */
const CONNECTION = ["command", "args", "type", "url", "serverUrl", "httpUrl", "headers", "http_headers"];

/** Keeps what someone added to our entry, such as variables, but not how to reach the server. */
function withoutConnection(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !CONNECTION.includes(key)));
}

/** Builds the entry that connects to a running server, with the token of this machine. */
async function remoteEntry(
  { home, env, redactor }: CommandContext,
  program: AgentProgram,
  { http, project, serveArgs }: InstallOptions,
): Promise<Readonly<Record<string, unknown>>> {
  if (program.remoteEntry === undefined) {
    throw new TrunklineError("USAGE", `${program.title} only starts servers itself.`, { hint: "Omit --http." });
  }
  if (project) {
    throw new TrunklineError("USAGE", "A project's file is shared, so a token must not be written to it.", {
      hint: "Omit --project or --http.",
    });
  }
  if (serveArgs.length > 0) {
    throw new TrunklineError("USAGE", "With --http, the server is started by you and not by the program.", {
      hint: "Pass the options to `trunkline serve --http` instead.",
    });
  }
  const url = typeof http === "string" ? http : DEFAULT_URL;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new TrunklineError("USAGE", "The value of --http is not a URL.", { hint: `Example: ${DEFAULT_URL}` });
  }
  const token = env.TRUNKLINE_TOKEN || (await defaultToken(home));
  redactor.add(token);
  return program.remoteEntry({ url, token });
}

function warnOfList({ note }: CommandContext, { program, path }: Target, text: string | undefined): void {
  const block = text === undefined ? undefined : allowListNote(program, path, text);
  if (block !== undefined) note(`warning: ${block}`, "warning");
}

/** The program can call what Trunkline has, whatever its own rules say about these servers. */
async function warnOfRules(context: CommandContext, { id }: AgentProgram): Promise<void> {
  const config = await openApp(context, { config: "own" }).config();
  const warningsOn = await ruleWarner(context, id);
  for (const warning of ownServers(config).flatMap(warningsOn)) context.note(`warning: ${warning}`, "warning");
}

async function listPrograms(context: CommandContext, json: boolean | undefined): Promise<number> {
  const found = await programStates(placeOf(context));
  if (json) {
    const listed = found.map(({ program: { id, title }, path, state }) => ({ program: id, title, state, file: path }));
    context.out(JSON.stringify(listed, null, 2));
  } else {
    const rows = found.map(({ program, path, state }) => [
      program.id,
      program.title,
      state === "other" ? `has another "${ENTRY_NAME}"` : state,
      path,
    ]);
    for (const line of table(rows)) context.out(line);
  }
  const problems = found.flatMap(({ problem }) => problem ?? []);
  for (const { message } of problems) context.note(`error: ${message}`);
  context.note("Add Trunkline to one of them: trunkline install <program>");
  return problems.length > 0 ? EXIT.failure : EXIT.success;
}

async function targetOf(context: CommandContext, id: string, options: { project?: boolean }): Promise<Target> {
  const program = agentProgram(id);
  const path = options.project
    ? await projectFile(program, context.cwd, context.userHome)
    : await userFile(program, placeOf(context));
  const place = entryPlace(program);
  return { program, path, place, file: await readProgramFile(path, place, { signal: context.signal }) };
}

function placeOf({ env, userHome }: CommandContext): ImportPlace {
  return { env, userHome, platform: process.platform };
}

/** Shows the change as a diff. Leaves out the rest of the file, which may contain other secrets. */
function describe(context: CommandContext, { path, place, file }: Target, { entry }: { entry: unknown }): void {
  context.out(file.text === undefined ? `${path} (new file)` : path);
  if (file.entry !== undefined) {
    for (const line of entryText(place, shown(file.entry)).split("\n")) context.out(`  - ${printable(line)}`);
  }
  if (entry !== undefined) {
    for (const line of entryText(place, shown(entry)).split("\n")) context.out(`  + ${printable(line)}`);
  }
}

/** Hides the values of variables and headers, and secrets in arguments and URLs. */
function shown(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, shownField(value)]));
}

function shownField(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
  if (Array.isArray(value)) return redactedArgs(value.map(String));
  return typeof value === "string" && value.includes("://") ? redactedUrl(value) : value;
}

async function isConfirmed(
  context: CommandContext,
  { yes, dryRun }: { yes?: boolean; dryRun?: boolean },
): Promise<boolean> {
  if (dryRun) return false;
  if (yes) return true;
  if (!isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was written: there is no terminal to ask on.", {
      hint: "Write it with --yes, or preview it with --dry-run.",
    });
  }
  if (await askYesNo(context, "Write it?")) return true;
  context.note("Nothing was written.");
  return false;
}

/**
 * Returns the file without our entry, exactly as it was if only we changed it. There is no text if we created the file.
 */
async function contentBefore(context: CommandContext, { path, place, file }: Target): Promise<ProgramFile> {
  const { text = "", entry } = file;
  // Removing an entry that is not ours by force: just remove it, because the file is not ours to restore.
  if (!startsTrunkline(entry)) return { text: withoutEntry(text, place), entry: undefined };
  const isWhatWeWrite = (from: string) => isRecord(entry) && withEntry(from, place, entry) === text;
  const backup = await readBackup(path, place);
  if (backup?.text !== undefined) {
    if (isWhatWeWrite(backup.text)) return backup;
    if (isRecord(backup.entry)) return { text: withEntry(text, place, backup.entry), entry: backup.entry };
  } else if (isWhatWeWrite("") && !wasThereBeforeMove(context, path)) return { text: undefined, entry: undefined };
  return { text: withoutEntry(text, place), entry: undefined };
}

/** Reads the backup. An unreadable backup counts as none: the entry is removed anyway. */
async function readBackup(path: string, place: EntryPlace): Promise<ProgramFile | undefined> {
  try {
    return await readProgramFile(`${path}${BACKUP}`, place);
  } catch (error) {
    if (error instanceof TrunklineError) return undefined;
    throw error;
  }
}

/** Removes prototypes: the TOML reader creates objects without one. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Keeps a private backup next to the file. */
async function keep(path: string): Promise<void> {
  const backup = `${path}${BACKUP}`;
  await rm(backup, { force: true });
  await copyFile(path, backup);
  await chmod(backup, 0o600);
}

async function writing(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("IO", `Cannot write ${path}: ${fileReason(error) ?? code}.`, {
      cause: error,
      hint: "Check the permissions of the file and its folder; the file is unchanged.",
    });
  }
}
