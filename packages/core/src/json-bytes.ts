// JSON as bytes, read without building objects: an answer of 30 MB can be millions of values, and parsing it would take
// many times its memory. A span is a value in such a text. All functions are iterative, so any depth is safe.
import { isAscii } from "node:buffer";

/** A value in a JSON text. */
export interface Span {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_RECORD = 0x7b;
export const CLOSE_RECORD = 0x7d;
const MINUS = 0x2d;
export const NEWLINE = 0x0a;
export const BLANK = 0x20;

/** What is known about a large value, so that it is not scanned again. */
interface Landmark {
  readonly end: number;
  readonly count?: number;
}

/** A value above this size gets a landmark. */
const LANDMARK_BYTES = 16 * 1024;
/** By text, then by the start of the value. */
const landmarks = new WeakMap<Uint8Array, Map<number, Landmark>>();

function landmarkAt(bytes: Uint8Array, start: number): Landmark | undefined {
  return landmarks.get(bytes)?.get(start);
}

function addLandmark(bytes: Uint8Array, start: number, landmark: Landmark): void {
  const known = landmarks.get(bytes) ?? new Map<number, Landmark>();
  landmarks.set(bytes, known.set(start, landmark));
}

/** Returns why bytes are not usable as one JSON value; undefined if they are. Remembers where large values end. */
export function checkJson(bytes: Uint8Array, { maxDepth }: { maxDepth: number }): "invalid" | "deep" | undefined {
  const open = new Uint8Array(maxDepth);
  const starts = new Uint32Array(maxDepth);
  const counts = new Uint32Array(maxDepth);
  let depth = 0;
  let at = afterSpace(bytes, 0);
  for (;;) {
    const byte = bytes[at];
    if (byte === OPEN_LIST || byte === OPEN_RECORD) {
      if (depth === maxDepth) return "deep";
      open[depth] = byte;
      starts[depth] = at;
      counts[depth++] = 1;
      at = afterSpace(bytes, at + 1);
      if (bytes[at] === closing(byte)) {
        depth--;
        at++;
      } else {
        if (byte === OPEN_RECORD) at = afterKey(bytes, at);
        if (at < 0) return "invalid";
        continue;
      }
    } else {
      const start = at;
      at = byte === QUOTE ? afterCheckedText(bytes, at) : afterCheckedScalar(bytes, at);
      if (at < 0) return "invalid";
      if (at - start > LANDMARK_BYTES) addLandmark(bytes, start, { end: at });
    }
    for (;;) {
      at = afterSpace(bytes, at);
      if (depth === 0) return at === bytes.length ? undefined : "invalid";
      const container = open[depth - 1] as number;
      const next = bytes[at];
      if (next === COMMA) {
        counts[depth - 1] = (counts[depth - 1] as number) + 1;
        at = afterSpace(bytes, at + 1);
        if (container === OPEN_RECORD) at = afterKey(bytes, at);
        if (at < 0) return "invalid";
        break;
      }
      if (next !== closing(container)) return "invalid";
      depth--;
      at++;
      const start = starts[depth] as number;
      if (at - start > LANDMARK_BYTES) addLandmark(bytes, start, { end: at, count: counts[depth] });
    }
  }
}

export function closing(open: number): number {
  return open === OPEN_LIST ? CLOSE_LIST : CLOSE_RECORD;
}

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== BLANK && byte !== NEWLINE && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

/** Returns the position of the value after a key; negative if there is no key. */
function afterKey(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  const end = afterCheckedText(bytes, at);
  if (end < 0) return -1;
  const colon = afterSpace(bytes, end);
  return bytes[colon] === COLON ? afterSpace(bytes, colon + 1) : -1;
}

function afterCheckedText(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from + 1; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < BLANK) return -1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++at];
    if (escaped === LETTER_U) {
      for (let digit = 0; digit < 4; digit++) if (!isHex(bytes[++at])) return -1;
    } else if (escaped === undefined || SIMPLE_ESCAPES[escaped] !== 1) return -1;
  }
  return -1;
}

const SIMPLE_ESCAPES = new Uint8Array(256);
for (const escaped of Buffer.from('"\\/bfnrt')) SIMPLE_ESCAPES[escaped] = 1;

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

const WORDS = ["true", "false", "null"].map((word) => Buffer.from(word));

function afterCheckedScalar(bytes: Uint8Array, from: number): number {
  for (const word of WORDS) {
    if (bytes[from] === word[0])
      return word.every((byte, index) => bytes[from + index] === byte) ? from + word.length : -1;
  }
  let at = bytes[from] === MINUS ? from + 1 : from;
  if (!isDigit(bytes[at])) return -1;
  at = bytes[at] === 0x30 ? at + 1 : afterDigits(bytes, at);
  if (bytes[at] === 0x2e) {
    if (!isDigit(bytes[at + 1])) return -1;
    at = afterDigits(bytes, at + 1);
  }
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return at;
  at++;
  if (bytes[at] === 0x2b || bytes[at] === MINUS) at++;
  return isDigit(bytes[at]) ? afterDigits(bytes, at) : -1;
}

function afterDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at;
}

// The functions below are for bytes that `checkJson` has accepted.

/** The value of a whole text. */
export function wholeSpan(bytes: Uint8Array): Span {
  const start = afterSpace(bytes, 0);
  return { bytes, start, end: afterValue(bytes, start) };
}

/** Most texts are short, and a loop finds their ends faster than a native search would. */
const SHORT_TEXT_BYTES = 200;

export function afterText(bytes: Uint8Array, from: number): number {
  const soon = Math.min(bytes.length, from + SHORT_TEXT_BYTES);
  let at = from + 1;
  for (; at < soon; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  let isUnknown = false;
  // `at` is not escaped here, but what precedes it may be a backslash that is.
  for (let quote = bytes.indexOf(QUOTE, at); ; quote = bytes.indexOf(QUOTE, quote + 1)) {
    if (!isUnknown && quote - from > LANDMARK_BYTES) {
      const landmark = landmarkAt(bytes, from);
      if (landmark !== undefined) return landmark.end;
      isUnknown = true;
    }
    let backslashes = 0;
    while (quote - 1 - backslashes >= at && bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function afterValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  let askAt = from + LANDMARK_BYTES;
  for (;;) {
    if (at > askAt) {
      const landmark = landmarkAt(bytes, from);
      if (landmark !== undefined) return landmark.end;
      askAt = Number.POSITIVE_INFINITY;
    }
    const byte = bytes[at];
    if (byte === QUOTE) at = afterText(bytes, at);
    else if (byte === OPEN_LIST || byte === OPEN_RECORD) {
      depth++;
      at++;
    } else if (byte === CLOSE_LIST || byte === CLOSE_RECORD) {
      depth--;
      at++;
    } else if (depth > 0) at++;
    else {
      while (at < bytes.length && !isDelimiter(bytes[at])) at++;
      return at;
    }
    if (depth === 0) return at;
  }
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_RECORD || (byte !== undefined && byte <= BLANK);
}

export function spanKind({ bytes, start }: Span): "list" | "record" | "text" | "other" {
  switch (bytes[start]) {
    case OPEN_LIST:
      return "list";
    case OPEN_RECORD:
      return "record";
    case QUOTE:
      return "text";
    default:
      return "other";
  }
}

/** Builds the value of a span. */
export function spanValue(span: Span): unknown {
  return JSON.parse(spanText(span));
}

/** The JSON text of a span. */
export function spanText({ bytes, start, end }: Span): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}

/** The items of a list. */
export function* itemsOf({ bytes, start }: Span): Generator<Span> {
  let at = afterSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_LIST) {
    const end = afterValue(bytes, at);
    yield { bytes, start: at, end };
    at = afterSpace(bytes, end);
    if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1);
  }
}

/** The fields of a record. If a name occurs several times, each of them is returned. */
export function* fieldsOf({ bytes, start }: Span): Generator<readonly [string, Span]> {
  let at = afterSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_RECORD) {
    const keyEnd = afterText(bytes, at);
    const name = String(spanValue({ bytes, start: at, end: keyEnd }));
    at = afterSpace(bytes, afterSpace(bytes, keyEnd) + 1);
    const end = afterValue(bytes, at);
    yield [name, { bytes, start: at, end }];
    at = afterSpace(bytes, end);
    if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1);
  }
}

/** The fields of a record by name; of several with one name, the last counts, as for `JSON.parse`. */
export function fieldMap(record: Span): ReadonlyMap<string, Span> {
  return new Map(fieldsOf(record));
}

/** The field with this name; the last one counts, as for `JSON.parse`. */
export function fieldOf(record: Span, name: string): Span | undefined {
  let found: Span | undefined;
  for (const [key, field] of fieldsOf(record)) if (key === name) found = field;
  return found;
}

/** The number of items of a list, of fields of a record, or of UTF-16 units of a text. */
export function countOf(span: Span): number {
  const { bytes, start, end } = span;
  const known = end - start > LANDMARK_BYTES ? landmarkAt(bytes, start)?.count : undefined;
  if (known !== undefined) return known;
  const count = spanKind(span) === "text" ? decodedText(span).length : countParts(span);
  if (end - start > LANDMARK_BYTES) addLandmark(bytes, start, { end, count });
  return count;
}

function countParts({ bytes, start }: Span): number {
  let at = afterSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_LIST || bytes[at] === CLOSE_RECORD) return 0;
  let count = 1;
  let depth = 1;
  for (; depth > 0; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = afterText(bytes, at);
      continue;
    }
    if (byte === OPEN_LIST || byte === OPEN_RECORD) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_RECORD) depth--;
    else if (byte === COMMA && depth === 1) count++;
    at++;
  }
  return count;
}

/** Whether a value consists of at most this many parts, so that building it is cheap however long its texts are. */
export function hasFewValues({ bytes, start, end }: Span, most: number): boolean {
  let values = 1;
  for (let at = start; at < end; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = afterText(bytes, at);
      continue;
    }
    if ((byte === COMMA || byte === OPEN_LIST || byte === OPEN_RECORD) && ++values > most) return false;
    at++;
  }
  return true;
}

const PIECE_BYTES = 64 * 1024;

/**
 * Returns the first position from `from` on, at most `end`, where a text can be cut: not within a character, an escape,
 * or a pair of escaped surrogates. `from` can be a fraction; `first` is a position where the text can be cut.
 */
function cutOf(bytes: Uint8Array, { first, from, end }: { first: number; from: number; end: number }): number {
  let at = Math.max(first, Math.ceil(from));
  while (at < end && isWithin(bytes, first, at)) at++;
  return Math.min(at, end);
}

function isWithin(bytes: Uint8Array, first: number, at: number): boolean {
  if (((bytes[at] as number) & 0xc0) === 0x80 || isInEscape(bytes, first, at)) return true;
  return (
    at - LENGTH_OF_ESCAPE >= first && isSurrogate(bytes, at, 0xc) && isSurrogate(bytes, at - LENGTH_OF_ESCAPE, 0x8)
  );
}

const LENGTH_OF_ESCAPE = 6;
const LETTER_U = 0x75;

/** Whether an escaped surrogate may begin here, of the low half (0xc) or the high half (0x8). */
function isSurrogate(bytes: Uint8Array, at: number, half: 0x8 | 0xc): boolean {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return false;
  const code = Number.parseInt(String.fromCharCode(bytes[at + 2] ?? 0, bytes[at + 3] ?? 0), 16);
  return code >> 4 === 0xd && (code & 0xc) === half;
}

/** Whether a position in a text that starts at `first` is within an escape. */
function isInEscape(bytes: Uint8Array, first: number, at: number): boolean {
  for (let start = at - 1; start >= first && start > at - LENGTH_OF_ESCAPE; start--) {
    if (bytes[start] !== BACKSLASH) continue;
    let before = start;
    while (before > first && bytes[before - 1] === BACKSLASH) before--;
    if ((start - before) % 2 === 0) return start + (bytes[start + 1] === LETTER_U ? LENGTH_OF_ESCAPE : 2) > at;
  }
  return false;
}

/** The beginning of a text: at least this many bytes of its JSON, if it has them. */
export function textHead({ bytes, start, end }: Span, leastBytes: number): string {
  const first = start + 1;
  const cut = cutOf(bytes, { first, from: first + leastBytes, end: end - 1 });
  return JSON.parse(`"${spanText({ bytes, start: first, end: cut })}"`) as string;
}

/** The end of a text: at most this many bytes of its JSON. */
export function textTail({ bytes, start, end }: Span, mostBytes: number): string {
  const cut = cutOf(bytes, { first: start + 1, from: end - 1 - mostBytes, end: end - 1 });
  return JSON.parse(`"${spanText({ bytes, start: cut, end: end - 1 })}"`) as string;
}

/** The content of a text as UTF-8, and its number of UTF-16 units. Decodes it in pieces, which takes little memory. */
export function decodedText({ bytes, start, end }: Span): { readonly bytes: Uint8Array; readonly length: number } {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const out = Buffer.allocUnsafeSlow(Math.max(1, end - start - 2));
  let outBytes = 0;
  let length = 0;
  for (let at = start + 1; at < end - 1; ) {
    const cut = cutOf(bytes, { first: at, from: at + PIECE_BYTES, end: end - 1 });
    const piece = source.subarray(at, cut);
    at = cut;
    if (!piece.includes(BACKSLASH)) {
      out.set(piece, outBytes);
      outBytes += piece.length;
      length += isAscii(piece) ? piece.length : piece.toString("utf8").length;
    } else {
      const text = JSON.parse(`"${piece.toString("utf8")}"`) as string;
      outBytes += out.write(text, outBytes, "utf8");
      length += text.length;
    }
  }
  if (end - start > LANDMARK_BYTES) addLandmark(bytes, start, { end, count: length });
  return { bytes: out.subarray(0, outBytes), length };
}

/** Builds a record with one field, a text. */
export function recordOfText(name: string, text: Span): Span {
  const head = Buffer.from(`{${JSON.stringify(name)}:`);
  const size = text.end - text.start;
  const bytes = Buffer.allocUnsafeSlow(head.length + size + 1);
  bytes.set(head);
  bytes.set(text.bytes.subarray(text.start, text.end), head.length);
  bytes[bytes.length - 1] = CLOSE_RECORD;
  addLandmark(bytes, 0, { end: bytes.length, count: 1 });
  addLandmark(bytes, head.length, { end: head.length + size });
  return { bytes, start: 0, end: bytes.length };
}
