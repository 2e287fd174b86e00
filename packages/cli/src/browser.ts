// Opens an address in the browser of the person at the terminal, where there is one.
import { spawn } from "node:child_process";
import type { CommandContext } from "./context.js";

/** Tries to open an address. Whether a window came up is not known: the address is shown as well. */
export function openBrowser({ env, logger }: CommandContext, url: string): void {
  const command = browserCommand(env, url);
  if (command === undefined) return;
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  child.once("error", (error) => logger.debug("no browser was opened", { error }));
  child.unref();
}

/** The program that opens an address on this system; none over SSH and without a display. */
function browserCommand(env: Readonly<NodeJS.ProcessEnv>, url: string): [string, ...string[]] | undefined {
  if (env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined) return undefined;
  switch (process.platform) {
    case "darwin":
      return ["open", url];
    case "win32":
      // Not through a shell: an address may contain what a shell takes for a command.
      return ["rundll32", "url.dll,FileProtocolHandler", url];
    default:
      return env.DISPLAY === undefined && env.WAYLAND_DISPLAY === undefined ? undefined : ["xdg-open", url];
  }
}
