// Asks the user questions at the terminal, on stderr because stdout is for the result.
import { createInterface } from "node:readline/promises";
import type { InputRequest } from "@trunkline/config";
import { abortError, printable } from "@trunkline/core";
import type { CommandContext } from "./context.js";
import { dropTypedAhead, PromptScreen } from "./typed-ahead.js";

/**
 * Asks for yes or no; anything but a clear yes, typed after the question is shown, is a no. Rejects with `ABORTED` on
 * Ctrl-C.
 */
export async function askYesNo(context: CommandContext, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(context, `${question} [y/N] `, { afresh: true })).trim());
}

/**
 * Asks for one line; returns an empty one at the end of input. Typed secrets are not shown. `afresh`: a line typed before
 * the question is shown does not count.
 */
export async function askLine(
  context: CommandContext,
  question: string,
  options: { hidden?: boolean; afresh?: boolean } = {},
): Promise<string> {
  const interrupt = new AbortController();
  const signal = AbortSignal.any([context.signal, interrupt.signal]);
  const { stdin, stderr } = context.io;
  const screen = new PromptScreen(stderr);
  const terminal = createInterface({ input: stdin, output: screen, terminal: true });
  // While readline is reading, Ctrl-C goes to it instead of signalling the process.
  terminal.once("SIGINT", () => interrupt.abort());
  // At the end of input no answer arrives, and `question` would wait forever.
  let isOver = false;
  const ended = new Promise<string>((resolve) => {
    terminal.once("close", () => {
      isOver = true;
      resolve("");
    });
  });
  try {
    if (options.afresh) await dropTypedAhead(terminal, { stdin, screen });
    if (isOver && !signal.aborted) return "";
    const answer = terminal.question(question, { signal });
    screen.hidden = options.hidden ?? false;
    return await Promise.race([answer, ended]);
  } catch (error) {
    if (signal.aborted) throw abortError(signal, "The question");
    throw error;
  } finally {
    terminal.close();
    if (screen.hidden) stderr.write("\n");
  }
}

/** Asks for one input. An empty line selects the default; for a list, the answer is a number or one of the values. */
export async function askInput(context: CommandContext, input: InputRequest): Promise<string | undefined> {
  context.note(`Server "${printable(input.server)}" needs: ${printable(input.description ?? input.id)}`);
  const choices = input.options ?? [];
  for (const [index, { label, value }] of choices.entries())
    context.note(`  ${index + 1}. ${printable(label ?? value)}`);
  const preset = input.default === undefined || input.password === true ? "" : ` [${printable(input.default)}]`;
  const line = await askLine(context, `${printable(input.id)}${preset}: `, { hidden: input.password === true });
  if (line === "") return input.default;
  if (choices.length === 0) return line;
  return (choices[Number(line) - 1] ?? choices.find(({ value }) => value === line))?.value;
}
