// Shows a server's form at the terminal, field by field. Each field is validated before the next, and the form is sent
// only after a final confirmation.
import type { ElicitationAnswer } from "@trunkline/client";
import { printable } from "@trunkline/core";
import {
  describeField,
  type FieldValue,
  type FormField,
  formDefaults,
  parseText,
  readFormFields,
} from "@trunkline/core/schema";
import type { Prompt } from "./terminal-prompt.js";

/** Asks for the answers to a form; returns `undefined` if the prompt ended first. */
export async function fillForm(
  prompt: Prompt,
  requestedSchema: Readonly<Record<string, unknown>>,
): Promise<ElicitationAnswer | undefined> {
  const fields = readFormFields(requestedSchema);
  const given = new Map(Object.entries(formDefaults(fields)));
  for (;;) {
    for (const field of fields) {
      const answer = await askField(prompt, field, given.get(field.name));
      if (answer === undefined) return undefined;
      if (answer.value !== undefined) given.set(field.name, answer.value);
    }
    for (const field of fields) prompt.say(`  ${printable(field.title)}: ${shown(field, given.get(field.name))}`);
    const word = await askWord(prompt, "Send it?", fields.length === 0 ? ANSWERS : { ...ANSWERS, edit: /^e(dit)?$/i });
    if (word === "accept") return { action: "accept", content: Object.fromEntries(given) };
    if (word !== "edit") return word === undefined ? undefined : { action: word };
  }
}

/** Possible answers to an elicitation. */
const ANSWERS = {
  accept: /^(a(ccept)?|y(es)?)$/i,
  decline: /^(d(ecline)?|no?)$/i,
  cancel: /^c(ancel)?$/i,
} as const;

/**
 * Asks for one of several words, by their first letters, until it gets one that was typed after the question was shown;
 * returns `undefined` if the prompt ended.
 */
export async function askWord<W extends string>(
  prompt: Prompt,
  question: string,
  words: Readonly<Partial<Record<W, RegExp>>>,
): Promise<W | undefined> {
  // Object.entries loses the key type; the keys come from the object literal, in order.
  const patterns = Object.entries(words) as [W, RegExp][];
  const choices = patterns.map(([word]) => `[${word.slice(0, 1)}]${word.slice(1)}`).join(", ");
  for (;;) {
    const line = await prompt.askAfresh(`${question} ${choices}: `);
    if (line === undefined) return undefined;
    const found = patterns.find(([, pattern]) => pattern.test(line.trim()));
    if (found !== undefined) return found[0];
    prompt.say(`  Please answer ${patterns.map(([word]) => word.slice(0, 1)).join(", ")}.`);
  }
}

/**
 * Asks for one field until the answer is valid; an empty line selects the value in brackets, or skips an optional
 * field.
 */
async function askField(
  prompt: Prompt,
  field: FormField,
  preset: FieldValue | undefined,
): Promise<{ value: FieldValue | undefined } | undefined> {
  if (field.description !== undefined) prompt.say(`  ${printable(field.description)}`);
  if (field.kind === "choice" || field.kind === "choices") {
    for (const [index, { title }] of field.options.entries()) prompt.say(`  ${index + 1}. ${printable(title)}`);
  }
  const wants = [describeField(field), field.required || preset !== undefined ? "" : "optional"].filter(
    (part) => part !== "",
  );
  const hint = wants.length === 0 ? "" : ` (${wants.join(", ")})`;
  const brackets = preset === undefined ? "" : ` [${shown(field, preset)}]`;
  for (;;) {
    const line = await prompt.ask(`${printable(field.title)}${hint}${brackets}: `);
    if (line === undefined) return undefined;
    if (line.trim() === "" && preset !== undefined) return { value: preset };
    const parsed = parseText(field, line);
    if (parsed.ok) return { value: parsed.value };
    prompt.say(`  ${printable(parsed.problem)}`);
  }
}

/** Formats a value for people. */
function shown(field: FormField, value: FieldValue | undefined): string {
  if (value === undefined) return "(left out)";
  if (typeof value === "boolean") return value ? "y" : "n";
  const titleOf = (one: string) =>
    field.kind === "choice" || field.kind === "choices"
      ? (field.options.find((option) => option.value === one)?.title ?? one)
      : one;
  const text = typeof value === "object" ? value.map(titleOf).join(", ") : titleOf(String(value));
  return text === "" ? '""' : printable(text);
}
