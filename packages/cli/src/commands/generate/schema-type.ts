// Writes the TypeScript type of a JSON Schema. The schema comes from a server: names and values only appear as
// literals, descriptions only in comments, and a schema of any size gives a type of limited size.
import { firstChars, isRecord, printable } from "@trunkline/core";

/** Parts of a schema that one type writes out; further ones are `unknown`. */
const MOST_PARTS = 2_000;
/** Characters that one type has, more or less. */
const MOST_CHARACTERS = 100_000;
/** Levels that are written out. */
const DEEPEST = 24;
const LONGEST_COMMENT = 2_000;

/** Returns the type, indented by this many levels after its first line. */
export function typeOfSchema(schema: unknown, level = 0): string {
  return new TypeWriter(schema).type(schema, level);
}

class TypeWriter {
  readonly #root: unknown;
  /** Definitions that are being written: a schema that contains itself ends there. */
  readonly #open = new Set<string>();
  #parts = MOST_PARTS;
  #characters = MOST_CHARACTERS;
  #depth = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  type(schema: unknown, level: number): string {
    if (schema === false) return "never";
    if (!isRecord(schema) || this.#parts === 0 || this.#characters <= 0 || this.#depth === DEEPEST) return "unknown";
    this.#parts -= 1;
    this.#depth += 1;
    const type = this.#typeOf(schema, level);
    this.#depth -= 1;
    return schema.nullable === true && type !== "unknown" ? union([type, "null"]) : type;
  }

  #typeOf(schema: Readonly<Record<string, unknown>>, level: number): string {
    if (typeof schema.$ref === "string") return this.#referred(schema.$ref, level);
    if (Array.isArray(schema.enum))
      return schema.enum.length > this.#parts ? "unknown" : union(schema.enum.map((value) => this.#literal(value)));
    if ("const" in schema) return this.#literal(schema.const);
    const variants = schema.anyOf ?? schema.oneOf;
    const parts = [
      ...(Array.isArray(variants) ? [union(variants.map((variant) => this.type(variant, level)))] : []),
      ...(Array.isArray(schema.allOf) ? schema.allOf.map((part) => this.type(part, level)) : []),
    ];
    const own = this.#plain(schema, level);
    return intersection([...parts, ...(own === "unknown" || isMereObject(schema, parts) ? [] : [own])]);
  }

  #plain(schema: Readonly<Record<string, unknown>>, level: number): string {
    const { type } = schema;
    if (Array.isArray(type)) return union(type.map((one) => this.#named(one, schema, level)));
    return this.#named(type ?? (isRecord(schema.properties) ? "object" : undefined), schema, level);
  }

  #named(type: unknown, schema: Readonly<Record<string, unknown>>, level: number): string {
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return type;
      case "integer":
        return "number";
      case "array":
        return this.#array(schema, level);
      case "object":
        return this.#object(schema, level);
      default:
        return "unknown";
    }
  }

  #array({ items, prefixItems }: Readonly<Record<string, unknown>>, level: number): string {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
    if (first === undefined) return `Array<${this.type(items, level)}>`;
    const rest = Array.isArray(items) ? undefined : items;
    const places = first.map((item) => this.type(item, level));
    return `[${[...places, ...(rest === false ? [] : [`...Array<${this.type(rest, level)}>`])].join(", ")}]`;
  }

  #object(schema: Readonly<Record<string, unknown>>, level: number): string {
    const { additionalProperties: more } = schema;
    const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : undefined;
    if (properties === undefined || properties.length === 0) {
      const isClosed = more === false || (properties !== undefined && more === undefined);
      return `Record<string, ${isClosed ? "never" : this.type(more, level)}>`;
    }
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const indent = "  ".repeat(level + 1);
    const lines = properties.slice(0, this.#parts).map(([name, property]) => {
      const field = `${keyOf(name)}${required.has(name) ? "" : "?"}: ${this.type(property, level + 1)};`;
      const line = `${commentOf(aboutProperty(property), level + 1)}${indent}${field}`;
      this.#characters -= line.length;
      return line;
    });
    // Its values include those of the properties, whatever the schema says about the others.
    if (more === true || isRecord(more) || lines.length < properties.length)
      lines.push(`${indent}[name: string]: unknown;`);
    return `{\n${lines.join("\n")}\n${"  ".repeat(level)}}`;
  }

  #referred(reference: string, level: number): string {
    const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
    const definitions = isRecord(this.#root) ? this.#root[group] : undefined;
    if (!isRecord(definitions) || !Object.hasOwn(definitions, name) || this.#open.has(reference)) return "unknown";
    this.#open.add(reference);
    const type = this.type(definitions[name], level);
    this.#open.delete(reference);
    return type;
  }

  #literal(value: unknown): string {
    if (this.#parts > 0) this.#parts -= 1;
    if (typeof value !== "string") return isRecord(value) || Array.isArray(value) ? "unknown" : String(value ?? null);
    const text = literalOf(value);
    this.#characters -= text.length;
    return text;
  }
}

/** `{type: "object", anyOf: […]}` without properties says no more than its variants. */
function isMereObject(schema: Readonly<Record<string, unknown>>, parts: readonly string[]): boolean {
  return parts.length > 0 && !isRecord(schema.properties);
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 0) return "never";
  return distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}

function intersection(types: readonly string[]): string {
  const telling = [...new Set(types)].filter((type) => type !== "unknown");
  if (telling.length === 0) return "unknown";
  return telling.length === 1 ? (telling[0] ?? "") : telling.map((type) => `(${type})`).join(" & ");
}

/** A string literal in which control, format and bidi characters are escaped. */
export function literalOf(text: string): string {
  return printable(JSON.stringify(text));
}

/** A property name: as it is if it is a plain identifier, otherwise a literal. */
export function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalOf(name);
}

/**
 * A doc comment with its line break, or nothing. The text cannot end the comment, and no word of it is a tag or a
 * directive for the compiler.
 */
export function commentOf(text: string, level: number): string {
  const lines = firstChars(text, LONGEST_COMMENT)
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => printable(line.replaceAll("\t", " ").replace(/\p{Cs}/gu, "\ufffd")).trimEnd())
    .map((line) => line.replaceAll("*/", "*\\/").replace(/(^|[\s{*/])@/g, "$1\\@"));
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  if (lines.length === 0) return "";
  const indent = "  ".repeat(level);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function aboutProperty(property: unknown): string {
  if (!isRecord(property)) return "";
  const { description, default: standard } = property;
  const isPlain = ["string", "number", "boolean"].includes(typeof standard);
  return [
    ...(typeof description === "string" ? [description] : []),
    ...(isPlain ? [`Default: ${JSON.stringify(standard).slice(0, 100)}`] : []),
  ].join("\n");
}
