import type { Command } from "commander";
import { withAgentOptions } from "../agent-flags.js";
import { type Cli, mcpPathOf } from "../flags.js";
import type { AgentCommandOptions } from "./run.js";

/** Adds `agent`. */
export function addAgent({ program, context, setExitCode }: Cli): void {
  withAgentOptions(program.command("agent"))
    .argument("[prompt...]", "the task; what is piped in goes with it")
    .option(
      "--name <name>",
      "the way of working: tools (native tool calls) or react (thought, action, observation)",
      "tools",
    )
    .option("--no-delegate", "do not let it start sub-agents")
    .action(async (words: string[], options: Omit<AgentCommandOptions, "words" | "mcp">, command: Command) => {
      const { agent } = await import("./run.js");
      setExitCode(await agent(context, { ...options, words, mcp: mcpPathOf(command) }));
    });
}
