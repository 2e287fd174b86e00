import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, storeOption, withJson } from "../flags.js";
import type { StatsOptions } from "./run.js";

export function addStats({ program, context, setExitCode }: Cli): void {
  withJson(program.command("stats"))
    .addOption(storeOption())
    .addOption(mcpOption())
    .action(async (options: Omit<StatsOptions, "mcp">, command: Command) => {
      const { stats } = await import("./run.js");
      setExitCode(await stats(context, { ...options, mcp: mcpPathOf(command) }));
    });
}
