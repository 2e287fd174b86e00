// Moves the words of new entries into blocks, many at a time: a block is then written once, not for each document. And
// removes the postings of entries that are gone from the blocks.
import { LOCKS, type Sql } from "../database/sql.js";
import { BLOCK, encodeBlock, PIECES, readBlock, TermTexts, weightOf } from "../words/posting-blocks.js";
import { readWords } from "../words/word-bytes.js";

/** Words are merged when this many entries wait. */
const LEAST_MERGED = 512;
const MOST_MERGED = 1024;
const BLOCKS_AT_ONCE = 10_000;

interface RecentRow {
  readonly entry: number;
  readonly state: number;
  readonly data: Uint8Array;
}

interface BlockRow {
  readonly term: string;
  readonly block: number;
  readonly data: Uint8Array;
}

/** Merges the oldest entries that wait, if there are at least so many, and returns how many. */
export async function mergeWords(sql: Sql, least = LEAST_MERGED): Promise<number> {
  const lock = `SELECT pg_try_advisory_xact_lock(${LOCKS.words}) AS taken`;
  if (!(await sql.one<{ taken: boolean }>(lock)).taken) return 0;
  const rows = await sql.rows<RecentRow>(
    `SELECT r.entry, r.data, coalesce(e.state, 0) AS state FROM (
       SELECT * FROM keyword_recent WHERE (SELECT count(*) FROM keyword_recent) >= $1 ORDER BY entry LIMIT ${MOST_MERGED}) r
     LEFT JOIN entries e ON e.id = r.entry ORDER BY r.entry`,
    least,
  );
  const last = rows.at(-1);
  if (last === undefined) return 0;
  await appendBlocks(sql, blocksOf(rows.filter(({ state }) => state !== 0)));
  await sql.run("DELETE FROM keyword_recent WHERE entry <= $1", last.entry);
  await sql.run("UPDATE facts SET value = greatest(value, $1) WHERE key = 'merged'", last.entry);
  return rows.length;
}

function blocksOf(rows: readonly RecentRow[]): BlockRow[] {
  const blocks = new Map<number, Map<string, TermTexts>>();
  for (const { entry, data } of rows) {
    const block = Math.floor(entry / BLOCK);
    const terms = blocks.get(block) ?? new Map<string, TermTexts>();
    blocks.set(block, terms);
    readWords(data, (term, piece, { count, length }) => {
      let texts = terms.get(term);
      if (texts === undefined) {
        texts = new TermTexts();
        terms.set(term, texts);
      }
      texts.add(entry * PIECES + piece, weightOf(count, length));
    });
  }
  return [...blocks].flatMap(([block, terms]) =>
    [...terms].map(([term, texts]) => ({ term, block, data: encodeBlock(texts) })),
  );
}

/** The data of many rows is one value: an array of bytes would be sent as text. */
async function appendBlocks(sql: Sql, all: readonly BlockRow[]): Promise<void> {
  for (let at = 0; at < all.length; at += BLOCKS_AT_ONCE) {
    const group = all.slice(at, at + BLOCKS_AT_ONCE);
    const { data, starts, sizes } = joined(group);
    await sql.run(
      `INSERT INTO keyword_blocks SELECT n.term, n.block, substring($3::bytea FROM n.start + 1 FOR n.size)
       FROM unnest($1::text[], $2::int[], $4::int[], $5::int[]) AS n(term, block, start, size)
       ON CONFLICT (term, block) DO UPDATE SET data = keyword_blocks.data || excluded.data`,
      group.map(({ term }) => term),
      group.map(({ block }) => block),
      ...[data, starts, sizes],
    );
  }
}

function joined(rows: readonly BlockRow[]): { data: Uint8Array; starts: number[]; sizes: number[] } {
  let end = 0;
  const sizes = rows.map(({ data }) => data.length);
  const starts = sizes.map((size) => {
    end += size;
    return end - size;
  });
  return { data: Buffer.concat(rows.map(({ data }) => data)), starts, sizes };
}

const CLEANED_ENTRIES = 20_000;
const CLEANED_ROWS = 2000;

/**
 * Removes the postings of some entries that are gone and returns how many entries. Gateways that have read them already
 * know that the entries are gone.
 */
export async function removeDeadPostings(sql: Sql): Promise<number> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.words})`);
  await sql.run("DELETE FROM keyword_recent r USING entries e WHERE e.id = r.entry AND e.state = 0");
  const rows = await sql.rows<{ id: number }>(
    `SELECT id FROM entries WHERE state = 0 AND has_postings
       AND id <= (SELECT value FROM facts WHERE key = 'merged') ORDER BY id LIMIT ${CLEANED_ENTRIES}`,
  );
  if (rows.length === 0) return 0;
  const dead = new Set(rows.map(({ id }) => id));
  const blocks = [...new Set(rows.map(({ id }) => Math.floor(id / BLOCK)))];
  for (let last: Pick<BlockRow, "term" | "block"> | undefined = { term: "", block: -1 }; last !== undefined; ) {
    const page: BlockRow[] = await sql.rows<BlockRow>(
      `SELECT term, block, data FROM keyword_blocks WHERE (term, block) > ($1, $2) AND block = ANY($3::int[])
       ORDER BY term, block LIMIT ${CLEANED_ROWS}`,
      ...[last.term, last.block, blocks],
    );
    await rewriteBlocks(
      sql,
      page.flatMap((row) => withoutEntries(row, dead)),
    );
    last = page.length < CLEANED_ROWS ? undefined : page.at(-1);
  }
  await sql.run("UPDATE entries SET has_postings = false WHERE id = ANY($1::int[])", [...dead]);
  return rows.length;
}

/** Returns the row without the postings of some entries, if it has any of them. */
function withoutEntries({ term, block, data }: BlockRow, dead: ReadonlySet<number>): BlockRow[] {
  const kept = new TermTexts(data.length / 8);
  readBlock(block, data, (entry, text, weight) => {
    if (!dead.has(entry)) kept.add(text, weight);
  });
  return 8 * kept.size === data.length ? [] : [{ term, block, data: encodeBlock(kept) }];
}

async function rewriteBlocks(sql: Sql, rows: readonly BlockRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { data, starts, sizes } = joined(rows);
  await sql.run(
    `UPDATE keyword_blocks b SET data = substring($3::bytea FROM n.start + 1 FOR n.size)
     FROM unnest($1::text[], $2::int[], $4::int[], $5::int[]) AS n(term, block, start, size)
     WHERE b.term = n.term AND b.block = n.block`,
    rows.map(({ term }) => term),
    rows.map(({ block }) => block),
    ...[data, starts, sizes],
  );
  const empty = rows.filter((row) => row.data.length === 0);
  await sql.run(
    `DELETE FROM keyword_blocks b USING unnest($1::text[], $2::int[]) AS n(term, block) WHERE b.term = n.term AND b.block = n.block`,
    empty.map(({ term }) => term),
    empty.map(({ block }) => block),
  );
}
