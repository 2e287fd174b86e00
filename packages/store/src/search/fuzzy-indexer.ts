// The words that typos are corrected to: every distinct word of the texts, unstemmed, with its trigrams. FTS5's own
// vocabulary only has stems, and a stem in a query would be stemmed again. Updated after the write is acknowledged.
// Words of removed documents stay, but are ignored because no document has them.
//
// FTS5 also stores which words have a trigram, one row per word: a table with a row for each trigram of each word took
// longer to fill.
import { type IndexText, identifierWords, MAX_IDENTIFIER_LENGTH } from "../engine/content/text.js";
import type { IndexEntry, Indexer } from "../engine/indexing/indexer.js";
import { knownNumbers } from "../engine/indexing/known-numbers.js";
import { asciiWords } from "./ascii-words.js";

const SHORTEST_WORD = 4;
const LONGEST_WORD = 32;
const MOST_WORDS_PER_ENTRY = 50_000;
const READ_CHARACTERS = 4 * 1024 * 1024;

export const fuzzyIndexer: Indexer = {
  name: "fuzzy",
  version: 3,
  when: "background",
  create(index) {
    index.exec(`CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
      CREATE VIRTUAL TABLE IF NOT EXISTS word_grams USING fts5(
        grams, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '^$'");
      CREATE VIRTUAL TABLE IF NOT EXISTS word_gram_rows USING fts5vocab('word_grams', 'instance');`);
  },
  async prepare(entry, text) {
    return wordsOfEntry(entry, text);
  },
  add(index, _entry, _text, prepared) {
    const known = knownNumbers(index, { table: "words", column: "word" });
    // The value that prepare produced.
    for (const word of prepared as readonly string[]) {
      if (known.has(word)) continue;
      // Nearly all keys that are not in memory are new.
      const { changes, id } = index.run("INSERT OR IGNORE INTO words (word) VALUES (?)", word);
      if (changes === 0) {
        known.set(word, index.one<{ id: number }>("SELECT id FROM words WHERE word = ?", word).id);
        continue;
      }
      known.set(word, id);
      index.run("INSERT INTO word_grams (rowid, grams) VALUES (?, ?)", id, gramTerms(word, word.length).join(" "));
    }
  },
  update() {},
  remove() {},
  clear(index) {
    for (const table of ["words", "word_gram_rows", "word_grams"]) index.exec(`DROP TABLE IF EXISTS ${table}`);
  },
};

/** Folds a word for comparison: lowercase, without diacritics, as in the keyword index before stemming. */
export function foldWord(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
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
