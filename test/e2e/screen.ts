// Runs the command in this process with stdout and stderr at a terminal of a given width.
import { PassThrough } from "node:stream";
import { runProgram } from "../../packages/cli/src/program.js";
import { Interrupts } from "../../packages/cli/src/terminal/interrupts.js";
import { outcomeOf, type Place, type Running } from "./command.js";

export interface ScreenOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the command at a terminal and leaves it running. */
export function startAtScreen(
  place: Place,
  args: readonly string[],
  { columns = 80, env = {} }: ScreenOptions = {},
): Running & { readonly stdout: PassThrough; readonly stderr: PassThrough } {
  const screen = () => Object.assign(new PassThrough({ highWaterMark: 10_000_000 }), { isTTY: true, columns });
  const [stdin, stdout, stderr] = [new PassThrough(), screen(), screen()];
  const interrupts = new Interrupts();
  const ended = runProgram(args, {
    stdin,
    stdout,
    stderr,
    env: { PATH: process.env.PATH, HOME: place.home, TERM: "xterm", TRUNKLINE_BROKER: "off", ...place.env, ...env },
    cwd: place.cwd,
    userHome: place.home,
    interrupts,
  });
  return {
    stdin,
    stdout,
    stderr,
    kill: (signal = "SIGTERM") => {
      interrupts.press(signal);
      return true;
    },
    once: (_event, listener) =>
      void ended.then((code) => {
        stdout.end();
        stderr.end();
        setImmediate(() => listener(code));
      }),
  };
}

/** Runs the command to completion at a terminal. */
export async function runAtScreen(place: Place, args: readonly string[], options: ScreenOptions = {}) {
  return await outcomeOf(startAtScreen(place, args, options));
}

/** Removes colours. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}\[[\d;]*m/gu, "");
}

/** The lines that are wider than the terminal, except for single words: they cannot be broken. */
export function tooWide(text: string, columns: number): string[] {
  return plain(text)
    .split("\n")
    .filter((line) => line.length > columns && line.trim().includes(" "));
}
