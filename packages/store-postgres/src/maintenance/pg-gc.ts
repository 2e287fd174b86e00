// `gc`: removes unreferenced data, in steps short enough for others to read and write in between.
import type { GcResult } from "@trunkline/store/contract";
import { RESULTS_KEPT_MS } from "@trunkline/store/parts";
import { hideDocuments, lockHistory } from "../contents/document-history.js";
import type { DocumentRow } from "../contents/named-documents.js";
import { type Database, LOCKS, type Sql } from "../database/sql.js";
import { removeDeadPostings } from "../indexing/merge-words.js";
import { refreshEntries } from "../search/entry-writes.js";

const UPLOAD_KEPT_MS = 24 * 60 * 60 * 1000;
const ROWS_PER_STEP = 500;

type Counts = Omit<GcResult, "steps">;

/** Each step returns what it removed; `more` until the phase is over. */
type Step = (sql: Sql, now: number) => Promise<Partial<Counts> & { more: boolean }>;

const STEPS: readonly Step[] = [expire, emptyTrash, removeContents, removeUploads, removeChunks, removeEntries];

export async function gc(
  database: Database,
  options: { signal?: AbortSignal; onStep?: (steps: number) => void },
): Promise<GcResult> {
  const { signal, onStep } = options;
  const now = Date.now();
  const counts = { documents: 0, versions: 0, contents: 0, chunks: 0, freedBytes: 0 };
  let steps = 0;
  for (const step of STEPS) {
    for (let more = true; more; steps++) {
      const done = await database.write({ signal }, async (sql) => {
        // Writers that are storing content hold this lock, too: what they have found must not be removed.
        await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.gc})`);
        return await step(sql, now);
      });
      ({ more } = done);
      for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += done[name] ?? 0;
      onStep?.(steps);
    }
  }
  return { ...counts, steps };
}

/** Moves expired results to the trash, which is emptied next. */
async function expire(sql: Sql, now: number): Promise<{ more: boolean }> {
  await lockHistory(sql);
  const old = await sql.rows<DocumentRow>(
    `SELECT * FROM documents WHERE state = 'live' AND indexed < $1 AND collection IN (
       SELECT id FROM collections WHERE name = 'results' OR starts_with(name, 'results@')) LIMIT ${ROWS_PER_STEP}`,
    now - RESULTS_KEPT_MS,
  );
  await hideDocuments(sql, old, { state: "trash" });
  await refreshEntries(
    sql,
    old.map(({ id }) => id),
    { known: new Map(), count: async () => new Uint8Array(0) },
  );
  return { more: old.length === ROWS_PER_STEP };
}

async function emptyTrash(sql: Sql): Promise<Partial<Counts> & { more: boolean }> {
  await lockHistory(sql);
  const rows = await sql.rows<{ id: number }>(`SELECT id FROM documents WHERE state = 'trash' LIMIT ${ROWS_PER_STEP}`);
  const ids = rows.map(({ id }) => id);
  const versions = await sql.run(
    `DELETE FROM versions v USING documents d WHERE d.id = v.document AND d.id = ANY($1::bigint[]) AND NOT EXISTS (
       SELECT 1 FROM snapshots s WHERE s.collection = d.collection AND s.seq >= v.seq_from AND s.seq < v.seq_to)`,
    ids,
  );
  // A snapshot still contains these documents: they stay, but cannot be undeleted.
  await sql.run(
    `UPDATE documents d SET state = 'removed', version = last.id
     FROM (SELECT document, max(id) AS id FROM versions WHERE document = ANY($1::bigint[]) GROUP BY document) last
     WHERE d.id = last.document`,
    ids,
  );
  await sql.run("DELETE FROM documents WHERE id = ANY($1::bigint[]) AND state = 'trash'", ids);
  return { documents: ids.length, versions, more: ids.length === ROWS_PER_STEP };
}

async function removeContents(sql: Sql, now: number): Promise<Partial<Counts> & { more: boolean }> {
  const contents = await sql.run(
    `DELETE FROM contents WHERE id IN (SELECT c.id FROM contents c WHERE (c.kept_until IS NULL OR c.kept_until < $1)
       AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)
       AND NOT EXISTS (SELECT 1 FROM pins p WHERE p.content = c.id) LIMIT ${ROWS_PER_STEP})`,
    now,
  );
  return { contents, more: contents === ROWS_PER_STEP };
}

async function removeUploads(sql: Sql, now: number): Promise<{ more: boolean }> {
  await sql.run("DELETE FROM uploads WHERE touched < $1", now - UPLOAD_KEPT_MS);
  return { more: false };
}

async function removeChunks(sql: Sql): Promise<Partial<Counts> & { more: boolean }> {
  const dead = await sql.rows<{ stored: number }>(
    `DELETE FROM chunks WHERE id IN (SELECT k.id FROM chunks k
       WHERE NOT EXISTS (SELECT 1 FROM content_chunks c WHERE c.chunk = k.id)
       AND NOT EXISTS (SELECT 1 FROM upload_chunks u WHERE u.chunk = k.id) LIMIT ${ROWS_PER_STEP})
     RETURNING octet_length(data) AS stored`,
  );
  const freedBytes = dead.reduce((sum, { stored }) => sum + stored, 0);
  return { chunks: dead.length, freedBytes, more: dead.length === ROWS_PER_STEP };
}

/** What the index has of entries that are gone. Gateways have seen that they are. */
async function removeEntries(sql: Sql): Promise<{ more: boolean }> {
  if ((await removeDeadPostings(sql)) > 0) return { more: true };
  await sql.run("DELETE FROM passages p USING entries e WHERE e.id = p.entry AND e.state = 0");
  await sql.run("DELETE FROM words_only w USING entries e WHERE e.id = w.entry AND e.state = 0");
  await sql.run("DELETE FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = v.hash)");
  return { more: false };
}
