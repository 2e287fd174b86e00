import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf } from "../flags.js";
import type { ToolsOptions } from "./run.js";

export function addTools({ program, context, setExitCode }: Cli): void {
  program
    .command("tools")
    .argument("[tool]", "a tool's name, or a glob such as 'docs.*'")
    .option("--json", "print the tools as JSON, including schemas")
    .option("--tokens", "show what the list costs a model, by server and tool")
    .addOption(mcpOption())
    .action(async (pattern: string | undefined, options: Omit<ToolsOptions, "pattern" | "mcp">, command: Command) => {
      const { tools } = await import("./run.js");
      setExitCode(await tools(context, { ...options, pattern, mcp: mcpPathOf(command) }));
    });
}
