import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { chmod, mkdir, open, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { systemCodeOf } from "./errors.js";

/** Whether an error says that a file or a folder on its path doesn't exist. */
export function isAbsent(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Whether the path leads to a folder. False if it can't be inspected: opening it reports why. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** {@link isFolder}, without waiting. */
export function isFolderSync(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** No file of a user's is larger: some programs keep their history in their settings. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** No configuration that comes with a project is larger. */
export const MAX_PROJECT_FILE_BYTES = 1024 * 1024;
const PART_BYTES = 64 * 1024;

interface ReadRegularFileOptions {
  readonly signal?: AbortSignal;
  /** Default 64 MB. */
  readonly maxBytes?: number;
}

/**
 * Reads a file that someone else may have put there. Rejects with the system code `EFTYPE` if it is a pipe or a device,
 * and with `EFBIG` if it is larger than `maxBytes`. Opening a pipe with `readFile` would take one of Node's few threads
 * for file access until another program writes to it; four of them stop all file access of the process.
 */
export async function readRegularFile(
  path: string,
  { signal, maxBytes = MAX_FILE_BYTES }: ReadRegularFileOptions = {},
): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat();
    // Reading a folder fails with its own code.
    if (!stats.isFile() && !stats.isDirectory()) throw systemError("EFTYPE", path);
    if (stats.size > maxBytes) throw systemError("EFBIG", path);
    // The size may be wrong: files in /proc claim to be empty, and some have gigabytes.
    const parts: Buffer[] = [];
    let partBytes = Math.max(stats.size + 1, PART_BYTES);
    for (let length = 0; ; partBytes = PART_BYTES) {
      signal?.throwIfAborted();
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(partBytes));
      if (bytesRead === 0) return Buffer.concat(parts);
      length += bytesRead;
      if (length > maxBytes) throw systemError("EFBIG", path);
      parts.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

function systemError(code: "EFTYPE" | "EFBIG", path: string): Error {
  return Object.assign(new Error(`${code}, read '${path}'`), { code, syscall: "read", path });
}

/**
 * Creates a folder and its parents if missing; `mode` applies to the folder itself. Not `recursive`: Node loops forever
 * if a file system such as /proc answers ENOENT for something that cannot be created.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
    return;
  } catch (error) {
    if (isFolderSync(folder)) return;
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
  const parent = dirname(folder);
  if (!existsSync(parent)) makeFolder(parent);
  // Tried again even if the parent exists: another process may have created it just now.
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolderSync(folder)) throw error;
  }
}

interface AtomicWriteOptions {
  /** Mode of a new file; an existing file keeps its own. Default 0o644. */
  mode?: number;
  /** Mode of folders that have to be created. Default 0o755. */
  folderMode?: number;
  /** Applies `mode` to an existing file as well. */
  forceMode?: boolean;
  /** Waits until the bytes are on the disk. Default true; a cache can do without. */
  flush?: boolean;
  signal?: AbortSignal;
}

/**
 * Replaces a file's content in one step: readers see the old content or the new one, never a part. Creates missing
 * folders. Writes through a symbolic link to the file it points to.
 */
export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const { mode = 0o644, folderMode = 0o755, forceMode = false, flush = true, signal } = options;
  const target = await resolvedPath(path);
  await mkdir(dirname(target), { recursive: true, mode: folderMode });
  const kept = forceMode ? undefined : await modeOf(target);
  const partial = partialBeside(target);
  try {
    await writeFile(partial, data, { flag: "wx", mode: kept ?? mode, flush, signal });
    // The umask applies to the mode given at creation.
    if (kept !== undefined || forceMode) await chmod(partial, kept ?? mode);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * Creates or replaces a file in one step, with content that `fill` writes to an open, empty file. Without `overwrite`,
 * keeps an existing file and returns false. Doesn't follow a symbolic link in the last part of the path. `flush` waits
 * until the content is on disk, so even a power cut leaves the old file or the new one; it takes milliseconds per file.
 */
export function placeFileSync(
  path: string,
  fill: (fd: number, partial: string) => void,
  { mode = 0o644, overwrite = true, flush = true }: { mode?: number; overwrite?: boolean; flush?: boolean } = {},
): boolean {
  const partial = partialBeside(path);
  const fd = openSync(partial, "wx", mode);
  let isRenamed = false;
  try {
    try {
      fill(fd, partial);
      if (flush) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (!overwrite) return linkOrRename(partial, path);
    renameSync(partial, path);
    isRenamed = true;
    return true;
  } finally {
    if (!isRenamed) removeIfThere(partial);
  }
}

/** Faster than `rmSync`, which looks at the file first. */
function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/**
 * Picks a temporary path in the same folder, because a rename is atomic only within one file system. The name is short,
 * because names have at most 255 bytes.
 */
function partialBeside(target: string): string {
  return join(dirname(target), `.trunkline-${randomUUID().slice(0, 18)}.part`);
}

/** Gives the file its name unless that is taken. */
function linkOrRename(partial: string, path: string): boolean {
  try {
    linkSync(partial, path);
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "EEXIST") return false;
    // Not every file system has hard links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EXDEV", "ENOENT", "EINVAL"].includes(code ?? "")) throw error;
  }
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  renameSync(partial, path);
  return true;
}

/** Resolves links in a path, without waiting. Parts that do not exist yet stay as they are. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

const MAX_LINKS = 40;

/** Resolves all symbolic links in a path, including a link to a file that doesn't exist yet. */
export async function resolvedPath(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isAbsent(error) || links > MAX_LINKS) throw error;
  }
  const target = await linkTarget(path);
  return target === undefined ? path : await resolvedPath(resolve(dirname(path), target), links + 1);
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isAbsent(error) || systemCodeOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
