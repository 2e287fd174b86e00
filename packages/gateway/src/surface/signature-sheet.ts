// A sheet of signatures in the descriptions of `query` and `execute`: with it a model runs an upstream tool as an
// operation right away, for a fifth of what a definition costs. A tool whose signature would be long, incomplete or
// unusual is left out; `describe` finds it.
import { isRecord } from "@trunkline/core";
import type { ServedTool } from "../interfaces/served-tool.js";
import { estimateTokens } from "../journal/token-counter.js";

type Definition = ServedTool["definition"];
type Schema = Readonly<Record<string, unknown>>;

export interface SheetTool {
  readonly server: string;
  /** As `<server>.<tool>`. */
  readonly name: string;
  readonly isReadOnly: boolean;
  /** See {@link sheetSignature}. */
  readonly signature: string | undefined;
}

/** The sheet becomes part of our own descriptions, so a server contributes nothing but identifiers and short values. */
const IDENTIFIER = /^[A-Za-z_][\w-]{0,39}$/;
const VALUE = /^[\w .:/-]{1,24}$/;
const MOST_VALUES = 6;
const MOST_DEPTH = 3;
/** In characters. */
const LONGEST_SIGNATURE = 120;
/** Keywords that constrain parameters in ways a signature does not show. */
const UNUSUAL = ["allOf", "anyOf", "oneOf", "not", "$ref", "if", "patternProperties", "dependentRequired"];

const HEADING = "Run these right away, as server.tool (parameters without a type are strings):";

/**
 * Chooses the tools for the sheet, as `<server>.<tool>`: all of them if they fit, otherwise those of the servers that are
 * used here, the most used first.
 */
export function chooseSigned(
  tools: readonly SheetTool[],
  { weightOf, maxTokens }: { readonly weightOf: (name: string) => number; readonly maxTokens: number },
): ReadonlySet<string> {
  const usage = new Map<string, number>();
  for (const { server, name } of tools) usage.set(server, (usage.get(server) ?? 0) + weightOf(name));
  const signed = tools.flatMap(({ server, name, signature }) =>
    signature === undefined
      ? []
      : [{ name, tokens: estimateTokens(`${signature}, `), weight: weightOf(name), usage: usage.get(server) ?? 0 }],
  );
  const all = signed.reduce((sum, { tokens }) => sum + tokens, 0);
  const candidates = all <= maxTokens ? signed : signed.filter((tool) => tool.usage > 0);
  candidates.sort((a, b) => b.weight - a.weight || b.usage - a.usage || compare(a, b));
  let left = maxTokens;
  const chosen = candidates.filter(({ tokens }) => {
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  return new Set(chosen.map(({ name }) => name));
}

/** Appends the signatures of these tools to the descriptions: to `query` those that read, to `execute` the others. */
export function withSheet(definitions: readonly Definition[], tools: readonly SheetTool[]): readonly Definition[] {
  const sheets: Readonly<Record<string, string>> = {
    query: sheetOf(tools.filter(({ isReadOnly }) => isReadOnly)),
    execute: sheetOf(tools.filter(({ isReadOnly }) => !isReadOnly)),
  };
  return definitions.map((definition) => {
    const sheet = sheets[definition.name] ?? "";
    return sheet === "" ? definition : { ...definition, description: `${definition.description} ${sheet}` };
  });
}

/** Returns a heading and one line per server. Sorted, so that the sheet changes only if its tools do. */
function sheetOf(tools: readonly SheetTool[]): string {
  const lines = new Map<string, string[]>();
  for (const { server, signature } of [...tools].sort(compare)) {
    if (signature !== undefined) lines.set(server, [...(lines.get(server) ?? []), signature]);
  }
  const texts = [...lines].map(([server, signatures]) => `${server}: ${signatures.join(", ")}`);
  return texts.length === 0 ? "" : [HEADING, ...texts].join("\n");
}

/** Independent of the locale. */
function compare(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Returns `tool(path, limit?: number)`, or undefined if the parameters do not fit a short signature. */
export function sheetSignature({ server, tool }: { server: string; tool: string }, schema: Schema): string | undefined {
  if (!IDENTIFIER.test(server) || !IDENTIFIER.test(tool)) return undefined;
  const fields = fieldsOf(schema, MOST_DEPTH);
  if (fields === undefined) return undefined;
  const text = `${tool}(${fields})`;
  return text.length > LONGEST_SIGNATURE ? undefined : text;
}

/** Required fields come first. */
function fieldsOf(schema: Schema, depth: number): string | undefined {
  if (UNUSUAL.some((key) => schema[key] !== undefined)) return undefined;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const ordered = properties.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const fields: string[] = [];
  for (const [name, property] of ordered) {
    const type = typeOf(property, depth);
    if (type === undefined || !IDENTIFIER.test(name)) return undefined;
    fields.push(`${name}${required.has(name) ? "" : "?"}${type}`);
  }
  return fields.join(", ");
}

/** Returns the type with its separator, empty for a string. */
function typeOf(schema: unknown, depth: number): string | undefined {
  if (!isRecord(schema) || depth === 0 || UNUSUAL.some((key) => schema[key] !== undefined)) return undefined;
  if (schema.const !== undefined) return undefined;
  if (schema.enum !== undefined) return valuesOf(schema.enum);
  switch (schema.type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return ": number";
    case "boolean":
      return ": boolean";
    case "array": {
      const item = typeOf(schema.items, depth);
      return item === undefined || item.includes("|") ? undefined : `${item}[]`;
    }
    case "object": {
      const fields = isRecord(schema.properties) ? fieldsOf(schema, depth - 1) : undefined;
      return fields === undefined ? undefined : `: {${fields}}`;
    }
    default:
      return undefined;
  }
}

function valuesOf(values: unknown): string | undefined {
  if (!Array.isArray(values) || values.length === 0 || values.length > MOST_VALUES) return undefined;
  if (!values.every((value) => typeof value === "string" && VALUE.test(value))) return undefined;
  return `: ${values.map((value) => JSON.stringify(value)).join("|")}`;
}
