// Keeps the keyword index up to date with the documents, as part of every change. An entry is one searchable version of a
// document: its current one, or an older one that a snapshot still shows.
import { isTrunklineError } from "@trunkline/core";
import { hasIndexedText, isResultsCollection, kindOfDocument } from "@trunkline/store/parts";
import { attributesOf, storable } from "../contents/attributes.js";
import { type ContentRow, readContent } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";
import { type PieceCounts, withHead } from "../words/keyword-counts.js";

/** Where the counts of texts come from. */
export interface WordCounts {
  /** Counts that came with the change, by content. */
  readonly known: ReadonlyMap<number, readonly PieceCounts[]>;
  count(bytes: Uint8Array | undefined): Promise<readonly PieceCounts[]>;
}

interface LiveRow extends Pick<ContentRow, "type" | "size" | "hash"> {
  readonly document: number;
  readonly version: number;
  readonly content: number;
  readonly path: string;
  readonly root: string | null;
  readonly title: string | null;
  readonly collection: string;
  readonly seq: number;
}

/** The states of an entry. 0 is gone. */
const IN_SNAPSHOT = 1;
const LIVE = 2;

/** Longer texts are found by name, not by their words. */
const MAX_INDEXED_BYTES = 64 * 1024 * 1024;

/** Replaces the entries of documents that were changed. Needs the lock on the history. */
export async function refreshEntries(sql: Sql, documents: readonly number[], words: WordCounts): Promise<void> {
  if (documents.length === 0) return;
  // Older versions stay searchable in the snapshots that show them.
  await sql.run(
    `UPDATE entries e SET seq = d.seq, state = CASE WHEN v.seq_to IS NOT NULL AND EXISTS (
         SELECT 1 FROM snapshots s WHERE s.collection = d.collection AND s.seq >= v.seq_from AND s.seq < v.seq_to)
       THEN 1 ELSE 0 END
     FROM documents d, versions v
     WHERE e.document = ANY($1::bigint[]) AND e.state <> 0 AND d.id = e.document AND v.id = e.version`,
    documents,
  );
  // What the background made of documents that are gone is removed there, too.
  const hidden = await sql.run(
    `INSERT INTO jobs (entry) SELECT max(e.id) FROM entries e JOIN documents d ON d.id = e.document
     WHERE d.id = ANY($1::bigint[]) AND d.state <> 'live' GROUP BY e.document`,
    documents,
  );
  if (hidden > 0) await sql.run("SELECT pg_notify('trunkline_work', '')");
  const rows = await sql.rows<LiveRow>(
    `SELECT d.id AS document, d.version, v.content, d.path, d.root, d.title, k.name AS collection, d.seq, c.type, c.size, c.hash
     FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
     JOIN collections k ON k.id = d.collection WHERE d.id = ANY($1::bigint[]) AND d.state = 'live' ORDER BY d.seq`,
    documents,
  );
  if (rows.length === 0) return;
  const ids = await addEntries(sql, rows, { words, state: LIVE });
  await sql.run("INSERT INTO jobs (entry) SELECT * FROM unnest($1::int[])", ids);
  await sql.run("SELECT pg_notify('trunkline_work', '')");
}

/** Adds entries of versions that only snapshots show. Needs the lock on the history. */
export async function addOldEntries(sql: Sql, versions: readonly number[], words: WordCounts): Promise<void> {
  const rows = await sql.rows<LiveRow>(
    `SELECT d.id AS document, v.id AS version, v.content, d.path, d.root, d.title, k.name AS collection, d.seq, c.type, c.size, c.hash
     FROM versions v JOIN documents d ON d.id = v.document JOIN contents c ON c.id = v.content
     JOIN collections k ON k.id = d.collection WHERE v.id = ANY($1::bigint[]) ORDER BY v.id`,
    versions,
  );
  if (rows.length > 0) await addEntries(sql, rows, { words, state: IN_SNAPSHOT });
}

async function addEntries(
  sql: Sql,
  rows: readonly LiveRow[],
  { words, state }: { words: WordCounts; state: number },
): Promise<number[]> {
  const attributes = await attributesOf(
    sql,
    rows.map(({ document }) => document),
  );
  const pieces: (readonly PieceCounts[])[] = [];
  for (const row of rows) {
    const { tags = [], metadata = {} } = attributes.get(row.document) ?? {};
    const counts = await countsFor(sql, row, words);
    const entry = { path: row.path, root: row.root ?? undefined, title: row.title ?? undefined, tags, metadata };
    pieces.push(withHead(counts, entry));
  }
  const ids = await insertEntries(sql, rows, { pieces, state });
  await insertPieces(sql, ids, pieces);
  return ids;
}

async function countsFor(sql: Sql, row: LiveRow, words: WordCounts): Promise<readonly PieceCounts[]> {
  if (!hasIndexedText(row) || row.size > MAX_INDEXED_BYTES) return [];
  const known = words.known.get(row.content);
  if (known !== undefined) return known;
  try {
    return await words.count(await readContent(sql, { ...row, id: row.content }));
  } catch (error) {
    // A damaged document is still found by its name; verify reports it.
    if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
    return [];
  }
}

async function insertEntries(
  sql: Sql,
  rows: readonly LiveRow[],
  { pieces, state }: { pieces: readonly (readonly PieceCounts[])[]; state: number },
): Promise<number[]> {
  const inserted = await sql.rows<{ id: number; version: number }>(
    `INSERT INTO entries (document, version, content, state, results, kind, texts, length, seq)
     SELECT n.document, n.version, n.content, ${state}, n.results, n.kind, n.texts, n.length, n.seq
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::smallint[], $6::int[], $7::bigint[], $8::bigint[])
       AS n(document, version, content, results, kind, texts, length, seq)
     RETURNING id, version`,
    rows.map(({ document }) => document),
    rows.map(({ version }) => version),
    rows.map(({ content }) => content),
    rows.map(({ collection }) => isResultsCollection(collection)),
    rows.map(({ root, path }) => kindOfDocument(root, path)),
    pieces.map((own) => own.length),
    pieces.map((own) => own.reduce((sum, { length }) => sum + length, 0)),
    rows.map(({ seq }) => seq),
  );
  const ids = new Map(inserted.map(({ id, version }) => [version, id]));
  return rows.map(({ version }) => ids.get(version) as number);
}

async function insertPieces(
  sql: Sql,
  ids: readonly number[],
  pieces: readonly (readonly PieceCounts[])[],
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    for (const [piece, { terms, counts, length }] of (pieces[index] ?? []).entries()) {
      await sql.run(
        "INSERT INTO keyword_recent VALUES ($1, $2, $3, $4::text[], $5::int[])",
        ...[id, piece, length, terms.map(storable), counts],
      );
    }
  }
}
