// Writes a file so that a reader sees the old content or the new one, and never half of it.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemCodeOf } from "@trunkline/core";

/** How a file that is not there yet is made. */
export interface WriteOptions {
  /** The mode of a new file; an existing one keeps its own. Default 0o644. */
  mode?: number;
  /** The mode of folders that have to be made. Default 0o755. */
  folderMode?: number;
  /** The mode holds for an existing file too. */
  forceMode?: boolean;
}

/** Replaces the file's content. A symbolic link stays one: what it points to is replaced. */
export async function writeFileAtomically(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, folderMode = 0o755, forceMode = false } = options;
  const target = await resolvedPath(path);
  await mkdir(dirname(target), { recursive: true, mode: folderMode });
  const kept = forceMode ? undefined : await modeOf(target);
  // Beside the file, since a rename works only within one file system.
  const temporary = `${target}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", kept ?? mode);
    try {
      await file.writeFile(text, "utf8");
      await file.sync();
    } finally {
      await file.close();
    }
    // The mode given to open is cut by the umask.
    if (kept !== undefined || forceMode) await chmod(temporary, kept ?? mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const MOST_LINKS = 40;

/** The path without symbolic links; a file that is not there is where its name, or a link of its name, says. */
export async function resolvedPath(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isAbsent(error) || links > MOST_LINKS) throw error;
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

/** Whether an error says that a file is not there. */
export function isAbsent(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
