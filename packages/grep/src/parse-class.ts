// Parses character classes in ripgrep's dialect: [a-z], nested sets, &&, --, ~~, [:alpha:], \p{..} and the escapes.
import { type CharSet, charSet, difference, intersection, single, union } from "./char-set.js";
import { asciiPerlClass, foldAsciiCase, foldCase, perlClass, posixClass, unicodeProperty } from "./unicode.js";

/** What classes need from the pattern reader, declared here so the two files do not import each other. */
interface ClassReader {
  at: number;
  readonly done: boolean;
  readonly flags: { readonly ignoreCase: boolean; readonly unicode: boolean; readonly extended: boolean };
  peek(ahead?: number): string;
  next(): string;
  take(text: string): boolean;
  skipSpace(): void;
  fail(problem: string, start: number, end?: number, hint?: string): never;
}

const MAX_CLASS_DEPTH = 250;

/** Parses a class after its `[`. */
export function parseClass(reader: ClassReader, depth = 0): CharSet {
  const start = reader.at - 1;
  if (depth > MAX_CLASS_DEPTH) reader.fail(`classes are nested deeper than ${MAX_CLASS_DEPTH}`, start, start + 1);
  reader.skipSpace();
  const negated = reader.take("^");
  let left: CharSet | undefined;
  let operator = "";
  let items: CharSet = [];
  let first = true;
  const combine = (): CharSet => {
    if (left === undefined) return items;
    const [a, b] = [fold(reader, left), fold(reader, items)];
    if (operator === "&&") return intersection(a, b);
    if (operator === "--") return difference(a, b);
    return difference(union(a, b), intersection(a, b));
  };
  reader.skipSpace();
  // Any number of leading hyphens is literal; so is a leading bracket.
  while (reader.take("-")) {
    items = union(items, single(0x2d));
    reader.skipSpace();
    first = false;
  }
  if (items.length === 0 && reader.peek() === "]") {
    reader.at++;
    const open = parseRangeFrom(reader, 0x5d, reader.at - 1);
    items = union(items, open);
    first = false;
  }
  while (true) {
    reader.skipSpace();
    if (reader.done) reader.fail("unclosed class", start, start + 1);
    if (reader.take("]")) break;
    const found = ["&&", "--", "~~"].find((text) => !(first && text === "--") && reader.take(text));
    if (found !== undefined) {
      left = combine();
      operator = found;
      items = [];
      continue;
    }
    first = false;
    items = union(items, parseItem(reader, depth));
  }
  const set = fold(reader, combine());
  if (!negated) return set;
  return negateIn(reader, set);
}

function parseItem(reader: ClassReader, depth: number): CharSet {
  const start = reader.at;
  const char = reader.next();
  if (char === "[") {
    const posix = parsePosix(reader);
    return posix ?? parseClass(reader, depth + 1);
  }
  if (char === "\\") {
    const meant = parseClassEscape(reader, start);
    return typeof meant === "number" ? parseRangeFrom(reader, meant, start) : meant;
  }
  return parseRangeFrom(reader, char.codePointAt(0) as number, start);
}

/** Parses the rest of a range after a character that can start one. */
function parseRangeFrom(reader: ClassReader, from: number, start: number): CharSet {
  reader.skipSpace();
  if (reader.peek() !== "-" || reader.peek(1) === "]" || reader.peek(1) === "-") return single(from);
  const hyphen = reader.at;
  reader.at++;
  reader.skipSpace();
  if (reader.done || reader.peek() === "]") {
    reader.at = hyphen;
    return single(from);
  }
  const at = reader.at;
  const char = reader.next();
  const to = char === "\\" ? parseClassEscape(reader, at) : (char.codePointAt(0) as number);
  if (typeof to !== "number") reader.fail("a range ends with a class", start);
  if (to < from) reader.fail("a range ends before it starts", start);
  return [from, to];
}

/** Parses `:alpha:]` after `[` in a class, or nothing. */
function parsePosix(reader: ClassReader): CharSet | undefined {
  const start = reader.at;
  if (!reader.take(":")) return undefined;
  const negated = reader.take("^");
  let name = "";
  while (/^[a-z]$/i.test(reader.peek())) name += reader.next();
  const set = posixClass(name);
  if (set === undefined || !reader.take(":]")) {
    reader.at = start;
    return undefined;
  }
  const folded = fold(reader, set);
  return negated ? negateIn(reader, folded) : folded;
}

const LETTER_ESCAPES: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Parses what follows `\`: a code point or a class. `start` is the position of the backslash. */
export function parseClassEscape(reader: ClassReader, start: number): number | CharSet {
  const char = reader.next();
  if (char === "") reader.fail("a \\ at the end escapes nothing", start);
  if (/^[0-9]$/.test(char)) reader.fail("ripgrep's dialect has no backreferences", start);
  if (char === "k" && (reader.peek() === "<" || reader.peek() === "{")) {
    reader.fail("ripgrep's dialect has no backreferences", start);
  }
  if (Object.hasOwn(LETTER_ESCAPES, char)) return LETTER_ESCAPES[char] as number;
  if (Object.hasOwn(HEX_DIGITS, char)) return parseHex(reader, start, HEX_DIGITS[char] as number);
  const lower = char.toLowerCase();
  if (lower === "d" || lower === "s" || lower === "w") {
    const set = reader.flags.unicode ? perlClass(lower) : asciiPerlClass(lower);
    return char === lower ? set : negateIn(reader, set);
  }
  if (lower === "p") return parseProperty(reader, start, char === "P");
  if (char === " " && reader.flags.extended) return 0x20;
  if (/^[!-/:-@[-`{-~]$/.test(char) && char !== "<" && char !== ">") return char.charCodeAt(0);
  const known: Readonly<Record<string, string>> = {
    K: "\\K",
    G: "\\G",
    Z: "\\Z; use \\z",
    R: "\\R",
    X: "\\X",
    h: "\\h",
    Q: "\\Q..\\E",
    c: "\\c",
  };
  return reader.fail(Object.hasOwn(known, char) ? `ripgrep's dialect has no ${known[char]}` : "unknown escape", start);
}

function parseHex(reader: ClassReader, start: number, length: number): number {
  let digits = "";
  if (reader.take("{")) {
    while (!reader.done && reader.peek() !== "}") digits += reader.next();
    if (!reader.take("}")) reader.fail("unclosed hexadecimal escape", start);
  } else while (digits.length < length && !reader.done) digits += reader.next();
  const value = /^[0-9A-Fa-f]{1,8}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (value < 0) reader.fail("an escape needs hexadecimal digits", start);
  if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) reader.fail("an escape is not a character", start);
  return value;
}

function parseProperty(reader: ClassReader, start: number, upper: boolean): CharSet {
  if (!reader.flags.unicode) reader.fail("\\p is not available under (?-u)", start);
  let name = "";
  let negated = upper;
  if (reader.take("{")) {
    while (!reader.done && reader.peek() !== "}") name += reader.next();
    if (!reader.take("}")) reader.fail("unclosed property", start);
  } else name = reader.next();
  if (name.includes("!=")) {
    negated = !negated;
    name = name.replace("!=", "=");
  }
  const set = unicodeProperty(name);
  if (set === undefined) reader.fail(`unknown Unicode property ${name}`, start);
  const folded = fold(reader, set);
  return negated ? negateIn(reader, folded) : folded;
}

function fold(reader: ClassReader, set: CharSet): CharSet {
  if (!reader.flags.ignoreCase) return set;
  return reader.flags.unicode ? foldCase(set) : foldAsciiCase(set);
}

const SURROGATES: CharSet = [0xd800, 0xdfff];

function negateIn(reader: ClassReader, set: CharSet): CharSet {
  if (!reader.flags.unicode) return difference([0, 0xff], set);
  return difference([0, 0x10ffff], charSet([...set, ...SURROGATES]));
}
