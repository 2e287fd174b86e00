import { replaceControls } from "@trunkline/core";
import type { Command } from "commander";
import type { CommandContext } from "../../terminal/context.js";
import { type Candidates, candidatesAt } from "./candidates.js";
import type { Shell } from "./command.js";
import { findValues } from "./find-values.js";
import { positionOf } from "./position.js";
import { INSTALLING, scriptFor } from "./scripts.js";
import { unquote } from "./unquote.js";

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
