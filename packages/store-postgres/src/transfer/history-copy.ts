// Reads and replays the history of a store, for copies between engines.
import { TrunklineError } from "@trunkline/core";
import type { TransferEvent } from "@trunkline/store/parts";
import { attributesOf } from "../contents/attributes.js";
import { ensureCollection, hideDocuments, lockHistory, putDocuments } from "../contents/document-history.js";
import type { DocumentRow } from "../contents/named-documents.js";
import { hexOf } from "../contents/pg-contents.js";
import type { Database, Sql } from "../database/sql.js";
import { takeSnapshot } from "../documents/pg-changes.js";
import { refreshEntries, type WordCounts } from "../search/entry-writes.js";

/** Returns all changes in order. */
export async function historyOf(database: Database): Promise<TransferEvent[]> {
  return await database.read({}, async (sql) => {
    const rows = await sql.rows<{
      document: number;
      hash: Uint8Array;
      mode: number | null;
      mtime: number | null;
      seq_from: number;
      seq_to: number | null;
      path: string;
      root: string | null;
      title: string | null;
      state: DocumentRow["state"];
      collection: string;
    }>(
      `SELECT v.document, c.hash, v.mode, v.mtime, v.seq_from, v.seq_to, d.path, d.root, d.title, d.state, k.name AS collection
       FROM versions v JOIN contents c ON c.id = v.content JOIN documents d ON d.id = v.document
       JOIN collections k ON k.id = d.collection ORDER BY v.document, v.seq_from`,
    );
    const attributes = await attributesOf(sql, [...new Set(rows.map(({ document }) => document))]);
    const timed: { order: number; event: TransferEvent }[] = [];
    for (const [position, row] of rows.entries()) {
      const { collection, path, mode, mtime } = row;
      const { tags = [], metadata = {} } = attributes.get(row.document) ?? {};
      const event: TransferEvent = {
        ...{ kind: "version", seq: row.seq_from, collection, path, mode, mtime, tags, metadata, hash: hexOf(row.hash) },
        root: row.root ?? undefined,
        title: row.title ?? undefined,
      };
      timed.push({ order: 0, event });
      const next = rows[position + 1];
      const isFollowed = next?.document === row.document && next.seq_from === row.seq_to;
      if (row.seq_to !== null && !isFollowed) {
        const state = row.state === "trash" ? "trash" : "removed";
        timed.push({ order: 0, event: { kind: "hide", seq: row.seq_to, collection, path, state } });
      }
    }
    const snapshots = await sql.rows<{
      id: string;
      seq: number;
      collection: string;
      label: string | null;
      created: number;
    }>(
      `SELECT s.id, s.seq, k.name AS collection, s.label, s.created
       FROM snapshots s JOIN collections k ON k.id = s.collection ORDER BY s.created`,
    );
    for (const { label, ...snapshot } of snapshots) {
      timed.push({ order: 1, event: { kind: "snapshot", ...snapshot, label: label ?? undefined } });
    }
    return timed.sort((a, b) => a.event.seq - b.event.seq || a.order - b.order).map(({ event }) => event);
  });
}

/** Returns the place up to which the history of another store was replayed; 0 for none of it. */
export async function replayed(database: Database, from: string): Promise<number> {
  const row = await database.read({}, (sql) =>
    sql.get<{ value: number }>("SELECT value FROM facts WHERE key = $1", factOf(from)),
  );
  return row?.value ?? 0;
}

function factOf(from: string): string {
  return `copied from ${from}`;
}

/** Replays events whose contents are stored already, and notes how far the copy has come in the same transaction. */
export async function replay(
  database: Database,
  { from, events, through }: { from: string; events: readonly TransferEvent[]; through: number },
  count: WordCounts["count"],
): Promise<void> {
  await database.write({}, async (sql) => {
    await lockHistory(sql);
    for (const event of events) await replayOne(sql, event, count);
    await sql.run(
      "INSERT INTO facts VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      factOf(from),
      through,
    );
  });
}

async function replayOne(sql: Sql, event: TransferEvent, count: WordCounts["count"]): Promise<void> {
  const collection = await ensureCollection(sql, event.collection);
  if (event.kind === "snapshot") {
    const { id, created, label } = event;
    // The same snapshot, imported once more, is another one.
    const isFree = (await sql.get("SELECT 1 FROM snapshots WHERE id = $1", id)) === undefined;
    await takeSnapshot(sql, { collection: event.collection, label, ...(isFree ? { id, created } : {}) });
    return;
  }
  if (event.kind === "hide") {
    const document = await sql.get<DocumentRow>(
      "SELECT * FROM documents WHERE collection = $1 AND md5(path) = md5($2) AND path = $2 AND state = 'live'",
      collection,
      event.path,
    );
    if (document === undefined) return;
    await hideDocuments(sql, [document], { state: event.state });
    await refreshEntries(sql, [document.id], { known: new Map(), count });
    return;
  }
  const content = await sql.get<{ id: number; size: number }>(
    "SELECT id, size FROM contents WHERE hash = decode($1, 'hex')",
    event.hash,
  );
  if (content === undefined)
    throw new TrunklineError("INTERNAL", `Content ${event.hash} was not copied before its document.`);
  const { mode, mtime, root, title, tags, metadata, path } = event;
  const file =
    mode === null || mtime === null ? undefined : { mode, mtimeUs: mtime, inode: 0, birthMs: 0, checkedUs: 0 };
  const document = { path, root, title, file, content: content.id, size: content.size };
  const { touched } = await putDocuments(sql, {
    collection,
    tags,
    metadata,
    session: undefined,
    documents: [document],
  });
  await refreshEntries(sql, touched, { known: new Map(), count });
}
