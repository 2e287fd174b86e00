// HTTP headers. `x-mcp-header` (revision 2026-07-28): a tool can ask for some of its arguments to be repeated as
// headers, so that proxies between client and server can route by them. The client sends them; the server rejects a
// call whose headers contradict its body, because proxies have already acted on the headers.
import { isJsonObject, type RpcParams } from "./messages.js";

/** Header names in lower case, as in Node. */
export const HEADERS = {
  protocolVersion: "mcp-protocol-version",
  sessionId: "mcp-session-id",
  method: "mcp-method",
  name: "mcp-name",
} as const;

/** An argument that is also sent as a header. */
interface ParamHeader {
  /** Property names that lead to the argument, outermost first. */
  readonly path: readonly string[];
  /** The full header name. */
  readonly header: string;
}

/** The headers that a tool's schema declares. */
interface ParamHeaders {
  /** The valid declarations. */
  readonly headers: readonly ParamHeader[];
  /** The first invalid declaration. A single one makes the tool unusable for clients. */
  readonly problem?: string;
}

const KEY = "x-mcp-header";
const PREFIX = "Mcp-Param-";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Below these keywords a property may be absent or vary, so no header can be derived from it. */
const SCHEMA_LISTS = ["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties"]
  .concat(["unevaluatedItems", "propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"])
  .map((keyword) => ({ keyword, named: false }))
  .concat(
    ["patternProperties", "dependentSchemas", "$defs", "definitions"].map((keyword) => ({ keyword, named: true })),
  );

/** Schemas are large, and both sides need their headers for every call, so they are cached. */
const known = new WeakMap<object, ParamHeaders>();

/** Reads the headers that a tool's schema declares. */
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

/** Builds the headers of one call. An absent or null argument has none. */
export function buildParamHeaders(headers: readonly ParamHeader[], args: RpcParams): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap(({ path, header }) => {
      const text = textOf(valueAt(args, path));
      return text === undefined ? [] : [[header, encodeHeaderText(text)]];
    }),
  );
}

/**
 * Describes how the headers of a call contradict its arguments; undefined if they don't.
 * @param sent the headers, by lower-case name
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
    if (typeof given !== "string") return `${header} is missing, but ${path.join(".")} is ${JSON.stringify(value)}`;
    const decoded = decodeHeaderText(given.trim());
    if (decoded === undefined) return `${header} is not valid base64`;
    const isSame = typeof value === "number" ? Number(decoded) === value : decoded === text;
    if (!isSame) return `${header} is "${decoded}", but ${path.join(".")} is ${JSON.stringify(value)}`;
  }
  return undefined;
}

/** Header values are plain ASCII without leading or trailing spaces; anything else is sent as base64 of its UTF-8. */
export function encodeHeaderText(text: string): string {
  const isPlain = /^[\x20-\x7e\t]+$/.test(text) && text === text.trim() && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes a header value; undefined if it claims to be base64 but isn't. */
export function decodeHeaderText(header: string): string | undefined {
  const encoded = ENCODED.exec(header)?.[1];
  if (encoded === undefined) return header;
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64").toString("utf8") : undefined;
}

class DeclarationReader implements ParamHeaders {
  readonly headers: ParamHeader[] = [];
  problem: string | undefined;
  /** In lower case, since header names are case-insensitive. */
  readonly #names = new Set<string>();

  /** @param isReachable whether `path` consists only of property names */
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
    if (typeof name !== "string" || name === "") return `${KEY} has to be a non-empty string`;
    if (!TOKEN.test(name)) return `${KEY} ${JSON.stringify(name)} is not a valid header name`;
    if (!TYPES.has(type)) return `${KEY} is allowed only on string, integer and boolean`;
    return this.#names.has(name.toLowerCase()) ? `${KEY} "${name}" is used twice` : undefined;
  }
}

const MISPLACED = `${KEY} is allowed only on properties, at any depth`;

function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), args);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  // Larger integers have already lost precision, so their digits may be wrong.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
