// The user's own servers and the opened workspace. A path in `args` or `env` is only a path, but a server that runs in
// the workspace, runs a program from it or takes its environment from it is controlled by it. That needs the user's
// approval of the workspace.
import { dirname, isAbsolute, resolve } from "node:path";
import { isWithin } from "@trunkline/core";
import { realPath } from "./config-files.js";
import type { Leaf } from "./field-reader.js";
import type { ServerDefinition } from "./loaded-config.js";
import type { CheckedEntry } from "./server-entries.js";

/** Whether a folder is the user's home, contains it, or is the root: such a folder is not someone else's project. */
function isWholeHome(folder: string, userHome: string): boolean {
  return dirname(folder) === folder || (userHome !== "" && isWithin(resolve(userHome), folder));
}

/**
 * Returns the folders whose content is not the user's own: the workspace and the repository around it. Both as written
 * and with links resolved.
 */
export async function foreignFolders(folders: readonly string[], userHome: string): Promise<string[]> {
  const [home = "", ...reals] = await Promise.all([userHome, ...folders].map((folder) => realPath(folder)));
  const found = new Set<string>();
  for (const [at, folder] of folders.entries()) {
    const real = reals[at] ?? folder;
    if (isWholeHome(folder, userHome) || isWholeHome(real, home)) continue;
    found.add(folder).add(real);
  }
  return [...found];
}

/** Returns the fields through which one of the user's own entries would be controlled by the workspace. */
export async function fieldsInWorkspace(
  entry: CheckedEntry,
  definition: ServerDefinition,
  foreign: readonly string[],
): Promise<string[]> {
  if (definition.type !== "stdio" || foreign.length === 0) return [];
  const fields: [Leaf | undefined, string | undefined][] = [
    [entry.command, isAbsolute(definition.command) ? definition.command : undefined],
    [entry.cwd, definition.cwd],
    [entry.envFile, definition.envFile],
  ];
  const found: string[] = [];
  for (const [leaf, path] of fields) {
    if (leaf === undefined || path === undefined) continue;
    const isChosen = /\$\{workspaceFolder/.test(leaf.text) || isRelative(leaf.text);
    if (isChosen || (!isFixed(leaf.text) && (await isInside(path, foreign)))) found.push(leaf.field);
  }
  return found;
}

/** Whether a path starts at the opened folder, even if it leaves it: `..` is whatever is around that folder. */
function isRelative(text: string): boolean {
  return !isAbsolute(text) && !/^[~$]/.test(text);
}

/** Whether a path is the same whatever folder is open. */
function isFixed(text: string): boolean {
  const rest = text.replace(/^(?:~(?=$|[/\\])|\$\{(?:userHome|(?:env:)?(?:HOME|USERPROFILE))\})/, "/");
  return isAbsolute(rest) && !rest.includes("${");
}

async function isInside(path: string, foreign: readonly string[]): Promise<boolean> {
  const real = await realPath(path);
  return foreign.some((folder) => isWithin(path, folder) || isWithin(real, folder));
}
