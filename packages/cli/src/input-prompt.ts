// Asks the person at the terminal for the inputs that a configuration needs.
import type { InputRequest } from "@trunkline/client/config";
import { askLine } from "./ask.js";
import { printable } from "./printable.js";
import type { CommandContext } from "./terminal/context.js";

/** Asks for one input. An empty line takes the default; with a list, the answer is a number or one of its values. */
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
