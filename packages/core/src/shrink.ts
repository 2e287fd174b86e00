// Shrinks a large JSON value: small parts stay whole, while the longest lists and texts are cut to their beginning. A
// digest shows more in the same room: tables instead of lists, and the ends of texts.
import { codePointBytes, excerptOf, wholeHead } from "./excerpt.js";
import { isRecord } from "./json.js";
import { countOf, fieldsOf, itemsOf, type Span, spanKind, spanValue, textHead, textTail } from "./json-bytes.js";

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

interface ShrinkOptions {
  /** Whether lists of like objects become tables and cut texts are marked and show their ends. Default false. */
  readonly digest?: boolean;
}

/** Shrinks a value until its JSON has at most about `maxBytes` bytes. Measures parts only as far as needed. */
export function shrink(value: unknown, maxBytes: number, { digest = false }: ShrinkOptions = {}): Shrunk {
  const cuts: Cut[] = [];
  return { value: shrinkValue(value, { shape: PLAIN, maxBytes, cuts, place: "", depth: 0, digest }) ?? null, cuts };
}

/** Shrinks a value in a JSON text, building only the parts that remain. */
export function shrinkSpan(span: Span, maxBytes: number, { digest = false }: ShrinkOptions = {}): Shrunk {
  const cuts: Cut[] = [];
  return { value: shrinkValue(span, { shape: IN_BYTES, maxBytes, cuts, place: "", depth: 0, digest }) ?? null, cuts };
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
  /** The same for its end. */
  tailOf(text: T, leastBytes: number): string;
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
  tailOf: (text) => text as string,
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
  tailOf: (text, leastBytes) => textTail(text, leastBytes * LONGEST_CHARACTER),
  countOf,
};

interface Shrinking<T> {
  readonly shape: Shape<T>;
  readonly maxBytes: number;
  readonly cuts: Cut[];
  readonly place: string;
  readonly depth: number;
  readonly digest: boolean;
}

/** Shrinks the value to its size limit; undefined if it is better left out. */
function shrinkValue<T>(value: T, shrinking: Shrinking<T>): unknown {
  const { shape, maxBytes, depth } = shrinking;
  if (shape.bytesOf(value, maxBytes) <= maxBytes) return shape.plain(value);
  const kind = shape.kindOf(value);
  if (kind === "text") return shrinkText(value, shrinking);
  if (depth >= MOST_DEPTH) return null;
  if (kind === "list")
    return (shrinking.digest ? shrinkTable(value, shrinking) : undefined) ?? shrinkList(value, shrinking);
  if (kind === "record") return shrinkRecord(value, shrinking);
  return shape.plain(value);
}

function shrinkText<T>(text: T, { shape, maxBytes, cuts, place, digest }: Shrinking<T>): string | undefined {
  const length = shape.countOf(text);
  if (place !== "" && length <= SHORT_TEXT) return undefined;
  if (digest) return excerpt(text, shape, maxBytes);
  const head = wholeHead(shape.headOf(text, maxBytes), maxBytes - 2);
  note(cuts, `${place === "" ? "text" : place}: the first ${head.length} of ${length} characters`);
  return head;
}

function excerpt<T>(text: T, shape: Shape<T>, maxBytes: number): string {
  const first = shape.headOf(text, maxBytes);
  const last = () => shape.tailOf(text, maxBytes);
  return excerptOf(maxBytes - 2, { first, last, length: shape.countOf(text) });
}

/** Undefined if there is no room for any item: an empty list would say that there are none. */
function shrinkList<T>(list: T, shrinking: Shrinking<T>): unknown[] | undefined {
  const { shape, maxBytes, cuts, place, depth, digest } = shrinking;
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
    const inner = { shape, maxBytes: share, cuts, place: `${place}[${index}]`, depth: depth + 1, digest };
    const noted = cuts.length;
    let part = shrinkValue(item, inner);
    if (isStarved(part, shape.countOf, item)) {
      // A few whole items say more than many empty ones.
      cuts.length = noted;
      part = bytes < left ? shape.plain(item) : undefined;
    }
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
  return kept.length === 0 && count > 0 && place !== "" ? undefined : kept;
}

/** Whether an object of several fields has at most one left. */
function isStarved<T>(part: unknown, countOf: (value: T) => number, item: T): boolean {
  return isRecord(part) && Object.keys(part).length <= 1 && countOf(item) > 1;
}

function shrinkRecord<T>(record: T, shrinking: Shrinking<T>): Record<string, unknown> {
  const { shape, maxBytes, cuts, place, depth, digest } = shrinking;
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
      digest,
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

/** The first items of a list show what columns it has. */
const SAMPLE_ROWS = 20;
/** A table shows at least this many rows, with shorter cells or fewer columns if necessary. */
const LEAST_ROWS = 10;
const LEAST_CELL_BYTES = 24;
const LEAST_COLUMNS = 3;
const MOST_COLUMNS = 60;
const MOST_NAMED = 6;

/** Stands for what a cell leaves out. */
const MARK = "…";

/** Objects of a list that have the same fields. A column that some of them lack is marked with a question mark. */
interface Table {
  readonly columns: readonly string[];
  readonly total: number;
  readonly rows: readonly (readonly unknown[])[];
}

/** Shows a list of like objects as a table; undefined if it is not one, or if a table could be misread. */
function shrinkTable<T>(list: T, shrinking: Shrinking<T>): Table | undefined {
  const { shape, maxBytes, cuts, place } = shrinking;
  const needs = columnNeeds(list, shape, maxBytes);
  if (needs === undefined) return undefined;
  const widths = columnWidths(needs, maxBytes / LEAST_ROWS);
  const names = [...widths.keys()];
  const optional = new Set<string>();
  const withNull = new Set<string>();
  const rows: unknown[][] = [];
  const total = shape.countOf(list);
  const head = { columns: names.map((name) => `${name}?`), total, rows: [] };
  let left = maxBytes - jsonBytes(head, maxBytes);
  for (const item of shape.itemsOf(list)) {
    if (shape.kindOf(item) !== "record") break;
    const fields = new Map(shape.fieldsOf(item));
    if ([...fields.keys()].some((name) => !needs.has(name))) break;
    const row = names.map((name) => {
      const field = fields.get(name);
      return field === undefined ? null : cellOf(field, { ...shrinking, maxBytes: widths.get(name) ?? 0 });
    });
    left -= jsonBytes(row, left) + 1;
    if (left < 0) break;
    for (const [index, name] of names.entries()) {
      if (!fields.has(name)) optional.add(name);
      else if (row[index] === null) withNull.add(name);
    }
    rows.push(row);
  }
  if (rows.length < 2 || [...optional].some((name) => withNull.has(name))) return undefined;
  const where = place === "" ? "list" : place;
  if (rows.length < total) note(cuts, `${where}: the first ${rows.length} of ${total} items`);
  const without = [...needs.keys()].filter((name) => !widths.has(name));
  if (without.length > 0) {
    const named = without.slice(0, MOST_NAMED).map((name) => wholeHead(name, SHORT_TEXT));
    note(cuts, `${where} without ${named.join(", ")}${without.length > MOST_NAMED ? ", …" : ""}`);
  }
  return { columns: names.map((name) => (optional.has(name) ? `${name}?` : name)), total, rows };
}

/** The columns of a list and the size of a usual cell of each; undefined if the items are not alike. */
function columnNeeds<T>(list: T, shape: Shape<T>, maxBytes: number): ReadonlyMap<string, number> | undefined {
  const sizes = new Map<string, number[]>();
  let rows = 0;
  for (const item of shape.itemsOf(list)) {
    if (rows === SAMPLE_ROWS) break;
    if (shape.kindOf(item) !== "record" || shape.countOf(item) > MOST_COLUMNS) return undefined;
    rows++;
    for (const [name, field] of shape.fieldsOf(item)) {
      const known = sizes.get(name) ?? [];
      known.push(shape.bytesOf(field, maxBytes));
      sizes.set(name, known);
    }
  }
  const cells = [...sizes.values()].reduce((sum, { length }) => sum + length, 0);
  const isAlike = rows > 1 && sizes.size > 1 && sizes.size <= MOST_COLUMNS && cells >= rows * sizes.size * 0.7;
  if (!isAlike || [...sizes.keys()].some((name) => name.endsWith("?"))) return undefined;
  const usual = (known: number[]) => known.sort((a, b) => a - b)[Math.floor(known.length * 0.8)] ?? 0;
  return new Map([...sizes].map(([name, known]) => [name, usual(known)]));
}

/** Divides a row among its columns. Leaves out the widest ones if there is too little room for all. */
function columnWidths(needs: ReadonlyMap<string, number>, rowBytes: number): ReadonlyMap<string, number> {
  let kept = [...needs];
  for (;;) {
    const shares = shareOut(
      kept.map(([, need]) => need),
      rowBytes - kept.length - 2,
    );
    const isUseful = kept.every(([, need], index) => (shares[index] ?? 0) >= Math.min(need, LEAST_CELL_BYTES));
    if (isUseful || kept.length <= LEAST_COLUMNS) {
      // A cell that is a little longer than usual is not worth cutting.
      return new Map(
        kept.map(([name, need], index) => [name, shares[index] === need ? need * 1.5 : (shares[index] ?? 0)]),
      );
    }
    const widest = Math.max(...kept.map(([, need]) => need));
    const drop = kept.findLastIndex(([, need]) => need === widest);
    kept = kept.filter((_, index) => index !== drop);
  }
}

/** A value in a table, in full or visibly cut. */
function cellOf<T>(field: T, shrinking: Shrinking<T>): unknown {
  const { shape, maxBytes, depth } = shrinking;
  if (shape.bytesOf(field, maxBytes) <= maxBytes) return shape.plain(field);
  const kind = shape.kindOf(field);
  if (kind === "text") return excerpt(field, shape, Math.max(maxBytes, LEAST_BYTES));
  if (kind === "other") return shape.plain(field);
  // The mark takes the place of what is left out.
  const inner = { ...shrinking, maxBytes: maxBytes - MARK.length * 4, cuts: [], depth: depth + 1 };
  if (inner.maxBytes < LEAST_CELL_BYTES || depth >= MOST_DEPTH) return MARK;
  if (kind === "list") return [...(shrinkList(field, inner) ?? []), MARK];
  return { ...shrinkRecord(field, inner), [MARK]: MARK };
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
