import type { Command } from "commander";
import { withAgentOptions } from "../agent-flags.js";
import { type Cli, mcpPathOf } from "../flags.js";
import type { AskOptions } from "./run.js";

export function addAsk({ program, context, setExitCode }: Cli): void {
  withAgentOptions(program.command("ask"))
    .argument("[prompt...]", "the question; piped input is appended")
    .action(async (words: string[], options: Omit<AskOptions, "words" | "mcp">, command: Command) => {
      const { ask } = await import("./run.js");
      setExitCode(await ask(context, { ...options, words, mcp: mcpPathOf(command) }));
    });
}
