// `--json` for commands that do something and report it: stdout gets one document.
import { printableJson } from "@trunkline/core";
import type { CommandContext } from "./context.js";

/**
 * Runs a command that fills in its outcome. With `json`, everything it says goes to stderr, and the outcome is printed
 * once it has finished.
 */
export async function reporting<T>(
  context: CommandContext,
  { json, outcome }: { json: boolean | undefined; outcome: T },
  run: (context: CommandContext, outcome: T) => Promise<number>,
): Promise<number> {
  if (!json) return await run(context, outcome);
  // Results are not redacted without --json either: some of them are what the user approves.
  const { noteInFull: out, notePaintedInFull: outPainted, notePalette: palette } = context;
  const code = await run({ ...context, out, outPainted, palette }, outcome);
  context.out(printableJson(outcome, 2));
  return code;
}
