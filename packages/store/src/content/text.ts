// What is text, and what the keyword index is told about it.

/** Whether content is text: the two values of `type` in the contract. */
export type ContentType = "text" | "binary";

/** What of a content goes into the keyword index. */
export interface IndexText {
  /** From a heading or a title element, where there is one near the beginning. */
  readonly title: string | undefined;
  readonly body: string;
  /** The parts of compound identifiers: `parseHTTPRequest` gives `parse HTTP Request`. */
  readonly words: string;
}

const SNIFFED_BYTES = 64 * 1024;

/** Text has no NUL in its first 64 KB, or begins with the byte order mark of UTF-16. */
export function contentTypeOf(beginning: Uint8Array): ContentType {
  if (utf16EncodingOf(beginning) !== undefined) return "text";
  return beginning.subarray(0, SNIFFED_BYTES).includes(0) ? "binary" : "text";
}

/** The bytes as text: UTF-8 unless a byte order mark says UTF-16. What cannot be decoded becomes U+FFFD. */
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

/** Everything the keyword index needs of a text. */
export function indexTextOf(bytes: Uint8Array): IndexText {
  const body = decodeText(bytes);
  return { title: titleOf(body), body, words: identifierWords(body) };
}

const HEADING = /^(?:#{1,3}[ \t]+(\S.*?)[ \t#]*$|=\s+(\S.*)$)/m;
const TITLE_ELEMENT = /<title[^>]*>\s*([^<]{1,300}?)\s*<\/title>/i;
const MAX_TITLE_LENGTH = 200;

/** The first heading or title element in the first 2 KB. Shell comments look like headings, so a `#!` text has none. */
export function titleOf(text: string): string | undefined {
  const beginning = text.slice(0, 2048);
  if (beginning.startsWith("#!")) return undefined;
  const found = TITLE_ELEMENT.exec(beginning)?.[1] ?? HEADING.exec(beginning)?.slice(1).find(Boolean);
  return found?.replace(/\s+/g, " ").slice(0, MAX_TITLE_LENGTH);
}

// A run of letters and digits with a change inside: lower to upper, or an upper run before a capitalised word.
const COMPOUND_ASCII = /\b[A-Za-z][A-Za-z0-9]*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*/g;
const COMPOUND = /[\p{L}\p{N}]*(?:[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}\p{Ll})[\p{L}\p{N}]*/gu;
const BOUNDARY = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const MAX_IDENTIFIER_LENGTH = 120;

/** The parts of one identifier; one without parts is given back whole. */
export function splitIdentifier(identifier: string): string[] {
  return identifier.split(/[^\p{L}\p{N}]+/u).flatMap((part) => (part === "" ? [] : part.split(BOUNDARY)));
}

/** The parts of every compound identifier in the text, each identifier once. */
export function identifierWords(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  const pattern = /^[\x00-\x7f]*$/.test(text) ? COMPOUND_ASCII : COMPOUND;
  const words: string[] = [];
  const seen = new Set<string>();
  for (const [identifier] of text.matchAll(pattern)) {
    if (identifier.length > MAX_IDENTIFIER_LENGTH || seen.has(identifier)) continue;
    seen.add(identifier);
    words.push(...splitIdentifier(identifier));
  }
  return words.join(" ");
}
