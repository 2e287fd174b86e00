import type { Command } from "commander";
import { withAgentOptions } from "../agent-flags.js";
import { type Cli, mcpPathOf } from "../flags.js";
import type { AgentCommandOptions } from "./run.js";

export function addAgent({ program, context, setExitCode }: Cli): void {
  withAgentOptions(program.command("agent"))
    .argument("[prompt...]", "the task; piped input is appended")
    .option(
      "--name <name>",
      "the kind of agent: tools (native tool calls) or react (thought, action, observation)",
      "tools",
    )
    .option("--no-delegate", "do not allow sub-agents")
    .action(async (words: string[], options: Omit<AgentCommandOptions, "words" | "mcp">, command: Command) => {
      const { agent } = await import("./run.js");
      setExitCode(await agent(context, { ...options, words, mcp: mcpPathOf(command) }));
    });
}
