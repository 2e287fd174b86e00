// A form as a server asks for it (`requestedSchema` of an elicitation), read into typed fields. Pure: whoever shows a form,
// a terminal, a web page, a bot, reads it here and checks answers here.
import { isRecord, parseJson } from "@trunkline/core";

/** What a field of a form may hold: the protocol knows nothing else. */
export type FieldValue = string | number | boolean | readonly string[];

/** One thing to choose, and how to call it for a person. */
export interface FieldOption {
  readonly value: string;
  readonly title: string;
}

/** The formats of text that the protocol knows. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** What every field has. */
export interface FieldCommon {
  /** The key of the answer. */
  readonly name: string;
  /** The name for a person: the schema's title, or else the key. */
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
}

/** Free text. */
export interface TextField extends FieldCommon {
  readonly kind: "text";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: TextFormat;
  readonly default?: string;
}

/** A number, or a whole number. */
export interface NumberField extends FieldCommon {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

/** Yes or no. */
export interface BooleanField extends FieldCommon {
  readonly kind: "boolean";
  readonly default?: boolean;
}

/** One of several. */
export interface ChoiceField extends FieldCommon {
  readonly kind: "choice";
  readonly options: readonly FieldOption[];
  readonly default?: string;
}

/** Any number of several. */
export interface ChoicesField extends FieldCommon {
  readonly kind: "choices";
  readonly options: readonly FieldOption[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** A kind that the protocol does not have: shown with its schema, answered with JSON or plain text. */
export interface OtherField extends FieldCommon {
  readonly kind: "other";
  readonly schema: unknown;
  readonly default?: FieldValue;
}

/** One field of a form. */
export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField | OtherField;

/** What typed text came to: a value, none (`undefined`, for an empty line), or what is wrong with it. */
export type ParsedText =
  | { readonly ok: true; readonly value: FieldValue | undefined }
  | { readonly ok: false; readonly problem: string };

const FORMATS: readonly string[] = ["email", "uri", "date", "date-time"] satisfies TextFormat[];

/** Reads a form's fields, in the order in which the server has them. A default that its own field forbids is left out. */
export function readFormFields(requestedSchema: Readonly<Record<string, unknown>>): readonly FormField[] {
  const { properties, required } = requestedSchema;
  if (!isRecord(properties)) return [];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => {
    const field = readField(schema, {
      name,
      title: textOf(schema, "title") ?? name,
      ...optional("description", textOf(schema, "description")),
      required: names.includes(name),
    });
    const preset = isRecord(schema) ? schema.default : undefined;
    // The kind of the default is what the check finds out; the compiler cannot follow.
    return isFieldValue(preset) && validateField(field, preset) === undefined
      ? ({ ...field, default: preset } as FormField)
      : field;
  });
}

/** What is wrong with a value, in words for the person who gave it; `undefined` where nothing is. */
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
      return isFieldValue(value) ? undefined : "It must be text, a number, true, false or a list of texts.";
  }
}

/** What is wrong with the answers to a form, by field; empty where nothing is. A field with a default may be left out. */
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

/**
 * Reads what a person typed for a field, and checks it. An empty line is no value; two quotes (`""`) are an empty text.
 * Choices go by number, value or title, several of them with commas between.
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

/** What a field wants, in a few words: `whole number, 1 to 100`. Empty where anything goes. */
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
      return `numbers or names, with commas between${count === "" ? "" : `, ${count} of them`}`;
    }
    case "other":
      return "text or JSON";
  }
}

const FORMAT_WORDS: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "an address with its scheme, such as https://example.com",
  date: "a date as YYYY-MM-DD",
  "date-time": "a time as YYYY-MM-DDThh:mm:ssZ",
};

function readField(schema: unknown, common: FieldCommon): FormField {
  if (!isRecord(schema)) return { ...common, kind: "other", schema };
  const type = soleType(schema.type);
  const options = optionsOf(schema);
  if (options !== undefined && (type === "string" || type === undefined)) return { ...common, kind: "choice", options };
  switch (type) {
    case "string":
      return {
        ...common,
        kind: "text",
        ...optional("minLength", numberOf(schema.minLength)),
        ...optional("maxLength", numberOf(schema.maxLength)),
        ...optional("format", isTextFormat(schema.format) ? schema.format : undefined),
      };
    case "number":
    case "integer":
      return {
        ...common,
        kind: "number",
        integer: type === "integer",
        ...optional("minimum", numberOf(schema.minimum)),
        ...optional("maximum", numberOf(schema.maximum)),
      };
    case "boolean":
      return { ...common, kind: "boolean" };
    case "array": {
      const items = isRecord(schema.items) ? optionsOf(schema.items) : undefined;
      if (items === undefined) break;
      return {
        ...common,
        kind: "choices",
        options: items,
        ...optional("minItems", numberOf(schema.minItems)),
        ...optional("maxItems", numberOf(schema.maxItems)),
      };
    }
  }
  return { ...common, kind: "other", schema };
}

/** `["string", "null"]` is a text that may be left out, which every optional field is anyway. */
function soleType(type: unknown): unknown {
  if (!Array.isArray(type)) return type;
  const types = type.filter((name) => name !== "null");
  return types.length === 1 ? types[0] : types;
}

/** The things to choose, in each of the ways in which the revisions spell them. */
function optionsOf(schema: Readonly<Record<string, unknown>>): readonly FieldOption[] | undefined {
  const titled = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(titled) && titled.length > 0) {
    const options = titled.flatMap((option: unknown) =>
      isRecord(option) && typeof option.const === "string"
        ? [{ value: option.const, title: textOf(option, "title") ?? option.const }]
        : [],
    );
    return options.length === titled.length ? options : undefined;
  }
  const values: unknown = schema.enum;
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === "string")) {
    return undefined;
  }
  const titles: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return values.map((value, index) => {
    const title = titles[index];
    return { value, title: typeof title === "string" && title !== "" ? title : value };
  });
}

function textProblem({ minLength = 0, maxLength = Infinity, format }: TextField, value: string): string | undefined {
  // As JSON Schema counts: a character is a code point.
  const length = [...value].length;
  if (length < minLength) return `It must have at least ${quantity(minLength, "character")}.`;
  if (length > maxLength) return `It must have at most ${quantity(maxLength, "character")}.`;
  return format === undefined || hasFormat(format, value) ? undefined : `It must be ${FORMAT_WORDS[format]}.`;
}

function numberProblem(field: NumberField, value: number): string | undefined {
  const { integer, minimum = -Infinity, maximum = Infinity } = field;
  if (!Number.isFinite(value) || (integer && !Number.isInteger(value))) return numberNeeded(field);
  // Beyond this a number would quietly become another one.
  if (integer && !Number.isSafeInteger(value)) return "It is too large to be kept exactly.";
  if (value < minimum) return `It must be at least ${minimum}.`;
  if (value > maximum) return `It must be at most ${maximum}.`;
  return undefined;
}

function choicesProblem(field: ChoicesField, values: readonly unknown[]): string | undefined {
  const { options, minItems = 0, maxItems = Infinity } = field;
  const strangers = values.filter((value) => !options.some((option) => option.value === value));
  if (strangers.length > 0) {
    return `${strangers.map((value) => String(JSON.stringify(value))).join(", ")} is not among them. There are ${titlesOf(options)}.`;
  }
  if (values.length < minItems) return `Choose at least ${minItems}.`;
  if (values.length > maxItems) return `Choose at most ${maxItems}.`;
  return undefined;
}

function parseChoices(field: ChoicesField, text: string): ParsedText {
  // A single title may have commas of its own.
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

/** A value or title, spelled exactly or else in any case, comes before a number: a list of years is chosen by year. */
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
  return { ok: false, problem: `${JSON.stringify(text)} is not among them. Choose ${oneOf(options)}.` };
}

function jsonOrText(text: string): FieldValue {
  const value = parseJson(text);
  return isFieldValue(value) ? value : text;
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

/** A day that the calendar has: Date would turn the 30th of February into a day in March. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}

function isTextFormat(value: unknown): value is TextFormat {
  return typeof value === "string" && FORMATS.includes(value);
}

function numberNeeded({ integer }: NumberField): string {
  return integer ? "It must be a whole number, such as 3." : "It must be a number, such as 3.14.";
}

function oneOf(options: readonly FieldOption[]): string {
  return options.length === 1 ? titlesOf(options) : `one of ${titlesOf(options)}`;
}

function titlesOf(options: readonly FieldOption[]): string {
  return options.map(({ title }) => title).join(", ");
}

function rangeOf(from: number | undefined, to: number | undefined): string {
  if (from !== undefined && to !== undefined) return from === to ? `exactly ${from}` : `${from} to ${to}`;
  if (from !== undefined) return `at least ${from}`;
  return to === undefined ? "" : `at most ${to}`;
}

function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function textOf(schema: unknown, key: "title" | "description"): string | undefined {
  const text = isRecord(schema) ? schema[key] : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

/** A property that is there only where it has a value. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // The computed key is K; the compiler widens it to string.
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
