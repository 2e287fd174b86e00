// Opens a URL or a file with the system's default program.
import { spawn } from "node:child_process";
import { isAbsolute } from "node:path";
import { sleep } from "@trunkline/core";
import { type ProgramPlaces, withoutProjectPrograms } from "./own-programs.js";

type OpenOptions = ProgramPlaces & { readonly signal: AbortSignal };

/** An opener that fails does so quickly; one still running after this time has become, or started, the browser. */
const FAILS_WITHIN_MS = 2000;

/** Returns the command that opens a URL or a file. Never goes through a shell, which could interpret parts of it. */
function openerOf(platform: NodeJS.Platform): readonly [command: string, ...args: string[]] {
  if (platform === "darwin") return ["open"];
  // `start` is a shell built-in; this command does the same.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an http or https URL. Returns false if the system has no opener, or if the opener failed. */
export async function openAddress(address: URL, options: OpenOptions): Promise<boolean> {
  if (address.protocol !== "https:" && address.protocol !== "http:") return false;
  const [command, ...args] = openerOf(process.platform);
  return await open(command, [...args, address.href], options);
}

async function open(command: string, args: readonly string[], options: OpenOptions): Promise<boolean> {
  const { signal } = options;
  // A project's `xdg-open` would get links that sign in.
  const env = await withoutProjectPrograms(options);
  // Detached, with none of our streams: the browser outlives this command and must not write over a prompt.
  const opener = spawn(command, args, { env, stdio: "ignore", detached: true, windowsHide: true });
  opener.unref();
  const ended = new Promise<boolean>((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("exit", (code) => resolve(code === 0));
  });
  const settled = new AbortController();
  const running = sleep(FAILS_WITHIN_MS, AbortSignal.any([signal, settled.signal])).then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, running]);
  } finally {
    settled.abort();
  }
}

/** Whether a browser opened from here would be visible: not over SSH, and on Linux not without a display. */
export function hasDisplay(env: Readonly<NodeJS.ProcessEnv>): boolean {
  if (env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined) return false;
  if (process.platform === "darwin" || process.platform === "win32") return true;
  return env.DISPLAY !== undefined || env.WAYLAND_DISPLAY !== undefined;
}

/**
 * Opens a file of the user with the system's default program for it. Returns false if the system has no opener, or if
 * the opener failed. A `page` is opened by the browser.
 */
export async function openFile(path: string, options: OpenOptions & { as?: "page" }): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  // On macOS, -t opens it as text: a file must not be run because of its name.
  const asText = process.platform === "darwin" && options.as !== "page" ? ["-t"] : [];
  const [command, ...args] = openerOf(process.platform);
  return await open(command, [...args, ...asText, path], options);
}
