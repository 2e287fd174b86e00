// Normalizes parameters as models write them: alternative spellings of a name, a number in quotes, a single text
// instead of a list. Anything else is rejected with what was expected and what was received.
import {
  aliasesOf,
  firstChars,
  isRecord,
  nearestNames,
  type ParameterSet,
  parseUniqueJson,
  type JsonSchema as Schema,
  TrunklineError,
} from "@trunkline/core";
import { pathText, type SchemaProblem, validate } from "@trunkline/core/schema";
import type { Params } from "../interfaces/operation.js";

interface ReaderSource {
  readonly name: string;
  readonly params: ParameterSet;
  /** The schema of all parameters. */
  readonly schema: Schema;
  readonly prepare?: (params: Params) => Params;
}

interface ParamsReader {
  /** Throws `INVALID_ARGUMENT`; `data.parameter` has the location. */
  read(params: Params): Params;
  /** Returns the name of the parameter that is spelled like this. */
  find(given: string): string | undefined;
}

export function createReader(source: ReaderSource): ParamsReader {
  const { schema } = source;
  const properties = schema.properties as Readonly<Record<string, Schema>>;
  const names = Object.keys(properties);
  const spellings = new Map(names.map((name) => [plain(name), name]));
  const aliases = new Map(Object.entries(aliasesOf(source.params)));
  for (const [alias, name] of aliases) if (!spellings.has(plain(alias))) spellings.set(plain(alias), name);
  const find = (given: string): string | undefined =>
    names.includes(given) ? given : (aliases.get(given) ?? spellings.get(plain(given)));
  return {
    find,
    read(params) {
      const read: Record<string, unknown> = {};
      const givenAs = new Map<string, string>();
      for (const [given, value] of Object.entries(params)) {
        const name = find(given);
        if (name === undefined) throw unknownParameter(source, given, names);
        // Models write null for omitted parameters.
        if (value === null || value === undefined) continue;
        const other = givenAs.get(name);
        if (other !== undefined && JSON.stringify(params[other]) !== JSON.stringify(value)) {
          throw invalid(source, given, `${other} and ${given} are the same parameter. Use only one of them.`);
        }
        givenAs.set(name, given);
        read[name] = coerced(value, properties[name] as Schema);
      }
      const prepared = source.prepare?.(read) ?? read;
      const [problem] = validate(schema, prepared, { trusted: true, exact: true });
      if (problem !== undefined) throw errorFor(source, problem, prepared);
      return prepared;
    },
  };
}

/** `ignoreCase`, `ignore-case` and `ignore_case` are the same name. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function unknownParameter(source: ReaderSource, given: string, names: readonly string[]): TrunklineError {
  const [nearest] = [...nearestNames(given, names), ...nearestNames(plain(given), names), ...alike(given, names)];
  const listed = names.length === 0 ? "It has no parameters." : `Available: ${names.join(", ")}.`;
  return new TrunklineError("INVALID_ARGUMENT", `${source.name} has no parameter "${firstChars(given, 60)}".`, {
    hint: nearest === undefined ? listed : `Did you mean ${nearest}? ${listed}`,
    data: { parameter: given, ...(nearest === undefined ? {} : { nearest }) },
  });
}

/** Returns the names that share a word with the given one. */
function alike(given: string, names: readonly string[]): string[] {
  const words = wordsOf(given);
  return names.filter((name) => wordsOf(name).some((word) => word.length > 2 && words.includes(word)));
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/** Converts the value to the schema's type if the intent is unambiguous; otherwise returns it unchanged. */
function coerced(value: unknown, schema: Schema): unknown {
  const choices = choicesOf(schema);
  // "true" means the boolean, even if strings are accepted too.
  if (choices.some(({ type }) => type === "boolean") && typeof value === "string") {
    const word = asBoolean(value);
    if (word !== undefined) return word;
  }
  if (choices.some((choice) => fits(value, choice))) {
    const choice = choices.find((each) => fits(value, each)) as Schema;
    if (!Array.isArray(value) || !isRecord(choice.items)) return value;
    const { items } = choice;
    return value.map((item) => coerced(item, items));
  }
  for (const choice of choices) {
    const other = converted(value, choice);
    if (other !== undefined) return other;
  }
  return value;
}

function choicesOf(schema: Schema): Schema[] {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as Schema[]).flatMap(choicesOf);
  if (Array.isArray(schema.type)) return (schema.type as string[]).map((type) => ({ ...schema, type }));
  return [schema];
}

function fits(value: unknown, { type }: Schema): boolean {
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
    case "integer":
      return typeof value === "number";
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    default:
      return type === undefined;
  }
}

function converted(value: unknown, schema: Schema): unknown {
  switch (schema.type) {
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
    case "boolean":
      return asBoolean(value);
    case "number":
    case "integer":
      return typeof value === "string" && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
    case "array":
      return asList(value, schema);
    case "object":
      return typeof value === "string" ? jsonOf(value, isRecord) : undefined;
    default:
      return undefined;
  }
}

function asBoolean(value: unknown): boolean | undefined {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return undefined;
  const word = value.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : undefined;
}

/** Wraps a single text or object in a list. */
function asList(value: unknown, { items }: Schema): unknown {
  if (!isRecord(items)) return undefined;
  const list = typeof value === "string" ? (jsonOf(value, Array.isArray) ?? [value]) : [value];
  return typeof value === "string" || fits(value, items) ? list.map((item) => coerced(item, items)) : undefined;
}

function jsonOf<T>(text: string, test: (value: unknown) => value is T): T | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = parseUniqueJson(text);
  return test(value) ? value : undefined;
}

function errorFor(source: ReaderSource, { path, kind, text }: SchemaProblem, read: Params): TrunklineError {
  const { schema } = source;
  if (kind === "unknown") {
    const parent = path.slice(0, -1);
    const { properties } = at(schema, parent) ?? {};
    const known = isRecord(properties) ? Object.keys(properties) : [];
    return unknownParameter({ ...source, name: pathText(parent) || source.name }, String(path.at(-1)), known);
  }
  const name = pathText(path);
  if (kind === "missing") return invalid(source, name, `${source.name} needs ${name}.`);
  const value = path.reduce<unknown>((parent, key) => (parent as Record<PropertyKey, unknown>)?.[key], read);
  const wanted = at(schema, path);
  if (wanted === undefined) return invalid(source, name, `${name} ${text}.`);
  const expected = choicesOf(wanted).map(described).join(" or ");
  return invalid(source, name, `${name} has to be ${expected}, not ${shown(value)}.`);
}

function at(schema: Schema, path: readonly (string | number)[]): Schema | undefined {
  let current: Schema | undefined = schema;
  for (const part of path) {
    const next: unknown =
      typeof part === "number" ? current?.items : isRecord(current?.properties) ? current.properties[part] : undefined;
    current = isRecord(next) ? next : undefined;
  }
  return current;
}

function described(schema: Schema): string {
  const { type, enum: values, minimum, maximum, items } = schema;
  if (Array.isArray(values)) return `one of ${values.join(", ")}`;
  const bounds =
    minimum === undefined && maximum === undefined
      ? ""
      : maximum === undefined
        ? ` of at least ${minimum}`
        : minimum === undefined
          ? ` of at most ${maximum}`
          : ` from ${minimum} to ${maximum}`;
  switch (type) {
    case "string":
      return "text";
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number${bounds}`;
    case "number":
      return `a number${bounds}`;
    case "array":
      return isRecord(items) && items.type === "string" ? "a list of strings" : "a list";
    case "object":
      return "an object";
    default:
      return String(type);
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return typeof value === "string" ? `"${firstChars(value, 60)}"` : String(value);
}

function invalid(source: ReaderSource, parameter: string, message: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, {
    hint: `describe {"target": "${source.name}"} shows the parameters of ${source.name}.`,
    data: { parameter },
  });
}
