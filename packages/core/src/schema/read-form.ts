// Reads the fields of a form from a JSON Schema, which may be hostile.
import { isRecord } from "../json.js";
import { validateField } from "./form-check.js";
import type { ArgumentField, FieldCommon, FieldOption, FieldValue, FormField, TextFormat } from "./form-fields.js";

type Field = FormField | ArgumentField;
type Schema = Readonly<Record<string, unknown>>;

/** A form with more fields than this is no help. */
const MAX_FIELDS = 200;
const MAX_DEPTH = 4;
const MAX_OPTIONS = 500;

const FORMATS: ReadonlyMap<unknown, TextFormat> = new Map([
  ["email", "email"],
  ["uri", "uri"],
  ["url", "uri"],
  ["date", "date"],
  ["date-time", "date-time"],
]);

/**
 * Reads the fields of an elicitation (its `requestedSchema`) in the server's order. Drops a default that its own field
 * does not allow.
 */
export function readFormFields(requestedSchema: Schema): readonly FormField[] {
  // Flat fields are form fields.
  return new Reader(requestedSchema, true).fields(requestedSchema, 0) as readonly FormField[];
}

/** Reads the fields for a tool's arguments. Returns undefined if they can only be entered as JSON. */
export function readArgumentFields(schema: unknown): readonly ArgumentField[] | undefined {
  if (!isRecord(schema)) return undefined;
  const reader = new Reader(schema, false);
  const known = reader.known(schema);
  if (known === undefined || (known.type !== undefined && known.type !== "object")) return undefined;
  return reader.group(known, 0);
}

/** Returns the values that a form has before anyone answers it. */
export function formDefaults(fields: readonly FormField[]): Record<string, FieldValue> {
  return Object.fromEntries(
    fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
  );
}

class Reader {
  readonly #root: Schema;
  readonly #isFlat: boolean;
  /** The references that are being read, so that a schema that contains itself ends. */
  readonly #within = new Set<string>();
  #left = MAX_FIELDS;

  constructor(root: Schema, isFlat: boolean) {
    this.#root = root;
    this.#isFlat = isFlat;
  }

  fields({ properties, required }: Schema, depth: number): readonly Field[] {
    const names = new Set(Array.isArray(required) ? required : []);
    return Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) =>
      this.#field(name, schema, { depth, required: names.has(name) }),
    );
  }

  /** Returns undefined for an object that cannot be shown as fields: with conditions, or with too many properties. */
  group(schema: Schema, depth: number): readonly ArgumentField[] | undefined {
    const count = isRecord(schema.properties) ? Object.keys(schema.properties).length : 0;
    const isPlain = ["anyOf", "oneOf", "allOf", "if", "patternProperties"].every((key) => schema[key] === undefined);
    if (!isPlain || (count === 0 && depth > 0) || count > this.#left) return undefined;
    this.#left -= count;
    // This reader is not flat.
    return this.fields(schema, depth) as readonly ArgumentField[];
  }

  #field(name: string, schema: unknown, { depth, required }: { depth: number; required: boolean }): Field {
    const own = isRecord(schema) ? schema : {};
    const reference = typeof own.$ref === "string" ? own.$ref : undefined;
    const known = isRecord(schema) ? this.known(schema) : undefined;
    const common: FieldCommon = {
      name,
      title: wordsIn(own, "title") ?? wordsIn(known, "title") ?? name,
      ...optional("description", wordsIn(own, "description") ?? wordsIn(known, "description")),
      required,
    };
    if (reference !== undefined) this.#within.add(reference);
    const field =
      (known === undefined ? undefined : this.#typed(common, known, depth)) ?? this.#untyped(common, schema);
    if (reference !== undefined) this.#within.delete(reference);
    const preset = own.default ?? known?.default;
    // The check establishes the type of the default, but the compiler cannot see that.
    return preset !== undefined && validateField(field, preset) === undefined
      ? ({ ...field, default: preset } as Field)
      : field;
  }

  #untyped(common: FieldCommon, schema: unknown): Field {
    return this.#isFlat ? { ...common, kind: "other", schema } : { ...common, kind: "json" };
  }

  /** The schema itself, what it refers to, or the only alternative to null. Undefined if it is none of these. */
  known(schema: Schema): Schema | undefined {
    if (typeof schema.$ref === "string") {
      if (this.#within.has(schema.$ref)) return undefined;
      const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) ?? [];
      const definitions = this.#root[group];
      const found = isRecord(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      return isRecord(found) && found.$ref === undefined ? found : undefined;
    }
    const [only, ...others] = alternatives(schema);
    if (others.length > 0 || !isRecord(only) || this.#options(schema) !== undefined) return schema;
    const { anyOf: _, oneOf: __, allOf: ___, ...around } = schema;
    const inner = this.known(only);
    return inner === undefined ? undefined : { ...inner, ...around };
  }

  /** Returns undefined if the schema has no type that a field can show. */
  #typed(common: FieldCommon, schema: Schema, depth: number): Field | undefined {
    const options = this.#options(schema);
    // Flat options are texts.
    if (options !== undefined) return { ...common, kind: "choice", options } as Field;
    if (schema.anyOf !== undefined || schema.oneOf !== undefined || schema.allOf !== undefined) return undefined;
    const types = [schema.type].flat().filter((type) => type !== "null");
    switch (types.length === 1 ? types[0] : undefined) {
      case "string":
        return {
          ...common,
          kind: "text",
          ...numbers(schema, ["minLength", "maxLength"]),
          ...optional("format", FORMATS.get(schema.format)),
          ...optional("pattern", typeof schema.pattern === "string" ? schema.pattern : undefined),
        };
      case "number":
      case "integer":
        return {
          ...common,
          kind: "number",
          integer: types[0] === "integer",
          ...numbers(schema, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
        };
      case "boolean":
        return { ...common, kind: "boolean" };
      case "array":
        return this.#list(common, schema);
      case "object": {
        const fields = this.#isFlat || depth + 1 >= MAX_DEPTH ? undefined : this.group(schema, depth + 1);
        return fields === undefined ? undefined : { ...common, kind: "group", fields };
      }
      default:
        return undefined;
    }
  }

  #list(common: FieldCommon, schema: Schema): Field | undefined {
    const items = isRecord(schema.items) && schema.prefixItems === undefined ? this.known(schema.items) : undefined;
    if (items === undefined) return undefined;
    const limits = numbers(schema, ["minItems", "maxItems"]);
    const options = this.#options(items);
    if (options !== undefined) return { ...common, kind: "choices", options, ...limits } as Field;
    if (this.#isFlat) return undefined;
    const item = this.#typed({ name: "", title: "", required: false }, items, MAX_DEPTH);
    return item?.kind === "text" || item?.kind === "number" ? { ...common, kind: "list", item, ...limits } : undefined;
  }

  /** The values to choose from, in every spelling: an enum, or alternatives that are constants with titles. */
  #options(schema: Schema): readonly FieldOption<unknown>[] | undefined {
    const options = optionsIn(schema);
    if (options === undefined || options.length === 0) return undefined;
    const isUsable = this.#isFlat
      ? options.every(({ value }) => typeof value === "string")
      : options.length <= MAX_OPTIONS;
    return isUsable ? options : undefined;
  }
}

function optionsIn(schema: Schema): readonly FieldOption<unknown>[] | undefined {
  const { enum: values, enumNames: titles } = schema;
  if (Array.isArray(values)) {
    return values
      .map((value: unknown, index) => option(value, Array.isArray(titles) ? titles[index] : undefined))
      .filter(({ value }) => value !== null);
  }
  if (schema.const !== undefined) return [option(schema.const, schema.title)];
  const constants = alternatives(schema).map((each) => (isRecord(each) ? each : {}));
  return constants.every((each) => each.const !== undefined)
    ? constants.map((each) => option(each.const, each.title))
    : undefined;
}

function option(value: unknown, title: unknown): FieldOption<unknown> {
  if (typeof title === "string" && title !== "") return { value, title };
  return { value, title: typeof value === "string" ? value : JSON.stringify(value) };
}

/** The alternatives besides null. */
function alternatives({ oneOf, anyOf, allOf }: Schema): readonly unknown[] {
  const all = [oneOf, anyOf, Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined].find(Array.isArray) ?? [];
  return all.filter((each: unknown) => !isRecord(each) || each.type !== "null");
}

function wordsIn(schema: Schema | undefined, key: "title" | "description"): string | undefined {
  const text = schema?.[key];
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

/** The keywords that are numbers. */
function numbers<K extends string>(schema: Schema, keys: readonly K[]): { [P in K]?: number } {
  // The keys are those that were asked for; the compiler widens them to string.
  return Object.fromEntries(keys.flatMap((key) => (Number.isFinite(schema[key]) ? [[key, schema[key]]] : []))) as {
    [P in K]?: number;
  };
}

/** Creates a property that is present only if it has a value. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // The computed key is K; the compiler widens it to string.
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
