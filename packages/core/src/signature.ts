// Renders a tool's parameters as a TypeScript signature.
import { isRecord } from "./json.js";

type Schema = Readonly<Record<string, unknown>>;

/** How detailed a signature is. */
export interface SignatureOptions {
  /** How many levels of nested objects are written out; deeper ones are `object`. Default 0. */
  depth?: number;
  /** Whether optional parameters have types too. Default true. */
  optionalTypes?: boolean;
}

/** Renders a JSON Schema of parameters as `(name: string, count?: number)`. */
export function signatureOf(schema: Schema, options: SignatureOptions = {}): string {
  return `(${fieldsOf(schema, options)})`;
}

/** Renders the type that a JSON Schema describes, such as `{content: string}`. */
export function typeOf(schema: unknown, depth = 0): string {
  if (!isRecord(schema)) return "unknown";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return [...new Set(variants.map((variant) => typeOf(variant, depth)))].join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, depth)).join(" | ");
  switch (schema.type) {
    case "integer":
      return "number";
    case "array": {
      const item = typeOf(schema.items, depth);
      return isUnion(schema.items) && item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return depth > 0 && isRecord(schema.properties) ? `{${fieldsOf(schema, { depth: depth - 1 })}}` : "object";
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
function fieldsOf(schema: Schema, { depth = 0, optionalTypes = true }: SignatureOptions): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const ordered = [...properties].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  return ordered
    .map(([name, property]) => {
      if (required.has(name)) return `${name}: ${typeOf(property, depth)}`;
      return optionalTypes ? `${name}?: ${typeOf(property, depth)}` : `${name}?`;
    })
    .join(", ");
}
