import type { Command } from "commander";
import { withAgentOptions } from "../agent-flags.js";
import { type Cli, mcpPathOf } from "../flags.js";
import type { ChatOptions } from "./run.js";

export function addChat({ program, context, setExitCode }: Cli): void {
  withAgentOptions(program.command("chat"))
    .argument("[prompt...]", "the first message")
    .option("--resume [id]", "continue a conversation: the last one, or the one with this id")
    .action(async (words: string[], options: Omit<ChatOptions, "words" | "mcp">, command: Command) => {
      const { chat } = await import("./run.js");
      setExitCode(await chat(context, { ...options, words, mcp: mcpPathOf(command) }));
    });
}
