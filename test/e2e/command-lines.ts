// Several command lines in one process: for what is the same in one process as in many, and would cost a start each time.
import { fileURLToPath } from "node:url";
import type { Outcome, Place } from "./command.js";

const runner = fileURLToPath(new URL("lines-runner.js", import.meta.url));

/** Runs command lines one after another, each as the command itself would, with nothing on standard input. */
export async function runLines(place: Place, lines: readonly (readonly string[])[]): Promise<Outcome[]> {
  const { code, stdout, stderr } = await place.run([JSON.stringify(lines)], { program: runner });
  if (code !== 0) throw new Error(`The lines were not run: ${stderr}`);
  return JSON.parse(stdout);
}
