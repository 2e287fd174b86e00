// Generates arguments for an unknown tool: the simplest values its schema allows.

/**
 * Builds an object that satisfies a tool's input schema, as far as basic types go.
 * @param {Readonly<Record<string, unknown>>} schema
 * @returns {Record<string, unknown>}
 */
export function exampleOf(schema) {
  const properties = /** @type {Record<string, Record<string, unknown>>} */ (schema.properties ?? {});
  const required = /** @type {string[]} */ (schema.required ?? []);
  return Object.fromEntries(required.map((name) => [name, exampleValue(properties[name] ?? {})]));
}

/**
 * @param {Readonly<Record<string, unknown>>} schema
 * @returns {unknown}
 */
function exampleValue(schema) {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case "object":
      return exampleOf(schema);
    case "array":
      return [];
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "example";
  }
}
