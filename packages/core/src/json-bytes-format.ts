// Formats JSON that `checkJson` has accepted, from bytes to bytes.
import {
  afterText,
  BACKSLASH,
  BLANK,
  CLOSE_LIST,
  CLOSE_RECORD,
  COLON,
  COMMA,
  closing,
  NEWLINE,
  OPEN_LIST,
  OPEN_RECORD,
  QUOTE,
  type Span,
  spanValue,
} from "./json-bytes.js";

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
/** A list or object up to this size is one line, so that a line is what a reader looks for: a row of a table. */
const LINE_BYTES = 240;
/** How much white space is skipped to find out. */
const MOST_SCANNED_BYTES = 2_000;
/** The most that formatting adds at one place: a line break, its indentation, and a bracket. */
const MOST_ADDED = INDENTED_LEVELS + 2;
const SLASH = 0x2f;
const LETTER_U = 0x75;

/**
 * Formats a value in lines: a list or object on one if it is short, otherwise each of its parts on its own. Escapes of
 * characters outside ASCII are decoded, so that a search finds them. Counts the lines.
 */
export function linedJson({ bytes, start, end }: Span): { readonly bytes: Uint8Array; readonly lines: number } {
  let out = Buffer.allocUnsafeSlow((end - start) * 2 + MOST_ADDED);
  let length = 0;
  let lines = 1;
  let depth = 0;
  /** The end of a list or object that is written on one line. */
  let lineEnd = start;
  for (let at = start; at < end; ) {
    // No text becomes longer, so there is always room for the rest of the source as it is.
    if (out.length - length < end - at + MOST_ADDED) {
      const larger = Buffer.allocUnsafeSlow(out.length * 2);
      larger.set(out.subarray(0, length));
      out = larger;
    }
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const after = copyText(bytes, at, out, length);
      if (after > 0) {
        length += after - at;
        at = after;
      } else {
        const textEnd = afterText(bytes, at);
        length += out.write(JSON.stringify(spanValue({ bytes, start: at, end: textEnd })), length, "utf8");
        at = textEnd;
      }
      continue;
    }
    at++;
    if (byte <= BLANK) continue;
    const isOpening = byte === OPEN_LIST || byte === OPEN_RECORD;
    if (isOpening && bytes[at] === closing(byte)) {
      out[length++] = byte;
      out[length++] = closing(byte);
      at++;
      continue;
    }
    const isClosing = byte === CLOSE_LIST || byte === CLOSE_RECORD;
    if (isOpening && depth < INDENTED_LEVELS && at > lineEnd)
      lineEnd = Math.max(lineEnd, endOfShort(bytes, at - 1, end));
    const isInLine = at <= lineEnd || depth > INDENTED_LEVELS || (isOpening && depth === INDENTED_LEVELS);
    if (isClosing) depth--;
    if (isInLine) {
      out[length++] = byte;
      if (depth <= INDENTED_LEVELS && (byte === COMMA || byte === COLON)) out[length++] = BLANK;
    } else {
      if (!isClosing) out[length++] = byte;
      if (byte === COLON) out[length++] = BLANK;
      else if (byte === COMMA || isOpening || isClosing) {
        lines++;
        out[length++] = NEWLINE;
        for (let level = isOpening ? -1 : 0; level < depth; level++) out[length++] = BLANK;
      }
      if (isClosing) out[length++] = byte;
    }
    if (isOpening) depth++;
  }
  return { bytes: out.subarray(0, length), lines };
}

/** Returns the end of a list or object if it fits on a line; 0 otherwise. */
function endOfShort(bytes: Uint8Array, start: number, end: number): number {
  const limit = Math.min(end, start + MOST_SCANNED_BYTES);
  let depth = 0;
  let size = 0;
  for (let at = start; at < limit && size <= LINE_BYTES; ) {
    const byte = bytes[at] as number;
    const after = byte === QUOTE ? afterShortText(bytes, at, limit) : at + 1;
    if (byte > BLANK) size += after - at;
    at = after;
    if (byte === OPEN_LIST || byte === OPEN_RECORD) depth++;
    else if ((byte === CLOSE_LIST || byte === CLOSE_RECORD) && --depth === 0) return size <= LINE_BYTES ? at : 0;
  }
  return 0;
}

function afterShortText(bytes: Uint8Array, start: number, limit: number): number {
  for (let at = start + 1; at < limit; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at++;
  }
  return limit;
}

/** Copies a text and returns its end; 0 if it has escapes that must be decoded. */
function copyText(bytes: Uint8Array, start: number, out: Uint8Array, outStart: number): number {
  const offset = outStart - start;
  out[outStart] = QUOTE;
  for (let at = start + 1; ; at++) {
    const byte = bytes[at] as number;
    out[at + offset] = byte;
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++at] as number;
    if (escaped === SLASH || escaped === LETTER_U) return 0;
    out[at + offset] = escaped;
  }
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
