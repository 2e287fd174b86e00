// `x-mcp-header` of revision 2026-07-28: arguments that a tool wants repeated as headers, so that what stands between client and
// server can route by them. What is in between went by the header, so one that says something else than the body is refused.
import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "@trunkline/core";
import type { RpcParams } from "../protocol/messages.js";
import { decodeHeader } from "./header-text.js";

interface ParamHeader {
  readonly path: readonly string[];
  /** In lower case, as Node has them. */
  readonly header: string;
}

const NONE: readonly ParamHeader[] = [];
/** Schemas are large and calls are many. */
const known = new WeakMap<object, readonly ParamHeader[]>();

/** What is wrong with the headers of a call, given the tool's schema; undefined where nothing is. */
export function paramHeaderProblem(schema: RpcParams, args: unknown, headers: IncomingHttpHeaders): string | undefined {
  let declared = known.get(schema);
  if (declared === undefined) {
    declared = declarationsOf(schema, []);
    known.set(schema, declared.length === 0 ? NONE : declared);
  }
  for (const { path, header } of declared) {
    const value = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), args);
    const text = textOf(value);
    if (text === undefined) continue;
    const given = headers[header];
    if (typeof given !== "string") return `${header} is missing, ${path.join(".")} is ${JSON.stringify(value)}`;
    const decoded = decodeHeader(given.trim());
    if (decoded === undefined) return `${header} is not encoded as it says`;
    const isSame = typeof value === "number" ? Number(decoded) === value : decoded === text;
    if (!isSame) return `${header} is "${decoded}", ${path.join(".")} is ${JSON.stringify(value)}`;
  }
  return undefined;
}

/** Only properties that are always where they are can be repeated: those below properties alone. */
function declarationsOf(schema: RpcParams, path: readonly string[]): ParamHeader[] {
  const name = schema["x-mcp-header"];
  const own = typeof name === "string" && path.length > 0 ? [{ path, header: `mcp-param-${name.toLowerCase()}` }] : [];
  if (!isRecord(schema.properties)) return own;
  const below = Object.entries(schema.properties).flatMap(([key, property]) =>
    isRecord(property) ? declarationsOf(property, [...path, key]) : [],
  );
  return [...own, ...below];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isFinite(value) ? String(value) : undefined;
}
