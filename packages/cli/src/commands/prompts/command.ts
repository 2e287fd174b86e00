import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf } from "../flags.js";
import type { GetPromptOptions, PromptsOptions } from "./run.js";

export function addPrompts({ program, context, setExitCode }: Cli): void {
  const prompts = program.command("prompts").addOption(mcpOption());
  prompts
    .command("list", { isDefault: true })
    .description("list the prompts of all servers or of one")
    .argument("[server]")
    .option("--json", "print them as JSON")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<PromptsOptions, "server" | "mcp">, command: Command) => {
      const { listPrompts } = await import("./run.js");
      setExitCode(await listPrompts(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  prompts
    .command("get")
    .description("print the messages of a prompt")
    .argument("<prompt>", "server.name as shown by `trunkline prompts`, or just the name if only one server has it")
    .argument("[arguments...]", "name=Ada style=formal")
    .option("--json", "print the messages as JSON")
    .option("--raw", "print the result as the server sent it, as JSON")
    .addOption(mcpOption())
    .action(
      async (
        name: string,
        pairs: string[],
        options: Omit<GetPromptOptions, "name" | "pairs" | "mcp">,
        command: Command,
      ) => {
        const { getPrompt } = await import("./run.js");
        setExitCode(await getPrompt(context, { ...options, name, pairs, mcp: mcpPathOf(command) }));
      },
    );
}
