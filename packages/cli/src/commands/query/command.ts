import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, storeOption, wholeNumberOption, withJson } from "../flags.js";
import type { QueryOptions } from "./run.js";

/** Adds `query` and `execute`. Their help comes from the operations, not from commander. */
export function addQuery({ program, context, setExitCode }: Cli): void {
  for (const tool of ["query", "execute"] as const) {
    withJson(program.command(tool), "no effect: the result is always JSON")
      .usage("<operation> [key=value…] | <json> | <file> | -")
      .argument("[words...]")
      .helpOption(false)
      .option("-h, --help", "list the operations, or the parameters of one")
      .option("--pretty", "indent the JSON")
      .addOption(wholeNumberOption("--max-tokens <number>", "truncate the answer as for an agent", { from: 1 }))
      .addOption(storeOption())
      .addOption(mcpOption())
      .action(async (words: string[], options: Omit<QueryOptions, "tool" | "words" | "mcp">, command: Command) => {
        const { runTool } = await import("./run.js");
        setExitCode(await runTool(context, { ...options, tool, words, mcp: mcpPathOf(command) }));
      });
  }
}
