// Checks the types of parameters for programs that are not type-checked. The server validates what clients send against
// the same table, and operations check the values.
import { TrunklineError } from "@trunkline/core";
import { OPERATIONS, type OperationName } from "./operations.js";
import { camelCase } from "./wire.js";

/** How a message names the types of JSON Schema that a parameter can have. */
const TYPES: Readonly<Record<string, { readonly name: string; readonly fits: (value: unknown) => boolean }>> = {
  // Programs pass content as bytes, too.
  string: { name: "a string", fits: (value) => typeof value === "string" || value instanceof Uint8Array },
  boolean: { name: "true or false", fits: (value) => typeof value === "boolean" },
  integer: { name: "a number", fits: (value) => typeof value === "number" },
  number: { name: "a number", fits: (value) => typeof value === "number" },
  array: { name: "an array", fits: Array.isArray },
};

/** Throws `INVALID_ARGUMENT` if a parameter of an operation is missing or has the wrong type. */
export function requireParams(operation: OperationName, params: object): void {
  const method = camelCase(operation);
  if (typeof params !== "object" || params === null) {
    throw new TrunklineError("INVALID_ARGUMENT", `${method} takes an object with its parameters.`);
  }
  const given: Readonly<Record<string, unknown>> = { ...params };
  for (const [name, { schema, required }] of Object.entries(OPERATIONS[operation].params)) {
    const key = camelCase(name);
    const value = given[key];
    if (value === undefined && !required) continue;
    const type = TYPES[String(schema.type)];
    if (value !== undefined && (type === undefined || type.fits(value))) continue;
    const needed =
      type === undefined ? "is required" : `must be ${type.name}, not ${value === null ? null : typeof value}`;
    throw new TrunklineError("INVALID_ARGUMENT", `${key} of ${method} ${needed}.`);
  }
}
