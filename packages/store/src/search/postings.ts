// Looks up a single word in the keyword index: which entries have it, and how much it adds to each score. BM25 is a sum
// over the query's words, so the parts can be cached, and the next query with the same word reuses them. Frequent words
// have precomputed lists; FTS5 answers the rest.

import { bm25WeightOfFts5 } from "@trunkline/core";
import type { Db } from "../engine/sqlite/database.js";
import { ABSENT, type Entries, entriesOf } from "./entry-states.js";
import { KEYWORD_ROWS_PER_ENTRY } from "./keyword-indexer.js";
import type { Postings } from "./keyword-scores.js";
import { KEYWORD_WEIGHTS } from "./keyword-text.js";
import { listedEntries, RANK_SCALE } from "./ranks-indexer.js";

/** 8 bytes each: 32 MB. */
const KEPT_POSTINGS = 4_000_000;
const ROWS_PER_CHECK = 256;
/** A word's score in an entry if only its presence is known: one occurrence in a text of usual length. */
const USUAL_RANK = 1;

/** The words of one state of the index. */
class Words {
  readonly #index: Db;
  readonly #entries: Entries;
  readonly #postings = new Map<string, Postings>();
  /** The last entry covered by lists. */
  readonly #covered: number;
  readonly #changed: readonly number[];
  #kept = 0;

  constructor(index: Db, entries: Entries) {
    this.#index = index;
    this.#entries = entries;
    const covered = coveredBy(index);
    this.#covered = covered?.last ?? 0;
    this.#changed = covered === undefined ? [] : index.column<number>("SELECT entry FROM rank_changed");
  }

  get count(): number {
    return this.#entries.count;
  }

  /** Whether these words are still up to date. */
  fits(entries: Entries, covered: number): boolean {
    return entries.key === this.#entries.key && covered === this.#covered;
  }

  /**
   * Returns the entries that have a term. `query` is the term in FTS5 syntax; `word` is the term if it is a single
   * word.
   */
  postings(query: string, word: string | undefined, check: () => void): Postings {
    const known = this.#postings.get(query);
    if (known !== undefined) {
      // Move the term to the end, so the least recently used is evicted first.
      this.#postings.delete(query);
      this.#postings.set(query, known);
      return known;
    }
    const found = (word === undefined ? undefined : this.#listed(query, word, check)) ?? this.#ask(query, 0, check);
    this.#kept += found.entries.length;
    this.#postings.set(query, found);
    for (const [oldest, { entries }] of this.#postings) {
      if (this.#kept <= KEPT_POSTINGS) break;
      this.#postings.delete(oldest);
      this.#kept -= entries.length;
    }
    return found;
  }

  /** Reads postings from the lists and, for entries they do not cover, from FTS5. */
  #listed(query: string, word: string, check: () => void): Postings | undefined {
    if (this.#covered === 0) return undefined;
    const term = stemOf(this.#index, word);
    if (term === undefined) return undefined;
    const lists = this.#index.all<{ entries: Uint8Array; ranks: Uint8Array }>(
      `SELECT l.entries, l.ranks FROM rank_lists l JOIN rank_segments s ON s.id = l.segment
       WHERE l.term = ? AND s.complete = 1 ORDER BY s.first`,
      term,
    );
    if (lists.length < completeSegments(this.#index)) return undefined;
    const newer = this.#lastEntry() > this.#covered ? this.#ask(query, this.#covered + 1, check) : NONE;
    const changed = new Set(this.#changed);
    const having = this.#changed.filter((entry) => this.#has(query, entry));
    const most = lists.reduce((sum, { ranks }) => sum + ranks.length / 2, newer.entries.length + having.length);
    const entries = new Int32Array(most);
    const scores = new Float32Array(most);
    let count = 0;
    const push = (entry: number, score: number): void => {
      if ((this.#entries.states[entry] ?? ABSENT) === ABSENT) return;
      entries[count] = entry;
      scores[count++] = score;
    };
    for (const list of lists) {
      const ranks = new Uint16Array(new Uint8Array(list.ranks).buffer);
      const ids = listedEntries(list.entries, ranks.length);
      for (let at = 0; at < ids.length; at++) {
        const entry = ids[at] as number;
        if (changed.size === 0 || !changed.has(entry)) push(entry, (ranks[at] as number) / RANK_SCALE);
      }
    }
    for (const entry of having) push(entry, USUAL_RANK);
    const listed = count;
    const rarity = bm25WeightOfFts5(listed + newer.entries.length, this.#entries.count);
    for (let at = 0; at < listed; at++) scores[at] = (scores[at] as number) * rarity;
    for (let at = 0; at < newer.entries.length; at++) push(newer.entries[at] as number, newer.scores[at] as number);
    return { entries: entries.subarray(0, count), scores: scores.subarray(0, count) };
  }

  #lastEntry(): number {
    return this.#entries.states.length - 1;
  }

  #has(query: string, entry: number): boolean {
    const first = entry * KEYWORD_ROWS_PER_ENTRY;
    const sql = "SELECT 1 FROM keyword WHERE keyword MATCH ? AND rowid >= ? AND rowid < ? LIMIT 1";
    return this.#index.get(sql, query, first, first + KEYWORD_ROWS_PER_ENTRY) !== undefined;
  }

  /** Has FTS5 score every entry from `first` on. The best piece of a text counts. */
  #ask(query: string, first: number, check: () => void): Postings {
    const entries: number[] = [];
    const scores: number[] = [];
    let count = 0;
    const rows = this.#index.tuples<[number, number]>(
      `SELECT rowid, bm25(keyword, ${KEYWORD_WEIGHTS.join(", ")}) FROM keyword WHERE keyword MATCH ? AND rowid >= ?`,
      query,
      first * KEYWORD_ROWS_PER_ENTRY,
    );
    for (const [row, rank] of rows) {
      if ((count & (ROWS_PER_CHECK - 1)) === 0) check();
      const entry = Math.floor(row / KEYWORD_ROWS_PER_ENTRY);
      const score = Math.max(0, -rank);
      if (entries[count - 1] === entry) scores[count - 1] = Math.max(scores[count - 1] as number, score);
      else {
        entries[count] = entry;
        scores[count++] = score;
      }
    }
    return { entries: Int32Array.from(entries), scores: Float32Array.from(scores) };
  }
}

const NONE: Postings = { entries: new Int32Array(), scores: new Float32Array() };

function coveredBy(index: Db): { last: number } | undefined {
  const there = index.get("SELECT 1 FROM sqlite_schema WHERE name = 'rank_segments'") !== undefined;
  if (!there) return undefined;
  return index.one("SELECT coalesce(max(last), 0) AS last FROM rank_segments WHERE complete = 1");
}

function completeSegments(index: Db): number {
  return index.one<{ n: number }>("SELECT count(*) AS n FROM rank_segments WHERE complete = 1").n;
}

const stems = new WeakMap<Db, Map<string, string | undefined>>();
const KEPT_STEMS = 10_000;

/** Asks FTS5 for the stem of a word; undefined if it is not exactly one. */
function stemOf(index: Db, word: string): string | undefined {
  let known = stems.get(index);
  if (known === undefined) {
    // In memory, because the store might be read-only.
    index.exec(`PRAGMA temp_store = MEMORY;
      CREATE VIRTUAL TABLE temp.stemming USING fts5(
        word, content='', tokenize='porter unicode61 remove_diacritics 2');
      CREATE VIRTUAL TABLE temp.stems USING fts5vocab('temp', 'stemming', 'row');`);
    known = new Map();
    stems.set(index, known);
  }
  if (known.has(word)) return known.get(word);
  index.run("INSERT INTO temp.stemming (rowid, word) VALUES (1, ?)", word);
  const terms = index.column<string>("SELECT term FROM temp.stems");
  index.run("INSERT INTO temp.stemming (stemming) VALUES ('delete-all')");
  const stem = terms.length === 1 ? terms[0] : undefined;
  if (known.size >= KEPT_STEMS) known.clear();
  known.set(word, stem);
  return stem;
}

const kept = new WeakMap<Db, Words>();

/** Returns the words of the current index. */
export function wordsOf(index: Db): Words {
  const entries = entriesOf(index);
  const covered = coveredBy(index)?.last ?? 0;
  let words = kept.get(index);
  if (!words?.fits(entries, covered)) {
    words = new Words(index, entries);
    kept.set(index, words);
  }
  return words;
}
