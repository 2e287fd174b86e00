// The words that typos are corrected to: every distinct word of the texts, unstemmed, with its trigrams. FTS5's own
// vocabulary has stems only, and a stem put into a query would be stemmed once more. It comes after the
// acknowledgement; words of removed documents stay, and are passed over because nothing has them any more.
import type { IndexText } from "../content/text.js";
import type { IndexEntry, Indexer } from "./indexer.js";
import { knownNumbers } from "./known-numbers.js";

const SHORTEST_WORD = 4;
const LONGEST_WORD = 32;
const MOST_WORDS_PER_ENTRY = 50_000;
const READ_CHARACTERS = 4 * 1024 * 1024;

/** The `fuzzy` indexer. */
export const fuzzyIndexer: Indexer = {
  name: "fuzzy",
  version: 1,
  when: "background",
  create(index) {
    index.exec(`CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
      CREATE TABLE IF NOT EXISTS word_grams (
        gram TEXT NOT NULL, length INTEGER NOT NULL, word INTEGER NOT NULL, PRIMARY KEY (gram, length, word)
      ) WITHOUT ROWID;`);
  },
  async prepare(entry, text) {
    return wordsOfEntry(entry, text);
  },
  add(index, _entry, _text, prepared) {
    const known = knownNumbers(index, { table: "words", column: "word" });
    // What prepare made.
    for (const word of prepared as readonly string[]) {
      if (known.has(word)) continue;
      const there = index.get<{ id: number }>("SELECT id FROM words WHERE word = ?", word);
      const id = there?.id ?? index.run("INSERT INTO words (word) VALUES (?)", word).id;
      known.set(word, id);
      if (there !== undefined) continue;
      for (const gram of gramsOf(word)) {
        index.run("INSERT OR IGNORE INTO word_grams VALUES (?, ?, ?)", gram, word.length, id);
      }
    }
  },
  update() {},
  remove() {},
  clear(index) {
    index.exec("DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS word_grams");
  },
};

/** The form in which words are compared: lower case, without marks, as the keyword index has them before stemming. */
export function foldWord(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text);
}

/** The trigrams of a word, with its beginning and its end as characters. */
export function gramsOf(word: string): string[] {
  const padded = `^${word}$`;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at++) grams.add(padded.slice(at, at + 3));
  return [...grams];
}

function wordsOfEntry(entry: IndexEntry, text: IndexText | undefined): string[] {
  const parts = [entry.title ?? "", entry.path, entry.tags.join(" "), JSON.stringify(entry.metadata)];
  if (text !== undefined) parts.push(text.body.slice(0, READ_CHARACTERS), text.words.slice(0, READ_CHARACTERS));
  const words = new Set<string>();
  for (const part of parts) {
    const folded = foldWord(part);
    for (const word of folded.match(isAscii(folded) ? /[a-z0-9]{4,}/g : /[\p{L}\p{N}]{4,}/gu) ?? []) {
      if (words.size >= MOST_WORDS_PER_ENTRY) break;
      if (!words.has(word) && isWord(word)) words.add(word);
    }
  }
  return [...words];
}

/** Numbers, hashes and encoded bytes are nobody's intention. */
function isWord(word: string): boolean {
  if (word.length < SHORTEST_WORD || word.length > LONGEST_WORD) return false;
  if (!/\d/.test(word)) return true;
  return (word.match(/\d/g)?.length ?? 0) * 3 <= word.length;
}
