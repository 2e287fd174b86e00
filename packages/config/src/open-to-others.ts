// The user's own settings decide what runs, so other users of the machine must not be able to change them.
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Diagnostic } from "./loaded-config.js";

const OTHERS = 0o002;
const GROUP = 0o020;

/** Returns a warning for each of these files that other users can change, or replace because they can change its folder. */
export async function openToOthers(files: readonly string[]): Promise<Diagnostic[]> {
  const paths = [...new Set(files.flatMap((file) => [dirname(file), file]))];
  const open = await Promise.all(paths.map(isOpen));
  return paths
    .filter((_, at) => open[at])
    .map((path) => ({
      severity: "warning",
      message: `Other users of this machine can change ${path}, and so decide what runs as you. Run: chmod go-w ${path}`,
      file: path,
    }));
}

async function isOpen(path: string): Promise<boolean> {
  // Windows has no such modes.
  if (process.getgid === undefined) return false;
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return false;
  // Many systems give each user a group of their own.
  return (stats.mode & OTHERS) !== 0 || ((stats.mode & GROUP) !== 0 && stats.gid !== process.getgid());
}
