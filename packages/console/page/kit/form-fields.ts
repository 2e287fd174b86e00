// The fields of a form, as a JSON Schema describes them. Schemas come from servers: anything unusual, too deep or too
// large becomes a field for JSON, which can hold every value.
import type { Json } from "@trunkline/console/contract";

interface FormOption {
  readonly value: Json;
  readonly label: string;
}

/** What can be entered into a field. */
export type FieldShape =
  | {
      readonly kind: "text";
      readonly input: "text" | "email" | "url" | "date" | "datetime-local" | "long";
      readonly minLength?: number | undefined;
      readonly maxLength?: number | undefined;
      readonly pattern?: string | undefined;
    }
  | {
      readonly kind: "number";
      readonly isInteger: boolean;
      readonly min?: number | undefined;
      readonly max?: number | undefined;
      /** Bounds that are not allowed themselves. */
      readonly above?: number | undefined;
      readonly below?: number | undefined;
    }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly FormOption[] }
  /** Several of a few options. */
  | { readonly kind: "choices"; readonly options: readonly FormOption[]; readonly limits: ListLimits }
  | { readonly kind: "list"; readonly item: FieldShape; readonly limits: ListLimits }
  | { readonly kind: "group"; readonly fields: readonly FormField[] }
  | { readonly kind: "json" };

interface ListLimits {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export interface FormField {
  /** The property. */
  readonly name: string;
  readonly label: string;
  readonly help?: string | undefined;
  readonly isRequired: boolean;
  /** What the server assumes if the property is absent. */
  readonly preset?: Json | undefined;
  readonly shape: FieldShape;
}

type Schema = Readonly<Record<string, Json>>;

/** A form with more fields than this is no help. */
const MAX_FIELDS = 200;
const MAX_DEPTH = 4;
const MAX_OPTIONS = 500;
const MAX_LABEL_CHARS = 120;
const MAX_HELP_CHARS = 600;
/** A text that may be longer than this gets several lines. */
const LINE_CHARS = 200;
const LONG_NAMES = /^(?:body|code|content|contents|html|instructions|markdown|message|prompt|script|sql|text)$/i;

const JSON_SHAPE: FieldShape = { kind: "json" };

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the fields of an object's schema; undefined if the object can only be entered as JSON. */
export function fieldsOf(schema: Json): readonly FormField[] | undefined {
  if (!isObject(schema)) return undefined;
  const reader = new Reader(schema);
  const known = reader.known(schema);
  if (known === undefined || (known.type !== undefined && known.type !== "object")) return undefined;
  return reader.fields(known, 0);
}

class Reader {
  readonly #root: Schema;
  /** The references that are being read, so that a schema that contains itself ends. */
  readonly #within = new Set<string>();
  #left = MAX_FIELDS;

  constructor(root: Schema) {
    this.#root = root;
  }

  fields(schema: Schema, depth: number): readonly FormField[] | undefined {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const names = Object.keys(properties);
    // Conditions and further properties cannot be shown as fields.
    const isPlain = ["anyOf", "oneOf", "allOf", "if", "patternProperties"].every((key) => schema[key] === undefined);
    if (!isPlain || (names.length === 0 && depth > 0) || names.length > this.#left) return undefined;
    this.#left -= names.length;
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    return names.map((name) => this.#field(name, properties[name] as Json, { depth, isRequired: required.has(name) }));
  }

  #field(name: string, schema: Json, { depth, isRequired }: { depth: number; isRequired: boolean }): FormField {
    const reference = isObject(schema) && typeof schema.$ref === "string" ? schema.$ref : undefined;
    const known = isObject(schema) ? this.known(schema) : undefined;
    if (reference !== undefined) this.#within.add(reference);
    const shape = known === undefined ? JSON_SHAPE : this.#shape(name, known, depth);
    if (reference !== undefined) this.#within.delete(reference);
    const { title, description } = { ...known, ...(isObject(schema) ? schema : {}) } as Schema;
    const preset = isObject(schema) ? (schema.default ?? known?.default) : undefined;
    return {
      name,
      label: typeof title === "string" && title !== "" ? cut(title, MAX_LABEL_CHARS) : cut(name, MAX_LABEL_CHARS),
      help: typeof description === "string" && description !== "" ? cut(description, MAX_HELP_CHARS) : undefined,
      isRequired,
      preset,
      shape,
    };
  }

  /** The schema itself, what it refers to, or the only alternative to null. Undefined if it is none of these. */
  known(schema: Schema): Schema | undefined {
    if (typeof schema.$ref === "string") {
      if (this.#within.has(schema.$ref)) return undefined;
      const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) ?? [];
      const definitions = ownOf(this.#root, group);
      const found = isObject(definitions) ? ownOf(definitions, name) : undefined;
      return isObject(found) && found.$ref === undefined ? found : undefined;
    }
    const [only, ...others] = alternatives(schema).filter((each) => !isObject(each) || each.type !== "null");
    if (others.length > 0 || !isObject(only) || only === schema) return schema;
    const { anyOf: _, oneOf: __, allOf: ___, ...around } = schema;
    const inner = this.known(only);
    return inner === undefined ? undefined : { ...inner, ...around };
  }

  #shape(name: string, schema: Schema, depth: number): FieldShape {
    const options = optionsOf(schema);
    if (options !== undefined) return { kind: "choice", options };
    const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : [schema.type];
    if (types.length !== 1 || schema.anyOf !== undefined || schema.oneOf !== undefined || schema.allOf !== undefined)
      return JSON_SHAPE;
    switch (types[0]) {
      case "string":
        return textShape(name, schema);
      case "number":
      case "integer":
        return {
          kind: "number",
          isInteger: types[0] === "integer",
          min: numberIn(schema.minimum),
          max: numberIn(schema.maximum),
          above: numberIn(schema.exclusiveMinimum),
          below: numberIn(schema.exclusiveMaximum),
        };
      case "boolean":
        return { kind: "flag" };
      case "array":
        return this.#list(schema);
      case "object": {
        const fields = depth + 1 < MAX_DEPTH ? this.fields(schema, depth + 1) : undefined;
        return fields === undefined ? JSON_SHAPE : { kind: "group", fields };
      }
      default:
        return JSON_SHAPE;
    }
  }

  #list(schema: Schema): FieldShape {
    if (!isObject(schema.items) || schema.prefixItems !== undefined) return JSON_SHAPE;
    const items = this.known(schema.items);
    if (items === undefined) return JSON_SHAPE;
    const limits = { min: numberIn(schema.minItems), max: numberIn(schema.maxItems) };
    const options = optionsOf(items);
    if (options !== undefined) return { kind: "choices", options, limits };
    const item = this.#shape("", items, MAX_DEPTH);
    return item.kind === "text" || item.kind === "number" ? { kind: "list", item, limits } : JSON_SHAPE;
  }
}

function alternatives(schema: Schema): readonly Json[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf;
  if (Array.isArray(schema.oneOf)) return schema.oneOf;
  return Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf : [];
}

/** The values to choose from: an enum, or alternatives that are constants with titles. */
function optionsOf(schema: Schema): readonly FormOption[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    const titles = Array.isArray(names) ? names : [];
    return limited(
      values.filter((value) => value !== null).map((value, at) => ({ value, label: titleOf(titles[at], value) })),
    );
  }
  if (schema.const !== undefined) return [{ value: schema.const, label: titleOf(schema.title, schema.const) }];
  const constants = alternatives(schema).filter((each) => !isObject(each) || each.type !== "null");
  if (constants.length === 0 || !constants.every((each): each is Schema => isObject(each) && each.const !== undefined))
    return undefined;
  return limited(
    constants.map((each) => ({ value: each.const as Json, label: titleOf(each.title, each.const as Json) })),
  );
}

function limited(options: readonly FormOption[]): readonly FormOption[] | undefined {
  return options.length === 0 || options.length > MAX_OPTIONS ? undefined : options;
}

function titleOf(title: Json | undefined, value: Json): string {
  const text =
    typeof title === "string" && title !== "" ? title : typeof value === "string" ? value : JSON.stringify(value);
  return cut(text, MAX_LABEL_CHARS);
}

const INPUTS: Readonly<Record<string, "email" | "url" | "date" | "datetime-local">> = {
  email: "email",
  uri: "url",
  url: "url",
  date: "date",
  "date-time": "datetime-local",
};

function textShape(name: string, schema: Schema): FieldShape {
  const { format, minLength, maxLength, pattern, default: preset } = schema;
  const special = typeof format === "string" ? ownOf(INPUTS, format) : undefined;
  const isLong =
    (typeof maxLength === "number" ? maxLength > LINE_CHARS : LONG_NAMES.test(name)) ||
    (typeof preset === "string" && preset.includes("\n"));
  return {
    kind: "text",
    input: special ?? (isLong ? "long" : "text"),
    minLength: numberIn(minLength),
    maxLength: numberIn(maxLength),
    pattern: typeof pattern === "string" ? pattern : undefined,
  };
}

function numberIn(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** A property, if the object itself has it: names come from servers. */
export function ownOf<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`;
}
