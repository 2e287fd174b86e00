// The words that typos are corrected to, and how they are compared. Pure.
import { normalized } from "@trunkline/core";
import { type IndexText, identifierWords, MAX_IDENTIFIER_LENGTH } from "../engine/content/text.js";
import type { IndexEntry } from "../engine/indexing/indexer.js";
import { asciiWords } from "./ascii-words.js";

const SHORTEST_WORD = 4;
const LONGEST_WORD = 32;
const MOST_WORDS_PER_ENTRY = 50_000;
const READ_CHARACTERS = 4 * 1024 * 1024;

/** Folds a word for comparison: lowercase, without diacritics, as in the keyword index before stemming. */
export function foldWord(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  return normalized(word, "NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text);
}

/** Returns the trigrams of a word, with markers for start and end, as stored for words of this length. */
export function gramTerms(word: string, length: number): string[] {
  const padded = `^${word}$`;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at++) grams.add(`${padded.slice(at, at + 3)}${length}`);
  return [...grams];
}

/** Returns the distinct words of an entry that typos can be corrected to. */
export function wordsOfEntry(
  entry: Pick<IndexEntry, "title" | "path" | "tags" | "metadata">,
  text: IndexText | undefined,
): string[] {
  const parts = [entry.title ?? "", entry.path, entry.tags.join(" "), JSON.stringify(entry.metadata)];
  const { ascii, others } = splitByScript(text?.body.slice(0, READ_CHARACTERS) ?? "");
  if (others !== "") parts.push(others, identifierWords(others));
  const words = new Set<string>();
  const take = (word: string) => {
    if (words.size < MOST_WORDS_PER_ENTRY && isWord(word)) words.add(word);
  };
  for (const part of parts) {
    const folded = foldWord(part);
    for (const word of folded.match(isAscii(folded) ? /[a-z0-9]{4,}/g : /[\p{L}\p{N}]{4,}/gu) ?? []) take(word);
  }
  const found = asciiWords(ascii, SHORTEST_WORD, MAX_IDENTIFIER_LENGTH);
  for (const word of found.whole) take(word.toLowerCase());
  for (const word of found.parts) take(word.toLowerCase());
  return [...words];
}

/**
 * Splits a text into the part whose words are all ASCII, in which words are found much faster, and the other words.
 * Most texts with other characters only have a few dashes, quotes or names.
 */
function splitByScript(text: string): { ascii: string; others: string } {
  let ascii = "";
  let others = "";
  let from = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  const beyond = /[^\x00-\x7f]/g;
  for (let next = beyond.exec(text); next !== null; next = beyond.exec(text)) {
    let start = next.index;
    while (start > from && isAsciiLetterOrDigit(text.charCodeAt(start - 1))) start--;
    let end = next.index;
    while (end < text.length && (text.charCodeAt(end) > 0x7f || isAsciiLetterOrDigit(text.charCodeAt(end)))) end++;
    const run = text.slice(start, end);
    if (BEYOND_ASCII.test(run)) {
      ascii += `${text.slice(from, start)} `;
      others += `${run} `;
      from = end;
    }
    beyond.lastIndex = end;
  }
  return { ascii: from === 0 ? text : ascii + text.slice(from), others };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
const BEYOND_ASCII = /(?![\x00-\x7f])[\p{L}\p{N}\p{M}]/u;

function isAsciiLetterOrDigit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
}

/** Excludes numbers, hashes and encoded bytes. */
function isWord(word: string): boolean {
  if (word.length < SHORTEST_WORD || word.length > LONGEST_WORD) return false;
  let digits = 0;
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at);
    if (unit >= 0x30 && unit <= 0x39) digits++;
  }
  return digits * 3 <= word.length;
}
