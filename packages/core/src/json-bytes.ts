// JSON as bytes, read without building objects: an answer of 30 MB can be millions of values, and parsing it would take
// many times its memory. A span is a value in such a text. All functions are iterative, so any depth is safe.

/** A value in a JSON text. */
export interface Span {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_RECORD = 0x7b;
const CLOSE_RECORD = 0x7d;
const MINUS = 0x2d;
const NEWLINE = 0x0a;
const BLANK = 0x20;

/** Returns why bytes are not usable as one JSON value; undefined if they are. */
export function checkJson(bytes: Uint8Array, { maxDepth }: { maxDepth: number }): "invalid" | "deep" | undefined {
  const open = new Uint8Array(maxDepth);
  let depth = 0;
  let at = afterSpace(bytes, 0);
  for (;;) {
    const byte = bytes[at];
    if (byte === OPEN_LIST || byte === OPEN_RECORD) {
      if (depth === maxDepth) return "deep";
      open[depth++] = byte;
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
      at = byte === QUOTE ? afterCheckedText(bytes, at) : afterCheckedScalar(bytes, at);
      if (at < 0) return "invalid";
    }
    for (;;) {
      at = afterSpace(bytes, at);
      if (depth === 0) return at === bytes.length ? undefined : "invalid";
      const container = open[depth - 1] as number;
      const next = bytes[at];
      if (next === COMMA) {
        at = afterSpace(bytes, at + 1);
        if (container === OPEN_RECORD) at = afterKey(bytes, at);
        if (at < 0) return "invalid";
        break;
      }
      if (next !== closing(container)) return "invalid";
      depth--;
      at++;
    }
  }
}

function closing(open: number): number {
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
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < BLANK) return -1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++at];
    if (escaped === 0x75) {
      for (let digit = 0; digit < 4; digit++) if (!isHex(bytes[++at])) return -1;
    } else if (escaped === undefined || !SIMPLE_ESCAPES.has(escaped)) return -1;
  }
  return -1;
}

const SIMPLE_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

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

function afterText(bytes: Uint8Array, from: number): number {
  for (let quote = bytes.indexOf(QUOTE, from + 1); ; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function afterValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  for (;;) {
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

/** The number of items of a list, or of fields of a record. */
export function countOf({ bytes, start }: Span): number {
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

/** The JSON of a value on one line. */
export function compactJson({ bytes, start, end }: Span): Uint8Array {
  const source = bytes.subarray(start, end);
  if (!source.includes(NEWLINE) && !source.includes(0x0d)) return source;
  const out = new ByteOutput(end - start);
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const after = afterText(bytes, at);
      out.copy(bytes.subarray(at, after));
      at = after;
      continue;
    }
    if (byte > BLANK) out.byte(byte);
    at++;
  }
  return out.take();
}

/** Values deeper than this stay on one line: indenting them could multiply the size. */
const INDENTED_LEVELS = 6;

/**
 * Formats a value with one line per part, like `JSON.stringify(value, null, 1)`, and with the escapes of characters
 * outside ASCII decoded, so that a search finds them.
 */
export function indentedJson({ bytes, start, end }: Span): Uint8Array {
  const out = new ByteOutput((end - start) * 2);
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const after = afterText(bytes, at);
      out.text(bytes, at, after);
      at = after;
      continue;
    }
    at++;
    if (byte === OPEN_LIST || byte === OPEN_RECORD) {
      out.byte(byte);
      const next = afterSpace(bytes, at);
      if (bytes[next] === closing(byte)) {
        out.byte(closing(byte));
        at = next + 1;
        continue;
      }
      depth++;
      out.line(depth);
    } else if (byte === CLOSE_LIST || byte === CLOSE_RECORD) {
      if (depth <= INDENTED_LEVELS) out.line(depth - 1);
      depth--;
      out.byte(byte);
    } else if (byte === COMMA) {
      out.byte(byte);
      out.line(depth);
    } else if (byte === COLON) {
      out.byte(byte);
      if (depth <= INDENTED_LEVELS) out.byte(BLANK);
    } else if (byte > BLANK) out.byte(byte);
  }
  return out.take();
}

/** Collects bytes in a buffer that grows. */
export class ByteOutput {
  #buffer: Buffer;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(64, expectedBytes));
  }

  get length(): number {
    return this.#length;
  }

  byte(byte: number): void {
    this.#ensure(1);
    this.#buffer[this.#length++] = byte;
  }

  /** Starts a line at this depth, unless it is too deep for lines. */
  line(depth: number): void {
    if (depth > INDENTED_LEVELS) return;
    this.#ensure(depth + 1);
    this.#buffer[this.#length++] = NEWLINE;
    this.#buffer.fill(BLANK, this.#length, this.#length + depth);
    this.#length += depth;
  }

  text(bytes: Uint8Array, start: number, end: number): void {
    const source = bytes.subarray(start, end);
    if (!source.includes(BACKSLASH)) this.copy(source);
    else this.copy(Buffer.from(JSON.stringify(spanValue({ bytes, start, end }))));
  }

  take(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  copy(source: Uint8Array): void {
    this.#ensure(source.length);
    this.#buffer.set(source, this.#length);
    this.#length += source.length;
  }

  #ensure(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + more));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
