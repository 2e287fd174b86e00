// `x-mcp-header` of revision 2026-07-28: a tool may ask that some of its arguments are repeated as HTTP headers, so that what
// stands between client and server can route by them. The SDK does this only inside its own `callTool`, which strips what it
// does not know; the rules here are the specification's.
import { isRecord } from "@trunkline/core";

/** One argument that goes into a header as well. */
export interface ParamHeader {
  /** Where the argument is, by property names from the outside in. */
  readonly path: readonly string[];
  /** The whole name of the header. */
  readonly header: string;
}

/** What a tool's schema says about headers; `problem` where it says something that is not allowed. */
export type ParamHeaders = { readonly headers: readonly ParamHeader[] } | { readonly problem: string };

const KEY = "x-mcp-header";
const PREFIX = "Mcp-Param-";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Below these a property is not always there, or not always the same one: no header can be derived from it. */
const SCHEMA_LISTS = ["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties"]
  .concat(["unevaluatedItems", "propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"])
  .map((keyword) => ({ keyword, named: false }))
  .concat(
    ["patternProperties", "dependentSchemas", "$defs", "definitions"].map((keyword) => ({ keyword, named: true })),
  );

/** Reads the headers that a tool's schema asks for. One declaration that is not allowed makes the whole tool unusable. */
export function readParamHeaders(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  const problem = visit(inputSchema, { path: [], reachable: true, headers, names: new Set() });
  return problem === undefined ? { headers } : { problem };
}

/** The headers of one call. An argument that is absent or null has none. */
export function buildParamHeaders(
  headers: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap(({ path, header }) => {
      const text = textOf(path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), args));
      return text === undefined ? [] : [[header, encode(text)]];
    }),
  );
}

interface Visit {
  readonly path: readonly string[];
  /** Reached by property names alone. */
  readonly reachable: boolean;
  readonly headers: ParamHeader[];
  /** In lower case: headers that differ only in case are the same. */
  readonly names: Set<string>;
}

function visit(schema: unknown, at: Visit): string | undefined {
  if (!isRecord(schema)) return undefined;
  if (KEY in schema) {
    const problem = take(schema, at);
    if (problem !== undefined) return `${at.path.join(".") || "the schema itself"}: ${problem}`;
  }
  if (isRecord(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      const problem = visit(property, { ...at, path: [...at.path, name] });
      if (problem !== undefined) return problem;
    }
  }
  for (const { keyword, named } of SCHEMA_LISTS) {
    const value = schema[keyword];
    const below = Array.isArray(value) ? value : named && isRecord(value) ? Object.values(value) : [value];
    for (const branch of below) {
      const problem = visit(branch, { ...at, path: [...at.path, `<${keyword}>`], reachable: false });
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function take(schema: Record<string, unknown>, { path, reachable, headers, names }: Visit): string | undefined {
  const name = schema[KEY];
  if (!reachable || path.length === 0) return `${KEY} is allowed only on properties, however deep, and nowhere else`;
  if (typeof name !== "string" || name === "") return `${KEY} has to be a text that is not empty`;
  if (!TOKEN.test(name)) return `${KEY} ${JSON.stringify(name)} is not the name of a header`;
  if (!TYPES.has(schema.type)) return `${KEY} is allowed only on string, integer and boolean`;
  if (names.has(name.toLowerCase())) return `${KEY} "${name}" is there twice`;
  names.add(name.toLowerCase());
  headers.push({ path, header: `${PREFIX}${name}` });
  return undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  // Beyond this the digits are no longer those of the number that was meant.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** A header's value is plain ASCII without spaces at its ends; everything else travels as base64 of its UTF-8. */
function encode(text: string): string {
  const plain = /^[\x20-\x7e\t]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
