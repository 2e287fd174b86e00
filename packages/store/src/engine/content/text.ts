// Detects text and extracts the input of the keyword index from it.

/** The two values of `type` in the contract. */
export type ContentType = "text" | "binary";

/** The parts of a content that go into the keyword index. */
export interface IndexText {
  /** From a heading or title element near the start, if any. */
  readonly title: string | undefined;
  readonly body: string;
  /** The parts of compound identifiers: `parseHTTPRequest` becomes `parse HTTP Request`. */
  readonly words: string;
}

const SNIFFED_BYTES = 64 * 1024;

/** Detects text: no NUL in the first 64 KB, or a UTF-16 byte order mark at the start. */
export function contentTypeOf(beginning: Uint8Array): ContentType {
  if (utf16EncodingOf(beginning) !== undefined) return "text";
  return beginning.subarray(0, SNIFFED_BYTES).includes(0) ? "binary" : "text";
}

/** Decodes the bytes as UTF-8, or as UTF-16 if there is a byte order mark. Invalid bytes become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  const encoding = utf16EncodingOf(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function utf16EncodingOf(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

/** Extracts everything the keyword index needs from a text. */
export function indexTextOf(bytes: Uint8Array): IndexText {
  const body = decodeText(bytes);
  return { title: titleOf(body), body, words: identifierWords(body) };
}

/** Like {@link indexTextOf}, but computes each part on first use: most indexers only need the body. */
export function lazyIndexText(bytes: Uint8Array): IndexText {
  return new LazyText(decodeText(bytes));
}

class LazyText implements IndexText {
  readonly body: string;
  #title: { readonly text: string | undefined } | undefined;
  #words: string | undefined;

  constructor(body: string) {
    this.body = body;
  }

  get title(): string | undefined {
    this.#title ??= { text: titleOf(this.body) };
    return this.#title.text;
  }

  get words(): string {
    this.#words ??= identifierWords(this.body);
    return this.#words;
  }
}

const HEADING = /^(?:#{1,3}[ \t]+(\S.*?)[ \t#]*$|=\s+(\S.*)$)/m;
const TITLE_ELEMENT = /<title[^>]*>\s*([^<]{1,300}?)\s*<\/title>/i;
const MAX_TITLE_LENGTH = 200;

/**
 * Finds the first heading or title element in the first 2 KB. Shell comments look like headings, so a text that starts
 * with `#!` has no title.
 */
export function titleOf(text: string): string | undefined {
  const beginning = text.slice(0, 2048);
  if (beginning.startsWith("#!")) return undefined;
  const found = TITLE_ELEMENT.exec(beginning)?.[1] ?? HEADING.exec(beginning)?.slice(1).find(Boolean);
  return found?.replace(/\s+/g, " ").slice(0, MAX_TITLE_LENGTH);
}

const BOUNDARY = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** Longer identifiers are not split. */
export const MAX_IDENTIFIER_LENGTH = 120;

/** Splits an identifier into its parts. One without parts is returned whole. */
export function splitIdentifier(identifier: string): string[] {
  return identifier.split(/[^\p{L}\p{N}]+/u).flatMap((part) => (part === "" ? [] : part.split(BOUNDARY)));
}

// The kinds of characters.
const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** A letter without case. */
const LETTER = 4;
const CONTINUED = 5;
const UNKNOWN = 6;
/** The kind of each character in the basic plane, filled on demand. */
const kinds = new Uint8Array(0x10000).fill(UNKNOWN);

// What the characters of an identifier so far say. STEPS has the next state for a state plus a kind.
const OUTSIDE = 0;
const SMALL = 8;
const CAPITAL = 16;
const CAPITALS = 24;
const CASELESS = 32;
const COMPOUND = 40;
// Per state: the next state after another character, a lowercase letter, an uppercase letter, a digit and a letter
// without case; then the state itself. The rest of each row is not used.
const STEPS = Uint8Array.of(
  ...[OUTSIDE, SMALL, CAPITAL, SMALL, CASELESS, OUTSIDE, 0, 0],
  ...[OUTSIDE, SMALL, COMPOUND, SMALL, CASELESS, SMALL, 0, 0],
  ...[OUTSIDE, SMALL, CAPITALS, SMALL, CASELESS, CAPITAL, 0, 0],
  ...[OUTSIDE, COMPOUND, CAPITALS, SMALL, CASELESS, CAPITALS, 0, 0],
  ...[OUTSIDE, SMALL, CAPITAL, SMALL, CASELESS, CASELESS, 0, 0],
  ...[OUTSIDE, COMPOUND, COMPOUND, COMPOUND, COMPOUND, COMPOUND, 0, 0],
);

/** Part of a text as numbers: reading them from a typed array is several times as fast as `charCodeAt`. */
const units = new Uint16Array(32 * 1024);
const unitBytes = Buffer.from(units.buffer);

/**
 * Returns the parts of every compound identifier in the text, once per identifier. Looks at each character with two
 * table lookups: a regular expression that looks for case changes in every word takes many times as long.
 */
export function identifierWords(text: string): string {
  const words: string[] = [];
  const seen = new Set<string>();
  let state = OUTSIDE;
  let start = 0;
  const end = (at: number) => {
    if (at - start > MAX_IDENTIFIER_LENGTH) return;
    const identifier = text.slice(start, at);
    if (seen.has(identifier)) return;
    seen.add(identifier);
    words.push(...identifier.split(BOUNDARY));
  };
  for (let from = 0; from < text.length; from += units.length) {
    const count = unitBytes.write(text.slice(from, from + units.length), "utf16le") / 2;
    for (let at = 0; at < count; at++) {
      const known = kinds[units[at] as number] as number;
      const next = STEPS[state + (known === UNKNOWN ? kindAt(text, from + at) : known)] as number;
      if (next === OUTSIDE) {
        if (state === COMPOUND) end(from + at);
        start = from + at + 1;
      }
      state = next;
    }
  }
  if (state === COMPOUND) end(text.length);
  return words.join(" ");
}

/** Returns the kind of the character at the offset. The second half of a surrogate pair belongs to the first. */
function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (isHighSurrogate(unit)) return kindOf(String.fromCodePoint(text.codePointAt(at) as number));
  if (isLowSurrogate(unit)) return at > 0 && isHighSurrogate(text.charCodeAt(at - 1)) ? CONTINUED : OTHER;
  const kind = kindOf(String.fromCharCode(unit));
  kinds[unit] = kind;
  return kind;
}
function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function kindOf(character: string): number {
  if (/^\p{Ll}/u.test(character)) return LOWER;
  if (/^\p{Lu}/u.test(character)) return UPPER;
  if (/^\p{N}/u.test(character)) return DIGIT;
  return /^\p{L}/u.test(character) ? LETTER : OTHER;
}
