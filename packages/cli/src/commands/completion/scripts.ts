// The shell scripts. They know nothing about the commands: at Tab they call `trunkline __complete` with the words up to
// the cursor. The shell quotes the result and never evaluates it, since other people name servers.
import { readFileSync } from "node:fs";
import type { Shell } from "./command.js";

/** How to install each script. */
export const INSTALLING: Readonly<Record<Shell, string>> = {
  bash: `add to ~/.bashrc: eval "$(trunkline completion bash)"`,
  zsh: `add to ~/.zshrc, after compinit: eval "$(trunkline completion zsh)"`,
  fish: "run once: trunkline completion fish > ~/.config/fish/completions/trunkline.fish",
};

export function scriptFor(shell: Shell): string {
  // The sources are part of the package, so the scripts need no build.
  const script = readFileSync(new URL(`../../../src/commands/completion/trunkline.${shell}`, import.meta.url), "utf8");
  return `# Completion of trunkline for ${shell}. To install it, ${INSTALLING[shell]}\n${script.trimEnd()}`;
}
