// Sets Trunkline up in one go: finds the servers of all programs, shows what would change, and moves them. Asks every
// question before it changes anything.
import { findImports } from "@trunkline/config";
import { isTrunklineError, printable } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { withoutTrunkline } from "../../install/other-servers.js";
import { ENTRY_NAME, type ProgramState, programStates } from "../../install/program-states.js";
import { literalNote, literalSecrets, wantsKeychain } from "../../move/keychain-choice.js";
import { removePartial } from "../../move/move-backup.js";
import { ownChanges } from "../../move/move-files.js";
import { type FileChange, type MovePlan, planInstall, planMove } from "../../move/move-plan.js";
import { describeLeft, diffsOf, showDiffs } from "../../move/move-screen.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askLine } from "../../terminal/questions.js";
import { carryOut, describeNotes, reportStaying, type StayingReport } from "../import/move-servers.js";
import { askForModel, followModelAnswer } from "../models/offer.js";
import { nextStep } from "../standing/next-step.js";
import { findStanding } from "../standing/run.js";
import { describeChanges, describeCost, describeFound } from "./setup-page.js";

export interface SetupOptions {
  yes?: boolean;
  dryRun?: boolean;
  moveSecrets?: boolean;
  json?: boolean;
}

/** With `--json`: what changes, and whether it was done. */
interface SetupOutcome {
  done: boolean;
  programs: { program: string; file: string; state: string }[];
  /** Files of programs, with the servers that leave them. */
  files: { program: string; file: string; servers: string[]; adds_trunkline: boolean; diff: string }[];
  /** Trunkline's own files, with the servers that come. */
  own: { file: string; servers: string[]; diff: string | null }[];
  /** Servers that stay with their program. */
  staying: StayingReport[];
  backup?: string;
}

export async function setup(context: CommandContext, options: SetupOptions): Promise<number> {
  const outcome: SetupOutcome = { done: false, programs: [], files: [], own: [], staying: [] };
  return await reporting(context, { json: options.json, outcome }, (shown) => setUp(shown, options, outcome));
}

async function setUp(context: CommandContext, options: SetupOptions, outcome: SetupOutcome): Promise<number> {
  const { cwd, env, signal, userHome, palette } = context;
  const place = { cwd, env, signal, userHome, platform: process.platform };
  await removePartial(context);
  const found = (await findImports(place)).map(withoutTrunkline);
  const states = (await programStates(place)).filter(({ state }) => state !== "not found here");
  const config = await openApp(context, { config: "own" }).config();
  const getting = states.filter(({ state }) => state === "not installed").map(({ program }) => program.id);
  const moved = await planMove(context, found, { config, getting });
  const installs = await planInstalls(context, states, moved);
  const plan: MovePlan = { ...moved, changes: [...moved.changes, ...installs.changes] };
  const problems = [...new Set([...moved.problems.map(({ message }) => message), ...installs.problems])];
  outcome.staying = reportStaying(moved);
  outcome.programs = states.map(({ program: { id }, path, state }) => ({ program: id, file: path, state }));
  if (options.json) await report(context, plan, outcome);

  const section = (title: string, lines: readonly string[]) => {
    if (lines.length === 0) return;
    context.outPainted(palette.heading(title));
    for (const line of lines) context.outPainted(`  ${line}`);
    context.outPainted("");
  };
  section("Found", describeFound(found, states, context));
  const withheld = describeWithheld(states, moved);
  section("Left alone", [...[...problems, ...withheld].map((line) => printable(line)), ...describeLeft(plan, context)]);
  const done = problems.length > 0 ? EXIT.failure : EXIT.success;
  if (plan.changes.length === 0) {
    context.out("Nothing to do.");
    await sayNext(context);
    return done;
  }
  section("Cost", await describeCost(context, { found, plan }));
  section("What setup does", describeChanges(plan, context));
  for (const note of describeNotes(plan, config.workspaceFolder)) context.noteInFull(note);
  const answers = await ask(context, plan, options).catch((error: unknown) => {
    if (isTrunklineError(error, "ABORTED")) context.note("\nNothing was changed.");
    throw error;
  });
  if (answers === undefined) return done;
  outcome.backup = await carryOut(context, plan, answers);
  outcome.done = true;
  await followModelAnswer(context, answers.wantsModel);
  await sayNext(context);
  return done;
}

async function report(context: CommandContext, { copies, changes }: MovePlan, outcome: SetupOutcome): Promise<void> {
  const own = await ownChanges(context, copies);
  const diffs = diffsOf(own, changes);
  outcome.files = changes.map(({ program, path, removed, added }) => ({
    program: program.id,
    file: path,
    servers: removed.map(({ name }) => name),
    adds_trunkline: added !== undefined,
    diff: diffs.get(path) ?? "",
  }));
  outcome.own = own.map(({ target, edits }) => ({
    file: target.path,
    servers: edits.map(({ name }) => name),
    diff: diffs.get(target.path) ?? null,
  }));
}

/** Adds Trunkline to the programs that keep no servers. */
async function planInstalls(
  context: CommandContext,
  states: readonly ProgramState[],
  { changes, rules }: MovePlan,
): Promise<{ changes: FileChange[]; problems: string[] }> {
  const planned: FileChange[] = [];
  const problems: string[] = [];
  for (const { program, path, state, problem } of states) {
    if (problem !== undefined) problems.push(problem.message);
    if (state === "other" && !changes.some((change) => change.path === path))
      problems.push(`${path} has a server "${ENTRY_NAME}" that does not start this program.`);
    if (state !== "not installed" || changes.some((change) => change.program === program)) continue;
    if (rules.withheld.has(program.id)) continue;
    try {
      const change = await planInstall(context, program, path);
      if (change !== undefined && !changes.some(({ target }) => target === change.target)) planned.push(change);
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      problems.push(error.message);
    }
  }
  return { changes: planned, problems };
}

/** Programs that do not get Trunkline because of their permission rules, and those that have it in spite of them. */
function describeWithheld(states: readonly ProgramState[], { rules }: MovePlan): string[] {
  const lines = states.flatMap(({ program, state }) => {
    const held = rules.withheld.get(program.id);
    return held === undefined || state !== "not installed"
      ? []
      : [`${program.title} does not get Trunkline: ${held.reason}.`];
  });
  return [...lines, ...rules.warnings.map((warning) => `${warning}.`)];
}

interface Answers {
  readonly isMovingSecrets: boolean;
  readonly wantsModel: boolean | undefined;
}

/** Asks everything there is to ask. Undefined if nothing is to be done. */
async function ask(context: CommandContext, plan: MovePlan, options: SetupOptions): Promise<Answers | undefined> {
  const literal = await literalSecrets(plan.copies);
  if (options.dryRun || (!options.yes && !isAtTerminal(context))) {
    if (literal.length > 0 && !options.moveSecrets) context.note(literalNote(literal));
    context.note(
      "Nothing was changed. `trunkline setup --yes` does it; `trunkline import --move --dry-run` shows the diff.",
    );
    return undefined;
  }
  if (!options.yes && !(await isAgreed(context, plan))) {
    context.note("Nothing was changed.");
    return undefined;
  }
  const isMovingSecrets = await wantsKeychain(context, literal, options);
  const wantsModel = options.yes || options.json ? undefined : await askForModel(context);
  return { isMovingSecrets, wantsModel };
}

async function isAgreed(context: CommandContext, { copies, changes }: MovePlan): Promise<boolean> {
  for (;;) {
    const answer = (await askLine(context, "Do it? [y/N, d shows the diff] ", { afresh: true })).trim();
    if (/^d(iff)?$/i.test(answer)) showDiffs(context, await ownChanges(context, copies), changes);
    else if (/^y(es)?$/i.test(answer)) return true;
    else if (/^(no?)?$/i.test(answer)) return false;
    else context.note("Please answer y, n or d.");
  }
}

async function sayNext(context: CommandContext): Promise<void> {
  const next = nextStep(await findStanding(context));
  if (next !== undefined) context.note(`Next: ${next.why}\n  ${next.command}`);
}
