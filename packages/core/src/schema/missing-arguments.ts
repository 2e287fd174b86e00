// Arguments that a call lacks. Everything else about them is for the server to judge.
import { isRecord } from "../json.js";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the required parameters that the arguments lack. One with a default does not count: some servers list those
 * as required, too.
 */
export function missingArguments(args: Readonly<Record<string, unknown>>, schema: Schema): string[] {
  const { required, properties } = schema;
  if (!Array.isArray(required)) return [];
  return required.filter((name): name is string => {
    if (typeof name !== "string" || (Object.hasOwn(args, name) && args[name] !== undefined)) return false;
    const property = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return !isRecord(property) || property.default === undefined;
  });
}
