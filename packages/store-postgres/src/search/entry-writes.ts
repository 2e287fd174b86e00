// Keeps the keyword index up to date with the documents, as part of every change. An entry is one searchable version of a
// document: its current one, or an older one that a snapshot still shows.
import { isTrunklineError } from "@trunkline/core";
import { hasIndexedText, isResultsCollection, kindOfDocument } from "@trunkline/store/parts";
import { type Attributes, attributesOf } from "../contents/attributes.js";
import { type ContentRow, readContent } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";
import { wordsOfHead } from "../words/keyword-counts.js";
import { sizesOf } from "../words/word-bytes.js";

/** Where the words of texts come from. */
export interface WordCounts {
  /** Words that came with the change, by content. */
  readonly known: ReadonlyMap<number, Uint8Array>;
  count(bytes: Uint8Array | undefined): Promise<Uint8Array>;
}

/** A version of a document whose entry is written. */
interface LiveDocument extends Pick<ContentRow, "type" | "size" | "hash"> {
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
  const rows = await sql.rows<LiveDocument>(
    `SELECT d.id AS document, d.version, v.content, d.path, d.root, d.title, k.name AS collection, d.seq, c.type, c.size, c.hash
     FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
     JOIN collections k ON k.id = d.collection WHERE d.id = ANY($1::bigint[]) AND d.state = 'live' ORDER BY d.seq`,
    documents,
  );
  await addEntries(sql, rows, { words, state: LIVE });
}

/** Adds entries of versions that only snapshots show. Needs the lock on the history. */
export async function addOldEntries(sql: Sql, versions: readonly number[], words: WordCounts): Promise<void> {
  const rows = await sql.rows<LiveDocument>(
    `SELECT d.id AS document, v.id AS version, v.content, d.path, d.root, d.title, k.name AS collection, d.seq, c.type, c.size, c.hash
     FROM versions v JOIN documents d ON d.id = v.document JOIN contents c ON c.id = v.content
     JOIN collections k ON k.id = d.collection WHERE v.id = ANY($1::bigint[]) ORDER BY v.id`,
    versions,
  );
  await addEntries(sql, rows, { words, state: IN_SNAPSHOT });
}

async function addEntries(
  sql: Sql,
  rows: readonly LiveDocument[],
  options: Pick<EntryOptions, "words" | "state">,
): Promise<void> {
  if (rows.length === 0) return;
  const attributes = await attributesOf(
    sql,
    rows.map(({ document }) => document),
  );
  await insertEntries(sql, rows, { ...options, attributesOf: ({ document }) => attributes.get(document) });
}

interface EntryOptions {
  readonly words: WordCounts;
  /** Default: live. Background work is left only for live ones. */
  readonly state?: number;
  attributesOf(document: LiveDocument): Attributes | undefined;
}

/** Inserts entries of documents that have none that can be found. Needs the lock on the history. */
export async function insertEntries(
  sql: Sql,
  rows: readonly LiveDocument[],
  { words, state = LIVE, attributesOf: of }: EntryOptions,
): Promise<void> {
  if (rows.length === 0) return;
  const parts: Uint8Array[] = [];
  const ends: number[] = [];
  const sizes: { texts: number; length: number }[] = [];
  let end = 0;
  for (const row of rows) {
    const { tags, metadata } = of(row) ?? { tags: [], metadata: {} };
    const { path, root, title } = row;
    const head = wordsOfHead({ path, root: root ?? undefined, title: title ?? undefined, tags, metadata });
    const text = await wordsFor(sql, row, words);
    parts.push(head, text);
    end += head.length + text.length;
    ends.push(end);
    sizes.push(sizesOf([head, text]));
  }
  await sql.run(
    `WITH added AS (
       INSERT INTO entries (document, version, content, state, results, kind, texts, length, seq)
       SELECT n.document, n.version, n.content, ${state}, n.results, n.kind, n.texts, n.length, n.seq
       FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::smallint[], $6::int[], $7::bigint[], $8::bigint[])
         AS n(document, version, content, results, kind, texts, length, seq)
       RETURNING id, version),
     stored AS (
       INSERT INTO keyword_recent (entry, data) SELECT a.id, substring($9::bytea FROM n.start + 1 FOR n.size)
       FROM unnest($2::bigint[], $10::int[], $11::int[]) AS n(version, start, size) JOIN added a ON a.version = n.version),
     queued AS (INSERT INTO jobs (entry) SELECT id FROM added WHERE ${state} = ${LIVE} ORDER BY id)
     SELECT pg_notify('trunkline_work', '')`,
    rows.map(({ document }) => document),
    rows.map(({ version }) => version),
    rows.map(({ content }) => content),
    rows.map(({ collection }) => isResultsCollection(collection)),
    rows.map(({ root, path }) => kindOfDocument(root, path)),
    sizes.map(({ texts }) => texts),
    sizes.map(({ length }) => length),
    rows.map(({ seq }) => seq),
    Buffer.concat(parts),
    ends.map((_, at) => ends[at - 1] ?? 0),
    ends.map((to, at) => to - (ends[at - 1] ?? 0)),
  );
}

const NO_WORDS = new Uint8Array(0);

async function wordsFor(sql: Sql, row: LiveDocument, words: WordCounts): Promise<Uint8Array> {
  if (!hasIndexedText(row) || row.size > MAX_INDEXED_BYTES) return NO_WORDS;
  const known = words.known.get(row.content);
  if (known !== undefined) return known;
  try {
    return await words.count(await readContent(sql, { ...row, id: row.content }));
  } catch (error) {
    // A damaged document is still found by its name; verify reports it.
    if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
    return NO_WORDS;
  }
}
