// The part of the keyword index that searches have used, in the memory of the gateway.
//
// The words of an entry never change, and an entry that is gone never comes back. So nothing here becomes wrong; it only
// becomes incomplete. Every change of a document has a number in the order of commits. A search reads the last number
// first, and if it is higher than the one here, it reads the entries that changed since, with their words. That is why a
// search finds everything that was acknowledged before it started, by whichever gateway.
import type { Sql } from "../database/sql.js";
import { PIECES, readBlock, TermTexts, weightOf } from "../words/posting-blocks.js";
import { readWords } from "../words/word-bytes.js";
import { KeywordScores } from "./bm25-scores.js";
import { type EntryRow, type EntryStates, EntryTable } from "./entry-cache.js";

/** Reads the number of the last change. It is the first statement of a search. */
export const LAST_CHANGE = "SELECT value AS seq FROM facts WHERE key = 'seq'";

const ROWS_AT_ONCE = 20_000;
/** 12 bytes each: 48 MB. */
const KEPT_TEXTS = 4_000_000;
const LAST_ID = 2 ** 31 - 1;

interface ChangedRow extends EntryRow {
  readonly seq: number;
  /** Entries up to this one are in blocks. */
  readonly merged: number;
  /** The words, if they are not in blocks. */
  readonly data: Uint8Array | null;
}

/** The texts with a term, of entries up to `through`. */
interface KeptTerm {
  readonly found: TermTexts;
  through: number;
}

export class KeywordCache {
  readonly #entries = new EntryTable();
  #current: EntryStates = this.#entries.copy();
  #scores = new KeywordScores(this.#current, () => []);
  /** Changes up to this number can be searched. */
  #seq = -1;
  /** Changed entries up to this row were read. More than one page can follow before they can be searched. */
  #reached = { seq: -1, id: LAST_ID };
  /** Least recently used first. */
  readonly #terms = new Map<string, KeptTerm>();
  #kept = 0;
  /** Words of entries up to this one come from blocks, those of later ones are in `recent`. */
  #merged = 0;
  /** What `merged` becomes after the last page. */
  #nextMerged = 0;
  /** Whether entries were merged before they were seen here. */
  #hasGap = false;
  #recent = new Map<string, TermTexts>();
  #refreshing: Promise<void> | undefined;

  /** The entries as of the last refresh. */
  get entries(): EntryStates {
    return this.#current;
  }

  /** Reads what changed up to a number, at least. */
  async refresh(sql: Sql, seq: number): Promise<void> {
    while (this.#seq < seq) {
      if (this.#refreshing === undefined) {
        this.#refreshing = this.#readChanges(sql, seq).finally(() => {
          this.#refreshing = undefined;
        });
        await this.#refreshing;
      } else {
        // Another search reads. If it fails, this one tries.
        await this.#refreshing.catch(() => {});
      }
    }
  }

  async #readChanges(sql: Sql, seq: number): Promise<void> {
    while (true) {
      const rows = await sql.rows<ChangedRow>(
        `SELECT e.id, e.state, e.results, e.kind, e.texts, e.length, e.seq, r.data,
           (SELECT value FROM facts WHERE key = 'merged') AS merged
         FROM entries e LEFT JOIN keyword_recent r ON r.entry = e.id AND e.state <> 0
         WHERE (e.seq, e.id) > ($1, $2) ORDER BY e.seq, e.id LIMIT ${ROWS_AT_ONCE}`,
        this.#reached.seq,
        this.#reached.id,
      );
      this.#take(rows);
      if (rows.length === ROWS_AT_ONCE) continue;
      this.#reached = { seq: Math.max(seq, this.#reached.seq), id: LAST_ID };
      this.#finish();
      return;
    }
  }

  #take(rows: readonly ChangedRow[]): void {
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const row of rows) {
      const isNew = this.#entries.take(row);
      if (!isNew || row.state === 0) continue;
      if (row.data !== null) this.#takeWords(row.id, row.data);
      else if (row.id > this.#merged) this.#hasGap = true;
    }
    this.#nextMerged = last.merged;
    this.#reached = { seq: last.seq, id: last.id };
  }

  /**
   * After the last page. Not before: a search that started earlier would look for merged entries in blocks, and leave out
   * those on pages that are not read yet.
   */
  #finish(): void {
    if (this.#nextMerged > this.#merged) this.#moveMerged(this.#nextMerged, !this.#hasGap);
    this.#hasGap = false;
    this.#seq = this.#reached.seq;
    this.#current = this.#entries.copy();
    this.#scores = new KeywordScores(this.#current, (term) => this.#textsWith(term));
  }

  #takeWords(entry: number, data: Uint8Array): void {
    readWords(data, (term, piece, { count, length }) => {
      let found = this.#recent.get(term);
      if (found === undefined) {
        found = new TermTexts();
        this.#recent.set(term, found);
      }
      found.add(entry * PIECES + piece, weightOf(count, length));
    });
  }

  /**
   * Other entries are in blocks now. Terms that are complete stay so, with the words that are here; unless entries were
   * merged before they were seen here (`isComplete` is false).
   */
  #moveMerged(merged: number, isComplete: boolean): void {
    const end = (merged + 1) * PIECES;
    if (isComplete) {
      for (const [term, kept] of this.#terms) {
        if (kept.through !== this.#merged) continue;
        for (const [text, weight] of pairsOf(this.#recent.get(term))) {
          if (text >= end) continue;
          kept.found.add(text, weight);
          this.#kept++;
        }
        kept.through = merged;
      }
    }
    const recent = new Map<string, TermTexts>();
    for (const [term, found] of this.#recent) {
      const later = new TermTexts();
      for (const [text, weight] of pairsOf(found)) if (text >= end) later.add(text, weight);
      if (later.size > 0) recent.set(term, later);
    }
    this.#recent = recent;
    this.#merged = merged;
  }

  /** Runs work that looks at some terms. It must not wait for anything: what it sees is the state of one moment. */
  async using<T>(sql: Sql, terms: readonly string[], work: (scores: KeywordScores) => T): Promise<T> {
    while (true) {
      const missing = terms.filter((term) => (this.#terms.get(term)?.through ?? -1) < this.#merged);
      if (missing.length === 0) break;
      await this.#load(sql, [...new Set(missing)]);
    }
    const result = work(this.#scores);
    this.#forgetSome(terms);
    return result;
  }

  async #load(sql: Sql, terms: readonly string[]): Promise<void> {
    const merged = this.#merged;
    const from = terms.map((term) => this.#terms.get(term)?.through ?? -1);
    const rows =
      merged === 0
        ? []
        : await sql.rows<{ term: string; block: number; data: Uint8Array }>(
            `SELECT b.term, b.block, b.data FROM unnest($1::text[], $2::int[]) AS n(term, block)
             JOIN keyword_blocks b ON b.term = n.term AND b.block >= n.block ORDER BY b.term, b.block`,
            terms,
            from.map((through) => Math.floor((through + 1) / 1024)),
          );
    const starts = new Map(terms.map((term, at) => [term, from[at] as number]));
    const found = new Map(terms.map((term) => [term, new TermTexts()]));
    for (const { term, block, data } of rows) {
      const start = starts.get(term) ?? -1;
      readBlock(block, data, (entry, text, weight) => {
        if (entry > start && entry <= merged && this.#entries.isThere(entry)) found.get(term)?.add(text, weight);
      });
    }
    for (const [term, texts] of found) {
      const kept = this.#terms.get(term);
      // Another search was faster.
      if ((kept?.through ?? -1) !== starts.get(term)) continue;
      this.#kept += texts.size;
      if (kept === undefined) this.#terms.set(term, { found: texts, through: merged });
      else {
        for (const [text, weight] of pairsOf(texts)) kept.found.add(text, weight);
        kept.through = merged;
      }
    }
  }

  #textsWith(term: string): readonly TermTexts[] {
    return [this.#terms.get(term)?.found, this.#recent.get(term)].filter((found) => found !== undefined);
  }

  #forgetSome(used: readonly string[]): void {
    for (const term of used) {
      const kept = this.#terms.get(term);
      if (kept === undefined) continue;
      this.#terms.delete(term);
      this.#terms.set(term, kept);
    }
    for (const [term, { found }] of this.#terms) {
      if (this.#kept <= KEPT_TEXTS) return;
      this.#terms.delete(term);
      this.#kept -= found.size;
    }
  }
}

function* pairsOf(found: TermTexts | undefined): Generator<[text: number, weight: number]> {
  if (found === undefined) return;
  for (let at = 0; at < found.size; at++) yield [found.texts[at] as number, found.weights[at] as number];
}
