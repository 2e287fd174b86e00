// Parts of a text that fit a size: its beginning, its end, or both. Cuts fall between lines or words if there are any
// nearby, and never inside a code point.

/** Sizes are those of JSON: characters that are escaped there count as their escapes. */
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

function tailOf(text: string, maxBytes: number): string {
  let bytes = 0;
  let at = text.length;
  while (at > 0) {
    const isPair = at > 1 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 2, at));
    const start = at - (isPair ? 2 : 1);
    const cost = codePointBytes(text.codePointAt(start) ?? 0);
    if (bytes + cost > maxBytes) break;
    bytes += cost;
    at = start;
  }
  return text.slice(at);
}

/** The number of bytes that a code point takes in a JSON string. */
export function codePointBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return code === 0x08 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}

/** A line is cut if its end is further away than this share of the text that is shown. */
const LINE_SHARE = 0.4;
/** A word is cut if it is longer than this. */
const LONGEST_WORD = 60;

/** The beginning of a text, up to the end of a line or word. */
export function wholeHead(text: string, maxBytes: number): string {
  const head = headOf(text, maxBytes);
  if (head.length === text.length || /\s/.test(text[head.length] as string)) return head;
  const line = head.lastIndexOf("\n");
  if (line >= 0 && line >= head.length * (1 - LINE_SHARE)) return head.slice(0, line);
  const word = /\s\S*$/.exec(head.slice(-LONGEST_WORD));
  return word === null ? head : head.slice(0, Math.max(0, head.length - LONGEST_WORD) + word.index);
}

/** The end of a text, from the beginning of a line or word. */
function wholeTail(text: string, maxBytes: number): string {
  const tail = tailOf(text, maxBytes);
  if (tail.length === text.length || /\s/.test(text[text.length - tail.length - 1] as string)) return tail;
  const line = tail.indexOf("\n");
  if (line >= 0 && line < tail.length * LINE_SHARE) return tail.slice(line + 1);
  const word = /^\S*\s/.exec(tail.slice(0, LONGEST_WORD));
  return word === null ? tail : tail.slice(word[0].length);
}

/** Stands between the beginning and the end of a text. */
export const LEFT_OUT = /\n\[… \d+ characters left out …\]\n/;
const MARK_BYTES = 60;
/** Below this size the end of a text is not worth its room. */
const LEAST_WITH_END = 300;
/** The share of the end. */
const END_SHARE = 0.3;

/**
 * The beginning and the end of a long text, with a mark between them, as JSON of at most `maxBytes` bytes without the
 * quotes. `first` and `last` are a beginning and an end that are larger than that, `length` is the length of the text.
 */
export function excerptOf(
  maxBytes: number,
  { first, last, length }: { first: string; last: () => string; length: number },
): string {
  if (maxBytes < LEAST_WITH_END) return `${wholeHead(first, maxBytes - 3)}…`;
  const room = maxBytes - MARK_BYTES;
  const tail = wholeTail(last(), room * END_SHARE);
  const head = wholeHead(first, room * (1 - END_SHARE));
  return `${head}\n[… ${length - head.length - tail.length} characters left out …]\n${tail}`;
}
