// Shrinks a large JSON value: small parts stay whole, while the longest lists and texts are cut to their beginning.
import { isRecord } from "./json.js";
import { countOf, fieldsOf, itemsOf, type Span, spanKind, spanValue, textHead } from "./json-bytes.js";

/** What was cut and where: `results: 12 of 4000 items`. */
type Cut = string;

export interface Shrunk {
  readonly value: unknown;
  readonly cuts: readonly Cut[];
}

/** A list shows at least this many items, truncated if necessary, rather than one in full. */
const LEAST_ITEMS = 8;
/** Below this size a truncated value is useless. */
const LEAST_BYTES = 12;
/** The maximum number of cuts to report. */
const MOST_CUTS = 4;
const MOST_DEPTH = 64;
/** Half a path or half a hash is worse than none, so a text up to this length is shown in full or not at all. */
const SHORT_TEXT = 100;

/** Shrinks a value until its JSON has at most about `maxBytes` bytes. Measures parts only as far as needed. */
export function shrink(value: unknown, maxBytes: number): Shrunk {
  const cuts: Cut[] = [];
  return { value: shrinkValue(value, { shape: PLAIN, maxBytes, cuts, place: "", depth: 0 }) ?? null, cuts };
}

/** Shrinks a value in a JSON text, building only the parts that remain. */
export function shrinkSpan(span: Span, maxBytes: number): Shrunk {
  const cuts: Cut[] = [];
  return { value: shrinkValue(span, { shape: IN_BYTES, maxBytes, cuts, place: "", depth: 0 }) ?? null, cuts };
}

/** How to look at a value that is being shrunk. */
interface Shape<T> {
  kindOf(value: T): "list" | "record" | "text" | "other";
  /** Its size as JSON; may stop counting after the limit. */
  bytesOf(value: T, limit: number): number;
  /** The value itself. */
  plain(value: T): unknown;
  itemsOf(list: T): Iterable<T>;
  fieldsOf(record: T): Iterable<readonly [string, T]>;
  /** A beginning of a text whose JSON has at least this many bytes, if there are as many. */
  headOf(text: T, leastBytes: number): string;
  /** The number of items, fields or UTF-16 units. */
  countOf(value: T): number;
}

const PLAIN: Shape<unknown> = {
  kindOf: (value) =>
    typeof value === "string" ? "text" : Array.isArray(value) ? "list" : isRecord(value) ? "record" : "other",
  bytesOf: jsonBytes,
  plain: (value) => value,
  itemsOf: (list) => list as readonly unknown[],
  fieldsOf: function* (record) {
    for (const key of Object.keys(record as object)) yield [key, (record as Record<string, unknown>)[key]];
  },
  headOf: (text) => text as string,
  countOf: (value) =>
    Array.isArray(value) || typeof value === "string" ? value.length : Object.keys(value as object).length,
};

/** A character of one byte may be written as an escape of six. */
const LONGEST_CHARACTER = 6;

const IN_BYTES: Shape<Span> = {
  kindOf: spanKind,
  bytesOf: ({ start, end }) => end - start,
  plain: spanValue,
  itemsOf,
  fieldsOf,
  headOf: (text, leastBytes) => textHead(text, leastBytes * LONGEST_CHARACTER),
  countOf,
};

interface Shrinking<T> {
  readonly shape: Shape<T>;
  readonly maxBytes: number;
  readonly cuts: Cut[];
  readonly place: string;
  readonly depth: number;
}

/** Shrinks the value to its size limit; undefined if it is better left out. */
function shrinkValue<T>(value: T, shrinking: Shrinking<T>): unknown {
  const { shape, maxBytes, depth } = shrinking;
  if (shape.bytesOf(value, maxBytes) <= maxBytes) return shape.plain(value);
  const kind = shape.kindOf(value);
  if (kind === "text") return shrinkText(value, shrinking);
  if (depth >= MOST_DEPTH) return null;
  if (kind === "list") return shrinkList(value, shrinking);
  if (kind === "record") return shrinkRecord(value, shrinking);
  return shape.plain(value);
}

function shrinkText<T>(text: T, { shape, maxBytes, cuts, place }: Shrinking<T>): string | undefined {
  const length = shape.countOf(text);
  if (place !== "" && length <= SHORT_TEXT) return undefined;
  const head = headOf(shape.headOf(text, maxBytes), maxBytes - 2);
  note(cuts, `${place === "" ? "text" : place}: the first ${head.length} of ${length} characters`);
  return head;
}

/**
 * Returns the longest prefix whose JSON has at most `maxBytes` bytes, not counting the quotes. Never splits a code
 * point.
 */
export function headOf(text: string, maxBytes: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const cost = codePointBytes(code);
    if (bytes + cost > maxBytes) break;
    bytes += cost;
    at += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

/** The number of bytes that a code point takes in a JSON string. */
function codePointBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return code === 0x08 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}

function shrinkList<T>(list: T, shrinking: Shrinking<T>): unknown[] {
  const { shape, maxBytes, cuts, place, depth } = shrinking;
  const count = shape.countOf(list);
  const least = Math.max(LEAST_BYTES, maxBytes / LEAST_ITEMS);
  const kept: unknown[] = [];
  let left = maxBytes - 2;
  let index = 0;
  for (const item of shape.itemsOf(list)) {
    const share = Math.min(left - 1, Math.max(least, left / (count - index)));
    const bytes = shape.bytesOf(item, maxBytes);
    // Only a large item is worth showing in part.
    if (bytes > share && kept.length > 0 && (bytes <= least || share < least / 2)) break;
    const part = shrinkValue(item, { shape, maxBytes: share, cuts, place: `${place}[${index}]`, depth: depth + 1 });
    if (part === undefined) break;
    index++;
    kept.push(part);
    left -= jsonBytes(part, left) + 1;
    if (left <= 1) break;
  }
  // Remove the last items if the list is still too large.
  while (kept.length > 0 && jsonBytes(kept, maxBytes) > maxBytes) kept.pop();
  if (kept.length < count) {
    note(cuts, `${place === "" ? "list" : place}: the first ${kept.length} of ${count} items`);
  }
  return kept;
}

function shrinkRecord<T>(record: T, shrinking: Shrinking<T>): Record<string, unknown> {
  const { shape, maxBytes, cuts, place, depth } = shrinking;
  const count = shape.countOf(record);
  const fields: { key: string; field: T; keyBytes: number; bytes: number }[] = [];
  let left = maxBytes - 2;
  for (const [key, field] of shape.fieldsOf(record)) {
    const keyBytes = jsonBytes(key, left) + 2;
    const least = Math.min(LEAST_BYTES, shape.bytesOf(field, LEAST_BYTES));
    if (keyBytes + least > left) break;
    fields.push({ key, field, keyBytes, bytes: shape.bytesOf(field, maxBytes) });
    left -= keyBytes + least;
  }
  const shares = shareOut(
    fields.map(({ bytes }) => bytes),
    maxBytes - 2 - fields.reduce((sum, { keyBytes }) => sum + keyBytes, 0),
  );
  const kept: [string, unknown][] = [];
  for (const [index, { key, field }] of fields.entries()) {
    const inner = {
      shape,
      maxBytes: shares[index] ?? 0,
      cuts,
      place: place === "" ? key : `${place}.${key}`,
      depth: depth + 1,
    };
    const part = shrinkValue(field, inner);
    if (part !== undefined) kept.push([key, part]);
  }
  while (kept.length > 0 && jsonBytes(Object.fromEntries(kept), maxBytes) > maxBytes) kept.pop();
  if (kept.length < count) {
    note(cuts, `${place === "" ? "object" : place}: ${kept.length} of ${count} fields`);
  }
  return Object.fromEntries(kept);
}

function note(cuts: Cut[], cut: Cut): void {
  if (cuts.length < MOST_CUTS) cuts.push(cut);
}

/**
 * Divides `total`: a part that needs less than an equal share gets what it needs, and the others split the rest
 * equally.
 */
export function shareOut(needs: readonly number[], total: number): number[] {
  const order = needs.map((need, index) => ({ need, index })).sort((a, b) => a.need - b.need);
  const shares = needs.map(() => 0);
  let left = Math.max(0, total);
  for (const [done, { need, index }] of order.entries()) {
    const share = Math.min(need, left / (order.length - done));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** Returns the size of a value's JSON in bytes. Stops counting shortly after `limit`. */
export function jsonBytes(value: unknown, limit: number): number {
  switch (typeof value) {
    case "string":
      return textBytes(value, limit);
    case "number":
      return Number.isFinite(value) ? String(value).length : 4;
    case "boolean":
      return value ? 4 : 5;
    case "object": {
      if (value === null) return 4;
      let bytes = 2;
      if (Array.isArray(value)) {
        for (const item of value) {
          bytes += jsonBytes(item, limit - bytes) + 1;
          if (bytes > limit) return bytes;
        }
        return bytes;
      }
      for (const [key, field] of Object.entries(value)) {
        if (field === undefined) continue;
        bytes += textBytes(key, limit - bytes) + 2 + jsonBytes(field, limit - bytes);
        if (bytes > limit) return bytes;
      }
      return bytes;
    }
    default:
      return 4;
  }
}

function textBytes(text: string, limit: number): number {
  if (text.length > limit) return text.length + 2;
  let bytes = 2;
  for (let at = 0; at < text.length && bytes <= limit; at++) {
    const code = text.codePointAt(at) ?? 0;
    bytes += codePointBytes(code);
    if (code > 0xffff) at++;
  }
  return bytes;
}
