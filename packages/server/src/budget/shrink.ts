// Shrinks a large JSON value: small parts stay whole, while the longest lists and texts are cut to their beginning.
import { isRecord } from "@trunkline/core";

/** What was cut and where: `results: 12 of 4000 items`. */
type Cut = string;

interface Shrunk {
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
  return { value: shrinkValue(value, { maxBytes, cuts, place: "", depth: 0 }) ?? null, cuts };
}

interface Shrinking {
  readonly maxBytes: number;
  readonly cuts: Cut[];
  readonly place: string;
  readonly depth: number;
}

/** Shrinks the value to its size limit; undefined if it is better left out. */
function shrinkValue(value: unknown, shrinking: Shrinking): unknown {
  const { maxBytes, depth } = shrinking;
  if (jsonBytes(value, maxBytes) <= maxBytes) return value;
  if (typeof value === "string") return shrinkText(value, shrinking);
  if (depth >= MOST_DEPTH) return null;
  if (Array.isArray(value)) return shrinkList(value, shrinking);
  if (isRecord(value)) return shrinkRecord(value, shrinking);
  return value;
}

function shrinkText(text: string, { maxBytes, cuts, place }: Shrinking): string | undefined {
  if (place !== "" && text.length <= SHORT_TEXT) return undefined;
  const head = headOf(text, maxBytes - 2);
  note(cuts, `${place === "" ? "text" : place}: the first ${head.length} of ${text.length} characters`);
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

function shrinkList(list: readonly unknown[], shrinking: Shrinking): unknown[] {
  const { maxBytes, cuts, place, depth } = shrinking;
  const least = Math.max(LEAST_BYTES, maxBytes / LEAST_ITEMS);
  const kept: unknown[] = [];
  let left = maxBytes - 2;
  for (const [index, item] of list.entries()) {
    const share = Math.min(left - 1, Math.max(least, left / (list.length - index)));
    const bytes = jsonBytes(item, maxBytes);
    // Only a large item is worth showing in part.
    if (bytes > share && kept.length > 0 && (bytes <= least || share < least / 2)) break;
    const part = shrinkValue(item, { maxBytes: share, cuts, place: `${place}[${index}]`, depth: depth + 1 });
    if (part === undefined) break;
    kept.push(part);
    left -= jsonBytes(part, left) + 1;
    if (left <= 1) break;
  }
  // Remove the last items if the list is still too large.
  while (kept.length > 0 && jsonBytes(kept, maxBytes) > maxBytes) kept.pop();
  if (kept.length < list.length) {
    note(cuts, `${place === "" ? "list" : place}: the first ${kept.length} of ${list.length} items`);
  }
  return kept;
}

function shrinkRecord(record: Readonly<Record<string, unknown>>, shrinking: Shrinking): Record<string, unknown> {
  const { maxBytes, cuts, place, depth } = shrinking;
  const keys = Object.keys(record);
  const fields: { key: string; keyBytes: number; bytes: number }[] = [];
  let left = maxBytes - 2;
  for (const key of keys) {
    const keyBytes = jsonBytes(key, left) + 2;
    const least = Math.min(LEAST_BYTES, jsonBytes(record[key], LEAST_BYTES));
    if (keyBytes + least > left) break;
    fields.push({ key, keyBytes, bytes: jsonBytes(record[key], maxBytes) });
    left -= keyBytes + least;
  }
  const shares = shareOut(
    fields.map(({ bytes }) => bytes),
    maxBytes - 2 - fields.reduce((sum, { keyBytes }) => sum + keyBytes, 0),
  );
  const kept: [string, unknown][] = [];
  for (const [index, { key }] of fields.entries()) {
    const inner = {
      maxBytes: shares[index] ?? 0,
      cuts,
      place: place === "" ? key : `${place}.${key}`,
      depth: depth + 1,
    };
    const part = shrinkValue(record[key], inner);
    if (part !== undefined) kept.push([key, part]);
  }
  while (kept.length > 0 && jsonBytes(Object.fromEntries(kept), maxBytes) > maxBytes) kept.pop();
  if (kept.length < keys.length) {
    note(cuts, `${place === "" ? "object" : place}: ${kept.length} of ${keys.length} fields`);
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
