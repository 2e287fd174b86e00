// Validates what was entered into a form, with messages for the user.
import { canonicalJson, isRecord } from "../json.js";
import {
  type ArgumentField,
  type FieldOption,
  type FormField,
  isFieldValue,
  type NumberField,
  type TextField,
  type TextFormat,
} from "./form-fields.js";
import { limitProblems } from "./value-limits.js";

/** Describes each text format for the user. */
export const FORMAT_WORDS: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "a URL with a scheme, such as https://example.com",
  date: "a date as YYYY-MM-DD",
  "date-time": "a time as YYYY-MM-DDThh:mm:ssZ",
};

/** Returns a message for the user if a value is invalid, or `undefined` if it is valid. */
export function validateField(field: FormField | ArgumentField, value: unknown): string | undefined {
  if (value === undefined) return field.required ? "This is required." : undefined;
  switch (field.kind) {
    case "text":
      if (typeof value !== "string") return "It must be text.";
      return brokenLimit(field, value) ?? formatProblem(field, value);
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value) || (field.integer && !Number.isInteger(value)))
        return numberNeeded(field);
      // A larger number would silently lose precision.
      if (field.integer && !Number.isSafeInteger(value)) return "It is too large to be stored exactly.";
      return brokenLimit(field, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "It must be yes or no.";
    case "choice":
      return isAmong(field.options, value) ? undefined : `It must be ${oneOf(field.options)}.`;
    case "choices": {
      if (!Array.isArray(value)) return "It must be a list.";
      const strangers = value.filter((each) => !isAmong(field.options, each)).map((each) => JSON.stringify(each));
      if (strangers.length > 0)
        return `${strangers.map(String).join(", ")} is not an option. The options are ${titles(field.options)}.`;
      const { minItems = 0, maxItems = Infinity } = field;
      if (value.length < minItems) return `Choose at least ${minItems}.`;
      return value.length > maxItems ? `Choose at most ${maxItems}.` : undefined;
    }
    case "list":
      if (!Array.isArray(value)) return "It must be a list.";
      return brokenLimit(field, value) ?? firstOf(value.map((item) => validateField(field.item, item)));
    case "group":
      return isRecord(value) ? firstOf(Object.values(validateForm(field.fields, value))) : "It must be an object.";
    case "json":
      return undefined;
    case "other":
      return isFieldValue(value) ? undefined : "It must be text, a number, true, false or a list of strings.";
  }
}

/** Returns error messages by field; empty if all answers are valid. A field with a default can be omitted. */
export function validateForm(
  fields: readonly (FormField | ArgumentField)[],
  content: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = Object.hasOwn(content, field.name) ? content[field.name] : field.default;
      const problem = validateField(field, value);
      return problem === undefined ? [] : [[field.name, problem]];
    }),
  );
}

function brokenLimit(field: FormField | ArgumentField, value: unknown): string | undefined {
  const [problem] = limitProblems(field, value);
  return problem === undefined ? undefined : `It ${problem}.`;
}

function formatProblem({ format }: TextField, value: string): string | undefined {
  return format === undefined || hasFormat(format, value) ? undefined : `It must be ${FORMAT_WORDS[format]}.`;
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function isAmong(options: readonly FieldOption<unknown>[], value: unknown): boolean {
  return options.some((option) => option.value === value || canonicalJson(option.value) === canonicalJson(value));
}

function hasFormat(format: TextFormat, value: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@<>(),;:"[\]\\]+@[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(value);
    case "uri":
      return /^[a-z][a-z0-9+.-]*:[^\s]+$/i.test(value) && URL.canParse(value);
    case "date":
      return isDay(value);
    case "date-time": {
      const [, day = "", time = ""] =
        /^([\d-]{10})[t ](\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:\d\d))$/i.exec(value) ?? [];
      return isDay(day) && !Number.isNaN(Date.parse(`${day}T${time.toUpperCase()}`));
    }
  }
}

/** Whether the day exists: Date would turn February 30 into a day in March. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Returns the message for a value that is not a number. */
export function numberNeeded({ integer }: Pick<NumberField, "integer">): string {
  return integer ? "It must be a whole number, such as 3." : "It must be a number, such as 3.14.";
}

/** Formats the options as text. */
export function oneOf(options: readonly FieldOption<unknown>[]): string {
  return options.length === 1 ? titles(options) : `one of ${titles(options)}`;
}

function titles(options: readonly FieldOption<unknown>[]): string {
  return options.map(({ title }) => title).join(", ");
}
