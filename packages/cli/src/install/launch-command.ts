// Determines how another program starts this installation of Trunkline.
import { access, constants, realpath } from "node:fs/promises";
import { delimiter, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "@trunkline/core";
import type { LaunchCommand } from "./agent-programs.js";

const SCRIPT = fileURLToPath(new URL("../../bin/trunkline.cjs", import.meta.url));

/** Where `serve --http` listens unless told otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:7411/mcp";

/** What is known about the machine. */
interface LaunchPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Whether the program has the shell's PATH. Desktop programs often do not. */
  readonly inShell: boolean;
  /** The version of this installation. */
  readonly version: string;
  /** The script of this installation. Default: where it is. */
  readonly script?: string;
}

/**
 * Returns the command that starts the server: `trunkline` if that is this installation and the program will find it,
 * npx if npx installed it (and may remove it some day), and otherwise Node with the script's path, which always works.
 * npx gets the exact version: whatever is published later must not run without the user's doing.
 */
export async function launchCommand(args: readonly string[], place: LaunchPlace): Promise<LaunchCommand> {
  const { script = SCRIPT } = place;
  if (script.includes(`${sep}_npx${sep}`))
    return { command: "npx", args: ["-y", `trunkline@${place.version}`, ...args] };
  // On Windows, `trunkline` is a batch file, which programs cannot start without a shell.
  if (place.inShell && place.platform !== "win32" && (await isOnPath(place.env, script)))
    return { command: "trunkline", args: [...args] };
  return { command: process.execPath, args: [script, ...args] };
}

/** Whether `trunkline` on the PATH is this very installation. */
async function isOnPath(env: LaunchPlace["env"], script: string): Promise<boolean> {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    // npx and npm scripts add project folders that other programs do not have.
    if (folder === "" || folder.includes(join("node_modules", ".bin"))) continue;
    const file = join(folder, "trunkline");
    try {
      await access(file, constants.X_OK);
      return (await realpath(file)) === (await realpath(script));
    } catch {
      // Not here: try the next folder.
    }
  }
  return false;
}

/**
 * Whether an entry starts Trunkline's server, from any installation, or connects to one with a token. Such an
 * entry is ours to change.
 */
export function startsTrunkline(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  if (connectsToTrunkline(entry)) return true;
  const words = [entry.command, Array.isArray(entry.args) ? entry.args : []].flat().map(String);
  const isCommand = (word: string) => /(?:^|[\\/])trunkline(?:\.c?js|\.cmd|@[\w.-]+)?$/.test(word);
  const at = words.findIndex(isCommand);
  return at !== -1 && words[at + 1] === "serve";
}

function connectsToTrunkline(entry: Readonly<Record<string, unknown>>): boolean {
  const headers = entry.headers ?? entry.http_headers;
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  if (entry.command !== undefined || typeof url !== "string" || !isRecord(headers)) return false;
  // Other servers have such URLs, too. Tokens that Trunkline makes begin with `tkl_`; TRUNKLINE_TOKEN can be anything.
  return url === DEFAULT_URL || /^Bearer tkl_/.test(String(headers.Authorization));
}
