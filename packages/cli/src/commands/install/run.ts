// Puts Trunkline into the configuration of another program, and takes it out again. What would be written is shown first,
// the file as it was is kept beside it, and nothing but the one entry is changed.
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
} from "@trunkline/client/config";
import {
  isRecord,
  printable,
  REDACTED,
  resolvedPath,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import { projectStore } from "../../app/folders.js";
import {
  AGENT_PROGRAMS,
  type AgentProgram,
  agentProgram,
  isPresent,
  projectFile,
  userFile,
} from "../../install/agent-programs.js";
import { launchCommand, startsTrunkline } from "../../install/launch-command.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { askYesNo } from "../../terminal/questions.js";
import { table } from "../../terminal/table.js";

/** What the entry is called. */
const NAME = "trunkline";
/** What the file as it was is called, behind its own name. */
const BACKUP = ".before-trunkline";

/** Options of `trunkline install`. */
export interface InstallOptions {
  program: string | undefined;
  /** What `trunkline serve` is started with. */
  serveArgs: readonly string[];
  project?: boolean;
  yes?: boolean;
  force?: boolean;
  dryRun?: boolean;
}

/** Options of `trunkline uninstall`. */
export type UninstallOptions = Omit<InstallOptions, "serveArgs" | "program"> & { program: string };

/** Where the entry of one program is. */
interface Target {
  readonly program: AgentProgram;
  readonly path: string;
  readonly place: EntryPlace;
  readonly file: ProgramFile;
}

/** Writes the entry; without a program, lists what there is. */
export async function install(context: CommandContext, options: InstallOptions): Promise<number> {
  if (options.program === undefined) return await listPrograms(context);
  const target = await targetOf(context, options.program, options);
  const { program, path, place, file } = target;
  const { env } = context;
  const launch = await launchCommand(["serve", ...options.serveArgs], {
    env,
    platform: process.platform,
    // A project's file is shared: a path of this machine would be of no use to the others.
    inShell: program.inShell || options.project === true,
  });
  const isOurs = startsTrunkline(file.entry);
  if (file.entry !== undefined && !isOurs && !options.force) {
    throw new TrunklineError("USAGE", `${path} has a server "${NAME}" that does not start this program.`, {
      hint: "Look at it, and replace it with --force if it is to go.",
    });
  }
  // What somebody added to our entry, such as variables, stays.
  const entry = { ...(isOurs && isRecord(file.entry) ? file.entry : {}), ...program.entry(launch) };
  if (isDeepStrictEqual(plain(entry), plain(file.entry))) {
    context.out(`${program.title} has Trunkline already (${path}).`);
    context.note(program.check);
    return EXIT.success;
  }
  const changed = withEntry(file.text ?? "", place, entry);
  describe(context, target, { entry });
  if (options.project && launch.command === process.execPath) {
    context.note(
      "note: the path is one of this machine. Install trunkline for everybody (npm install -g) before you share the file.",
    );
  }
  const store = projectStore(context.cwd, context.home);
  if (!options.project && store !== undefined && !options.serveArgs.some((arg) => arg.startsWith("--store"))) {
    context.note(
      `note: a program that starts it outside this project uses another store. For this one: trunkline install ${program.id} -- --store ${store}`,
    );
  }
  if (!(await isConfirmed(context, options))) return options.dryRun ? EXIT.success : EXIT.failure;
  await writing(path, async () => {
    // The backup is the file without us: a second install must not replace it, and one of another file must not stay.
    if (file.text === undefined) await rm(`${path}${BACKUP}`, { force: true });
    else if (!isOurs) await keep(path);
    await writeFileAtomically(path, changed, { mode: options.project ? 0o644 : 0o600 });
  });
  const backup = file.text === undefined || isOurs ? "" : ` The file as it was is ${path}${BACKUP}.`;
  context.out(`Wrote ${path}.${backup}`);
  context.note(program.check);
  context.note(`\`trunkline uninstall ${program.id}${options.project ? " --project" : ""}\` takes it out again.`);
  return EXIT.success;
}

/**
 * Takes the entry out, and puts back the one that it replaced. Where nothing else has changed since, the file is what it was
 * before, byte for byte.
 */
export async function uninstall(context: CommandContext, options: UninstallOptions): Promise<number> {
  const target = await targetOf(context, options.program, options);
  const { program, path, file } = target;
  if (file.text === undefined || file.entry === undefined) {
    context.out(`${program.title} does not have Trunkline (${path}).`);
    return EXIT.success;
  }
  if (!startsTrunkline(file.entry) && !options.force) {
    throw new TrunklineError("USAGE", `${path} has a server "${NAME}" that does not start this program.`, {
      hint: "Look at it, and remove it with --force if it is to go.",
    });
  }
  const before = await contentBefore(target);
  describe(context, target, { entry: before.entry });
  if (!(await isConfirmed(context, options))) return options.dryRun ? EXIT.success : EXIT.failure;
  await writing(path, async () => {
    // Through a link, as it was written: the link is somebody's own.
    if (before.text === undefined) await rm(await resolvedPath(path));
    else await writeFileAtomically(path, before.text);
    await rm(`${path}${BACKUP}`, { force: true });
  });
  const back = before.entry === undefined ? "" : ` The entry "${NAME}" that was there before is back.`;
  context.out(
    before.text === undefined ? `Removed ${path}, which held nothing else.` : `Took it out of ${path}.${back}`,
  );
  return EXIT.success;
}

async function listPrograms(context: CommandContext): Promise<number> {
  const rows: string[][] = [];
  for (const program of AGENT_PROGRAMS) {
    const place = placeOf(context);
    const path = await userFile(program, place);
    rows.push([program.id, program.title, await stateOf(program, path, place), path]);
  }
  for (const line of table(rows)) context.out(line);
  context.note("Put Trunkline into one of them: trunkline install <program>");
  return EXIT.success;
}

async function stateOf(program: AgentProgram, path: string, place: ImportPlace): Promise<string> {
  try {
    const { entry } = await readProgramFile(path, entryPlace(program));
    if (startsTrunkline(entry)) return "installed";
    if (entry !== undefined) return `has another "${NAME}"`;
    return (await isPresent(program, place)) ? "not installed" : "not found here";
  } catch (error) {
    if (error instanceof TrunklineError) return "cannot be read";
    throw error;
  }
}

async function targetOf(context: CommandContext, id: string, options: { project?: boolean }): Promise<Target> {
  const program = agentProgram(id);
  const path = options.project ? await projectFile(program, context.cwd) : await userFile(program, placeOf(context));
  const place = entryPlace(program);
  return { program, path, place, file: await readProgramFile(path, place, { signal: context.signal }) };
}

function placeOf({ env, userHome }: CommandContext): ImportPlace {
  return { env, userHome, platform: process.platform };
}

function entryPlace({ format, table: servers }: AgentProgram): EntryPlace {
  return { format, path: [servers, NAME] };
}

/** The change, as a diff would show it. Of the file nothing else is shown: it may hold the secrets of others. */
function describe(context: CommandContext, { path, place, file }: Target, { entry }: { entry: unknown }): void {
  context.out(file.text === undefined ? `${path} (new file)` : path);
  if (file.entry !== undefined) {
    for (const line of entryText(place, shown(file.entry)).split("\n")) context.out(`  - ${printable(line)}`);
  }
  if (entry !== undefined) {
    for (const line of entryText(place, shown(entry)).split("\n")) context.out(`  + ${printable(line)}`);
  }
}

/** Without the values of variables and headers. */
function shown(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      isRecord(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED])) : value,
    ]),
  );
}

async function isConfirmed(
  context: CommandContext,
  { yes, dryRun }: { yes?: boolean; dryRun?: boolean },
): Promise<boolean> {
  if (dryRun) return false;
  if (yes) return true;
  if (!isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was written: there is no terminal to ask at.", {
      hint: "Write it with --yes, or only look at it with --dry-run.",
    });
  }
  if (await askYesNo(context, "Write it?")) return true;
  context.note("Nothing was written.");
  return false;
}

/** The file without our entry: as it was, where only we have changed it. Without text where we made the file. */
async function contentBefore({ path, place, file }: Target): Promise<ProgramFile> {
  const { text = "", entry } = file;
  // Somebody else's entry, which is removed by force: the file is not ours either.
  if (!startsTrunkline(entry)) return { text: withoutEntry(text, place), entry: undefined };
  const isWhatWeWrite = (from: string) => isRecord(entry) && withEntry(from, place, entry) === text;
  const backup = await readBackup(path, place);
  if (backup?.text !== undefined) {
    if (isWhatWeWrite(backup.text)) return backup;
    if (isRecord(backup.entry)) return { text: withEntry(text, place, backup.entry), entry: backup.entry };
  } else if (isWhatWeWrite("")) return { text: undefined, entry: undefined };
  return { text: withoutEntry(text, place), entry: undefined };
}

/** The file as it was kept. One that cannot be read is as good as none: the entry is taken out all the same. */
async function readBackup(path: string, place: EntryPlace): Promise<ProgramFile | undefined> {
  try {
    return await readProgramFile(`${path}${BACKUP}`, place);
  } catch (error) {
    if (error instanceof TrunklineError) return undefined;
    throw error;
  }
}

/** Without prototypes: the reader of TOML makes objects that have none. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Keeps the file as it is beside itself, for the same eyes only. */
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
    throw new TrunklineError("IO", `${path} cannot be written (${code}).`, {
      cause: error,
      hint: "Check the permissions of the file and of its folder; the file is as it was.",
    });
  }
}
