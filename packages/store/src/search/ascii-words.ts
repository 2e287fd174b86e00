// Extracts the words of an ASCII text, which nearly all source code is: character by character, without creating
// strings for repeated words. Running regular expressions over every word took a large part of the indexing time.

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const KINDS = new Uint8Array(128);
KINDS.fill(DIGIT, 0x30, 0x3a);
KINDS.fill(UPPER, 0x41, 0x5b);
KINDS.fill(LOWER, 0x61, 0x7b);

/** Where a word was last seen in the current text, by its hash. Only an identical word counts as seen. */
const SLOTS = 1 << 14;
const starts = new Int32Array(SLOTS);
const lengths = new Int32Array(SLOTS);

/** Returns words of at least `shortest` characters as written, mostly once each, and the parts of compound words. */
export function asciiWords(
  text: string,
  shortest: number,
  longestCompound: number,
): { whole: string[]; parts: string[] } {
  lengths.fill(0);
  const whole: string[] = [];
  const parts: string[] = [];
  for (let at = 0; at < text.length; at++) {
    let kind = kindAt(text, at);
    if (kind === OTHER) continue;
    const start = at;
    let hash = 0;
    let isCompound = false;
    for (let before = OTHER, beforeThat = OTHER; kind !== OTHER; kind = kindAt(text, ++at)) {
      hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
      if (kind === UPPER ? before === LOWER || before === DIGIT : isSecondStart(kind, before, beforeThat)) {
        isCompound = true;
      }
      beforeThat = before;
      before = kind;
    }
    const length = at - start;
    if (length < shortest || wasSeen(text, { start, length, hash })) continue;
    whole.push(text.slice(start, at));
    if (isCompound && length <= longestCompound) pushParts(text, { start, end: at, shortest }, parts);
  }
  return { whole, parts };
}

/** Detects the second part in `HTTPRequest`, which starts one character earlier. */
function isSecondStart(kind: number, before: number, beforeThat: number): boolean {
  return kind === LOWER && before === UPPER && beforeThat === UPPER;
}

function wasSeen(
  text: string,
  { start, length, hash }: { readonly start: number; readonly length: number; readonly hash: number },
): boolean {
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  const earlier = starts[slot] as number;
  const isSame = lengths[slot] === length && isEqual(text, earlier, start, length);
  starts[slot] = start;
  lengths[slot] = length;
  return isSame;
}

function isEqual(text: string, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (text.charCodeAt(a + at) !== text.charCodeAt(b + at)) return false;
  return true;
}

function pushParts(
  text: string,
  { start, end, shortest }: { readonly start: number; readonly end: number; readonly shortest: number },
  parts: string[],
): void {
  let from = start;
  const cut = (to: number) => {
    if (to - from >= shortest) parts.push(text.slice(from, to));
    from = to;
  };
  for (let at = start, before = OTHER, beforeThat = OTHER; at < end; at++) {
    const kind = kindAt(text, at);
    if (kind === UPPER && (before === LOWER || before === DIGIT)) cut(at);
    else if (isSecondStart(kind, before, beforeThat)) cut(at - 1);
    beforeThat = before;
    before = kind;
  }
  cut(end);
}

/** Handles positions past the end. */
function kindAt(text: string, at: number): number {
  return at < text.length ? (KINDS[text.charCodeAt(at)] ?? OTHER) : OTHER;
}
