import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, withJson } from "../flags.js";
import type { GetPromptOptions, PromptsOptions } from "./run.js";

export function addPrompts({ program, context, setExitCode }: Cli): void {
  const prompts = program.command("prompts").addOption(mcpOption());
  withJson(prompts.command("list", { isDefault: true }))
    .description("list the prompts of all servers or of one")
    .argument("[server]")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<PromptsOptions, "server" | "mcp">, command: Command) => {
      const { listPrompts } = await import("./run.js");
      setExitCode(await listPrompts(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  withJson(prompts.command("get"))
    .description("print the messages of a prompt")
    .argument("<prompt>", "server.name as shown by `trunkline prompts`, or just the name if only one server has it")
    .argument("[arguments...]", "name=Ada style=formal")
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
