// A tool's parameters as a TypeScript programmer would write them.
import { isRecord } from "@trunkline/core";

type Schema = Readonly<Record<string, unknown>>;

/** `(name?: string, count?: number)` for a JSON Schema of parameters. */
export function signatureOf(schema: Schema): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const ordered = [...properties].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  return `(${ordered.map(([name, property]) => `${name}${required.has(name) ? "" : "?"}: ${typeOf(property)}`).join(", ")})`;
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return "unknown";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return [...new Set(variants.map(typeOf))].join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "integer":
      return "number";
    case "array": {
      const item = typeOf(schema.items);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "object":
      return schema.type;
    default:
      return "unknown";
  }
}
