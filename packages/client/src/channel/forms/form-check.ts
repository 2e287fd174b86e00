// Validates the answers to a form, with messages for the user.
import {
  type ChoicesField,
  type FieldOption,
  type FormField,
  isFieldValue,
  type NumberField,
  type TextField,
  type TextFormat,
} from "./form-fields.js";

/** Describes each text format for the user. */
export const FORMAT_WORDS: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "a URL with a scheme, such as https://example.com",
  date: "a date as YYYY-MM-DD",
  "date-time": "a time as YYYY-MM-DDThh:mm:ssZ",
};

/** Returns a message for the user if a value is invalid, or `undefined` if it is valid. */
export function validateField(field: FormField, value: unknown): string | undefined {
  if (value === undefined) return field.required ? "An answer is required." : undefined;
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? textProblem(field, value) : "It must be text.";
    case "number":
      return typeof value === "number" ? numberProblem(field, value) : numberNeeded(field);
    case "boolean":
      return typeof value === "boolean" ? undefined : "It must be yes or no.";
    case "choice":
      return field.options.some((option) => option.value === value) ? undefined : `It must be ${oneOf(field.options)}.`;
    case "choices":
      return Array.isArray(value) ? choicesProblem(field, value) : "It must be a list.";
    case "other":
      return isFieldValue(value) ? undefined : "It must be text, a number, true, false or a list of strings.";
  }
}

/** Returns error messages by field; empty if all answers are valid. A field with a default can be omitted. */
export function validateForm(
  fields: readonly FormField[],
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

function textProblem({ minLength = 0, maxLength = Infinity, format }: TextField, value: string): string | undefined {
  // JSON Schema counts code points.
  const length = [...value].length;
  if (length < minLength) return `It must have at least ${quantity(minLength, "character")}.`;
  if (length > maxLength) return `It must have at most ${quantity(maxLength, "character")}.`;
  return format === undefined || hasFormat(format, value) ? undefined : `It must be ${FORMAT_WORDS[format]}.`;
}

function numberProblem(field: NumberField, value: number): string | undefined {
  const { integer, minimum = -Infinity, maximum = Infinity } = field;
  if (!Number.isFinite(value) || (integer && !Number.isInteger(value))) return numberNeeded(field);
  // A larger number would silently lose precision.
  if (integer && !Number.isSafeInteger(value)) return "It is too large to be stored exactly.";
  if (value < minimum) return `It must be at least ${minimum}.`;
  if (value > maximum) return `It must be at most ${maximum}.`;
  return undefined;
}

function choicesProblem(field: ChoicesField, values: readonly unknown[]): string | undefined {
  const { options, minItems = 0, maxItems = Infinity } = field;
  const strangers = values.filter((value) => !options.some((option) => option.value === value));
  if (strangers.length > 0) {
    return `${strangers.map((value) => String(JSON.stringify(value))).join(", ")} is not an option. The options are ${titlesOf(options)}.`;
  }
  if (values.length < minItems) return `Choose at least ${minItems}.`;
  if (values.length > maxItems) return `Choose at most ${maxItems}.`;
  return undefined;
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
export function numberNeeded({ integer }: NumberField): string {
  return integer ? "It must be a whole number, such as 3." : "It must be a number, such as 3.14.";
}

/** Formats the options as text. */
export function oneOf(options: readonly FieldOption[]): string {
  return options.length === 1 ? titlesOf(options) : `one of ${titlesOf(options)}`;
}

function titlesOf(options: readonly FieldOption[]): string {
  return options.map(({ title }) => title).join(", ");
}

function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
