import { isRecord, messageOf, nearestNames, signatureOf, TrunklineError } from "@trunkline/core";
import { missingArguments } from "@trunkline/core/schema";

interface WrittenArguments {
  pairs: readonly string[];
  /** The text of `--input`. */
  input?: string;
  /** The file it was read from, or `<stdin>`. */
  inputPlace?: string;
}

/**
 * Parses the arguments of a call. `key=value` is converted to the parameter's type in the schema, or stays text;
 * `key:=value` is JSON; `--input` is the whole object, and pairs override it.
 */
export function readCallArguments(
  given: WrittenArguments,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const args = given.input === undefined ? {} : parseObject(given.input, given.inputPlace);
  const written = new Set<string>();
  const properties = isRecord(schema.properties) ? schema.properties : {};
  for (const pair of given.pairs) {
    const equals = pair.indexOf("=");
    if (equals <= 0 || pair.startsWith(":=")) {
      const listed = Object.keys(properties).join(", ");
      throw new TrunklineError("USAGE", `"${pair}" is not an argument.`, {
        hint: /^\s*[{[]/.test(pair)
          ? "Pass all arguments as one JSON object with --input."
          : `Use key=value for text, or key:=value for JSON.${listed === "" ? "" : ` Parameters: ${listed}.`}`,
      });
    }
    const isJson = pair[equals - 1] === ":";
    const key = pair.slice(0, isJson ? equals - 1 : equals);
    const text = pair.slice(equals + 1);
    if (written.has(key))
      throw new TrunklineError("USAGE", `"${key}" is given twice.`, { hint: `For a list use ${key}:='["a", "b"]'.` });
    written.add(key);
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    // Assigning `__proto__` would change the prototype, and the server would not get the argument.
    Object.defineProperty(args, key, {
      value: isJson ? parseValue(key, text) : coerce(key, text, property),
      ...{ enumerable: true, configurable: true, writable: true },
    });
  }
  return args;
}

/**
 * Returns a warning about arguments the tool does not list, or undefined if there are none or the tool accepts any.
 * Servers often ignore unknown arguments, so a typo would go unnoticed.
 */
export function unlistedArguments(
  args: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isRecord(schema.properties) || schema.additionalProperties !== undefined || "patternProperties" in schema)
    return;
  const listed = Object.keys(schema.properties);
  const unlisted = Object.keys(args).filter((name) => !listed.includes(name));
  if (unlisted.length === 0) return;
  const [nearest] = unlisted.flatMap((name) => nearestNames(name, listed));
  const names = unlisted.map((name) => `"${name}"`).join(", ");
  if (nearest !== undefined) return `The tool has no argument ${names}. Did you mean "${nearest}"?`;
  return `The tool has no argument ${names}. It has ${listed.length === 0 ? "none" : listed.join(", ")}.`;
}

/** Refuses a call that lacks arguments, before the server does it in its own words. */
export function requireArguments(
  name: string,
  args: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): void {
  const missing = missingArguments(args, schema);
  if (missing.length === 0) return;
  const names = missing.map((each) => `"${each}"`).join(" and ");
  const example = missing.map((each) => `${each}=…`).join(" ");
  throw new TrunklineError("USAGE", `${name} needs the ${missing.length === 1 ? "argument" : "arguments"} ${names}.`, {
    hint: `Add ${example}. The tool is ${name}${signatureOf(schema)}.`,
  });
}

function coerce(key: string, text: string, property: unknown): unknown {
  const types = isRecord(property) ? [property.type].flat() : [];
  if (types.length === 0 || types.includes("string") || types[0] === undefined) return text;
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if ((types.includes("number") || types.includes("integer")) && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (types.includes("null") && text === "null") return null;
  if (types.includes("array") || types.includes("object")) return parseValue(key, text);
  throw new TrunklineError("USAGE", `"${key}" must be of type ${types.join(" or ")}, and "${text}" is not.`);
}

function parseValue(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TrunklineError("USAGE", `The value of "${key}" is not JSON: ${messageOf(error)}`, {
      cause: error,
      hint: `Quote it for the shell, for example '${key}:={"a": 1}'.`,
    });
  }
}

function parseObject(text: string, place = "--input"): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new TrunklineError("USAGE", `${place} is not JSON: ${messageOf(error)}`, {
      cause: error,
      hint: `For example: --input '{"name": "Ada"}', or --input @file.json`,
    });
  }
  if (isRecord(value)) return { ...value };
  throw new TrunklineError("USAGE", `${place} has to be an object with the tool's parameters.`, {
    hint: `For example: --input '{"name": "Ada"}', or --input @file.json`,
  });
}
