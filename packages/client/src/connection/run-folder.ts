// Where a server without a `cwd` runs, and which programs it finds there. Interpreters and package runners look in the
// working directory first: `npx` in node_modules and .npmrc, `python -m` for modules, version managers for their files.
// A repository that someone has merely opened must not be able to answer them.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin, makeFolder, systemCodeOf, TrunklineError, toTrunklineError } from "@trunkline/core";

/** The folders that a run depends on. */
export interface RunPlaces {
  /** Trunkline's home. */
  readonly home?: string;
  /** The opened folder, and the repository around it. Their content is not the user's own. */
  readonly foreignFolders: readonly string[];
}

/**
 * Returns the server's own folder, `<home>/run/<server>`, and creates it. Without a home, or with one inside the
 * workspace, that is the user's home folder: a folder for temporary files would be open to other users of the machine.
 */
export function runFolder(server: string, places: RunPlaces): string {
  const home = ownHome(places);
  if (home === undefined) return homedir();
  makeFolder(home, 0o700);
  ownFolder(join(home, "run"));
  return ownFolder(runFolderPath(server, places));
}

/** The path of that folder, which may not exist yet. */
export function runFolderPath(server: string, places: RunPlaces): string {
  const home = ownHome(places);
  return home === undefined ? homedir() : join(home, "run", folderName(server));
}

/** Trunkline's home, unless there is none or the workspace could have put something there. */
function ownHome({ home, foreignFolders }: RunPlaces): string | undefined {
  return home === undefined || isForeign(home, foreignFolders) ? undefined : home;
}

/** Removes folders from a PATH that depend on the working directory or belong to the workspace. */
export function withoutForeignPrograms(
  env: Readonly<Record<string, string>>,
  foreignFolders: readonly string[],
): Record<string, string> {
  const all = withRealPaths(foreignFolders);
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (name.toUpperCase() !== "PATH") return [name, value];
      const kept = value.split(delimiter).filter((folder) => isAbsolute(folder) && !isWithinAny(folder, all));
      return [name, kept.join(delimiter)];
    }),
  );
}

/** Creates a folder that only the user can enter. A link is refused: its target may be anyone's. */
function ownFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw toTrunklineError(error);
  }
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) {
    const what = stats.isSymbolicLink() ? "a link" : "a file";
    throw new TrunklineError("CONFIG_INVALID", `Servers run in ${folder}, but that is ${what}, not a folder.`, {
      hint: "Remove it; Trunkline creates the folder.",
    });
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return folder;
}

/** Names that are safe on every file system stay as they are. */
const PLAIN_NAME = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,63}$/;

/** Turns a server's name into the name of a folder. Different names never share one, even if case is ignored. */
function folderName(server: string): string {
  if (PLAIN_NAME.test(server)) return server;
  const hash = createHash("sha256").update(server).digest("hex").slice(0, 16);
  const readable = server.toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
  return `${readable.slice(0, 32).replace(/^-+|-+$/g, "")}.${hash}`;
}

function isForeign(folder: string, foreignFolders: readonly string[]): boolean {
  return isWithinAny(folder, withRealPaths(foreignFolders));
}

/** Folders as written and without links. */
interface WithRealPaths {
  readonly written: readonly string[];
  readonly real: readonly string[];
}

function withRealPaths(folders: readonly string[]): WithRealPaths {
  return { written: folders, real: folders.map(realPath) };
}

function isWithinAny(folder: string, { written, real }: WithRealPaths): boolean {
  if (written.some((each) => isWithin(folder, each))) return true;
  if (real.length === 0) return false;
  const own = realPath(folder);
  return real.some((each) => isWithin(own, each));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return path;
  }
}
