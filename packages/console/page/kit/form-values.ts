// From what a person has entered to a JSON value, and back. A draft is what the inputs hold: texts for most of them.
import type { Json } from "@trunkline/console/contract";
import { type ArgumentField, validateField } from "@trunkline/core/schema";

/** Undefined: nothing was entered. Options are entered by their index. */
export type Draft = undefined | string | boolean | readonly Draft[] | { readonly [name: string]: Draft };
export type GroupDraft = Readonly<Record<string, Draft>>;

/** What is wrong with fields, by path: `address.street`, `tags.0`. */
export type Mistakes = Readonly<Record<string, string>>;

/** A field of one of these kinds. */
export type FieldWith<Kind extends ArgumentField["kind"]> = Extract<ArgumentField, { readonly kind: Kind }>;

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
export function enteredIn(fields: readonly ArgumentField[], draft: GroupDraft, path = ""): Entered {
  const value: [string, Json][] = [];
  const mistakes: Record<string, string> = {};
  for (const field of fields) {
    const place = path === "" ? field.name : `${path}.${field.name}`;
    const read = readField(field, draftIn(draft, field.name), place);
    if (read.value !== undefined) value.push([field.name, read.value]);
    else if (Object.keys(read.mistakes).length === 0) Object.assign(mistakes, mistakeIn(field, undefined, place));
    Object.assign(mistakes, read.mistakes);
  }
  return { value: Object.fromEntries(value), mistakes };
}

interface Read {
  readonly value: Json | undefined;
  readonly mistakes: Mistakes;
}

const NOTHING: Read = { value: undefined, mistakes: {} };

function mistakeIn(field: ArgumentField, value: Json | undefined, path: string): Mistakes {
  const mistake = validateField(field, value);
  return mistake === undefined ? {} : { [path]: mistake };
}

function readField(field: ArgumentField, draft: Draft, path: string): Read {
  switch (field.kind) {
    case "boolean":
      return { value: draft === undefined ? (field.required ? false : undefined) : draft === true, mistakes: {} };
    case "group": {
      const { value, mistakes } = enteredIn(field.fields, groupOf(draft), path);
      // An optional group in which nothing was entered is absent, whatever it would require.
      if (!field.required && Object.keys(value).length === 0 && isEmpty(draft)) return NOTHING;
      return { value, mistakes };
    }
    case "choice": {
      const option = field.options[draft === undefined || draft === "" ? -1 : Number(draft)];
      return { value: option?.value as Json | undefined, mistakes: {} }; // From the schema, which is JSON.
    }
    case "choices": {
      const chosen = new Set(listOf(draft));
      const options = field.options.filter((_, index) => chosen.has(String(index)));
      return readList(field, { value: options.map((option) => option.value as Json), mistakes: {} }, path);
    }
    case "list": {
      const reads = listOf(draft).map((item, index) => readText(field.item, item, `${path}.${index}`));
      const value = reads.map((read) => read.value).filter((item) => item !== undefined);
      return readList(field, { value, mistakes: Object.assign({}, ...reads.map((read) => read.mistakes)) }, path);
    }
    default:
      return readText(field, draft, path);
  }
}

/** A required list may be empty; another one is absent then. */
function readList(
  field: FieldWith<"choices" | "list">,
  { value, mistakes }: { value: readonly Json[]; mistakes: Mistakes },
  path: string,
): Read {
  if (value.length === 0 && !field.required) return { value: undefined, mistakes };
  return { value, mistakes: { ...mistakeIn(field, value, path), ...mistakes } };
}

function isEmpty(draft: Draft): boolean {
  if (draft === undefined || draft === "") return true;
  if (typeof draft !== "object") return false;
  return Object.values(draft).every((each: Draft) => isEmpty(each));
}

function readText(field: FieldWith<"text" | "number" | "json">, draft: Draft, path: string): Read {
  const text = typeof draft === "string" ? draft : "";
  if (text === "") return NOTHING;
  const value = valueIn(field, text);
  if (value === undefined) return { value, mistakes: { [path]: "This is not valid JSON." } };
  const mistakes = mistakeIn(field, value, path);
  return Object.keys(mistakes).length === 0 ? { value, mistakes } : { value: undefined, mistakes };
}

function valueIn(field: FieldWith<"text" | "number" | "json">, text: string): Json | undefined {
  if (field.kind === "json") return jsonIn(text);
  if (field.kind === "number") return text.trim() === "" ? Number.NaN : Number(text);
  // Entered in local time.
  return field.format === "date-time" && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text;
}

/** The value of a JSON text; undefined if it is not one. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The draft that shows a value in fields. Defaults fill what the value leaves out. */
export function draftOf(
  fields: readonly ArgumentField[],
  value: Readonly<Record<string, Json>>,
  useDefaults: boolean,
): GroupDraft {
  const drafts = fields.map((field): [string, Draft] => {
    // A default comes from the schema, which is JSON.
    const given = ownOf(value, field.name) ?? (useDefaults ? (field.default as Json | undefined) : undefined);
    if (field.kind === "group") {
      const inner = isObject(given) ? given : {};
      return [field.name, draftOf(field.fields, inner, useDefaults && given === undefined)];
    }
    return [field.name, given === undefined ? undefined : shownAs(field, given)];
  });
  return Object.fromEntries(drafts.filter(([, draft]) => draft !== undefined));
}

function shownAs(field: ArgumentField, value: Json): Draft {
  switch (field.kind) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "choice":
      return indexIn(field.options, value);
    case "choices":
      return Array.isArray(value) ? value.map((item: Json) => indexIn(field.options, item)) : undefined;
    case "list":
      return Array.isArray(value) ? value.map((item: Json) => shownAs(field.item, item)) : undefined;
    case "json":
      return JSON.stringify(value, null, 2);
    case "number":
      return typeof value === "number" ? String(value) : undefined;
    case "text":
      if (typeof value !== "string") return undefined;
      return field.format === "date-time" ? localTime(value) : value;
    case "group":
      return undefined;
  }
}

function indexIn(options: readonly { readonly value: unknown }[], value: Json): string | undefined {
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

export function isObject(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A property, if the object itself has it: names come from servers. */
function ownOf<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
