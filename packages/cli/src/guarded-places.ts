// What of Trunkline's own is not for clients to read or write, and not for the store to take in.
import { dirname, join, resolve } from "node:path";
import type { CommandContext } from "./terminal/context.js";

/** The paths, as the server and the store take them. */
export interface GuardedPlaces {
  /** The user's own folder: settings, what was confirmed, tokens. */
  readonly ownFolders: readonly string[];
  /** The configuration of the project, and a file that was named in its place. */
  readonly unwritable: readonly string[];
}

/** The paths of this run. */
export function guardedPlaces(
  { cwd, env, home }: Pick<CommandContext, "cwd" | "env" | "home">,
  mcp?: string | undefined,
): GuardedPlaces {
  const named = [mcp, env.TRUNKLINE_MCP_FILE].flatMap((path) => (path ? [resolve(cwd, withHome(path, env.HOME))] : []));
  return { ownFolders: [home], unwritable: [...named, ...projectFolders(cwd)] };
}

/** Named here although names are enough: such a folder may be a link to one of another name. */
function projectFolders(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(join(folder, ".trunkline"));
    if (dirname(folder) === folder) return folders;
  }
}

/** `~/…` as the reader of the configuration has it. */
function withHome(path: string, userHome: string | undefined): string {
  return userHome !== undefined && path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
