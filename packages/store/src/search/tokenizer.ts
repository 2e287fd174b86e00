// The tokenizer of the keyword index: words as FTS5 finds them with `porter unicode61 remove_diacritics 2`. The embedded
// store has FTS5 do it; an engine without FTS5 uses this. Pure.
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
  const apart = word.normalize("NFD").replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1");
  return apart.normalize("NFC").replaceAll("\u00b5", "\u03bc");
}

/** Yields the terms of a text, in order. */
export function* tokensOf(text: string): Generator<string> {
  const pattern = BEYOND_ASCII.test(text) ? WORD : ASCII_WORD;
  for (const [word] of text.matchAll(pattern)) yield termOf(word);
}

/** Words joined by underscores, which are one word in a query. */
const JOINED = /[\p{L}\p{N}]+(?:_+[\p{L}\p{N}]+)+/gu;
const JOINED_ASCII = /[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+/g;

/** Yields the terms of words that are joined by underscores, each as one term: `snake_case` is `snake_case`. */
export function* joinedTokensOf(text: string): Generator<string> {
  if (!text.includes("_")) return;
  const pattern = BEYOND_ASCII.test(text) ? JOINED : JOINED_ASCII;
  for (const [word] of text.matchAll(pattern)) {
    if (word.length <= 200) yield joinedTerm(word);
  }
}

/** Returns the term of a word with underscores. */
export function joinedTerm(word: string): string {
  return [...tokensOf(word)].join("_");
}
