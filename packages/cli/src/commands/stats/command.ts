import type { Command } from "commander";
import { type Cli, formatOption, mcpOption, mcpPathOf, storeOption } from "../flags.js";
import type { StatsOptions } from "./run.js";

/** Adds `stats`. */
export function addStats({ program, context, setExitCode }: Cli): void {
  program
    .command("stats")
    .description("show what the server cost in tokens, beside what the upstream tools would have cost")
    .addOption(formatOption())
    .addOption(storeOption())
    .addOption(mcpOption())
    .action(async (options: Omit<StatsOptions, "mcp">, command: Command) => {
      const { stats } = await import("./run.js");
      setExitCode(await stats(context, { ...options, mcp: mcpPathOf(command) }));
    });
}
