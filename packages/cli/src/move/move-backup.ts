// Backups of files that a move changes, in Trunkline's home: the bytes of each file, and a manifest. A backup is complete
// before the first file is changed, so it can undo a move that was killed at any point.
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  fileReason,
  isAbsent,
  isRecord,
  isRunning,
  isString,
  makeFolder,
  parseJson,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

const FOLDER = "backups";
const MANIFEST = "manifest.json";
const VERSION = 1;
/** Names of backups. Anything else in the folder is not ours. */
const NAME = /^\d{4}-\d\d-\d\dT[\d-]+Z-[\da-f]{4}$/;
/** A backup is saved within seconds, so an older unfinished one is left over even if its process number is in use. */
const SAVING_MS = 600_000;

/** A server that was copied to one of Trunkline's own files. */
interface CopiedServer {
  readonly name: string;
  /** Where the entry is in the file. */
  readonly at: readonly string[];
  /** The hash of the entry as it was written. */
  readonly entry: string;
}

/** A file that was changed. */
export interface MovedFile {
  readonly path: string;
  /** The file that was written, where links led. */
  readonly target: string;
  /** The program's id; undefined for Trunkline's own file. */
  readonly program?: string;
  readonly format: "json" | "toml";
  readonly existed: boolean;
  /** Permission bits before. */
  readonly mode?: number;
  /** The hash of the bytes before, and of the bytes that were written. */
  readonly before?: string;
  readonly after: string;
  /** The name of the copy in the backup. */
  readonly copy?: string;
  /** Where entries were removed, and where Trunkline's was added. */
  readonly removed: readonly (readonly string[])[];
  readonly added?: readonly string[];
  readonly copied: readonly CopiedServer[];
  /** Whether it has been restored. */
  readonly restored?: boolean;
  /** Whether the backup has a version of it that is nowhere else. */
  readonly kept?: boolean;
}

export interface Backup {
  readonly folder: string;
  readonly created: string;
  readonly files: readonly MovedFile[];
}

export function hashOf(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Saves a backup. `bytes` has the content of each file that exists. Returns once it is on the disk. */
export async function saveBackup(
  { home, clock }: CommandContext,
  files: readonly Omit<MovedFile, "copy">[],
  bytes: ReadonlyMap<string, Uint8Array>,
): Promise<Backup> {
  const created = new Date(clock.now()).toISOString();
  const all = requirePrivateFolder(home);
  const folder = join(all, `${created.replaceAll(/[:.]/g, "-")}-${randomUUID().slice(0, 4)}`);
  // The final name says that it is complete.
  const partial = `${folder}.${process.pid}.part`;
  try {
    await mkdir(partial, { mode: 0o700 });
    const kept: MovedFile[] = [];
    for (const [at, file] of files.entries()) {
      const content = bytes.get(file.target);
      if (content !== undefined)
        await writeFile(join(partial, String(at)), content, { flag: "wx", mode: 0o600, flush: true });
      kept.push(content === undefined ? file : { ...file, copy: String(at) });
    }
    const text = manifestText({ created, files: kept });
    await writeFile(join(partial, MANIFEST), text, { flag: "wx", mode: 0o600, flush: true });
    await rename(partial, folder);
    return { folder, created, files: kept };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("IO", `Cannot save the backup ${folder}: ${fileReason(error) ?? code}.`, {
      cause: error,
      hint: "Nothing was changed. Check the permissions of the folder and the space on the disk.",
    });
  }
}

/** Returns the backups, newest first. Throws `IO` if one is damaged or not the user's. */
export function listBackups({ home }: Pick<CommandContext, "home">): Backup[] {
  const all = join(home, FOLDER);
  if (statOf(all) === undefined) return [];
  requireOwn(all, "folder");
  const names = readdirSync(all).filter((name) => NAME.test(name));
  return names
    .sort()
    .reverse()
    .map((name) => {
      const folder = join(all, name);
      requireOwn(folder, "folder");
      const manifest = join(folder, MANIFEST);
      requireOwn(manifest, "file");
      const content = parseJson(readFileSync(manifest, "utf8"));
      if (!isManifest(content)) throw damaged(manifest);
      return { folder, created: content.created, files: content.files };
    });
}

/** Returns the bytes of a file before the move. Throws `IO` if they are not the ones that were saved. */
export function savedBytes({ folder }: Backup, file: MovedFile): Buffer {
  const path = join(folder, file.copy ?? "");
  requireOwn(path, "file");
  const bytes = readFileSync(path);
  if (hashOf(bytes) !== file.before) throw damaged(path);
  return bytes;
}

/** Keeps the bytes that a restore overwrites. Returns the path. */
export async function keepEdited({ folder }: Backup, file: MovedFile, bytes: Uint8Array): Promise<string> {
  const path = join(folder, `${file.copy ?? "new"}-edited-${randomUUID().slice(0, 4)}`);
  await writeFile(path, bytes, { flag: "wx", mode: 0o600, flush: true });
  return path;
}

/** Records what has been restored. */
export async function saveManifest({ folder, created, files }: Backup): Promise<void> {
  await writeFileAtomically(join(folder, MANIFEST), manifestText({ created, files }), { mode: 0o600, forceMode: true });
}

export async function removeBackup({ folder }: Backup): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Removes what killed moves left of backups that were never completed: they had not changed anything yet. */
export async function removePartial({ home, clock }: Pick<CommandContext, "home" | "clock">): Promise<void> {
  const all = join(home, FOLDER);
  if (!isOwn(all, "folder")) return;
  for (const name of readdirSync(all)) {
    const [, pid] = /\.(\d+)\.part$/.exec(name) ?? [];
    const savedMs = statOf(join(all, name))?.mtimeMs;
    if (pid === undefined || savedMs === undefined) continue;
    if (!isRunning(Number(pid)) || clock.now() - savedMs > SAVING_MS)
      await rm(join(all, name), { recursive: true, force: true });
  }
}

function manifestText(content: Omit<Backup, "folder">): string {
  return `${JSON.stringify({ version: VERSION, ...content }, null, 2)}\n`;
}

function requirePrivateFolder(home: string): string {
  const all = join(home, FOLDER);
  makeFolder(home, 0o700);
  makeFolder(all, 0o700);
  requireOwn(all, "folder");
  return all;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** A backup has secrets and decides what is written where, so neither it nor its folder may be a link or another user's. */
function isOwn(path: string, kind: "file" | "folder"): boolean {
  const stats = statOf(path);
  const isKind = kind === "file" ? stats?.isFile() : stats?.isDirectory();
  const isMine = process.getuid === undefined || stats?.uid === process.getuid();
  return isKind === true && isMine;
}

function requireOwn(path: string, kind: "file" | "folder"): void {
  if (isOwn(path, kind)) return;
  throw new TrunklineError("IO", `${path} cannot be used for backups: it is not a ${kind} of yours.`, {
    hint: "Move it away, and try again. Nothing was changed.",
  });
}

function damaged(path: string): TrunklineError {
  return new TrunklineError("IO", `${path} is damaged: it is not what was saved.`, {
    hint: "Nothing was changed. Move its folder away to continue without it.",
  });
}

function isManifest(content: unknown): content is { created: string; files: MovedFile[] } {
  if (!isRecord(content) || content.version !== VERSION || !isString(content.created)) return false;
  return Array.isArray(content.files) && content.files.every(isMovedFile);
}

function isMovedFile(file: unknown): file is MovedFile {
  if (!isRecord(file) || !isString(file.path) || !isString(file.target) || !isString(file.after)) return false;
  if (file.format !== "json" && file.format !== "toml") return false;
  const { copy, added, removed, copied, program, mode, before } = file;
  const isOptional = (value: unknown, test: (value: unknown) => boolean) => value === undefined || test(value);
  const isPath = (value: unknown) => Array.isArray(value) && value.every(isString);
  return (
    typeof file.existed === "boolean" &&
    // A name in the backup's own folder.
    isOptional(copy, (name) => isString(name) && /^\d+$/.test(name)) &&
    file.existed === (copy !== undefined) &&
    isOptional(added, isPath) &&
    [program, before].every((value) => isOptional(value, isString)) &&
    isOptional(mode, Number.isInteger) &&
    Array.isArray(removed) &&
    removed.every(isPath) &&
    Array.isArray(copied) &&
    copied.every((each) => isRecord(each) && isString(each.name) && isString(each.entry) && isPath(each.at))
  );
}
