// Where things are: the store, the prompts, the cache, and the places clients must not touch.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isFolderSync, isSensitiveToRead, isWithin, systemCodeOf } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { addressFolder, isStoreAddress } from "./store-address.js";

type World = Pick<CommandContext, "cwd" | "env" | "home">;

/** Returns the address of the database that the user named as the store, if it is one. */
export function namedAddress({ env }: Pick<World, "env">, given: string | undefined): string | undefined {
  const named = given ?? (env.TRUNKLINE_STORE || undefined);
  return named !== undefined && isStoreAddress(named) ? named : undefined;
}

/**
 * Returns the store's folder: the given one, the environment's, the project's if it has one, or else the user's own.
 */
export function storeFolder({ cwd, env, home }: World, given: string | undefined): string {
  const named = given ?? (env.TRUNKLINE_STORE || undefined);
  if (named !== undefined && isStoreAddress(named)) return addressFolder(home, named);
  if (named !== undefined) return resolve(cwd, named);
  return projectStore(cwd, home) ?? join(home, "store");
}

/** Whether the store is one that was found in the project, not one that the user named. */
export function isProjectStore({ cwd, env, home }: World, given: string | undefined): boolean {
  return given === undefined && !env.TRUNKLINE_STORE && projectStore(cwd, home) !== undefined;
}

/** Whether a store was created in a folder. Opening one that has none creates it, which a command that only reads must not. */
export function hasStore(folder: string): boolean {
  return isThere(join(folder, "content.sqlite"));
}

/** Finds the project's store the same way as its configuration: here and above, up to the git root. */
export function projectStore(cwd: string, home: string): string | undefined {
  return projectFolder(cwd, home, { name: "store", isUsed: (folder) => !isEmptyFolder(folder) });
}

/** Whether a folder is empty, as a store is that could not be created. */
export function isEmptyFolder(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Returns the user's folders to search for `PROMPT-*.md` files, highest priority first: the given folder, the
 * environment's, the user's own.
 */
export function promptFolders({ cwd, env, home }: World, given: string | undefined): string[] {
  const named = [given, env.TRUNKLINE_PROMPTS].flatMap((folder) => (folder ? [resolve(cwd, folder)] : []));
  return [...new Set([...named, join(home, "prompts")])];
}

/** Returns the folder of the project's prompts, here or above, up to the git root. It need not exist. */
export function projectPromptFolder({ cwd, home }: Pick<World, "cwd" | "home">): string {
  return projectFolder(cwd, home, { name: "prompts" }) ?? join(resolve(cwd), ".trunkline", "prompts");
}

/** Returns the folder where commands save the last lists of upstream servers. */
export function cacheFolder({ home }: Pick<CommandContext, "home">): string {
  return join(home, "cache");
}

/** Trunkline's own paths that clients must not read or write, and that the store does not index. */
export interface GuardedPlaces {
  /** The user's own folder: settings, approvals, tokens. */
  readonly ownFolders: readonly string[];
  /** The project's configuration, and a file named in its place. */
  readonly unwritable: readonly string[];
}

/** Returns the guarded paths of this run. */
export function guardedPlaces({ cwd, env, home }: World, mcp: string | undefined): GuardedPlaces {
  const named = [mcp, env.TRUNKLINE_MCP_FILE].flatMap((path) => (path ? [resolve(cwd, withHome(path, env.HOME))] : []));
  // Folders called .trunkline are also guarded by name, but such a folder can be a link to another name.
  const project = foldersUpward(cwd).map((folder) => join(folder, ".trunkline"));
  return { ownFolders: [home], unwritable: [...named, ...project] };
}

/** The folder that clients may use without asking, or why there is none. */
type Workspace = { readonly folder: string } | { readonly folder: undefined; readonly reason: string };

/**
 * Returns the workspace: the nearest folder with a `.trunkline` other than the user's own, or else the Git root (a
 * worktree is one, too), or else this folder. It is never the home folder, a folder that contains it, or a folder of
 * secrets such as `~/.ssh`: a client would reach everything in it.
 */
export function workspaceOf({ cwd, home, userHome }: Pick<CommandContext, "cwd" | "home" | "userHome">): Workspace {
  const here = realFolder(cwd);
  const user = realFolder(userHome);
  const own = realFolder(home);
  const isProject = (folder: string) => {
    const project = join(folder, ".trunkline");
    return (isFolderSync(project) && realFolder(project) !== own) || isThere(join(folder, ".git"));
  };
  const candidates = foldersUpward(here).filter((folder) => !isWholeHome(folder, user));
  const found = candidates.find((folder) => isProject(folder) && (folder === here || !isOpenToAll(folder)));
  const folder = found ?? here;
  if (isWholeHome(folder, user)) return { folder: undefined, reason: wholeHomeReason(folder, user) };
  if (isSensitiveToRead(folder)) return { folder: undefined, reason: "it may contain secrets" };
  return { folder };
}

/** Whether every user of this machine can put files there, as in /tmp: what is there says nothing about a project. */
function isOpenToAll(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Resolves links; a folder that cannot be resolved stays as it is. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return resolve(folder);
  }
}

/** Whether a folder is the user's home, contains it, or is the root: indexing that much is hardly ever intended. */
export function isWholeHome(folder: string, userHome: string): boolean {
  return isWithin(resolve(userHome), folder) || dirname(folder) === folder;
}

/** Explains why such a folder is not indexed. */
export function wholeHomeReason(folder: string, userHome: string): string {
  const user = resolve(userHome);
  if (user === folder) return "it is your home folder";
  return dirname(folder) === folder ? "it is the root of the file system" : `it contains your home folder (${user})`;
}

/** Lists the names in a folder; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Finds the nearest existing `.trunkline/<name>`, up to the git root. The user's own folder does not count. */
function projectFolder(
  cwd: string,
  home: string,
  { name, isUsed = () => true }: { name: string; isUsed?: (folder: string) => boolean },
): string | undefined {
  for (const folder of foldersUpward(cwd)) {
    const own = join(folder, ".trunkline");
    const found = join(own, name);
    // The home folder itself can be a link, while the current folder never contains one.
    if (isFolderSync(found) && realFolder(own) !== realFolder(home) && isUsed(found)) return found;
    if (isThere(join(folder, ".git"))) return undefined;
  }
  return undefined;
}

function foldersUpward(cwd: string): string[] {
  const folders = [resolve(cwd)];
  for (let folder = resolve(cwd); dirname(folder) !== folder; folder = dirname(folder)) folders.push(dirname(folder));
  return folders;
}

/** Expands `~/…` like the configuration reader. */
export function withHome(path: string, userHome: string | undefined): string {
  return userHome !== undefined && path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
