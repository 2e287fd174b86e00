// `uninstall --restore`: other programs get their servers back, and their files are as they were before the move.
import { isTrunklineError, printable, systemCodeOf, TrunklineError } from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import { agentProgram } from "../../install/agent-programs.js";
import { listBackups, type MovedFile, removePartial } from "../../move/move-backup.js";
import { applyRestore, planRestore, type RestoreStep } from "../../move/move-restore.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import { quantity } from "../../terminal/trust-prompt.js";

interface RestoreOptions {
  program: string | undefined;
  yes?: boolean;
  force?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

interface RestoreOutcome {
  restored: boolean;
  files: { file: string; outcome: RestoreStep["outcome"]; notes: readonly string[] }[];
}

export async function restoreServers(context: CommandContext, options: RestoreOptions): Promise<number> {
  const outcome: RestoreOutcome = { restored: false, files: [] };
  return await reporting(context, { json: options.json, outcome }, (shown) => restore(shown, options, outcome));
}

async function restore(context: CommandContext, options: RestoreOptions, outcome: RestoreOutcome): Promise<number> {
  const { program, force, dryRun, yes } = options;
  if (program !== undefined) agentProgram(program);
  await removePartial(context);
  const steps = await planRestore(context, { program, force });
  if (steps.length === 0) {
    context.out("There is nothing to restore.");
    return EXIT.success;
  }
  outcome.files = steps.map(({ file, outcome: how, notes }) => ({ file: file.path, outcome: how, notes }));
  for (const line of steps.flatMap(describeStep)) context.out(line);
  const left = steps.filter((step) => step.outcome === "left");
  const done = left.length > 0 ? EXIT.failure : EXIT.success;
  if (dryRun || left.length === steps.length) return done;
  if (!yes && !isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was restored: there is no terminal to ask on.", {
      hint: "Restore it with --yes, or preview it with --dry-run.",
    });
  }
  const count = quantity(steps.length - left.length, "file");
  if (!yes && !(await askYesNo(context, `Restore ${count}?`))) {
    context.note("Nothing was restored.");
    return EXIT.success;
  }
  const kept = await applyRestore(steps);
  outcome.restored = true;
  context.out(`Restored ${count}.`);
  for (const path of new Set(kept)) context.note(`The previous version is in ${path}.`);
  if (steps.some(({ file, now }) => file.program === undefined && now?.includes("${secret:")))
    context.note("Secrets that were moved to the keychain stay there too; `trunkline secrets` lists them.");
  return done;
}

const HOW: Readonly<Record<RestoreStep["outcome"], string>> = {
  exact: "will be as it was",
  there: "nothing to do",
  merged: "gets its servers back",
  left: "is left alone",
};

function describeStep({ file, outcome, next, notes }: RestoreStep): string[] {
  const isOwn = file.program === undefined;
  const what =
    outcome === "exact" && next === undefined
      ? "will be removed, because it did not exist before"
      : isOwn && outcome === "merged"
        ? "the copied servers are removed from it"
        : HOW[outcome];
  return [`${printable(file.path)}: ${what}`, ...notes.map((note) => `  ${printable(note)}`)];
}

/** Says how to get the servers of a program back, if they were moved. */
export function restoreHint(context: CommandContext, { id, path }: { id: string; path: string }): string | undefined {
  return isMoved(context, path, (file) => file.removed.length > 0)
    ? `Its servers were moved to Trunkline: \`trunkline uninstall ${id} --restore\` brings them back.`
    : undefined;
}

/** Whether a file existed before servers were moved out of it. */
export function wasThereBeforeMove(context: CommandContext, path: string): boolean {
  return isMoved(context, path, ({ existed }) => existed);
}

/** Whether a move that was not undone changed such a file. A damaged backup counts as none. */
function isMoved(context: CommandContext, path: string, isSuch: (file: MovedFile) => boolean): boolean {
  try {
    return listBackups(context).some(({ files }) =>
      files.some((file) => file.path === path && !file.restored && isSuch(file)),
    );
  } catch (error) {
    if (isTrunklineError(error) || systemCodeOf(error) !== undefined) return false;
    throw error;
  }
}
