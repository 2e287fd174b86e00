// The scripts that a shell reads. They know nothing of the commands: at Tab they ask `trunkline __complete` with the words up
// to the cursor. What comes back is put in quotes by the shell and never evaluated, since servers are named by other people.
import { readFileSync } from "node:fs";
import type { Shell } from "./command.js";

/** What to do once, for each shell. */
export const INSTALLING: Readonly<Record<Shell, string>> = {
  bash: `put into ~/.bashrc: eval "$(trunkline completion bash)"`,
  zsh: `put into ~/.zshrc, after compinit: eval "$(trunkline completion zsh)"`,
  fish: "run once: trunkline completion fish > ~/.config/fish/completions/trunkline.fish",
};

/** The script for a shell. */
export function scriptFor(shell: Shell): string {
  // The sources are part of the package, so that the scripts need no build.
  const script = readFileSync(new URL(`../../../src/commands/completion/trunkline.${shell}`, import.meta.url), "utf8");
  return `# Completion of trunkline for ${shell}. To install it, ${INSTALLING[shell]}\n${script.trimEnd()}`;
}
