// From what a person has entered to a JSON value, and back. A draft is what the inputs hold: texts for most of them.
import type { Json } from "@trunkline/console/contract";
import { isQuickPattern, MAX_MATCHED_CHARS } from "@trunkline/core/schema";
import { type FieldShape, type FormField, isObject, ownOf } from "./form-fields.js";

/** Undefined: nothing was entered. Options are entered by their index. */
export type Draft = undefined | string | boolean | readonly Draft[] | { readonly [name: string]: Draft };
export type GroupDraft = Readonly<Record<string, Draft>>;

/** What is wrong with fields, by path: `address.street`, `tags.0`. */
export type Mistakes = Readonly<Record<string, string>>;

interface Entered {
  readonly value: Readonly<Record<string, Json>>;
  readonly mistakes: Mistakes;
}

export function draftIn(draft: GroupDraft, name: string): Draft {
  return ownOf(draft, name);
}

export function groupOf(draft: Draft): GroupDraft {
  return isRecordDraft(draft) ? draft : {};
}

export function listOf(draft: Draft): readonly Draft[] {
  return Array.isArray(draft) ? draft : [];
}

function isRecordDraft(draft: Draft): draft is GroupDraft {
  return typeof draft === "object" && !Array.isArray(draft);
}

/** Reads the values of fields. What is empty is left out. */
export function enteredIn(fields: readonly FormField[], draft: GroupDraft, path = ""): Entered {
  const value: [string, Json][] = [];
  const mistakes: Record<string, string> = {};
  for (const field of fields) {
    const place = path === "" ? field.name : `${path}.${field.name}`;
    const read = readField(field, draftIn(draft, field.name), place);
    Object.assign(mistakes, read.mistakes);
    if (read.value !== undefined) value.push([field.name, read.value]);
    else if (field.isRequired && Object.keys(read.mistakes).length === 0) mistakes[place] = "This is required.";
  }
  return { value: Object.fromEntries(value), mistakes };
}

interface Read {
  readonly value: Json | undefined;
  readonly mistakes: Mistakes;
}

const NOTHING: Read = { value: undefined, mistakes: {} };

function readField({ shape, isRequired }: FormField, draft: Draft, path: string): Read {
  if (shape.kind === "flag")
    return { value: draft === undefined ? (isRequired ? false : undefined) : draft === true, mistakes: {} };
  if (shape.kind === "group") {
    const { value, mistakes } = enteredIn(shape.fields, groupOf(draft), path);
    // An optional group in which nothing was entered is absent, whatever it would require.
    if (!isRequired && Object.keys(value).length === 0 && isEmpty(draft)) return NOTHING;
    return { value, mistakes };
  }
  const read = readShape(shape, draft, path);
  // A required list may be empty.
  return read.value === undefined && isRequired && (shape.kind === "list" || shape.kind === "choices")
    ? { value: [], mistakes: { ...sizeMistake(shape.limits, 0, path), ...read.mistakes } }
    : read;
}

function isEmpty(draft: Draft): boolean {
  if (draft === undefined || draft === "") return true;
  if (typeof draft !== "object") return false;
  return Object.values(draft).every((each: Draft) => isEmpty(each));
}

function readShape(shape: Exclude<FieldShape, { kind: "flag" | "group" }>, draft: Draft, path: string): Read {
  switch (shape.kind) {
    case "choice": {
      const option = shape.options[draft === undefined || draft === "" ? -1 : Number(draft)];
      return { value: option?.value, mistakes: {} };
    }
    case "choices": {
      const chosen = new Set(listOf(draft));
      const value = shape.options.filter((_, index) => chosen.has(String(index))).map((option) => option.value);
      return value.length === 0 ? NOTHING : { value, mistakes: sizeMistake(shape.limits, value.length, path) };
    }
    case "list": {
      const reads = listOf(draft)
        .map((item, index) => readItem(shape.item, item, `${path}.${index}`))
        .filter(({ value, mistakes }) => value !== undefined || Object.keys(mistakes).length > 0);
      if (reads.length === 0) return NOTHING;
      const value = reads.map((read) => read.value).filter((item) => item !== undefined);
      return {
        value,
        mistakes: Object.assign(sizeMistake(shape.limits, value.length, path), ...reads.map((read) => read.mistakes)),
      };
    }
    default:
      return readItem(shape, draft, path);
  }
}

function readItem(shape: FieldShape, draft: Draft, path: string): Read {
  const text = typeof draft === "string" ? draft : "";
  if (text === "") return NOTHING;
  const wrong = (mistake: string): Read => ({ value: undefined, mistakes: { [path]: mistake } });
  if (shape.kind === "json") {
    const value = jsonIn(text);
    return value === undefined ? wrong("This is not valid JSON.") : { value, mistakes: {} };
  }
  if (shape.kind === "number") {
    const value = Number(text);
    const mistake = numberMistake(shape, text.trim() === "" ? Number.NaN : value);
    return mistake === undefined ? { value, mistakes: {} } : wrong(mistake);
  }
  if (shape.kind !== "text") return NOTHING;
  const mistake = textMistake(shape, text);
  if (mistake !== undefined) return wrong(mistake);
  return { value: shape.input === "datetime-local" ? new Date(text).toISOString() : text, mistakes: {} };
}

/** The value of a JSON text; undefined if it is not one. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function sizeMistake(
  { min, max }: { min?: number | undefined; max?: number | undefined },
  size: number,
  path: string,
): Record<string, string> {
  if (min !== undefined && size < min) return { [path]: `At least ${min} needed.` };
  return max !== undefined && size > max ? { [path]: `At most ${max} allowed.` } : {};
}

function numberMistake(shape: FieldShape & { kind: "number" }, value: number): string | undefined {
  if (!Number.isFinite(value)) return "This is not a number.";
  if (shape.isInteger && !Number.isInteger(value)) return "This must be a whole number.";
  if (shape.min !== undefined && value < shape.min) return `This must be at least ${shape.min}.`;
  if (shape.max !== undefined && value > shape.max) return `This must be at most ${shape.max}.`;
  if (shape.above !== undefined && value <= shape.above) return `This must be more than ${shape.above}.`;
  return shape.below !== undefined && value >= shape.below ? `This must be less than ${shape.below}.` : undefined;
}

function textMistake(
  { input, minLength, maxLength, pattern }: FieldShape & { kind: "text" },
  text: string,
): string | undefined {
  // As JSON Schema counts: code points.
  const length = [...text].length;
  if (minLength !== undefined && length < minLength) return `At least ${minLength} characters needed.`;
  if (maxLength !== undefined && length > maxLength) return `At most ${maxLength} characters allowed.`;
  if (input === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return "This is not an email address.";
  if (input === "url" && !URL.canParse(text)) return "This is not a URL. It needs a scheme, such as https://";
  if (input === "date" && !isDate(text)) return "This is not a date: YYYY-MM-DD.";
  if (input === "datetime-local" && Number.isNaN(Date.parse(text))) return "This is not a date with a time.";
  return pattern !== undefined && !matches(pattern, text) ? `This must match ${pattern.slice(0, 200)}` : undefined;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Whether a text matches a server's pattern. A pattern that could take very long is left to the server. */
function matches(pattern: string, text: string): boolean {
  if (text.length > MAX_MATCHED_CHARS || !isQuickPattern(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** The draft that shows a value in fields. Presets fill what the value leaves out. */
export function draftOf(
  fields: readonly FormField[],
  value: Readonly<Record<string, Json>>,
  usePresets: boolean,
): GroupDraft {
  const drafts = fields.map((field): [string, Draft] => {
    const given = ownOf(value, field.name) ?? (usePresets ? field.preset : undefined);
    if (field.shape.kind === "group") {
      return [field.name, draftOf(field.shape.fields, isObject(given) ? given : {}, usePresets && given === undefined)];
    }
    return [field.name, given === undefined ? undefined : shownAs(field.shape, given)];
  });
  return Object.fromEntries(drafts.filter(([, draft]) => draft !== undefined));
}

function shownAs(shape: FieldShape, value: Json): Draft {
  switch (shape.kind) {
    case "flag":
      return typeof value === "boolean" ? value : undefined;
    case "choice":
      return indexIn(shape.options, value);
    case "choices":
      return Array.isArray(value) ? value.map((item: Json) => indexIn(shape.options, item)) : undefined;
    case "list":
      return Array.isArray(value) ? value.map((item: Json) => shownAs(shape.item, item)) : undefined;
    case "json":
      return JSON.stringify(value, null, 2);
    case "number":
      return typeof value === "number" ? String(value) : undefined;
    case "text":
      if (typeof value !== "string") return undefined;
      return shape.input === "datetime-local" ? localTime(value) : value;
    case "group":
      return undefined;
  }
}

function indexIn(options: readonly { readonly value: Json }[], value: Json): string | undefined {
  const index = options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(value));
  return index < 0 ? undefined : String(index);
}

/** A moment as an input for local times shows it. */
function localTime(text: string): string | undefined {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) return undefined;
  const local = new Date(moment - new Date(moment).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
