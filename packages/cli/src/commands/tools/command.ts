import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, withJson } from "../flags.js";
import type { ToolsOptions } from "./run.js";

export function addTools({ program, context, setExitCode }: Cli): void {
  withJson(program.command("tools"), "print the tools as JSON, including schemas")
    .argument("[tool]", "a tool's name, or a glob such as 'docs.*'")
    .option("--tokens", "show what the list costs a model, by server and tool")
    .option("--changes", "show which definitions servers have changed, and what is held")
    .option("--approve <tool...>", "accept held definitions: names or globs such as 'docs.*'")
    .addOption(mcpOption())
    .action(async (pattern: string | undefined, options: Omit<ToolsOptions, "pattern" | "mcp">, command: Command) => {
      const { tools } = await import("./run.js");
      setExitCode(await tools(context, { ...options, pattern, mcp: mcpPathOf(command) }));
    });
}
