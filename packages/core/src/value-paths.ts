// Parses the path of a reference (fields, indexes, slices and maps) and reads it from a value. Pure.
import { isRecord } from "./json.js";

export type Segment =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly start: number | undefined; readonly end: number | undefined }
  | { readonly kind: "map" };

const FIELD = /\.([\p{L}\p{N}_@$-]+)/uy;
const INDEX = /\[\s*(-?\d{1,15})\s*\]/y;
// No two `\s*` next to each other: they would divide a run of spaces in every possible way.
const SLICE = /\[\s*(?:(-?\d{1,15})\s*)?:\s*(?:(-?\d{1,15})\s*)?\]/y;
const MAP = /\[\s*\*\s*\]/y;
const DOUBLE_QUOTED = /\[\s*("(?:[^"\\]|\\.)*")\s*\]/y;
const SINGLE_QUOTED = /\[\s*'([^']*)'\s*\]/y;

/** Parses a text as a path, such as `.items[0].title`; undefined if it isn't one. The empty path is valid. */
export function parsePath(text: string): readonly Segment[] | undefined {
  const segments: Segment[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    const segment = nextSegment(take);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return segments;
}

function nextSegment(take: (pattern: RegExp) => RegExpExecArray | undefined): Segment | undefined {
  const field = take(FIELD);
  if (field !== undefined) return { kind: "field", name: field[1] ?? "" };
  const index = take(INDEX);
  if (index !== undefined) return { kind: "index", index: Number(index[1]) };
  const slice = take(SLICE);
  if (slice !== undefined) return { kind: "slice", start: numberOf(slice[1]), end: numberOf(slice[2]) };
  if (take(MAP) !== undefined) return { kind: "map" };
  const single = take(SINGLE_QUOTED);
  if (single !== undefined) return { kind: "field", name: single[1] ?? "" };
  const quoted = take(DOUBLE_QUOTED);
  return quoted === undefined ? undefined : quotedField(quoted[1] ?? "");
}

function quotedField(text: string): Segment | undefined {
  try {
    return { kind: "field", name: String(JSON.parse(text)) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/**
 * The value at a path. With maps, `missing` counts the items without the requested value; they are null in the result.
 */
export interface PathReading {
  readonly value: unknown;
  readonly missing: number;
}

const NOTHING: PathReading = { value: null, missing: 1 };

/**
 * Follows a path. `[*]` maps over a list, and so does anything after a slice; the result is then one flat list, in
 * order. Missing values are null and counted.
 */
export function readPath(value: unknown, path: readonly Segment[]): PathReading {
  let current = value;
  for (const [at, segment] of path.entries()) {
    const rest = path.slice(at + 1);
    switch (segment.kind) {
      case "field": {
        const found = fieldOf(current, segment.name);
        if (found === undefined) return NOTHING;
        current = found;
        break;
      }
      case "index": {
        if (!Array.isArray(current)) return NOTHING;
        const found: unknown = current.at(segment.index);
        if (found === undefined) return NOTHING;
        current = found;
        break;
      }
      case "slice": {
        if (typeof current === "string") {
          current = sliceText(current, segment.start, segment.end);
          break;
        }
        if (!Array.isArray(current)) return NOTHING;
        const part: unknown[] = current.slice(segment.start, segment.end);
        // `[0:5][1]` is an index into the slice; anything else after a slice applies to each of its items.
        if (rest.length > 0 && rest[0]?.kind === "field") return readEach(part, rest);
        current = part;
        break;
      }
      case "map":
        return Array.isArray(current) ? readEach(current, rest) : NOTHING;
    }
  }
  return { value: current, missing: 0 };
}

function readEach(items: readonly unknown[], rest: readonly Segment[]): PathReading {
  const nested = rest.some(({ kind }) => kind === "map");
  const values: unknown[] = [];
  let missing = 0;
  for (const item of items) {
    const reading = readPath(item, rest);
    missing += reading.missing;
    if (nested && Array.isArray(reading.value)) for (const inner of reading.value) values.push(inner);
    else values.push(reading.value);
  }
  return { value: values, missing };
}

function fieldOf(value: unknown, name: string): unknown {
  if (isRecord(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
  if (Array.isArray(value) && /^\d+$/.test(name)) return value[Number(name)] as unknown;
  return undefined;
}

/** Slices a text by UTF-16 units, but never splits a character. */
function sliceText(text: string, start: number | undefined, end: number | undefined): string {
  return text.slice(wholeCharacter(text, start ?? 0), end === undefined ? undefined : wholeCharacter(text, end));
}

function wholeCharacter(text: string, position: number): number {
  const at = position < 0 ? Math.max(0, text.length + position) : position;
  const splits = at > 0 && at < text.length && isLowSurrogate(text, at) && isHighSurrogate(text, at - 1);
  return splits ? at - 1 : at;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
