// `import --move`: other programs' servers come to Trunkline, and Trunkline takes their place there.
import { isDeepStrictEqual } from "node:util";
import { countComments, type ImportedServer, type PermissionRule } from "@trunkline/config";
import { printable, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { allowListNote } from "../../install/allow-list.js";
import {
  keepInKeychain,
  literalNote,
  literalSecrets,
  referringToKeychain,
  wantsKeychain,
} from "../../move/keychain-choice.js";
import { removePartial } from "../../move/move-backup.js";
import { ownChanges, writeMove } from "../../move/move-files.js";
import { type MovePlan, planMove } from "../../move/move-plan.js";
import { describeLeft, showDiffs } from "../../move/move-screen.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import { quantity } from "../../terminal/trust-prompt.js";
import { find, type ImportOptions, notesOf } from "./run.js";

/** With `--json`: what was moved from where, and where the backup is. */
interface MoveOutcome {
  written: boolean;
  files: { program: string; file: string; servers: string[] }[];
  staying: StayingReport[];
  backup?: string;
}

/** A server that stays, and the permission rule that it stays for. */
export interface StayingReport {
  name: string;
  file: string;
  reason: string;
  rule?: Omit<PermissionRule, "at" | "effect">;
}

export function reportStaying({ staying }: MovePlan): StayingReport[] {
  return staying.map(({ name, from: { path }, reason, rule }) => {
    if (rule === undefined) return { name, file: path, reason };
    const { agent, file, setting, kind, server, tool, text } = rule;
    return { name, file: path, reason, rule: { agent, file, setting, kind, server, tool, text } };
  });
}

export async function moveServers(context: CommandContext, options: ImportOptions): Promise<number> {
  if (options.user || options.project) {
    throw new TrunklineError("USAGE", "--move takes neither --user nor --project.", {
      hint: "Your servers go to your own settings, and with --include-project those of the project to the project.",
    });
  }
  const outcome: MoveOutcome = { written: false, files: [], staying: [] };
  return await reporting(context, { json: options.json, outcome }, (shown) => moveFound(shown, options, outcome));
}

async function moveFound(context: CommandContext, options: ImportOptions, outcome: MoveOutcome): Promise<number> {
  await removePartial(context);
  const found = await find(context, options);
  const config = await openApp(context, { config: "own" }).config();
  const { overwrite, from } = options;
  // Naming a file is as good as the flag.
  const includeProject = options.includeProject || from !== undefined;
  const plan = await planMove(context, found, { config, overwrite, includeProject });
  const { changes, copies, problems } = plan;
  const done = problems.length > 0 ? EXIT.failure : EXIT.success;
  outcome.files = changes.map(({ program, path, removed }) => ({
    program: program.id,
    file: path,
    servers: removed.map(({ name }) => name),
  }));
  outcome.staying = reportStaying(plan);
  showDiffs(context, await ownChanges(context, copies), changes);
  for (const { message, hint } of problems) context.note(`error: ${message}${hint === undefined ? "" : ` ${hint}`}`);
  for (const warning of plan.rules.warnings) context.note(`warning: ${warning}.`, "warning");
  for (const line of [...describeLeft(plan, context), ...describeNotes(plan, config.workspaceFolder)])
    context.noteInFull(line);
  if (changes.length === 0) {
    context.note("There is nothing to move.");
    return done;
  }
  const literal = await literalSecrets(copies);
  if (options.dryRun) {
    if (literal.length > 0) context.note(literalNote(literal));
    return done;
  }
  if (!(await isConfirmed(context, plan, options.yes ?? false))) return done;
  const isMovingSecrets = await wantsKeychain(context, literal, options);
  outcome.backup = await carryOut(context, plan, { isMovingSecrets });
  outcome.written = true;
  return done;
}

async function isConfirmed(context: CommandContext, { changes }: MovePlan, isAgreed: boolean): Promise<boolean> {
  if (isAgreed) return true;
  if (!isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was written: there is no terminal to ask on.", {
      hint: "Write it with --yes, or preview it with --dry-run.",
    });
  }
  const question = `Move ${serversIn(changes)} and change ${quantity(changes.length, "file")} of other programs?`;
  if (await askYesNo(context, question)) return true;
  context.note("Nothing was written.");
  return false;
}

/** Says how many entries are removed elsewhere. */
function serversIn(changes: MovePlan["changes"]): string {
  return quantity(new Set(changes.flatMap(({ removed }) => removed.map(({ name }) => name))).size, "server");
}

/** What the user should know about the servers that are copied. */
export function* describeNotes(plan: MovePlan, workspaceFolder: string): Generator<string> {
  const { copies, changes } = plan;
  for (const names of severalNames(plan))
    yield `note: ${names.map(printable).join(" and ")} are the same server under different names; you need only one of them.`;
  for (const { servers, ...copy } of copies) {
    for (const { server } of servers)
      for (const note of notesOf({ ...copy, server }, workspaceFolder))
        yield `note: ${printable(server.name)}: ${printable(note)}`;
  }
  for (const { path, before = "", after, program } of changes) {
    const block = allowListNote(program, path, after);
    if (block !== undefined) yield `warning: ${block}`;
    const lost = countComments(before, program.format) - countComments(after, program.format);
    if (lost <= 0) continue;
    const what =
      lost === 1 ? "1 comment in the moved entries is lost" : `${lost} comments in the moved entries are lost`;
    yield `note: ${printable(path)}: ${what}; the backup has the file as it is now.`;
  }
  for (const note of plan.rules.notes(changes.flatMap(({ removed }) => removed))) yield `note: ${note}`;
  if (changes.some(({ scope }) => scope === "project"))
    yield "note: everyone who shares these files through git will need Trunkline.";
}

/**
 * Returns the names of servers that start in exactly the same way, among those that move or stay in a program. Of one
 * that stays, the program is named: another server with its name may be moving.
 */
function severalNames({ copies, staying }: MovePlan): string[][] {
  const named = ({ name, entry }: ImportedServer, shown = name) => ({ name, entry, shown });
  const moving = copies.flatMap(({ servers }) => servers.map(({ server }) => named(server)));
  const kept = staying.flatMap(({ name, from }) =>
    from.servers
      .filter((server) => server.name === name)
      .map((server) => named(server, `${name} in ${from.source.title}`)),
  );
  const groups: (typeof moving)[] = [];
  for (const server of [...moving, ...kept]) {
    const group = groups.find(([first]) => isDeepStrictEqual(first?.entry, server.entry));
    if (group === undefined) groups.push([server]);
    else if (!group.some(({ name }) => name === server.name)) group.push(server);
  }
  return groups.filter(({ length }) => length > 1).map((group) => group.map(({ shown }) => shown));
}

/** Writes everything, and says what was done and how to undo it. Returns the folder of the backup. */
export async function carryOut(
  context: CommandContext,
  { copies, changes }: MovePlan,
  { isMovingSecrets }: { isMovingSecrets: boolean },
): Promise<string> {
  const { plans, secrets } = isMovingSecrets
    ? await referringToKeychain(context, copies)
    : { plans: copies, secrets: [] };
  const own = await ownChanges(context, plans);
  await keepInKeychain(context, secrets);
  const { folder } = await writeMove(context, own, changes);
  for (const { target, edits } of own) context.out(`Wrote ${quantity(edits.length, "server")} to ${target.path}.`);
  for (const { program, path, removed } of changes) {
    const what =
      removed.length === 0 ? "added Trunkline to" : `replaced ${quantity(removed.length, "server")} with Trunkline in`;
    context.out(`${program.title}: ${what} ${path}.`);
  }
  for (const { title, check } of new Set(changes.map(({ program }) => program))) context.note(`${title}: ${check}`);
  context.note(`The files as they were are in ${folder}. \`trunkline uninstall --restore\` brings them back.`);
  return folder;
}
