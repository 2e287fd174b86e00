// The tokenizer of the keyword index: words as FTS5 finds them with `porter unicode61 remove_diacritics 2`. The embedded
// store has FTS5 do it; an engine without FTS5 uses this. Pure.
import { normalized } from "@trunkline/core";
import { stem } from "./porter.js";

// biome-ignore lint/suspicious/noMisleadingCharacterClass: a diacritic continues a word, whatever letter it belongs to.
const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\u0300-\u0331\u0333-\u036f]*/gu;
const ASCII_WORD = /[A-Za-z0-9]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
const BEYOND_ASCII = /[^\x00-\x7f]/;

const KEPT_STEMS = 50_000;
const stems = new Map<string, string>();

/** Returns the term of a word as written. */
function termOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const lower = word.toLowerCase();
  const term = stem(BEYOND_ASCII.test(lower) ? withoutDiacritics(lower) : lower);
  if (stems.size >= KEPT_STEMS) stems.clear();
  stems.set(word, term);
  return term;
}

/** Like FTS5, only of Latin letters. */
function withoutDiacritics(word: string): string {
  const apart = normalized(word, "NFD").replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1");
  return apart.normalize("NFC").replaceAll("\u00b5", "\u03bc");
}

/** Yields the terms of a text, in order. */
export function* tokensOf(text: string): Generator<string> {
  const pattern = BEYOND_ASCII.test(text) ? WORD : ASCII_WORD;
  for (const [word] of text.matchAll(pattern)) yield termOf(word);
}

/** Counts the terms of a text, and all its words. Faster than {@link tokensOf}: each distinct word is looked up once. */
export function termCounts(text: string): { counts: Map<string, number>; length: number } {
  const words = new Map<string, number>();
  let length = 0;
  const take = (word: string) => {
    length++;
    words.set(word, (words.get(word) ?? 0) + 1);
  };
  if (BEYOND_ASCII.test(text)) for (const [word] of text.matchAll(WORD)) take(word);
  else asciiRuns(text, take);
  const counts = new Map<string, number>();
  for (const [word, count] of words) {
    const term = termOf(word);
    counts.set(term, (counts.get(term) ?? 0) + count);
  }
  return { counts, length };
}

/** By character code: 1 for a letter or digit. */
const WORD_CODES = Uint8Array.from({ length: 128 }, (_, code) => Number(/[A-Za-z0-9]/.test(String.fromCharCode(code))));

function asciiRuns(text: string, take: (word: string) => void): void {
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    if (WORD_CODES[text.charCodeAt(at)] === 1) {
      if (start === -1) start = at;
    } else if (start !== -1) {
      take(text.slice(start, at));
      start = -1;
    }
  }
  if (start !== -1) take(text.slice(start));
}

/** Words joined by underscores, which are one word in a query. */
const JOINED = /[\p{L}\p{N}]+(?:_+[\p{L}\p{N}]+)+/gu;
const JOINED_ASCII = /[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+/;

/** Yields the terms of words that are joined by underscores, each as one term: `snake_case` is `snake_case`. */
export function* joinedTokensOf(text: string): Generator<string> {
  if (!text.includes("_")) return;
  if (BEYOND_ASCII.test(text)) {
    for (const [word] of text.matchAll(JOINED)) if (word.length <= 200) yield joinedTerm(word);
    return;
  }
  // Underscores are rare: looking for them is faster than trying every word.
  for (let at = text.indexOf("_"); at !== -1; ) {
    let [start, end] = [at, at];
    while (start > 0 && isJoinedCode(text.charCodeAt(start - 1))) start--;
    while (end < text.length && isJoinedCode(text.charCodeAt(end))) end++;
    const [word] = text.slice(start, end).match(JOINED_ASCII) ?? [];
    if (word !== undefined && word.length <= 200) yield joinedTerm(word);
    at = text.indexOf("_", end);
  }
}

function isJoinedCode(code: number): boolean {
  return code === UNDERSCORE || WORD_CODES[code] === 1;
}

const UNDERSCORE = 0x5f;

/** Returns the term of a word with underscores. */
export function joinedTerm(word: string): string {
  return [...tokensOf(word)].join("_");
}
