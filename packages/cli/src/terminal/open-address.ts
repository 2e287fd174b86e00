// Opens a web address with the program that the system has for it.
import { spawn } from "node:child_process";
import { sleep } from "@trunkline/core";

/** An opener that fails does so at once; one that still runs by then has become, or started, the browser. */
const FAILS_WITHIN_MS = 2000;

/** How each system opens an address. Never through a shell, to which an address could say more than an address should. */
function openerOf(platform: NodeJS.Platform): readonly [command: string, ...args: string[]] {
  if (platform === "darwin") return ["open"];
  // `start` is a part of the shell; this is what it does.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an http or https address; false where the system has nothing to open it with, or that failed. */
export async function openAddress(
  address: URL,
  { env, signal }: { env: Readonly<NodeJS.ProcessEnv>; signal: AbortSignal },
): Promise<boolean> {
  if (address.protocol !== "https:" && address.protocol !== "http:") return false;
  const [command, ...args] = openerOf(process.platform);
  // Detached, and with none of our streams: the browser outlives this command, and must not write over a question.
  const opener = spawn(command, [...args, address.href], { env, stdio: "ignore", detached: true, windowsHide: true });
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

/** Whether a browser opened from here would be seen: not over SSH, and on Linux not without a display. */
export function hasDisplay(env: Readonly<NodeJS.ProcessEnv>): boolean {
  if (env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined) return false;
  if (process.platform === "darwin" || process.platform === "win32") return true;
  return env.DISPLAY !== undefined || env.WAYLAND_DISPLAY !== undefined;
}
