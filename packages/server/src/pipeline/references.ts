// References in parameters: text that refers to a value of an earlier step. Only the scope knows where the values come
// from.
import { isRecord, LargeValue, type PathReading, parsePath, readPath, type Segment, wholeOf } from "@trunkline/core";

/** The start of a reference: a step, by position or name, or the item of `for_each`. */
export type ReferenceRoot =
  | { readonly kind: "prev" | "item" | "steps" }
  | { readonly kind: "name"; readonly name: string };

type Reference =
  | { readonly kind: "value"; readonly text: string; readonly root: ReferenceRoot; readonly path: readonly Segment[] }
  /** `$hash:`: the content with an id, which is given directly or by a reference. */
  | { readonly kind: "content"; readonly text: string; readonly id: string | Reference };

/** Provides the values of references. */
export interface ReferenceScope {
  /** Whether an earlier step has this `as` name. */
  hasName(name: string): boolean;
  /**
   * Reads the value of a root and the first segments of its path, and returns it with the rest of the path; undefined
   * if there is no value.
   */
  read(
    root: ReferenceRoot,
    path: readonly Segment[],
    options: { forContent: boolean },
  ): Promise<{ readonly value: unknown; readonly rest: readonly Segment[] } | undefined>;
  /** Reads the content with this id: UTF-8 as text, binary as base64. */
  content(id: string): Promise<string>;
}

/** Parameters with their references resolved. */
interface Resolved<T> {
  readonly value: T;
  /** One warning for each path that does not exist. */
  readonly warnings: readonly string[];
}

/** Names not allowed for `as`, because references start with them. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["prev", "item", "steps", "hash"]);

const ROOT = /^\$([A-Za-z_][A-Za-z0-9_-]*)/;
const HASH = "$hash:";
/** Longer than any real reference, so that malicious text is rejected early. */
const LONGEST_EMBEDDED = 1_000;

/** Parses a whole text as a reference; undefined if it is ordinary text. */
export function parseReference(text: string, hasName: (name: string) => boolean): Reference | undefined {
  if (text.startsWith(HASH)) {
    const target = text.slice(HASH.length).trim();
    if (target === "") return undefined;
    if (!target.startsWith("$")) return { kind: "content", text, id: target };
    const id = parseReference(target, hasName);
    return id === undefined || id.kind === "content" ? undefined : { kind: "content", text, id };
  }
  const name = ROOT.exec(text)?.[1];
  if (name === undefined) return undefined;
  const path = parsePath(text.slice(name.length + 1));
  if (path === undefined) return undefined;
  const root = rootOf(name, path, hasName);
  return root === undefined ? undefined : { kind: "value", text, root, path };
}

function rootOf(name: string, path: readonly Segment[], hasName: (name: string) => boolean): ReferenceRoot | undefined {
  if (name === "prev" || name === "item") return { kind: name };
  if (name === "steps") return path.length > 0 && path[0]?.kind !== "field" ? { kind: "steps" } : undefined;
  return hasName(name) ? { kind: "name", name } : undefined;
}

/** Resolves references in parameters, at any depth. Keys are not changed. */
export async function resolveReferences<T>(params: T, scope: ReferenceScope): Promise<Resolved<T>> {
  if (!mayRefer(params)) return { value: params, warnings: [] };
  const warnings = new Set<string>();
  const value = await resolveIn(params, { scope, warnings });
  return { value: value as T, warnings: [...warnings] };
}

/** Fast check: without a dollar sign there is no reference, and most parameters have none. */
export function mayRefer(value: unknown): boolean {
  if (typeof value === "string") return value.includes("$");
  if (Array.isArray(value)) return value.some(mayRefer);
  if (!isRecord(value)) return false;
  for (const key in value) if (mayRefer(value[key])) return true;
  return false;
}

/** Whether anything in the parameters is a reference. */
export function hasReferences(params: unknown, hasName: (name: string) => boolean): boolean {
  return mayRefer(params) && referencesIn(params, hasName).length > 0;
}

/** Lists the references in parameters, as written. */
export function referencesIn(params: unknown, hasName: (name: string) => boolean): string[] {
  if (typeof params === "string") {
    const whole = params.startsWith("$$") ? undefined : parseReference(params, hasName);
    if (whole !== undefined) return [whole.text];
    return embeddedIn(params, hasName).flatMap(({ reference }) => (reference === undefined ? [] : [reference.text]));
  }
  if (Array.isArray(params)) return params.flatMap((item) => referencesIn(item, hasName));
  return isRecord(params) ? Object.values(params).flatMap((item) => referencesIn(item, hasName)) : [];
}

interface Resolving {
  readonly scope: ReferenceScope;
  readonly warnings: Set<string>;
}

async function resolveIn(value: unknown, resolving: Resolving): Promise<unknown> {
  if (!mayRefer(value)) return value;
  if (typeof value === "string") return await resolveText(value, resolving);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await resolveIn(item, resolving));
    return items;
  }
  if (!isRecord(value)) return value;
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) fields.push([key, await resolveIn(field, resolving)]);
  return Object.fromEntries(fields);
}

async function resolveText(text: string, resolving: Resolving): Promise<unknown> {
  const hasName = (name: string) => resolving.scope.hasName(name);
  if (text.startsWith("$$")) return await fillIn(text.slice(1), resolving);
  const reference = parseReference(text, hasName);
  if (reference !== undefined) return await valueBehind(reference, resolving);
  const note = noteOnText(text, hasName);
  if (note !== undefined) resolving.warnings.add(note);
  return await fillIn(text, resolving);
}

const SIGN = /\$(?:\{\s*)?([A-Za-z_][A-Za-z0-9_-]*)(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[^\]\s]{1,20}\])*/g;
/** What looks like a reference to a step with a name: a field or an item of it. */
const NAMED = /^\$([A-Za-z_][A-Za-z0-9_-]*)(?:\.[A-Za-z_]|\[)/;
/** A text longer than this is a document, where a dollar sign means something else. */
const LONGEST_NOTED = 2_000;

/** Explains a text that looks as if it was meant to have a reference in it, but is used as it is. */
function noteOnText(text: string, hasName: (name: string) => boolean): string | undefined {
  if (text.length > LONGEST_NOTED) return undefined;
  const root = text.includes(" ") ? undefined : NAMED.exec(text)?.[1];
  if (root !== undefined && isRoot(root, hasName)) {
    return `${text} was used as text: a path has only .field, [0], [0:3] and [*].`;
  }
  if (root !== undefined && !RESERVED_NAMES.has(root)) {
    return `${text} was used as text: no earlier step has "as": "${root}".`;
  }
  for (const { 0: written, 1: name = "", index } of text.matchAll(SIGN)) {
    // `{{$…}}` is filled in, and `$$` stands for a dollar sign.
    if (/(?:\{\{\s*|\$)$/.test(text.slice(0, index)) || !isRoot(name, hasName)) continue;
    const path = written.replace(/^\$\{\s*/, "$");
    return `${path} inside a text was used as it is; {{${path}}} inserts the value.`;
  }
  return undefined;
}

function isRoot(name: string, hasName: (name: string) => boolean): boolean {
  return name === "prev" || name === "item" || hasName(name);
}

/** Fills in `{{$…}}`. If the text consists of a single reference, returns its value with its type. */
async function fillIn(text: string, resolving: Resolving): Promise<unknown> {
  if (!text.includes("{{")) return text;
  const found = embeddedIn(text, (name) => resolving.scope.hasName(name));
  const [only] = found;
  if (only?.reference !== undefined && only.start === 0 && only.end === text.length) {
    return await valueBehind(only.reference, resolving);
  }
  let filled = "";
  let at = 0;
  for (const { start, end, reference, literal } of found) {
    filled += text.slice(at, start);
    filled += reference === undefined ? literal : asText(await valueBehind(reference, resolving));
    at = end;
  }
  return filled + text.slice(at);
}

interface Embedded {
  readonly start: number;
  readonly end: number;
  /** Undefined for `{{$$…}}`, which is the escape for `{{$…}}`. */
  readonly reference: Reference | undefined;
  readonly literal: string;
}

function embeddedIn(text: string, hasName: (name: string) => boolean): Embedded[] {
  const found: Embedded[] = [];
  for (let start = text.indexOf("{{"); start !== -1; ) {
    const end = endOfEmbedded(text, start + 2);
    const inner = end === undefined ? "" : text.slice(start + 2, end - 2).trim();
    const isLiteral = inner.startsWith("$$");
    const reference = isLiteral || !inner.startsWith("$") ? undefined : parseReference(inner, hasName);
    if (end !== undefined && (isLiteral || reference !== undefined)) {
      const literal = isLiteral ? text.slice(start, end).replace("$$", () => "$") : "";
      found.push({ start, end, reference, literal });
      start = text.indexOf("{{", end);
    } else {
      start = text.indexOf("{{", start + 1);
    }
  }
  return found;
}

/** Finds the end of the braces that opened before `start`; ignores braces in quoted keys. */
function endOfEmbedded(text: string, start: number): number | undefined {
  const last = Math.min(text.length, start + LONGEST_EMBEDDED);
  let quote = "";
  for (let at = start; at < last; at++) {
    const char = text.charAt(at);
    if (quote !== "") {
      if (char === "\\" && quote === '"') at++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "{") return undefined;
    else if (char === "}") return text.charAt(at + 1) === "}" ? at + 2 : undefined;
  }
  return undefined;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function valueBehind(reference: Reference, resolving: Resolving): Promise<unknown> {
  if (reference.kind === "content") return await contentOf(reference, resolving);
  return await readReference(reference, resolving, { forContent: false });
}

async function contentOf(reference: Reference & { kind: "content" }, resolving: Resolving): Promise<unknown> {
  const id =
    typeof reference.id === "string"
      ? reference.id
      : reference.id.kind === "content"
        ? null
        : await readReference(reference.id, resolving, { forContent: true });
  if (typeof id === "string") return await resolving.scope.content(id);
  if (id !== null) resolving.warnings.add(`${reference.text} is not a content id.`);
  return null;
}

async function readReference(
  reference: Reference & { kind: "value" },
  { scope, warnings }: Resolving,
  options: { forContent: boolean },
): Promise<unknown> {
  const found = await scope.read(reference.root, reference.path, options);
  const reading = found === undefined ? undefined : await readIn(found.value, found.rest);
  if (reading === undefined || reading.missing > 0) {
    const known = found === undefined || Array.isArray(reading?.value) ? "" : whatIsThere(reference, found);
    warnings.add(warningFor(reference.text, reading) + known);
  }
  return reading === undefined ? null : reading.value;
}

/** Follows a path. Of a large value, only what the path leads to is built here. */
async function readIn(value: unknown, path: readonly Segment[]): Promise<PathReading> {
  if (!(value instanceof LargeValue)) return readPath(value, path);
  const reading = await value.read(path);
  return { value: await wholeOf(reading.value), missing: reading.missing };
}

const MOST_NAMED = 12;
const LONGEST_NAME = 60;

/** Says what is at the end of the part of the path that exists. Only looks into values on this thread. */
function whatIsThere(
  { text, path }: Reference & { kind: "value" },
  { value, rest }: { readonly value: unknown; readonly rest: readonly Segment[] },
): string {
  if (value instanceof LargeValue) return "";
  for (let length = rest.length - 1; length >= 0; length--) {
    const { value: parent, missing } = readPath(value, rest.slice(0, length));
    if (missing > 0) continue;
    const existing = path.slice(0, path.length - rest.length + length);
    const place = (ROOT.exec(text)?.[0] ?? "") + existing.map(asWritten).join("");
    if (Array.isArray(parent)) return ` ${place} is a list of ${parent.length}.`;
    if (!isRecord(parent)) return ` ${place} is ${typeof parent === "string" ? "text" : JSON.stringify(parent)}.`;
    const names = Object.keys(parent);
    const named = names.slice(0, MOST_NAMED).map((name) => name.slice(0, LONGEST_NAME));
    return names.length === 0 ? "" : ` ${place} has ${named.join(", ")}${names.length > MOST_NAMED ? ", …" : ""}.`;
  }
  return "";
}

function asWritten(segment: Segment): string {
  switch (segment.kind) {
    case "field":
      return `.${segment.name.slice(0, LONGEST_NAME)}`;
    case "index":
      return `[${segment.index}]`;
    case "slice":
      return `[${segment.start ?? ""}:${segment.end ?? ""}]`;
    case "map":
      return "[*]";
  }
}

function warningFor(text: string, reading: { value: unknown; missing: number } | undefined): string {
  if (reading !== undefined && Array.isArray(reading.value) && reading.value.length > 0) {
    return `${text} is missing in ${reading.missing} of ${reading.value.length} items; null was used.`;
  }
  return `${text} does not exist; null was used.`;
}
