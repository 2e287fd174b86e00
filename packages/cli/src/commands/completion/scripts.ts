// The shell scripts. They know nothing about the commands: on Tab they call `trunkline __complete` with the words up to
// the cursor. Candidates are quoted and never evaluated, because server names come from other people.
import { readFileSync } from "node:fs";
import type { Shell } from "./command.js";

/** How to install each script. */
export const INSTALLING: Readonly<Record<Shell, string>> = {
  bash: `add to ~/.bashrc: eval "$(trunkline completion bash)"`,
  zsh: `add to ~/.zshrc, after compinit: eval "$(trunkline completion zsh)"`,
  fish: "run once: trunkline completion fish > ~/.config/fish/completions/trunkline.fish",
};

export function scriptFor(shell: Shell): string {
  // The scripts ship as source files in the package, so they need no build step.
  const script = readFileSync(new URL(`../../../src/commands/completion/trunkline.${shell}`, import.meta.url), "utf8");
  return `# Completion of trunkline for ${shell}. To install it, ${INSTALLING[shell]}\n${script.trimEnd()}`;
}
