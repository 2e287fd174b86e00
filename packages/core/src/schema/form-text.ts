// Forms as text: parses a user's input for a field, and describes what the field expects.
import { parseJson } from "../json.js";
import { FORMAT_WORDS, numberNeeded, oneOf, validateField } from "./form-check.js";
import { type ChoicesField, type FieldOption, type FieldValue, type FormField, isFieldValue } from "./form-fields.js";

/** The result of parsing typed text: a value, none (`undefined`, for an empty line), or an error message. */
type ParsedText =
  | { readonly ok: true; readonly value: FieldValue | undefined }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses and validates the text a user typed for a field. An empty line means no value; two quotes (`""`) mean empty
 * text. Options are selected by number, value or title, separated by commas.
 */
export function parseText(field: FormField, text: string): ParsedText {
  const trimmed = text.trim();
  if (trimmed === "") return checked(field, undefined);
  switch (field.kind) {
    case "text":
      return checked(field, trimmed === '""' ? "" : trimmed);
    case "number":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)
        ? checked(field, Number(trimmed))
        : { ok: false, problem: numberNeeded(field) };
    case "boolean":
      if (/^(y|yes|true|1)$/i.test(trimmed)) return { ok: true, value: true };
      if (/^(n|no|false|0)$/i.test(trimmed)) return { ok: true, value: false };
      return { ok: false, problem: "Please answer y or n." };
    case "choice": {
      const option = findOption(field.options, trimmed);
      return option === undefined ? notThere(field.options, trimmed) : checked(field, option.value);
    }
    case "choices":
      return parseChoices(field, trimmed);
    case "other":
      return checked(field, jsonOrText(trimmed));
  }
}

/** Describes what a field expects in a few words: `whole number, 1 to 100`. Empty if anything is allowed. */
export function describeField(field: FormField): string {
  switch (field.kind) {
    case "text": {
      const length = rangeOf(field.minLength, field.maxLength);
      return [field.format === undefined ? "" : FORMAT_WORDS[field.format], length === "" ? "" : `${length} characters`]
        .filter((part) => part !== "")
        .join(", ");
    }
    case "number":
      return [field.integer ? "whole number" : "number", rangeOf(field.minimum, field.maximum)]
        .filter((part) => part !== "")
        .join(", ");
    case "boolean":
      return "y/n";
    case "choice":
      return "number or name";
    case "choices": {
      const count = rangeOf(field.minItems, field.maxItems);
      return `numbers or names, separated by commas${count === "" ? "" : `, ${count} of them`}`;
    }
    case "other":
      return "text or JSON";
  }
}

function parseChoices(field: ChoicesField, text: string): ParsedText {
  // A single title can contain commas.
  const whole = findOption(field.options, text);
  if (whole !== undefined) return checked(field, [whole.value]);
  const chosen = new Set<string>();
  for (const part of text.split(",").map((word) => word.trim())) {
    if (part === "" || part === '""') continue;
    const option = findOption(field.options, part);
    if (option === undefined) return notThere(field.options, part);
    chosen.add(option.value);
  }
  return checked(field, [...chosen]);
}

/**
 * Finds an option. A value or title, matched exactly or else case-insensitively, takes precedence over a number: in a
 * list of years, `2024` means the year.
 */
function findOption(options: readonly FieldOption[], text: string): FieldOption | undefined {
  const lower = text.toLowerCase();
  return (
    options.find(({ value, title }) => value === text || title === text) ??
    options.find(({ value, title }) => value.toLowerCase() === lower || title.toLowerCase() === lower) ??
    (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined)
  );
}

function checked(field: FormField, value: FieldValue | undefined): ParsedText {
  const problem = validateField(field, value);
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}

function notThere(options: readonly FieldOption[], text: string): ParsedText {
  return { ok: false, problem: `${JSON.stringify(text)} is not an option. Choose ${oneOf(options)}.` };
}

function jsonOrText(text: string): FieldValue {
  const value = parseJson(text);
  return isFieldValue(value) ? value : text;
}

function rangeOf(from: number | undefined, to: number | undefined): string {
  if (from !== undefined && to !== undefined) return from === to ? `exactly ${from}` : `${from} to ${to}`;
  if (from !== undefined) return `at least ${from}`;
  return to === undefined ? "" : `at most ${to}`;
}
