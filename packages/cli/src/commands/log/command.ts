import { type Cli, formatOption, storeOption, wholeNumberOption } from "../flags.js";
import type { LogOptions } from "./run.js";

/** Adds `log`. */
export function addLog({ program, context, setExitCode }: Cli): void {
  program
    .command("log")
    .option("-f, --follow", "go on with each call as it comes, until Ctrl-C")
    .addOption(wholeNumberOption("-n, --limit <number>", "the last so many calls").default(50))
    .option("--client <text>", "only clients with this in their name")
    .option("--operation <glob>", "only these operations, for example 'github.*'")
    .option("--failed", "only calls that failed or were cancelled")
    .addOption(formatOption("text, or one JSON object on each line"))
    .addOption(storeOption())
    .action(async (options: LogOptions) => {
      const { log } = await import("./run.js");
      setExitCode(await log(context, options));
    });
}
