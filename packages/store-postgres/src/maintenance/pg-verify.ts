// `verify` and `repair`: checks every chunk, content, reference and index, and builds the index again.
import { isTrunklineError, type ToolProgress } from "@trunkline/core";
import type { RepairResult, VerifyProblem, VerifyResult } from "@trunkline/store/contract";
import { openChunk } from "@trunkline/store/parts";
import { lockHistory } from "../contents/document-history.js";
import { type ContentRow, hexOf, readContent } from "../contents/pg-contents.js";
import type { Database, Sql } from "../database/sql.js";
import { addOldEntries, refreshEntries, type WordCounts } from "../search/entry-writes.js";

const WINDOW = 100;

interface Verification {
  readonly database: Database;
  readonly signal?: AbortSignal;
  report(problem: VerifyProblem): void;
}

const STEPS: readonly (readonly [string, (verification: Verification) => Promise<number>])[] = [
  ["chunks", checkChunks],
  ["contents", checkContents],
  ["references", checkReferences],
  ["index", checkIndex],
];

/** Reports damage instead of throwing. */
export async function verify(
  database: Database,
  options: { signal?: AbortSignal; onProgress?: (progress: ToolProgress) => void },
): Promise<VerifyResult> {
  const problems: VerifyProblem[] = [];
  const steps: VerifyResult["steps"][number][] = [];
  for (const [position, [name, run]] of STEPS.entries()) {
    options.onProgress?.({ progress: position, total: STEPS.length, message: name });
    const started = performance.now();
    const checked = await run({ database, signal: options.signal, report: (problem) => problems.push(problem) });
    steps.push({ name, checked, ms: Math.round(performance.now() - started) });
  }
  return { ok: problems.length === 0, problems, steps };
}

async function damageOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isTrunklineError(error, "IO") && error.data?.damaged === true) return error.message;
    throw error;
  }
}

async function checkChunks({ database, signal, report }: Verification): Promise<number> {
  let [checked, after] = [0, 0];
  while (true) {
    const rows = await database.read({ signal }, async (sql) => {
      const found = await sql.rows<{ id: number; hash: Uint8Array; size: number; codec: number; data: Uint8Array }>(
        `SELECT * FROM chunks WHERE id > $1 ORDER BY id LIMIT ${WINDOW}`,
        after,
      );
      for (const row of found) {
        const hash = hexOf(row.hash);
        const message = await damageOf(() => openChunk({ ...row, hash }));
        if (message !== undefined)
          report({ kind: "chunk", message, hash, paths: await pathsWith(sql, "cc.chunk = $1", row.id) });
      }
      return found;
    });
    if (rows.length === 0) return checked;
    checked += rows.length;
    after = rows.at(-1)?.id ?? after;
  }
}

async function checkContents({ database, signal, report }: Verification): Promise<number> {
  let [checked, after] = [0, 0];
  while (true) {
    const rows = await database.read({ signal }, async (sql) => {
      const found = await sql.rows<ContentRow>(
        `SELECT * FROM contents WHERE id > $1 ORDER BY id LIMIT ${WINDOW}`,
        after,
      );
      for (const row of found) {
        const message = await damageOf(() => readContent(sql, row));
        if (message === undefined) continue;
        report({
          kind: "content",
          message,
          hash: hexOf(row.hash),
          paths: await pathsWith(sql, "cc.content = $1", row.id),
        });
      }
      return found;
    });
    if (rows.length === 0) return checked;
    checked += rows.length;
    after = rows.at(-1)?.id ?? after;
  }
}

async function pathsWith(sql: Sql, condition: string, id: number): Promise<string[]> {
  const rows = await sql.rows<{ path: string }>(
    `SELECT DISTINCT d.path FROM content_chunks cc JOIN versions v ON v.content = cc.content
     JOIN documents d ON d.id = v.document WHERE ${condition} ORDER BY d.path LIMIT 20`,
    id,
  );
  return rows.map(({ path }) => path);
}

/** Each query returns rows that should not exist. Foreign keys cover the rest. */
const REFERENCE_CHECKS: readonly (readonly [string, string])[] = [
  [
    "a live document without a current version",
    `SELECT d.path AS what FROM documents d LEFT JOIN versions v ON v.id = d.version AND v.document = d.id
     WHERE d.state = 'live' AND (v.id IS NULL OR v.seq_to IS NOT NULL)`,
  ],
  [
    "two versions of a document at the same time",
    `SELECT d.path AS what FROM versions a JOIN versions b ON b.document = a.document AND b.id > a.id
       AND a.seq_from < coalesce(b.seq_to, 9e15) AND b.seq_from < coalesce(a.seq_to, 9e15) JOIN documents d ON d.id = a.document`,
  ],
  [
    "a collection with wrong counts",
    `SELECT k.name AS what FROM collections k WHERE (k.documents, k.bytes) <> (
       SELECT count(*), coalesce(sum(c.size), 0)::bigint FROM documents d JOIN versions v ON v.id = d.version
       JOIN contents c ON c.id = v.content WHERE d.collection = k.id AND d.state = 'live')`,
  ],
];

async function checkReferences({ database, signal, report }: Verification): Promise<number> {
  await database.read({ signal }, async (sql) => {
    for (const [what, text] of REFERENCE_CHECKS) {
      const rows = await sql.rows<{ what: string }>(`${text} LIMIT 20`);
      for (const row of rows)
        report({ kind: "reference", message: `There is ${what}: ${row.what}.`, paths: [row.what] });
    }
  });
  return REFERENCE_CHECKS.length;
}

async function checkIndex({ database, signal, report }: Verification): Promise<number> {
  return await database.read({ signal }, async (sql) => {
    const missing = await sql.rows<{ path: string }>(
      `SELECT d.path FROM documents d WHERE d.state = 'live' AND NOT EXISTS (
         SELECT 1 FROM entries e WHERE e.version = d.version AND e.state = 2) LIMIT 20`,
    );
    for (const { path } of missing) report({ kind: "index", message: `The index lacks ${path}.`, paths: [path] });
    const stale = await sql.rows<{ path: string }>(
      `SELECT d.path FROM entries e JOIN documents d ON d.id = e.document WHERE e.state = 2 AND (d.state <> 'live' OR d.version <> e.version) LIMIT 20`,
    );
    for (const { path } of stale)
      report({ kind: "index", message: `The index has an older state of ${path}.`, paths: [path] });
    return (await sql.one<{ n: number }>("SELECT count(*) AS n FROM entries WHERE state <> 0")).n;
  });
}

const REBUILT_AT_ONCE = 200;

/** Builds the index of all live documents again. */
export async function rebuild(database: Database, count: WordCounts["count"]): Promise<RepairResult> {
  await database.write({}, async (sql) => {
    await lockHistory(sql);
    await sql.exec(`TRUNCATE keyword_recent, keyword_blocks, words, word_grams, words_only, texts, jobs, passages, vectors, graph_files,
      graph_symbols, graph_edges, graph_provides, graph_depends;
      UPDATE embedders SET entry = 0, complete = false; UPDATE facts SET value = value + 1 WHERE key = 'seq';
      UPDATE entries SET state = 0, seq = (SELECT value FROM facts WHERE key = 'seq')`);
  });
  let [documents, after] = [0, 0];
  while (true) {
    const ids = await database.write({}, async (sql) => {
      await lockHistory(sql);
      const rows = await sql.rows<{ id: number }>(
        `SELECT id FROM documents WHERE state = 'live' AND id > $1 ORDER BY id LIMIT ${REBUILT_AT_ONCE}`,
        after,
      );
      const found = rows.map(({ id }) => id);
      // Gateways read entries that are newer than what they know.
      await sql.run("UPDATE facts SET value = value + 1 WHERE key = 'seq'");
      await sql.run(
        "UPDATE documents SET seq = (SELECT value FROM facts WHERE key = 'seq') WHERE id = ANY($1::bigint[])",
        found,
      );
      await refreshEntries(sql, found, { known: new Map(), count });
      return found;
    });
    if (ids.length === 0) break;
    documents += ids.length;
    after = ids.at(-1) ?? after;
  }
  await rebuildOld(database, count);
  return { documents, chunks: 0, lost: [] };
}

/** Builds the index of versions that only snapshots show. */
async function rebuildOld(database: Database, count: WordCounts["count"]): Promise<void> {
  for (let after = 0; ; ) {
    const ids = await database.write({}, async (sql) => {
      await lockHistory(sql);
      const rows = await sql.rows<{ id: number }>(
        `SELECT v.id FROM versions v JOIN documents d ON d.id = v.document
         WHERE v.id > $1 AND v.seq_to IS NOT NULL AND EXISTS (
           SELECT 1 FROM snapshots s WHERE s.collection = d.collection AND s.seq >= v.seq_from AND s.seq < v.seq_to)
         ORDER BY v.id LIMIT ${REBUILT_AT_ONCE}`,
        after,
      );
      const found = rows.map(({ id }) => id);
      await addOldEntries(sql, found, { known: new Map(), count });
      // Gateways read entries that are newer than what they know.
      await sql.exec(`UPDATE facts SET value = value + 1 WHERE key = 'seq';
        UPDATE entries SET seq = (SELECT value FROM facts WHERE key = 'seq') WHERE state = 1`);
      return found;
    });
    if (ids.length === 0) return;
    after = ids.at(-1) ?? after;
  }
}
