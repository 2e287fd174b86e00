import { type Cli, storeOption, wholeNumberOption, withJson } from "../flags.js";
import type { LogOptions } from "./run.js";

export function addLog({ program, context, setExitCode }: Cli): void {
  withJson(program.command("log"), "print one JSON object per line")
    .option("-f, --follow", "keep printing calls as they happen, until Ctrl-C")
    .addOption(wholeNumberOption("-n, --limit <number>", "number of calls to show").default(50))
    .option("--client <text>", "only clients with this in their name")
    .option("--operation <glob>", "only these operations, for example 'github.*'")
    .option("--failed", "only calls that failed or were cancelled")
    .addOption(storeOption())
    .action(async (options: LogOptions) => {
      const { log } = await import("./run.js");
      setExitCode(await log(context, options));
    });
}
