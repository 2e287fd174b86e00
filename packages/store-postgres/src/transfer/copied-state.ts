// What a copy takes besides the history: the times and attributes of documents, sessions with their pins, and contents
// without a document.
import type { PlacedState, TransferDocument, TransferState } from "@trunkline/store/parts";
import { type Attributes, addTags, attributesOf, removeTags, setMetadata } from "../contents/attributes.js";
import { currentSeq, ensureCollection, lockHistory, takeSeqs } from "../contents/document-history.js";
import { hexOf } from "../contents/pg-contents.js";
import type { Database, Sql } from "../database/sql.js";
import { refreshEntries, type WordCounts } from "../search/entry-writes.js";

export async function stateOfStore(database: Database): Promise<PlacedState> {
  return await database.read({}, async (sql) => ({
    documents: await documentsIn(sql),
    sessions: await sessionsIn(sql),
    contents: await bareContents(sql),
    roots: await sql.rows<TransferState["roots"][number]>(
      "SELECT k.name AS collection, r.path, r.added FROM roots r JOIN collections k ON k.id = r.collection",
    ),
    seq: await currentSeq(sql),
  }));
}

async function documentsIn(sql: Sql): Promise<TransferDocument[]> {
  const rows = await sql.rows<
    Omit<TransferDocument, "hash" | "tags" | "metadata"> & { readonly id: number; readonly bytes: Uint8Array }
  >(
    `SELECT d.id, k.name AS collection, d.path, d.state, c.hash AS bytes, d.title, d.root, v.mode, v.mtime, d.created,
       d.modified, d.indexed
     FROM documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
     JOIN contents c ON c.id = v.content ORDER BY d.id`,
  );
  const attributes = await attributesOf(
    sql,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id, bytes, ...row }) => {
    const { tags = [], metadata = {} } = attributes.get(id) ?? {};
    return { ...row, hash: hexOf(bytes), tags, metadata };
  });
}

async function sessionsIn(sql: Sql): Promise<TransferState["sessions"]> {
  const sessions = await sql.rows<{ id: string; label: string | null; started: number; stopped: number | null }>(
    "SELECT id, label, started, stopped FROM sessions ORDER BY started, id",
  );
  const documents = await sql.rows<{ session: string; collection: string; path: string; change: string }>(
    `SELECT s.session, k.name AS collection, d.path, s.change FROM session_documents s
     JOIN documents d ON d.id = s.document JOIN collections k ON k.id = d.collection`,
  );
  const pins = await sql.rows<{ session: string; hash: Uint8Array; pinned: number }>(
    "SELECT p.session, c.hash, p.pinned FROM pins p JOIN contents c ON c.id = p.content",
  );
  const own = <R extends { session: string }>(rows: readonly R[]) => {
    const bySession = new Map<string, Omit<R, "session">[]>();
    for (const { session, ...row } of rows) bySession.set(session, [...(bySession.get(session) ?? []), row]);
    return bySession;
  };
  const [documentsOf, pinsOf] = [own(documents), own(pins.map((pin) => ({ ...pin, hash: hexOf(pin.hash) })))];
  return sessions.map((session) => ({
    ...session,
    documents: documentsOf.get(session.id) ?? [],
    pins: pinsOf.get(session.id) ?? [],
  }));
}

async function bareContents(sql: Sql): Promise<TransferState["contents"]> {
  const rows = await sql.rows<{ hash: Uint8Array; keptUntil: number }>(
    `SELECT c.hash, c.kept_until AS "keptUntil" FROM contents c WHERE c.kept_until > $1
       AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)`,
    Date.now(),
  );
  return rows.map(({ hash, keptUntil }) => ({ hash: hexOf(hash), keptUntil }));
}

/** Takes over a state whose documents and contents are stored already. */
export async function takeState(database: Database, state: TransferState, count: WordCounts["count"]): Promise<void> {
  await database.write({}, async (sql) => {
    await lockHistory(sql);
    await takeDocuments(sql, state.documents, count);
    await takeSessions(sql, state.sessions);
    await sql.run(
      `UPDATE contents c SET kept_until = greatest(coalesce(c.kept_until, 0), n.until)
       FROM unnest($1::text[], $2::bigint[]) AS n(hash, until) WHERE c.hash = decode(n.hash, 'hex')`,
      state.contents.map(({ hash }) => hash),
      state.contents.map(({ keptUntil }) => keptUntil),
    );
    for (const { collection, path, added } of state.roots) {
      await sql.run(
        "INSERT INTO roots VALUES ($1, $2, $3) ON CONFLICT (collection, md5(path)) DO UPDATE SET added = excluded.added",
        ...[await ensureCollection(sql, collection), path, added],
      );
    }
  });
}

async function takeDocuments(
  sql: Sql,
  documents: readonly TransferDocument[],
  count: WordCounts["count"],
): Promise<void> {
  if (documents.length === 0) return;
  const rows = await sql.rows<{ id: number; at: number; title: string | null }>(
    `SELECT d.id, n.at::int AS at, d.title FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(collection, path, at)
     JOIN collections k ON k.name = n.collection
     JOIN documents d ON d.collection = k.id AND md5(d.path) = md5(n.path) AND d.path = n.path`,
    documents.map(({ collection }) => collection),
    documents.map(({ path }) => path),
  );
  const found = rows.map(({ id, at, title }) => ({ id, title, wanted: documents[at - 1] as TransferDocument }));
  await sql.run(
    `UPDATE documents d SET title = n.title, root = n.root, created = n.created, modified = n.modified, indexed = n.indexed
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
       AS n(id, title, root, created, modified, indexed) WHERE d.id = n.id`,
    found.map(({ id }) => id),
    found.map(({ wanted }) => wanted.title),
    found.map(({ wanted }) => wanted.root),
    found.map(({ wanted }) => wanted.created),
    found.map(({ wanted }) => wanted.modified),
    found.map(({ wanted }) => wanted.indexed),
  );
  const attributes = await attributesOf(
    sql,
    found.map(({ id }) => id),
  );
  const touched: number[] = [];
  for (const { id, title, wanted } of found) {
    const own = attributes.get(id) ?? { tags: [], metadata: {} };
    const hasNewTitle = (title ?? null) !== (wanted.title ?? null);
    if ((await takeAttributes(sql, { id, own, wanted })) || hasNewTitle) touched.push(id);
  }
  if (touched.length === 0) return;
  const seq = await takeSeqs(sql, touched.length);
  await sql.run(
    "UPDATE documents d SET seq = n.seq FROM unnest($1::bigint[], $2::bigint[]) AS n(id, seq) WHERE d.id = n.id",
    touched,
    touched.map((_, at) => seq + at),
  );
  await refreshEntries(sql, touched, { known: new Map(), count });
}

/** Returns whether anything had to be changed. */
async function takeAttributes(
  sql: Sql,
  { id, own, wanted }: { id: number; own: Attributes; wanted: TransferDocument },
): Promise<boolean> {
  const surplusTags = own.tags.filter((tag) => !wanted.tags.includes(tag));
  const surplusKeys = Object.keys(own.metadata).filter((key) => !Object.hasOwn(wanted.metadata, key));
  const isSame =
    surplusTags.length + surplusKeys.length === 0 &&
    wanted.tags.every((tag) => own.tags.includes(tag)) &&
    Object.entries(wanted.metadata).every(
      ([key, value]) => JSON.stringify(value) === JSON.stringify(own.metadata[key]),
    );
  if (isSame) return false;
  await removeTags(sql, [id], surplusTags);
  await addTags(sql, [id], wanted.tags);
  await sql.run("DELETE FROM document_metadata WHERE document = $1 AND key = ANY($2::text[])", id, surplusKeys);
  await setMetadata(sql, [id], wanted.metadata);
  return true;
}

async function takeSessions(sql: Sql, sessions: TransferState["sessions"]): Promise<void> {
  for (const { id, label, started, stopped, documents, pins } of sessions) {
    await sql.run(
      `INSERT INTO sessions (id, label, started, stopped) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET stopped = excluded.stopped`,
      ...[id, label, started, stopped],
    );
    await sql.run(
      `INSERT INTO session_documents SELECT $1, d.id, n.change
       FROM unnest($2::text[], $3::text[], $4::text[]) AS n(collection, path, change)
       JOIN collections k ON k.name = n.collection
       JOIN documents d ON d.collection = k.id AND md5(d.path) = md5(n.path) AND d.path = n.path
       ON CONFLICT (session, document) DO UPDATE SET change = excluded.change`,
      id,
      documents.map(({ collection }) => collection),
      documents.map(({ path }) => path),
      documents.map(({ change }) => change),
    );
    await sql.run(
      `INSERT INTO pins SELECT $1, c.id, n.pinned FROM unnest($2::text[], $3::bigint[]) AS n(hash, pinned)
       JOIN contents c ON c.hash = decode(n.hash, 'hex') ON CONFLICT DO NOTHING`,
      id,
      pins.map(({ hash }) => hash),
      pins.map(({ pinned }) => pinned),
    );
  }
}
