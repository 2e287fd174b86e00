import { readFileSync } from "node:fs";
import { replaceControls } from "@trunkline/core";
import type { Command } from "commander";
import type { CommandContext } from "../../terminal/context.js";
import { type Candidates, candidatesAt } from "./candidates.js";
import type { Shell } from "./command.js";
import { findValues } from "./find-values.js";
import { positionOf } from "./position.js";

/** How to install each script. */
const INSTALLING: Readonly<Record<Shell, string>> = {
  bash: `add to ~/.bashrc: eval "$(trunkline completion bash)"`,
  zsh: `add to ~/.zshrc, after compinit: eval "$(trunkline completion zsh)"`,
  fish: "run once: trunkline completion fish > ~/.config/fish/completions/trunkline.fish",
};

/** Prints the script for a shell, or the installation instructions for all of them. */
export function completion(context: CommandContext, shell: Shell | undefined): void {
  if (shell !== undefined) {
    context.out(scriptFor(shell));
    return;
  }
  context.out("Tab completes commands, options, servers and tools once your shell has loaded the script:");
  for (const [name, how] of Object.entries(INSTALLING)) context.out(`  ${name.padEnd(5)} ${how}`);
}

/**
 * Answers a script: `files`, `folders` or nothing on the first line, then one candidate per line, followed by a tab and
 * its description. The user is typing, so errors stay silent.
 */
export async function complete(context: CommandContext, program: Command, words: readonly string[]): Promise<void> {
  let found: Candidates;
  try {
    const position = positionOf(program, words.map(unquote));
    found = await candidatesAt(position, (slot) => findValues(context, slot));
  } catch (error) {
    context.logger.debug("nothing to complete", { error });
    return;
  }
  context.out(found.paths ?? "");
  for (const { value, about } of found.words) context.out(`${value}\t${context.redactor.text(firstLine(about))}`);
}

function firstLine(text: string): string {
  return replaceControls(text.split("\n", 1)[0] ?? "", " ");
}

// The shell scripts. They know nothing about the commands: on Tab they call `trunkline __complete` with the words up to
// the cursor. Candidates are quoted and never evaluated, because server names come from other people.

function scriptFor(shell: Shell): string {
  // The scripts ship as source files in the package, so they need no build step.
  const script = readFileSync(new URL(`../../../src/commands/completion/trunkline.${shell}`, import.meta.url), "utf8");
  return `# Completion of trunkline for ${shell}. To install it, ${INSTALLING[shell]}\n${script.trimEnd()}`;
}

/** Reads a word as the shell would: removes quotes and backslashes, even unclosed ones. */
export function unquote(written: string): string {
  let word = "";
  let quote = "";
  for (let at = 0; at < written.length; at++) {
    const char = written.charAt(at);
    const next = written.charAt(at + 1);
    if (quote === "" && char === "$" && next === "'") {
      quote = "$'";
      at++;
    } else if (quote === "$'" && /^\\x[0-9a-f]{2}/i.test(written.slice(at, at + 4))) {
      word += String.fromCharCode(Number.parseInt(written.slice(at + 2, at + 4), 16));
      at += 3;
    } else if (quote === "" && (char === "'" || char === '"')) quote = char;
    else if (char === quote || quote === `$${char}`) quote = "";
    else if (char === "\\" && quote !== "'" && (quote !== '"' || '"\\$`'.includes(next))) {
      word += next;
      at++;
    } else word += char;
  }
  return word;
}
