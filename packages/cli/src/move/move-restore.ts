// Undoes moves: each file as it was, byte for byte, if only the move has changed it. Otherwise the edits stay, the servers
// are put back and Trunkline is taken out.
import { rm } from "node:fs/promises";
import { type EntryPlace, entryIn, withEntry, withoutEntry } from "@trunkline/client/config";
import { isRecord, resolvedPath, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { startsTrunkline } from "../install/launch-command.js";
import type { CommandContext } from "../terminal/context.js";
import {
  type Backup,
  hashOf,
  keepEdited,
  listBackups,
  type MovedFile,
  removeBackup,
  removePartial,
  savedBytes,
  saveManifest,
} from "./move-backup.js";
import { bytesOf } from "./move-files.js";
import { changedMeanwhile } from "./move-plan.js";

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
  /** The names that are done with, in one of our own files. */
  readonly settled: readonly string[];
}

interface RestoreOptions {
  /** Only the files of this program. */
  readonly program?: string | undefined;
  /** Restore the bytes even if the file was edited since. */
  readonly force?: boolean | undefined;
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
  const plan = async ({ backup, file }: (typeof pending)[number], read: (now: Buffer | undefined) => Restored) => {
    const now = contents.has(file.target) ? contents.get(file.target) : await bytesOf(file.target);
    const base = { backup, file, now, settled: [] };
    if ((await resolvedPath(file.path)) !== file.target) {
      steps.push({
        ...base,
        outcome: "left",
        next: now,
        notes: [`it leads to another file now, not to ${file.target}`],
      });
      return;
    }
    const step = { ...base, notes: [], ...read(now) };
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

type Restored = Pick<RestoreStep, "outcome" | "next"> & Partial<Pick<RestoreStep, "notes" | "settled">>;

/** Carries out the steps. Each one is recorded, so that a second run continues where the first was stopped. */
export async function applyRestore(context: CommandContext, steps: readonly RestoreStep[]): Promise<string[]> {
  await removePartial(context);
  const kept: string[] = [];
  const backups = new Map(steps.map(({ backup }) => [backup.folder, backup]));
  for (const { backup, file, outcome, now, next, settled, notes } of steps) {
    if (outcome === "left") continue;
    const current = await bytesOf(file.target);
    const isSame = current === undefined ? now === undefined : now?.equals(current);
    if (!isSame) throw changedMeanwhile(file.path);
    if (outcome !== "there") {
      if (outcome === "exact" && now !== undefined && hashOf(now) !== file.after)
        kept.push(await keepEdited(backup, file, now));
      await writeBack(file, { outcome, next });
    }
    const { folder, created, files } = backups.get(backup.folder) ?? backup;
    const copied = file.copied.filter(({ name }) => !settled.includes(name));
    const done = { ...file, copied, restored: file.program !== undefined || copied.length === 0 };
    const updated = { folder, created, files: files.map((each) => (each.path === file.path ? done : each)) };
    backups.set(folder, updated);
    await saveManifest(updated);
    // The old version of a file that could not be restored exactly may still be of use.
    if (outcome === "merged" && file.copy !== undefined && notes.length > 0) kept.push(folder);
  }
  for (const backup of backups.values()) {
    const isOver = backup.files.every(({ restored }) => restored);
    if (isOver && !kept.some((path) => path.startsWith(backup.folder))) await removeBackup(backup);
  }
  return kept;
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
  const isOurs = now !== undefined && hashOf(now) === file.after;
  if (isOurs || force) {
    const notes = isOurs ? [] : ["it was edited since; --force replaces the edits"];
    return { outcome: "exact", next: before, notes };
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

/** Removes the servers that were copied to our own file, unless they were changed or are still needed. */
function restoredOwn(
  backup: Backup,
  file: MovedFile,
  { now, needed }: Current & { needed: ReadonlySet<string> },
): Restored {
  const before = file.existed ? savedBytes(backup, file) : undefined;
  const names = file.copied.map(({ name }) => name);
  const free = file.copied.filter(({ name }) => !needed.has(name));
  if (now === undefined || before?.equals(now)) return { outcome: "there", next: now, settled: names };
  if (free.length === names.length && hashOf(now) === file.after)
    return { outcome: "exact", next: before, settled: names };
  let text = now.toString("utf8");
  const notes: string[] = [];
  for (const { name, at, entry } of free) {
    const place: EntryPlace = { format: "json", path: at };
    try {
      const value = entryIn(text, place, file.path);
      if (value === undefined) continue;
      if (hashOf(JSON.stringify(value)) === entry) text = withoutEntry(text, place);
      else notes.push(`${name} was changed since and stays; \`trunkline servers remove ${name}\` removes it`);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      return { outcome: "left", next: now, notes: [error.message] };
    }
  }
  const settled = free.map(({ name }) => name);
  if (text === now.toString("utf8")) return { outcome: "there", next: now, settled, notes };
  return { outcome: "merged", next: Buffer.from(text), settled, notes };
}
