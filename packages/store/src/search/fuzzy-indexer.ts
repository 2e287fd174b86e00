// The words that typos are corrected to: every distinct word of the texts, unstemmed, with its trigrams. FTS5's own
// vocabulary only has stems, and a stem in a query would be stemmed again. Updated after the write is acknowledged.
// Words of removed documents stay, but are ignored because no document has them.
//
// FTS5 also stores which words have a trigram, one row per word: a table with a row for each trigram of each word took
// longer to fill.
import type { Indexer } from "../engine/indexing/indexer.js";
import { knownNumbers } from "../engine/indexing/known-numbers.js";
import type { Db } from "../engine/sqlite/database.js";
import { MOST_CANDIDATES, type WordSource } from "./corrections.js";
import { gramTerms, wordsOfEntry } from "./fuzzy-words.js";
import { ftsWord } from "./terms.js";

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

/** The words of the index, for corrections. */
export function wordSource(index: Db): WordSource {
  return {
    textsWith: (word, most) =>
      index.one<{ n: number }>(
        "SELECT count(*) AS n FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)",
        ftsWord(word),
        most,
      ).n,
    wordsLike: (grams) =>
      index.column<string>(
        `SELECT w.word FROM (
           SELECT g.doc AS word, count(*) AS shared FROM json_each(?) t CROSS JOIN word_gram_rows g ON g.term = t.value
           GROUP BY g.doc ORDER BY shared DESC, g.doc LIMIT ${MOST_CANDIDATES}) best
         JOIN words w ON w.id = best.word`,
        JSON.stringify(grams),
      ),
  };
}
