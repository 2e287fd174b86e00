import type { StatusParams, StatusResult } from "@trunkline/store/contract";
import { SCHEMA_VERSION } from "../database/migrate.js";
import { SCHEMA, type Sql } from "../database/sql.js";
import { graphPending } from "../graph/pg-graph.js";
import { setAside } from "../indexing/job-attempts.js";

/** `status`. Savings are the bytes of all versions minus those of distinct chunks. */
export async function status(sql: Sql, params: StatusParams, place: string): Promise<StatusResult> {
  const bare = "SELECT size FROM contents c WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)";
  const totals = await sql.one<{
    documents: number;
    loose: number;
    bytes: number;
    chunks: number;
    unique: number;
    stored: number;
  }>(
    `SELECT (SELECT count(*) FROM documents WHERE state = 'live') AS documents,
       (SELECT count(*) FROM (${bare}) b) AS loose,
       (SELECT coalesce(sum(size), 0) FROM (SELECT c.size FROM (SELECT document, number, max(content) AS content FROM versions
          GROUP BY document, number) v JOIN contents c ON c.id = v.content UNION ALL ${bare}) s) AS bytes,
       (SELECT count(*) FROM chunks) AS chunks, (SELECT coalesce(sum(size), 0) FROM chunks) AS unique,
       (SELECT coalesce(sum(octet_length(data)), 0) FROM chunks) AS stored`,
  );
  const saved = Math.max(0, totals.bytes - totals.unique);
  return {
    totalObjects: totals.documents + totals.loose,
    totalBytes: totals.bytes,
    uniqueBlocks: totals.chunks,
    deduplicatedBytes: saved,
    dedupRatio: totals.bytes === 0 ? 0 : saved / totals.bytes,
    ...(await embeddings(sql)),
    ...(await wordsOnly(sql)),
    ...(await notIndexed(sql)),
    ...(params.detailed ? await details(sql, { place, unique: totals.unique, stored: totals.stored }) : {}),
    ...(params.fileTypes ? { fileTypes: await fileTypes(sql) } : {}),
  };
}

async function embeddings(sql: Sql) {
  const rows = await sql.rows<{
    model: string;
    dimensions: number;
    embedded: number;
    total: number;
    vectors: number;
    complete: boolean;
  }>(
    `SELECT m.model, m.dimensions, (SELECT count(*) FROM entries WHERE state <> 0 AND id <= m.entry) AS embedded,
       (SELECT count(*) FROM entries WHERE state <> 0) AS total,
       (SELECT count(*) FROM vectors v WHERE v.embedder = m.id) AS vectors, m.complete
     FROM embedders m ORDER BY m.used DESC, m.id DESC`,
  );
  const [latest, ...older] = rows;
  if (latest === undefined) return {};
  return { embeddings: older.length === 0 ? latest : { ...latest, older } };
}

/** Counts the documents that a tool has written. */
async function wordsOnly(sql: Sql): Promise<Pick<StatusResult, "wordsOnly">> {
  const rows = await sql.rows<{ kind: string; documents: number }>(
    `SELECT w.kind, count(*) AS documents FROM words_only w JOIN entries e ON e.id = w.entry
     WHERE e.state = 2 GROUP BY w.kind ORDER BY w.kind COLLATE "C"`,
  );
  const documents = rows.reduce((sum, row) => sum + row.documents, 0);
  const kinds = Object.fromEntries(rows.map((row) => [row.kind, row.documents]));
  return documents === 0 ? {} : { wordsOnly: { documents, kinds } };
}

async function notIndexed(sql: Sql): Promise<Pick<StatusResult, "notIndexed">> {
  const found = await setAside(sql);
  return found === undefined ? {} : { notIndexed: found };
}

async function details(sql: Sql, { place, unique, stored }: { place: string; unique: number; stored: number }) {
  const counts = await sql.one<Record<string, number>>(
    `SELECT (SELECT count(*) FROM contents) AS contents, (SELECT count(*) FROM documents WHERE state = 'live') AS documents,
       (SELECT count(*) FROM documents WHERE state = 'removed') AS removed,
       (SELECT count(*) FROM documents WHERE state = 'trash') AS "inTrash",
       (SELECT count(*) FROM (SELECT DISTINCT document, number FROM versions) v) AS versions,
       (SELECT count(*) FROM collections) AS collections, (SELECT count(*) FROM snapshots) AS snapshots,
       (SELECT count(*) FROM sessions WHERE stopped IS NULL) AS sessions`,
  );
  const disk = await sql.one<{ bytes: number }>(
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
    SCHEMA,
  );
  const work = await sql.one<{ entries: number; jobs: number; recent: number }>(
    "SELECT (SELECT count(*) FROM entries WHERE state <> 0) AS entries, (SELECT count(*) FROM jobs WHERE due < 'infinity') AS jobs, (SELECT count(*) FROM keyword_recent) AS recent",
  );
  const graph = await sql.one<{ documents: number; symbols: number; edges: number }>(
    "SELECT (SELECT count(*) FROM graph_files) AS documents, (SELECT count(*) FROM graph_symbols) AS symbols, (SELECT count(*) FROM graph_edges) AS edges",
  );
  return {
    format: SCHEMA_VERSION,
    database: place,
    ...counts,
    uniqueBytes: unique,
    storedBytes: stored,
    compressionRatio: stored === 0 ? 1 : unique / stored,
    diskBytes: disk.bytes,
    index: {
      keyword: { entries: work.entries, pending: 0, unmerged: work.recent },
      text: { entries: work.entries - work.jobs, pending: work.jobs },
    },
    graph: { ...graph, pending: await graphPending(sql) },
  };
}

async function fileTypes(sql: Sql) {
  const rows = await sql.rows<{ extension: string; documents: number; bytes: number; type: string }>(
    `SELECT lower(coalesce(substring(d.name from '[^.](\\.[^.\\s]{1,16})$'), '')) AS extension, count(*) AS documents,
       sum(c.size) AS bytes, max(c.type) AS type
     FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content WHERE d.state = 'live' GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(
    rows.map(({ extension, documents, bytes, type }) => [extension, { documents, bytes, type }]),
  );
}
