// Renders a tool's parameters as a TypeScript signature.
import { isRecord } from "./json.js";

type Schema = Readonly<Record<string, unknown>>;

/** How detailed a signature is. */
interface SignatureOptions {
  /** How many levels of nested objects are written out; deeper ones are `object`. Default 0. */
  depth?: number;
  /** Whether optional parameters have types too. Default true. */
  optionalTypes?: boolean;
  /** Whether to add defaults, and as a comment what a value has to look like. Default false. */
  hints?: boolean;
}

/** How a part of a schema is rendered. */
interface Detail extends SignatureOptions {
  readonly depth: number;
  readonly references: References;
}

/** Renders a JSON Schema of parameters as `(name: string, count?: number)`. */
export function signatureOf(schema: Schema, options: SignatureOptions = {}): string {
  return `(${fieldsOf(schema, { ...options, depth: options.depth ?? 0, references: new References(schema) })})`;
}

/** Renders the type that a JSON Schema describes, such as `{content: string}`. */
export function typeOf(schema: unknown, depth = 0): string {
  return typeIn(schema, { depth, references: new References(schema) });
}

/** How many references a signature follows: a schema may refer to itself, and in many places. */
const MOST_REFERENCES = 32;

/** Resolves references within a schema, such as `#/$defs/Point`. */
class References {
  readonly #root: unknown;
  #left = MOST_REFERENCES;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** Returns what a schema refers to; undefined if that is unknown, and the schema itself if it is not a reference. */
  follow(schema: unknown): unknown {
    if (!isRecord(schema) || typeof schema.$ref !== "string") return schema;
    const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) ?? [];
    const definitions = isRecord(this.#root) ? this.#root[group] : undefined;
    if (this.#left === 0 || !isRecord(definitions) || !Object.hasOwn(definitions, name)) return undefined;
    this.#left--;
    return definitions[name];
  }
}

function typeIn(schema: unknown, detail: Detail): string {
  if (!isRecord(schema)) return "unknown";
  if (typeof schema.$ref === "string") return typeIn(detail.references.follow(schema), detail);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return [...new Set(variants.map((variant) => typeIn(variant, detail)))].join(" | ");
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1) return typeIn(schema.allOf[0], detail);
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeIn({ ...schema, type }, detail)).join(" | ");
  switch (schema.type) {
    case "integer":
      return "number";
    case "array": {
      const items = detail.references.follow(schema.items);
      const item = typeIn(items, detail);
      return isUnion(items) && item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "object": {
      const { depth } = detail;
      if (depth === 0 || !isRecord(schema.properties)) return "object";
      return `{${fieldsOf(schema, { ...detail, depth: depth - 1 })}}`;
    }
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function isUnion(schema: unknown): boolean {
  return isRecord(schema) && [schema.enum, schema.anyOf, schema.oneOf, schema.type].some(Array.isArray);
}

/** Required fields come first. */
function fieldsOf(schema: Schema, detail: Detail): string {
  const { optionalTypes = true, hints = false } = detail;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const ordered = [...properties].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  return ordered
    .map(([name, property]) => {
      if (!required.has(name) && !optionalTypes) return `${name}?`;
      const field = `${name}${required.has(name) ? "" : "?"}: ${typeIn(property, detail)}`;
      return hints && isRecord(property) ? `${field}${defaultOf(property)}${hintOf(property)}` : field;
    })
    .join(", ");
}

const LONGEST_DEFAULT = 20;

function defaultOf({ default: value }: Schema): string {
  if (!["string", "number", "boolean"].includes(typeof value) || value === "") return "";
  const text = JSON.stringify(value);
  return text.length > LONGEST_DEFAULT ? "" : ` = ${text}`;
}

const LONGEST_HINT = 60;
/** A description is read only this far. */
const LONGEST_READ = 600;
/** Words that say what a value has to look like. */
const FORMAT =
  /\be\.g\.|\b(?:for example|such as|format|yyyy|iso|must|separated|absolute|relative to|between)\b|\bin (?:seconds|milliseconds|minutes|hours|days|pixels|bytes|percent|meters|inches|degrees)\b|\d ?[-–] ?\d/i;

/** Returns the part of a description that says what a value looks like, if it is short; otherwise the schema's format. */
function hintOf({ description, format }: Schema): string {
  const text = typeof description === "string" ? description.slice(0, LONGEST_READ).replace(/\s+/g, " ") : "";
  const clauses = text.split(/[()\n;]|(?<!\be\.g|\bi\.e)\.(?=\s|$)/).map((clause) => clause.trim());
  const told = clauses.find((clause) => clause.length <= LONGEST_HINT && FORMAT.test(clause));
  const hint = told ?? (typeof format === "string" && format.length <= LONGEST_HINT ? format : "");
  return hint === "" ? "" : ` /* ${hint.replaceAll("*/", "")} */`;
}
