// JSON as models write it: in a code fence, surrounded by prose, with a trailing comma. Repairs only what is
// unambiguous.
import { parseUniqueJson } from "@trunkline/core";

const MAX_TRIES = 200;

/** Yields every JSON object or list in a text, likeliest first: the whole text, then each piece inside it. */
export function* jsonIn(text: string): Generator<unknown> {
  const whole = parseTolerant(text);
  if (whole !== undefined) {
    yield whole;
    return;
  }
  // Limit the attempts, because every unclosed bracket costs a scan of the rest of the text.
  for (let from = nextOpening(text, 0), tries = 0; from !== -1 && tries < MAX_TRIES; tries++) {
    const end = closingOf(text, from);
    const value = end === -1 ? undefined : parseTolerant(text.slice(from, end + 1));
    if (value !== undefined) yield value;
    from = nextOpening(text, value === undefined ? from + 1 : end + 1);
  }
}

/** Parses JSON, tolerating trailing commas, line comments and raw line breaks in strings. */
function parseTolerant(text: string): unknown {
  const exact = parseUniqueJson(text);
  return exact === undefined ? parseUniqueJson(cleaned(text)) : exact;
}

function nextOpening(text: string, from: number): number {
  const found = text.slice(from).search(/[{[]/);
  return found === -1 ? -1 : from + found;
}

/** Returns the index of the bracket that closes the one at `from`, or -1. Takes linear time. */
function closingOf(text: string, from: number): number {
  const open: string[] = [];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      if (at === -1) return -1;
    } else if (character === "{" || character === "[") open.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") {
      if (open.pop() !== character) return -1;
      if (open.length === 0) return at;
    }
  }
  return -1;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function cleaned(text: string): string {
  let result = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') {
      const end = endOfString(text, at);
      if (end === -1) return text;
      result += text.slice(at, end + 1).replace(/[\n\r\t]/g, (found) => ESCAPES[found] ?? found);
      at = end;
    } else if (character === "/" && text[at + 1] === "/") {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (character === "," && /^\s*[}\]]/.test(text.slice(at + 1, at + 200))) {
      // Drop the trailing comma: a closing bracket follows.
    } else result += character;
  }
  return result;
}
