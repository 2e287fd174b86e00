// Defines the command `completion`, and the hidden command that its scripts call back. Actions are loaded on demand.
import { Argument } from "commander";
import type { Cli } from "../flags.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

export function addCompletion({ program, context }: Cli): void {
  program
    .command("completion")
    .addArgument(new Argument("[shell]", "your shell").choices(SHELLS))
    .action(async (shell: Shell | undefined) => {
      const { completion } = await import("./run.js");
      completion(context, shell);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { complete } = await import("./run.js");
      await complete(context, program, words);
    });
}
