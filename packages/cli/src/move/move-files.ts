// Carries out a move: backs up, then writes every file or none.
import { rm, stat } from "node:fs/promises";
import { type ConfigEdit, editedConfig, entryIn } from "@trunkline/config";
import {
  fileReason,
  isAbsent,
  messageOf,
  readRegularFile,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import type { ImportPlan } from "../app/import-plan.js";
import { type WriteTarget, writeConfig } from "../app/write-config.js";
import type { CommandContext } from "../terminal/context.js";
import { type Backup, hashOf, type MovedFile, removeBackup, saveBackup } from "./move-backup.js";
import { changedMeanwhile, type FileChange, targetOf } from "./move-plan.js";

/** How one of Trunkline's own files changes. */
export interface OwnChange {
  readonly target: WriteTarget;
  readonly before: Buffer | undefined;
  readonly after: string;
  readonly edits: readonly ConfigEdit[];
}

/** Returns how the servers are written to our files. */
export async function ownChanges(context: CommandContext, copies: readonly ImportPlan[]): Promise<OwnChange[]> {
  const changes: OwnChange[] = [];
  for (const { target, servers } of copies) {
    if (servers.length === 0) continue;
    const edits = servers.map(({ server: { name, inputs, entry } }): ConfigEdit => {
      return { op: "set", name, inputs, entry };
    });
    const { text } = await editedConfig(target.path, edits, { signal: context.signal });
    const before = await bytesOf(await targetOf(target.path));
    changes.push({ target, before, after: text, edits });
  }
  return changes;
}

/** One file of a move. */
export interface PlannedWrite {
  readonly record: Omit<MovedFile, "copy">;
  readonly before: Buffer | undefined;
  write(): Promise<unknown>;
}

/** Writes our own files first, so that no server is ever in neither place. */
export async function writeMove(
  context: CommandContext,
  own: readonly OwnChange[],
  changes: readonly FileChange[],
): Promise<Backup> {
  const writes = [
    ...(await Promise.all(own.map((change) => ownWrite(context, change)))),
    ...(await Promise.all(changes.map(programWrite))),
  ];
  return await writeAll(context, writes);
}

/**
 * Backs up and writes the files in order. If a file has changed since it was planned, nothing is written; if a write
 * fails, the files that were written before it are put back.
 */
export async function writeAll(context: CommandContext, writes: readonly PlannedWrite[]): Promise<Backup> {
  for (const write of writes)
    if (!(await isUnchanged(write))) throw changedMeanwhile(write.record.path, "Nothing was written.");
  const bytes = new Map(
    writes.flatMap(({ record, before }) => (before === undefined ? [] : [[record.target, before] as const])),
  );
  const backup = await saveBackup(
    context,
    writes.map(({ record }) => record),
    bytes,
  );
  const done: PlannedWrite[] = [];
  for (const write of writes) {
    try {
      if (!(await isUnchanged(write))) throw changedMeanwhile(write.record.path);
      await write.write();
      done.push(write);
    } catch (error) {
      throw await undone(error, { failed: write, done, backup });
    }
  }
  return backup;
}

async function ownWrite(context: CommandContext, { target, before, after, edits }: OwnChange): Promise<PlannedWrite> {
  const keys = [["mcpServers"], ["servers"], ["metadata", "mcp"]];
  const copied = edits.map(({ name }) => {
    const at = keys.map((key) => [...key, name]).find((path) => valueAt(after, path) !== undefined);
    return { name, at: at ?? [], entry: at === undefined ? "" : hashOf(JSON.stringify(valueAt(after, at))) };
  });
  const about = await recordOf({ path: target.path, before, after });
  return {
    record: { ...about, format: "json", removed: [], copied },
    before,
    write: () => writeConfig(context, target, edits),
  };
}

async function programWrite(change: FileChange): Promise<PlannedWrite> {
  const { path, program, scope, after, removed, added } = change;
  const before = change.before === undefined ? undefined : Buffer.from(change.before);
  const about = await recordOf({ path, before, after });
  const { format, id } = program;
  return {
    record: { ...about, program: id, format, removed: removed.map(({ at }) => at), added, copied: [] },
    before,
    write: () => writeFileAtomically(path, after, { mode: scope === "user" ? 0o600 : 0o644 }),
  };
}

async function recordOf({ path, before, after }: { path: string; before: Buffer | undefined; after: string }) {
  const target = await targetOf(path);
  if (before === undefined) return { path, target, existed: false, after: hashOf(after) };
  const { mode } = await stat(target);
  return { path, target, existed: true, mode: mode & 0o777, before: hashOf(before), after: hashOf(after) };
}

/** Reads an entry of our own file; undefined if it is YAML. */
function valueAt(text: string, path: readonly string[]): unknown {
  try {
    return entryIn(text, { format: "json", path }, "");
  } catch (error) {
    if (error instanceof TrunklineError) return undefined;
    throw error;
  }
}

async function isUnchanged({ record, before }: PlannedWrite): Promise<boolean> {
  return isSame(await bytesOf(record.target), before) && (await targetOf(record.path)) === record.target;
}

/** Whether a file has the same content, or does not exist either time. */
export function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined ? b === undefined : (b?.equals(a) ?? false);
}

/**
 * Puts back what was written, and returns the error to report. A file that someone else has changed since is left alone:
 * it may have its servers only through us, so then our own files and the backup stay.
 */
async function undone(
  error: unknown,
  { failed, done, backup }: { failed: PlannedWrite; done: readonly PlannedWrite[]; backup: Backup },
): Promise<TrunklineError> {
  const stuck: string[] = [];
  const staying: string[] = [];
  for (const write of [failed, ...[...done].reverse()]) {
    const { record, before } = write;
    try {
      const now = await bytesOf(record.target);
      const isWritten = now !== undefined && hashOf(now) === record.after;
      if (isSame(now, before) || (write === failed && !isWritten)) continue;
      if (!isWritten) stuck.push(record.path);
      else if (record.program === undefined && stuck.length > 0) staying.push(record.path);
      else if (before === undefined) await rm(record.target, { force: true });
      else await writeFileAtomically(record.target, before, { mode: record.mode ?? 0o600, forceMode: true });
    } catch {
      stuck.push(record.path);
    }
  }
  const code = systemCodeOf(error);
  const why =
    error instanceof TrunklineError
      ? error.message
      : `Cannot write ${failed.record.path}: ${fileReason(error) ?? code ?? messageOf(error)}.`;
  if (stuck.length === 0) {
    await removeBackup(backup);
    return new TrunklineError("IO", `${why} All other files are as they were.`, {
      cause: error,
      hint: "Check the permissions of the file and its folder, and try again.",
    });
  }
  const servers = staying.length === 0 ? "" : ` The servers stay in ${staying.join(", ")}.`;
  return new TrunklineError("IO", `${why} ${stuck.join(", ")} could not be put back.${servers}`, {
    cause: error,
    hint: `Run \`trunkline uninstall --restore\` to undo the rest. The files as they were are in ${backup.folder}.`,
  });
}

/** Reads a file; undefined if it does not exist. */
export async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularFile(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
