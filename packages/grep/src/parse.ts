// Parses ripgrep's dialect, which is that of Rust's regex crate, into a tree. Character classes are in parse-class.ts.
import { type CharSet, difference, has, single } from "./char-set.js";
import { parseClass, parseClassEscape } from "./parse-class.js";
import { concat, EMPTY, type Look, type Node, patternError } from "./syntax.js";
import { ANY, foldAsciiCase, foldCase } from "./unicode.js";

/** The flags set by `(?imsUux)`; `m` is on, as in ripgrep. */
interface Flags {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
  readonly unicode: boolean;
  /** Whether repetitions are lazy unless marked with `?`. */
  readonly swapGreed: boolean;
}

/** A position in the pattern, with the flags in force there. */
class Reader {
  readonly pattern: string;
  readonly chars: readonly string[];
  at = 0;
  flags: Flags;

  constructor(pattern: string, flags: Flags) {
    this.pattern = pattern;
    this.chars = [...pattern];
    this.flags = flags;
  }

  get done(): boolean {
    return this.at >= this.chars.length;
  }

  /** Returns the current character, or "" at the end. */
  peek(ahead = 0): string {
    return this.chars[this.at + ahead] ?? "";
  }

  next(): string {
    return this.chars[this.at++] ?? "";
  }

  /** Consumes the text if it comes next. */
  take(text: string): boolean {
    for (let index = 0; index < text.length; index++) if (this.peek(index) !== text[index]) return false;
    this.at += text.length;
    return true;
  }

  /** Skips white space and comments under `(?x)`. */
  skipSpace(): void {
    if (!this.flags.extended) return;
    while (!this.done) {
      if (/^\p{White_Space}$/u.test(this.peek())) this.at++;
      else if (this.peek() === "#") while (!this.done && this.peek() !== "\n") this.at++;
      else return;
    }
  }

  fail(problem: string, start: number, end = this.at, hint?: string): never {
    throw patternError(problem, { pattern: this.pattern, start, end }, hint);
  }
}

const MAX_DEPTH = 250;
const MAX_REPETITIONS = 100_000;
const LINE_FEED: CharSet = single(0x0a);
const LACKS = "ripgrep's dialect has no";

/** Parses a pattern. Throws `INVALID_ARGUMENT` with the position for syntax that ripgrep does not have. */
export function parsePattern(pattern: string, options: { ignoreCase: boolean }): Node {
  const reader = new Reader(pattern, {
    ignoreCase: options.ignoreCase,
    dotAll: false,
    extended: false,
    unicode: true,
    swapGreed: false,
  });
  const names = new Set<string>();
  const node = parseAlternation(reader, 0, names);
  if (!reader.done) reader.fail("unopened group", reader.at, reader.at + 1);
  return node;
}

/** Parses literal text. */
export function parseLiteral(text: string, options: { ignoreCase: boolean }): Node {
  const { ignoreCase } = options;
  const reader = new Reader(text, { ignoreCase, dotAll: false, extended: false, unicode: true, swapGreed: false });
  const parts: Node[] = [];
  while (!reader.done) {
    const start = reader.at;
    parts.push(literal(reader, codePointOf(reader.next()), start));
  }
  return concat(parts);
}

function parseAlternation(reader: Reader, depth: number, names: Set<string>): Node {
  if (depth > MAX_DEPTH) reader.fail(`groups are nested deeper than ${MAX_DEPTH}`, reader.at, reader.at + 1);
  const branches: Node[] = [];
  let parts: Node[] = [];
  while (true) {
    reader.skipSpace();
    const char = reader.peek();
    if (reader.done || char === ")") break;
    if (char === "|") {
      reader.at++;
      branches.push(concat(parts));
      parts = [];
    } else if (char === "*" || char === "+" || char === "?" || char === "{") parseRepetition(reader, parts);
    else {
      const part = parseAtom(reader, depth, names);
      if (part !== undefined) parts.push(part);
    }
  }
  branches.push(concat(parts));
  return branches.length === 1 ? (branches[0] as Node) : { kind: "alternate", branches };
}

function parseRepetition(reader: Reader, parts: Node[]): void {
  const start = reader.at;
  const operator = reader.next();
  const node = parts.pop();
  if (node === undefined || node === FLAGS_ONLY) {
    reader.fail(`there is nothing before ${operator} to repeat`, start);
  }
  let min = operator === "+" ? 1 : 0;
  let max: number | undefined = operator === "?" ? 1 : undefined;
  if (operator === "{") [min, max] = parseCounts(reader, start);
  reader.skipSpace();
  const lazy = reader.take("?") !== reader.flags.swapGreed;
  parts.push({ kind: "repeat", node, min, max, lazy });
}

function parseCounts(reader: Reader, start: number): [number, number | undefined] {
  const number = (): number => {
    reader.skipSpace();
    const from = reader.at;
    while (/^[0-9]$/.test(reader.peek())) reader.at++;
    const digits = reader.chars.slice(from, reader.at).join("");
    reader.skipSpace();
    if (reader.done) reader.fail("unclosed counted repetition", start);
    if (digits === "") reader.fail("a repetition needs a decimal number", from, from + 1);
    if (Number(digits) > MAX_REPETITIONS) reader.fail(`more than ${MAX_REPETITIONS} repetitions`, from);
    return Number(digits);
  };
  const min = number();
  let max: number | undefined = min;
  if (reader.take(",")) {
    reader.skipSpace();
    max = reader.peek() === "}" ? undefined : number();
  }
  if (!reader.take("}")) reader.fail("unclosed counted repetition", start);
  if (max !== undefined && max < min) reader.fail("a repetition ends before it starts", start);
  return [min, max];
}

/** What `(?i)` alone leaves: nothing to match and nothing to repeat. */
const FLAGS_ONLY: Node = { kind: "concat", parts: [] };

function parseAtom(reader: Reader, depth: number, names: Set<string>): Node | undefined {
  const start = reader.at;
  const char = reader.next();
  switch (char) {
    case "(":
      return parseGroup(reader, depth, names);
    case "[":
      return setNode(reader, parseClass(reader), start);
    case ".": {
      const all = reader.flags.unicode ? ANY : [0, 0xff];
      return setNode(reader, reader.flags.dotAll ? all : difference(all, LINE_FEED), start);
    }
    case "^":
      return look(reader, "line-start");
    case "$":
      return look(reader, "line-end");
    case "\\":
      return parseEscape(reader, start);
    default:
      return literal(reader, codePointOf(char), start);
  }
}

function parseGroup(reader: Reader, depth: number, names: Set<string>): Node {
  const start = reader.at - 1;
  const outer = reader.flags;
  reader.skipSpace();
  if (reader.take("?")) {
    for (const [text, what] of [
      ["=", "look-ahead"],
      ["!", "look-ahead"],
      ["<=", "look-behind"],
      ["<!", "look-behind"],
      [">", "atomic groups"],
      ["|", "branch reset groups"],
      ["#", "comment groups"],
      ["(", "conditionals"],
      ["&", "subroutine calls"],
      ["R", "recursion"],
      ["P=", "backreferences"],
      ["P>", "subroutine calls"],
    ] as const) {
      if (reader.take(text)) reader.fail(`${LACKS} ${what}`, start);
    }
    if (reader.take("P<") || reader.take("<")) parseGroupName(reader, names);
    else {
      const alone = parseFlags(reader, start);
      if (alone) return FLAGS_ONLY;
    }
  }
  const node = parseAlternation(reader, depth + 1, names);
  if (!reader.take(")")) reader.fail("unclosed group", start, start + 1);
  reader.flags = outer;
  // A group can be repeated, even if it contains only flags.
  return node === FLAGS_ONLY ? EMPTY : node;
}

function parseGroupName(reader: Reader, names: Set<string>): void {
  const start = reader.at;
  while (!reader.done && reader.peek() !== ">") reader.at++;
  const name = reader.chars.slice(start, reader.at).join("");
  if (!reader.take(">")) reader.fail("unclosed group name", start);
  if (!/^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_.[\]]*$/u.test(name)) {
    reader.fail("invalid character in a group name", start, reader.at - 1);
  }
  if (names.has(name)) reader.fail(`two groups are named ${name}`, start, reader.at - 1);
  names.add(name);
}

/** Parses flags after `(?`. Returns true if that was all, as in `(?i)`; false if a group follows, as in `(?i:`. */
function parseFlags(reader: Reader, start: number): boolean {
  let on = true;
  let any = false;
  const next: { -readonly [K in keyof Flags]: Flags[K] } = { ...reader.flags };
  const seen = new Set<string>();
  while (true) {
    const at = reader.at;
    const char = reader.next();
    if (char === ")" || char === ":") {
      if (!on && !any) reader.fail("- is not followed by a flag", at - 1, at);
      if (char === ")" && seen.size === 0) reader.fail("there is nothing before ? to repeat", start + 1, at);
      reader.flags = next;
      return char === ")";
    }
    if (char === "-" && on) {
      on = false;
      any = false;
      continue;
    }
    if (char === "") reader.fail("unclosed group", start, start + 1);
    if (!/^[imsUuxR]$/.test(char)) {
      reader.fail(`${char} is not a flag`, at, at + 1, "The flags are i, m, s, U, u and x.");
    }
    if (seen.has(char)) reader.fail(`the flag ${char} is given twice`, at);
    if (char === "R" && on) reader.fail("the flag R (CRLF mode) is not supported here", at, at + 1);
    seen.add(char);
    any = true;
    if (char === "i") next.ignoreCase = on;
    else if (char === "s") next.dotAll = on;
    else if (char === "x") next.extended = on;
    else if (char === "u") next.unicode = on;
    else if (char === "U") next.swapGreed = on;
    // `m` does not affect what matches: patterns are matched line by line.
  }
}

function parseEscape(reader: Reader, start: number): Node {
  switch (reader.peek()) {
    case "A":
      reader.at++;
      return look(reader, "line-start");
    case "z":
      reader.at++;
      return look(reader, "line-end");
    case "B":
      reader.at++;
      return look(reader, "not-word-boundary");
    case "<":
      reader.at++;
      return look(reader, "word-start");
    case ">":
      reader.at++;
      return look(reader, "word-end");
    case "b": {
      reader.at++;
      for (const name of ["word-start", "word-end", "word-start-half", "word-end-half"] as const) {
        if (reader.take(`{${name.slice("word-".length)}}`)) return look(reader, name);
      }
      return look(reader, "word-boundary");
    }
    default: {
      const meant = parseClassEscape(reader, start);
      return typeof meant === "number" ? literal(reader, meant, start) : setNode(reader, meant, start);
    }
  }
}

function look(reader: Reader, kind: Look): Node {
  return { kind: "look", look: kind, ascii: !reader.flags.unicode };
}

function literal(reader: Reader, codePoint: number, start: number): Node {
  const set = single(codePoint);
  if (!reader.flags.ignoreCase) return setNode(reader, set, start);
  return setNode(reader, reader.flags.unicode ? foldCase(set) : foldAsciiCase(set), start);
}

/**
 * Builds a set node. A line never contains a line feed, so classes lose it, and a class that can match nothing else is
 * an error, as in ripgrep.
 */
function setNode(reader: Reader, set: CharSet, start: number): Node {
  const rest = has(set, 0x0a) ? difference(set, LINE_FEED) : set;
  if (rest.length === 0) {
    reader.fail(
      set.length === 0 ? "a class that nothing can match" : "a pattern cannot match a line break",
      start,
      reader.at,
      "Lines are searched one by one. Search for part of a line.",
    );
  }
  const isAscii = (rest[rest.length - 1] as number) < 0x80;
  // Below 0x80, a byte is a character.
  return reader.flags.unicode || isAscii || isNonAsciiLiteral(reader, start)
    ? { kind: "set", set: rest }
    : { kind: "set", set: rest, bytes: true };
}

/** Whether a literal is a character even under `(?-u)`: `é` means the character, `\xE9` the byte. */
function isNonAsciiLiteral(reader: Reader, start: number): boolean {
  return reader.at === start + 1 && codePointOf(reader.chars[start] ?? "") >= 0x80;
}

function codePointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
