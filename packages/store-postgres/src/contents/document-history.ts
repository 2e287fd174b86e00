// Changes of documents. Every change takes the next sequence number while it holds the lock on the history, so numbers
// are in the order of commits: a snapshot is one number, and no change appears in it later.
import { TrunklineError } from "@trunkline/core";
import { baseNameOf, type FileFacts } from "@trunkline/store/parts";
import { LOCKS, type Sql } from "../database/sql.js";
import { addTags, attributesOf, setMetadata, storable } from "./attributes.js";
import type { DocumentRow } from "./named-documents.js";

/** Waits for other changes to end. Everything that takes numbers calls it first. */
export async function lockHistory(sql: Sql): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.history})`);
}

/** Takes numbers and returns the first. */
export async function takeSeqs(sql: Sql, count: number): Promise<number> {
  const text = "UPDATE facts SET value = value + $1 WHERE key = 'seq' RETURNING value";
  return (await sql.one<{ value: number }>(text, count)).value - count + 1;
}

export async function currentSeq(sql: Sql): Promise<number> {
  return (await sql.one<{ value: number }>("SELECT value FROM facts WHERE key = 'seq'")).value;
}

/** Returns the collection with its stored name, creating it if necessary. */
export async function ensureCollection(sql: Sql, name: string): Promise<number> {
  const known = await sql.get<{ id: number }>("SELECT id FROM collections WHERE name = $1", name);
  if (known !== undefined) return known.id;
  if (name === "" || name.length > 200 || /[\n\r\0]/.test(name)) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${name}" is not a valid collection name.`);
  }
  const { id } = await sql.one<{ id: number }>(
    `INSERT INTO collections (name, created) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`,
    name,
    Date.now(),
  );
  return id;
}

/** A document to store, with its content stored already. */
interface PutDocument {
  readonly path: string;
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly file: FileFacts | undefined;
  readonly content: number;
  readonly size: number;
}

interface PutBatch {
  readonly collection: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
  /** Each path once. */
  readonly documents: readonly PutDocument[];
}

interface KnownRow extends DocumentRow {
  readonly content: number;
  readonly number: number;
  readonly last_number: number;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly content_size: number;
}

/** A document that was not there before. */
interface AddedRow {
  readonly document: number;
  readonly version: number;
  readonly seq: number;
  readonly put: PutDocument;
}

/** What happened to each document, and the ids of those whose entries in the index are not right any more. */
interface PutOutcome {
  readonly outcomes: readonly ("added" | "changed" | "unchanged")[];
  /** New and changed ones. */
  readonly touched: readonly number[];
  readonly added: readonly AddedRow[];
  readonly changed: readonly number[];
}

/** Stores documents, as new ones or new versions, unless nothing changed. Needs {@link lockHistory}. */
export async function putDocuments(sql: Sql, batch: PutBatch): Promise<PutOutcome> {
  const now = Date.now();
  const known = await knownDocuments(sql, batch);
  const added = batch.documents.filter(({ path }) => !known.has(path));
  const changes = await changesOf(sql, batch, known);
  const changed = changes.filter(({ kind }) => kind !== "unchanged");
  const versions: NewVersion[] = [];
  const fresh = await insertDocuments(sql, { batch, added, now });
  const ids = fresh.map(({ document }) => document);
  let seq = changed.length === 0 ? 0 : await takeSeqs(sql, changed.length);
  let [documents, bytes] = [0, 0];
  for (const { put, row, kind, isSameContent } of changes) {
    const root = keepOuterRoot(row.root, put.root);
    const { file } = put;
    if (kind === "unchanged") {
      await sql.run(
        "UPDATE documents SET root = $2, inode = $3, checked = $4 WHERE id = $1",
        ...[row.id, root, file?.inode ?? null, file?.checkedUs ?? null],
      );
      continue;
    }
    const own = seq++;
    if (kind === "version") {
      if (row.state === "live") {
        await sql.run("UPDATE versions SET seq_to = $2 WHERE id = $1", row.version, own);
        documents -= 1;
        bytes -= row.content_size;
      }
      const number = row.content === put.content ? row.number : row.last_number + 1;
      versions.push({ document: row.id, number, put, seq: own });
      documents += 1;
      bytes += put.size;
    }
    await sql.run(
      `UPDATE documents SET title = $2, root = $3, state = 'live',
         state_since = CASE state WHEN 'live' THEN state_since ELSE $4::bigint END,
         modified = $5, indexed = $6, inode = $7, checked = $8, seq = $9 WHERE id = $1`,
      ...[row.id, titleOf(put), root, now],
      file === undefined ? (isSameContent ? row.modified : now) : Math.round(file.mtimeUs / 1000),
      isSameContent ? row.indexed : now,
      ...[file?.inode ?? null, file?.checkedUs ?? null, own],
    );
  }
  await openVersions(sql, versions, now);
  await countDocuments(sql, { collection: batch.collection, documents, bytes });
  const touched = [...ids, ...changed.map(({ row }) => row.id)];
  await addTags(sql, touched, batch.tags);
  await setMetadata(sql, touched, batch.metadata);
  const gone = changed.filter(({ row }) => row.state !== "live").map(({ row }) => row.id);
  const stayed = changed.filter(({ row }) => row.state === "live").map(({ row }) => row.id);
  await noteInSession(sql, { session: batch.session, documents: [...ids, ...gone], change: "added" });
  await noteInSession(sql, { session: batch.session, documents: stayed, change: "changed" });
  const byPath = new Map(
    changes.map(({ put, isSameContent }) => [put.path, isSameContent ? "unchanged" : "changed"] as const),
  );
  const outcomes = batch.documents.map(({ path }) => byPath.get(path) ?? "added");
  return { outcomes, touched, added: fresh, changed: changed.map(({ row }) => row.id) };
}

async function knownDocuments(sql: Sql, batch: PutBatch): Promise<Map<string, KnownRow>> {
  const rows = await sql.rows<KnownRow>(
    `SELECT d.*, v.content, v.number, v.mode, v.mtime, c.size AS content_size,
       (SELECT max(number) FROM versions w WHERE w.document = d.id) AS last_number
     FROM unnest($2::text[]) AS p
     JOIN documents d ON d.collection = $1 AND md5(d.path) = md5(p) AND d.path = p
     JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content`,
    batch.collection,
    batch.documents.map(({ path }) => path),
  );
  return new Map(rows.map((row) => [row.path, row]));
}

interface Change {
  readonly put: PutDocument;
  readonly row: KnownRow;
  readonly kind: "unchanged" | "attributes" | "version";
  readonly isSameContent: boolean;
}

async function changesOf(sql: Sql, batch: PutBatch, known: ReadonlyMap<string, KnownRow>): Promise<Change[]> {
  const hasAttributes = batch.tags.length > 0 || Object.keys(batch.metadata).length > 0;
  const rows = [...known.values()];
  const attributes = hasAttributes
    ? await attributesOf(
        sql,
        rows.map(({ id }) => id),
      )
    : undefined;
  return batch.documents.flatMap((put): Change[] => {
    const row = known.get(put.path);
    if (row === undefined) return [];
    const isSameContent = row.state === "live" && row.content === put.content;
    const { file } = put;
    const isSameFile = file === undefined || (row.mode === file.mode && row.mtime === file.mtimeUs);
    if (!isSameContent || !isSameFile) return [{ put, row, kind: "version", isSameContent }];
    const own = attributes?.get(row.id);
    const changes =
      own !== undefined &&
      (batch.tags.some((tag) => !own.tags.includes(tag)) ||
        Object.entries(batch.metadata).some(
          ([key, value]) => JSON.stringify(own.metadata[key]) !== JSON.stringify(value),
        ));
    return [{ put, row, kind: changes ? "attributes" : "unchanged", isSameContent }];
  });
}

/** Inserts documents with their first versions, takes numbers for them and counts them. */
async function insertDocuments(
  sql: Sql,
  { batch, added, now }: { batch: PutBatch; added: readonly PutDocument[]; now: number },
): Promise<AddedRow[]> {
  if (added.length === 0) return [];
  const column = <T>(pick: (document: PutDocument, index: number) => T) => added.map(pick);
  const rows = await sql.rows<{ document: number; version: number; seq: number }>(
    `WITH taken AS (UPDATE facts SET value = value + $11::int WHERE key = 'seq' RETURNING value - $11::int AS before),
     counted AS (UPDATE collections SET documents = documents + $11::int, bytes = bytes + $15::bigint WHERE id = $1),
     n AS (
       SELECT g.*, taken.before + g.place AS seq, nextval(pg_get_serial_sequence('versions', 'id')) AS version
       FROM taken, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $12::bigint[], $13::int[], $14::bigint[])
         WITH ORDINALITY AS g(path, name, title, root, created, modified, inode, checked, content, mode, mtime, place)),
     added AS (
       INSERT INTO documents (collection, path, name, title, root, state, state_since, version, created, modified, indexed, inode, checked, seq)
       SELECT $1, n.path, n.name, n.title, n.root, 'live', $2::bigint, n.version, n.created, n.modified, $2::bigint, n.inode, n.checked, n.seq
       FROM n RETURNING id, seq)
     INSERT INTO versions (id, document, number, content, mode, mtime, added, seq_from) OVERRIDING SYSTEM VALUE
     SELECT n.version, a.id, 1, n.content, n.mode, n.mtime, $2::bigint, n.seq FROM n JOIN added a ON a.seq = n.seq
     RETURNING document, id AS version, seq_from AS seq`,
    ...[batch.collection, now],
    column(({ path }) => path),
    column(({ path }) => baseNameOf(path)),
    column(titleOf),
    column(({ root }) => root ?? null),
    column(({ file }) => (file === undefined || file.birthMs <= 0 ? now : Math.round(file.birthMs))),
    column(({ file }) => (file === undefined ? now : Math.round(file.mtimeUs / 1000))),
    column(({ file }) => file?.inode ?? null),
    column(({ file }) => file?.checkedUs ?? null),
    added.length,
    column(({ content }) => content),
    column(({ file }) => file?.mode ?? null),
    column(({ file }) => file?.mtimeUs ?? null),
    added.reduce((sum, { size }) => sum + size, 0),
  );
  const sorted = [...rows].sort((a, b) => a.seq - b.seq);
  return added.map((put, index) => ({ ...(sorted[index] as (typeof rows)[number]), put }));
}

function titleOf({ title }: PutDocument): string | null {
  return title === undefined ? null : storable(title);
}

/** Keeps the outer root if a folder inside it is added, so restore returns the whole tree. */
function keepOuterRoot(known: string | null, next: string | undefined): string | null {
  if (next === undefined) return known;
  if (known !== null && next.startsWith(known.endsWith("/") ? known : `${known}/`)) return known;
  return next;
}

interface NewVersion {
  readonly document: number;
  readonly number: number;
  readonly put: Pick<PutDocument, "content"> & { readonly file: Pick<FileFacts, "mode" | "mtimeUs"> | undefined };
  readonly seq: number;
}

async function openVersions(sql: Sql, versions: readonly NewVersion[], now: number): Promise<void> {
  if (versions.length === 0) return;
  await sql.run(
    `WITH opened AS (
       INSERT INTO versions (document, number, content, mode, mtime, added, seq_from)
       SELECT n.document, n.number, n.content, n.mode, n.mtime, $1::bigint, n.seq
       FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[])
         AS n(document, number, content, mode, mtime, seq)
       RETURNING id, document)
     UPDATE documents d SET version = opened.id FROM opened WHERE d.id = opened.document`,
    now,
    versions.map(({ document }) => document),
    versions.map(({ number }) => number),
    versions.map(({ put }) => put.content),
    versions.map(({ put }) => put.file?.mode ?? null),
    versions.map(({ put }) => put.file?.mtimeUs ?? null),
    versions.map(({ seq }) => seq),
  );
}

async function countDocuments(
  sql: Sql,
  { collection, documents, bytes }: { collection: number; documents: number; bytes: number },
): Promise<void> {
  if (documents === 0 && bytes === 0) return;
  const text = "UPDATE collections SET documents = documents + $2, bytes = bytes + $3 WHERE id = $1";
  await sql.run(text, collection, documents, bytes);
}

/** Hides documents; their versions stay. Needs {@link lockHistory}. */
export async function hideDocuments(
  sql: Sql,
  documents: readonly DocumentRow[],
  { state, session }: { state: "removed" | "trash"; session?: string },
): Promise<void> {
  if (documents.length === 0) return;
  const first = await takeSeqs(sql, documents.length);
  for (const [index, document] of documents.entries()) {
    if (document.state === "live") {
      const { size } = await sql.one<{ size: number }>(
        "UPDATE versions v SET seq_to = $2 FROM contents c WHERE v.id = $1 AND c.id = v.content RETURNING c.size",
        document.version,
        first + index,
      );
      await countDocuments(sql, { collection: document.collection, documents: -1, bytes: -size });
    }
    await sql.run(
      "UPDATE documents SET state = $2, state_since = $3, seq = $4 WHERE id = $1",
      ...[document.id, state, Date.now(), first + index],
    );
  }
  await noteInSession(sql, { session, documents: documents.map(({ id }) => id), change: "removed" });
}

/** Restores hidden documents as they were. Needs {@link lockHistory}. */
export async function showDocuments(sql: Sql, documents: readonly DocumentRow[]): Promise<void> {
  for (const document of documents) {
    if (document.state === "live") continue;
    const seq = await takeSeqs(sql, 1);
    const last = await sql.one<{
      number: number;
      content: number;
      mode: number | null;
      mtime: number | null;
      size: number;
    }>("SELECT v.*, c.size FROM versions v JOIN contents c ON c.id = v.content WHERE v.id = $1", document.version);
    const file = last.mode === null || last.mtime === null ? undefined : { mode: last.mode, mtimeUs: last.mtime };
    const put = { content: last.content, file };
    await openVersions(sql, [{ document: document.id, number: last.number, put, seq }], Date.now());
    await countDocuments(sql, { collection: document.collection, documents: 1, bytes: last.size });
    await sql.run(
      "UPDATE documents SET state = 'live', state_since = $2, checked = NULL, seq = $3 WHERE id = $1",
      ...[document.id, Date.now(), seq],
    );
  }
}

async function noteInSession(
  sql: Sql,
  note: { session: string | undefined; documents: readonly number[]; change: "added" | "changed" | "removed" },
): Promise<void> {
  const { session, documents, change } = note;
  if (session === undefined || documents.length === 0) return;
  // A document added and then changed in the same session still counts as added.
  await sql.run(
    `INSERT INTO session_documents SELECT $1, d, $3 FROM unnest($2::bigint[]) d ON CONFLICT (session, document) DO UPDATE
     SET change = CASE WHEN session_documents.change = 'added' AND excluded.change = 'changed' THEN 'added'
       ELSE excluded.change END`,
    ...[session, documents, change],
  );
}
