// The environment of a client as the broker uses it: to compare clients, and for the servers that they share. Both see the
// same PATH: a folder that did not count when clients were compared, but that a shared server searched, would let one
// client decide which programs another one's server finds.
import { stat } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { systemCodeOf } from "@trunkline/core";

/**
 * Folders that agents put on the PATH for themselves. They hold the agent's own helpers, and differ between processes or
 * versions of the agent, so two windows would never share a server.
 */
const AGENT_FOLDERS: readonly RegExp[] = [
  // Codex: `<CODEX_HOME>/tmp/arg0/codex-arg0XXXXXX`, another one for each process: links to itself, such as `apply_patch`.
  /[\\/]tmp[\\/]arg0[\\/]codex-arg0[^\\/]{1,64}[\\/]?$/,
  // Codex: `codex-path` in its package, in older ones `vendor/<platform>/path`: its own copy of ripgrep.
  /[\\/]codex-path[\\/]?$/,
  /[\\/]codex[^\\/]{0,64}[\\/]vendor[\\/][^\\/]{1,64}[\\/]path[\\/]?$/,
];

/** Returns the environment without the folders on its PATH that do not exist or that an agent added for itself. */
export async function clientEnvironment(env: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const cleaned = { ...env };
  for (const [name, value] of Object.entries(env)) {
    if (name.toUpperCase() === "PATH") cleaned[name] = await ownPath(value);
  }
  return cleaned;
}

async function ownPath(path: string): Promise<string> {
  const folders = path.split(delimiter);
  const counts = await Promise.all(folders.map(isUsed));
  return folders.filter((_, at) => counts[at]).join(delimiter);
}

async function isUsed(folder: string): Promise<boolean> {
  if (AGENT_FOLDERS.some((pattern) => pattern.test(folder))) return false;
  // What a relative folder is depends on where a program runs.
  if (!isAbsolute(folder)) return true;
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}
