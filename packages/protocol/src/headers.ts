// HTTP headers. `x-mcp-header` of revision 2026-07-28: a tool may ask for some of its arguments to be repeated as headers, so
// that proxies between client and server can route by them. The client sends them; the server refuses a call whose headers
// contradict its body, because proxies have already acted on the headers.
import { isJsonObject, type RpcParams } from "./messages.js";

/** The names of headers, in lower case as Node has them. */
export const HEADERS = {
  protocolVersion: "mcp-protocol-version",
  sessionId: "mcp-session-id",
  method: "mcp-method",
  name: "mcp-name",
} as const;

/** One argument that goes into a header as well. */
export interface ParamHeader {
  /** Where the argument is, by property names from the outside in. */
  readonly path: readonly string[];
  /** The whole name of the header. */
  readonly header: string;
}

/** What a tool's schema says about headers. */
export interface ParamHeaders {
  /** The declarations that are allowed. */
  readonly headers: readonly ParamHeader[];
  /** The first declaration that is not allowed. One makes the whole tool unusable for a client. */
  readonly problem?: string | undefined;
}

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

/** Schemas are large, and both sides need their headers for every call. */
const known = new WeakMap<object, ParamHeaders>();

/** Reads the headers that a tool's schema asks for. */
export function readParamHeaders(inputSchema: unknown): ParamHeaders {
  if (!isJsonObject(inputSchema)) return { headers: [] };
  let read = known.get(inputSchema);
  if (read === undefined) {
    const reader = new DeclarationReader();
    reader.visit(inputSchema, [], true);
    read = reader;
    known.set(inputSchema, read);
  }
  return read;
}

/** The headers of one call. An argument that is absent or null has none. */
export function buildParamHeaders(headers: readonly ParamHeader[], args: RpcParams): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap(({ path, header }) => {
      const text = textOf(valueAt(args, path));
      return text === undefined ? [] : [[header, encodeHeaderText(text)]];
    }),
  );
}

/**
 * How the headers of a call contradict its arguments; undefined if they don't.
 * @param sent the headers, by name in lower case
 */
export function findHeaderMismatch(
  headers: readonly ParamHeader[],
  args: unknown,
  sent: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  for (const { path, header } of headers) {
    const value = valueAt(args, path);
    const text = textOf(value);
    if (text === undefined) continue;
    const given = sent[header.toLowerCase()];
    if (typeof given !== "string") return `${header} is missing, ${path.join(".")} is ${JSON.stringify(value)}`;
    const decoded = decodeHeaderText(given.trim());
    if (decoded === undefined) return `${header} is not encoded as it says`;
    const isSame = typeof value === "number" ? Number(decoded) === value : decoded === text;
    if (!isSame) return `${header} is "${decoded}", ${path.join(".")} is ${JSON.stringify(value)}`;
  }
  return undefined;
}

/** A header's value is plain ASCII without spaces at its ends; everything else travels as base64 of its UTF-8. */
export function encodeHeaderText(text: string): string {
  const isPlain = /^[\x20-\x7e\t]+$/.test(text) && text === text.trim() && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text of a header; undefined if it claims to be base64 and is not. */
export function decodeHeaderText(header: string): string | undefined {
  const encoded = ENCODED.exec(header)?.[1];
  if (encoded === undefined) return header;
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64").toString("utf8") : undefined;
}

class DeclarationReader implements ParamHeaders {
  readonly headers: ParamHeader[] = [];
  problem: string | undefined;
  /** In lower case: headers that differ only in case are the same. */
  readonly #names = new Set<string>();

  /** @param isReachable whether `path` consists of property names alone */
  visit(schema: unknown, path: readonly string[], isReachable: boolean): void {
    if (!isJsonObject(schema)) return;
    if (KEY in schema) this.#take(schema, path, isReachable);
    if (isJsonObject(schema.properties)) {
      for (const [name, property] of Object.entries(schema.properties)) {
        this.visit(property, [...path, name], isReachable);
      }
    }
    for (const { keyword, named } of SCHEMA_LISTS) {
      const value = schema[keyword];
      const below = Array.isArray(value) ? value : named && isJsonObject(value) ? Object.values(value) : [value];
      for (const branch of below) this.visit(branch, [...path, `<${keyword}>`], false);
    }
  }

  #take(schema: RpcParams, path: readonly string[], isReachable: boolean): void {
    const name = schema[KEY];
    const problem = isReachable && path.length > 0 ? this.#problemOf(name, schema.type) : MISPLACED;
    if (problem !== undefined) {
      this.problem ??= `${path.join(".") || "the schema itself"}: ${problem}`;
      return;
    }
    this.#names.add(String(name).toLowerCase());
    this.headers.push({ path, header: `${PREFIX}${name}` });
  }

  #problemOf(name: unknown, type: unknown): string | undefined {
    if (typeof name !== "string" || name === "") return `${KEY} has to be a text that is not empty`;
    if (!TOKEN.test(name)) return `${KEY} ${JSON.stringify(name)} is not the name of a header`;
    if (!TYPES.has(type)) return `${KEY} is allowed only on string, integer and boolean`;
    return this.#names.has(name.toLowerCase()) ? `${KEY} "${name}" is there twice` : undefined;
  }
}

const MISPLACED = `${KEY} is allowed only on properties, however deep, and nowhere else`;

function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), args);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  // Beyond this the digits are no longer those of the number that was meant.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
