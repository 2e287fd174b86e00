// Undoes moves: each file as it was, byte for byte, if only the move has changed it. Otherwise the edits stay, the servers
// are put back and Trunkline is taken out.
import { rm } from "node:fs/promises";
import { type EntryPlace, entryIn, readEditableConfig, withEntry, withoutEntry } from "@trunkline/config";
import { fileReason, isRecord, systemCodeOf, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { startsTrunkline } from "../install/launch-command.js";
import type { CommandContext } from "../terminal/context.js";
import { quantity } from "../terminal/trust-prompt.js";
import {
  type Backup,
  hashOf,
  keepEdited,
  listBackups,
  type MovedFile,
  removeBackup,
  savedBytes,
  saveManifest,
} from "./move-backup.js";
import { bytesOf, isSame } from "./move-files.js";
import { changedMeanwhile, targetOf } from "./move-plan.js";

/** What happens to one file. `left`: nothing, because the user has to decide. */
export interface RestoreStep {
  readonly backup: Backup;
  readonly file: MovedFile;
  readonly outcome: "exact" | "there" | "merged" | "left";
  /** For people: what is special about it. */
  readonly notes: readonly string[];
  /** The bytes that the file has now, and will have; undefined if it does not exist. */
  readonly now: Buffer | undefined;
  readonly next: Buffer | undefined;
  /** Whether the current bytes are lost, and worth a copy. */
  readonly isEdited?: boolean;
  /** The names that are done with, in one of our own files. */
  readonly settled: readonly string[];
}

interface RestoreOptions {
  /** Only the files of this program. */
  readonly program?: string;
  /** Restore the bytes even if the file was edited since. */
  readonly force?: boolean;
}

/** Plans to undo all moves, newest first. */
export async function planRestore(context: CommandContext, options: RestoreOptions): Promise<RestoreStep[]> {
  const backups = listBackups(context);
  const pending = backups.flatMap((backup) =>
    backup.files.filter(({ restored }) => !restored).map((file) => ({ backup, file })),
  );
  /** What the files will contain after the steps so far. */
  const contents = new Map<string, Buffer | undefined>();
  const steps: RestoreStep[] = [];
  const plan = async (
    { backup, file }: (typeof pending)[number],
    restored: (now: Buffer | undefined) => Restored | Promise<Restored>,
  ) => {
    const now = contents.has(file.target) ? contents.get(file.target) : await bytesOf(file.target);
    const base = { backup, file, now, settled: [] };
    if ((await targetOf(file.path)) !== file.target) {
      steps.push({
        ...base,
        outcome: "left",
        next: now,
        notes: [`it leads to another file now, not to ${file.target}`],
      });
      return;
    }
    const step = { ...base, notes: [], ...(await restored(now)) };
    contents.set(file.target, step.next);
    steps.push(step);
  };
  for (const each of pending) {
    const { backup, file } = each;
    if (file.program === undefined || (options.program !== undefined && file.program !== options.program)) continue;
    await plan(each, (now) => restoredProgram(backup, file, { now, force: options.force ?? false }));
  }
  // A server stays with us as long as a program has it through us.
  const open = pending.filter(({ file }) => !steps.some((step) => step.file === file && step.outcome !== "left"));
  const needed = new Set(open.flatMap(({ file }) => file.removed.map((at) => at.at(-1) ?? "")));
  for (const each of pending) {
    const { backup, file } = each;
    if (file.program === undefined) await plan(each, (now) => restoredOwn(backup, file, { now, needed }));
  }
  return steps.filter(
    ({ file, outcome, settled }) => file.program !== undefined || outcome !== "there" || settled.length > 0,
  );
}

type Restored = Pick<RestoreStep, "outcome" | "next"> & Partial<Pick<RestoreStep, "notes" | "settled" | "isEdited">>;

/**
 * Carries out the steps, unless a file has changed since they were planned. Each one is recorded, so a second run
 * continues where the first was stopped. Returns where versions are that were not restored.
 */
export async function applyRestore(planned: readonly RestoreStep[]): Promise<string[]> {
  const steps = planned.filter(({ outcome }) => outcome !== "left");
  const checked = new Set<string>();
  for (const { file, now } of steps) {
    // Later steps start from the result of the earlier ones.
    if (!checked.has(file.target) && !isSame(await bytesOf(file.target), now))
      throw changedMeanwhile(file.path, "Nothing was restored.");
    checked.add(file.target);
  }
  const kept: string[] = [];
  const backups = new Map(steps.map(({ backup }) => [backup.folder, backup]));
  for (const [count, step] of steps.entries()) {
    const { file, settled } = step;
    const backup = backups.get(step.backup.folder) ?? step.backup;
    const place = await restoring(step, count, steps.length);
    if (place !== undefined) kept.push(place);
    const copied = file.copied.filter(({ name }) => !settled.includes(name));
    const restored = file.program !== undefined || copied.length === 0;
    const done = { ...file, copied, restored, kept: file.kept || place !== undefined };
    const updated = { ...backup, files: backup.files.map((each) => (each.path === file.path ? done : each)) };
    backups.set(backup.folder, updated);
    await saveManifest(updated);
  }
  for (const backup of backups.values())
    if (backup.files.every((file) => file.restored && !file.kept)) await removeBackup(backup);
  return kept;
}

/** Restores a file. Returns where a version of it is that would be lost with the backup. */
async function restoring(step: RestoreStep, count: number, all: number): Promise<string | undefined> {
  const { backup, file, outcome, now, next, isEdited = false } = step;
  const progress = `${count} of ${quantity(all, "file")} ${count === 1 ? "is" : "are"} restored.`;
  try {
    if (!isSame(await bytesOf(file.target), now)) throw changedMeanwhile(file.path, progress);
    const edited = isEdited && now !== undefined ? await keepEdited(backup, file, now) : undefined;
    if (outcome !== "there") await writeBack(file, { outcome, next });
    if (edited !== undefined) return edited;
    return file.copy !== undefined && (next === undefined || hashOf(next) !== file.before) ? backup.folder : undefined;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("IO", `Cannot restore ${file.path}: ${fileReason(error) ?? code}. ${progress}`, {
      cause: error,
      hint: "Check the permissions of the file and its folder, and run the command again.",
    });
  }
}

async function writeBack(file: MovedFile, { outcome, next }: Pick<RestoreStep, "outcome" | "next">): Promise<void> {
  if (next === undefined) await rm(file.target, { force: true });
  else if (outcome === "exact" && file.mode !== undefined)
    await writeFileAtomically(file.target, next, { mode: file.mode, forceMode: true });
  else await writeFileAtomically(file.target, next);
}

interface Current {
  readonly now: Buffer | undefined;
}

function restoredProgram(backup: Backup, file: MovedFile, { now, force }: Current & { force: boolean }): Restored {
  const before = file.existed ? savedBytes(backup, file) : undefined;
  if (before === undefined ? now === undefined : now?.equals(before)) return { outcome: "there", next: now };
  const isOurs = now !== undefined && (hashOf(now) === file.after || isUninstalled(file, now, before));
  if (isOurs || force) {
    const notes = isOurs ? [] : ["it was edited since; --force replaces the edits"];
    return { outcome: "exact", next: before, notes, isEdited: !isOurs };
  }
  const left = (why: string): Restored => ({
    outcome: "left",
    next: now,
    notes: [`${why}; --force restores the old version`],
  });
  if (now === undefined) return left("it was removed since");
  try {
    return merged(file, now.toString("utf8"), before?.toString("utf8") ?? "");
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error;
    return left(`it was edited since, and ${error.message.replace(/\.$/, "")}`);
  }
}

/** Whether `uninstall` has taken Trunkline out of the file since, and nothing else has changed. */
function isUninstalled(file: MovedFile, now: Buffer, before: Buffer | undefined): boolean {
  if (file.added === undefined || before === undefined) return false;
  const place = (path: readonly string[]): EntryPlace => ({ format: file.format, path });
  try {
    const rest = file.removed.reduce((text, at) => withoutEntry(text, place(at)), before.toString("utf8"));
    const added = place(file.added);
    return [rest, withoutEntry(withEntry(rest, added, { command: "trunkline" }), added)].includes(now.toString("utf8"));
  } catch (error) {
    if (error instanceof TrunklineError) return false;
    throw error;
  }
}

/** Takes Trunkline out of an edited file, and puts back the servers that it no longer has. */
function merged(file: MovedFile, now: string, before: string): Restored {
  const place = (path: readonly string[]): EntryPlace => ({ format: file.format, path });
  let text = now;
  if (file.added !== undefined && startsTrunkline(entryIn(text, place(file.added), file.path)))
    text = withoutEntry(text, place(file.added));
  const changed: string[] = [];
  for (const at of file.removed) {
    const entry = entryIn(before, place(at), file.path);
    if (entryIn(text, place(at), file.path) !== undefined) changed.push(at.at(-1) ?? "");
    else if (isRecord(entry)) text = withEntry(text, place(at), entry);
  }
  const notes = ["it was edited since: the edits stay, and the servers are put back"];
  if (changed.length > 0) notes.push(`it has ${changed.join(", ")} again, which stays as it is now`);
  return { outcome: "merged", next: Buffer.from(text), notes };
}

/**
 * Removes the servers that were copied to our own file, unless they were changed or are still needed, and puts back
 * those that they replaced.
 */
async function restoredOwn(
  backup: Backup,
  file: MovedFile,
  { now, needed }: Current & { needed: ReadonlySet<string> },
): Promise<Restored> {
  const before = file.existed ? savedBytes(backup, file) : undefined;
  const names = file.copied.map(({ name }) => name);
  const free = file.copied.filter(({ name }) => !needed.has(name));
  if (now === undefined || before?.equals(now)) return { outcome: "there", next: now, settled: names };
  if (free.length === names.length && hashOf(now) === file.after)
    return { outcome: "exact", next: before, settled: names };
  const settled = free.map(({ name }) => name);
  const left = (error: unknown): Restored => {
    if (!(error instanceof TrunklineError)) throw error;
    return { outcome: "left", next: now, notes: [error.message] };
  };
  if (free.some(({ at }) => at.length === 0)) return await removedByHand(file, now, settled).catch(left);
  let text = now.toString("utf8");
  const notes: string[] = [];
  for (const { name, at, entry } of free) {
    const place: EntryPlace = { format: "json", path: at };
    try {
      const value = entryIn(text, place, file.path);
      if (value === undefined) continue;
      const replaced = before === undefined ? undefined : entryIn(before.toString("utf8"), place, file.path);
      if (hashOf(JSON.stringify(value)) === entry)
        text = isRecord(replaced) ? withEntry(text, place, replaced) : withoutEntry(text, place);
      else notes.push(`${name} was changed since and stays; \`trunkline servers remove ${name}\` removes it`);
    } catch (error) {
      return left(error);
    }
  }
  if (text === now.toString("utf8")) return { outcome: "there", next: now, settled, notes };
  return { outcome: "merged", next: Buffer.from(text), settled, notes };
}

/** Our own file is YAML, from which entries are not removed without the user. */
async function removedByHand({ path }: MovedFile, now: Buffer, names: readonly string[]): Promise<Restored> {
  const { names: there } = await readEditableConfig(path);
  const left = names.filter((name) => there.includes(name));
  if (left.length === 0) return { outcome: "there", next: now, settled: names };
  const commands = left.map((name) => `\`trunkline servers remove ${name}\``).join(", ");
  return {
    outcome: "left",
    next: now,
    notes: [`it is YAML, so remove what was copied there by hand: ${commands}`],
  };
}
