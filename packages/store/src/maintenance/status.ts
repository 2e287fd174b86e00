import { statSync } from "node:fs";
import { join } from "node:path";
import type { StatusParams, StatusResult } from "../contract/index.js";
import { reachedSeq } from "../engine/indexing/catch-up.js";
import { generatedCounts } from "../engine/indexing/generated-indexer.js";
import { currentSeq } from "../engine/sqlite/documents.js";
import { FORMAT_VERSION, INDEX_FILE, TRUTH_FILE } from "../engine/sqlite/schema.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { graphProgress } from "../graph/graph-indexer.js";
import { embeddingProgress } from "../search/embedding-queue.js";

/**
 * `status`. Total bytes cover every version of every document plus content without a document. The savings are the
 * total minus the bytes of distinct chunks.
 */
export function status(env: ReadEnvironment, params: StatusParams): StatusResult {
  const { truth } = env;
  const number = (sql: string) => truth.one<{ n: number }>(sql).n;
  const versioned = `SELECT c.size FROM (SELECT document, number, max(content) AS content FROM versions GROUP BY document, number) v
    JOIN contents c ON c.id = v.content`;
  const bare = "SELECT size FROM contents c WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)";
  return truth.reading(() => {
    const documents = number("SELECT count(*) AS n FROM documents WHERE state = 'live'");
    const loose = number(`SELECT count(*) AS n FROM (${bare})`);
    const totalBytes = number(`SELECT coalesce(sum(size), 0) AS n FROM (${versioned} UNION ALL ${bare})`);
    const chunks = truth.one<{ n: number; bytes: number; stored: number }>(
      "SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes, coalesce(sum(length(data)), 0) AS stored FROM chunks",
    );
    const saved = Math.max(0, totalBytes - chunks.bytes);
    return {
      totalObjects: documents + loose,
      totalBytes: totalBytes,
      uniqueBlocks: chunks.n,
      deduplicatedBytes: saved,
      dedupRatio: totalBytes === 0 ? 0 : saved / totalBytes,
      ...embeddings(env),
      ...wordsOnly(env),
      ...(params.detailed ? details(env, chunks) : {}),
      ...(params.fileTypes ? { fileTypes: fileTypes(env) } : {}),
    };
  });
}

function details(env: ReadEnvironment, chunks: { bytes: number; stored: number }) {
  const { truth, index, folder } = env;
  const number = (sql: string) => truth.one<{ n: number }>(sql).n;
  return {
    format: FORMAT_VERSION,
    folder,
    contents: number("SELECT count(*) AS n FROM contents"),
    documents: number("SELECT count(*) AS n FROM documents WHERE state = 'live'"),
    removed: number("SELECT count(*) AS n FROM documents WHERE state = 'removed'"),
    inTrash: number("SELECT count(*) AS n FROM documents WHERE state = 'trash'"),
    versions: number("SELECT count(*) AS n FROM (SELECT DISTINCT document, number FROM versions)"),
    collections: number("SELECT count(*) AS n FROM collections"),
    snapshots: number("SELECT count(*) AS n FROM snapshots"),
    sessions: number("SELECT count(*) AS n FROM sessions WHERE stopped IS NULL"),
    uniqueBytes: chunks.bytes,
    storedBytes: chunks.stored,
    compressionRatio: chunks.stored === 0 ? 1 : chunks.bytes / chunks.stored,
    diskBytes: [TRUTH_FILE, INDEX_FILE]
      .flatMap((name) => ["", "-wal"].map((end) => sizeOf(join(folder, name + end))))
      .reduce((sum, size) => sum + size, 0),
    index: indexProgress(env),
    graph: graphProgress(index),
  };
}

/**
 * Counts the documents that are searchable by meaning, with the most recently used model and with others that still
 * have vectors.
 */
function embeddings({ index }: ReadEnvironment) {
  const [latest, ...older] = embeddingProgress(index);
  if (latest === undefined) return {};
  return { embeddings: older.length === 0 ? latest : { ...latest, older } };
}

/** Counts the documents that a tool has written: they are not in the graph and not embedded. */
function wordsOnly({ index }: ReadEnvironment): Pick<StatusResult, "wordsOnly"> {
  const kinds = generatedCounts(index);
  const documents = Object.values(kinds).reduce((sum, count) => sum + count, 0);
  return documents === 0 ? {} : { wordsOnly: { documents, kinds } };
}

/** Reports how far each index has come. */
function indexProgress({ truth, index, indexers }: ReadEnvironment) {
  const { last, total } = index.one<{ last: number; total: number }>(
    "SELECT coalesce(max(id), 0) AS last, count(*) AS total FROM entries",
  );
  const behind = Math.max(0, currentSeq(truth) - reachedSeq(index));
  return Object.fromEntries(
    indexers.map((indexer) => {
      if (indexer.when === "write") return [indexer.name, { entries: total, pending: behind }];
      const state = index.get<{ entry: number }>("SELECT entry FROM indexers WHERE name = ?", indexer.name);
      const pending = index.one<{ n: number }>(
        "SELECT count(*) AS n FROM entries WHERE id > ? AND id <= ?",
        state?.entry ?? 0,
        last,
      );
      return [indexer.name, { entries: total - pending.n, pending: pending.n }];
    }),
  );
}

function fileTypes({ truth }: ReadEnvironment) {
  const rows = truth.all<{ name: string; size: number; type: string }>(
    `SELECT d.name, c.size, c.type FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
     WHERE d.state = 'live'`,
  );
  const types: Record<string, { documents: number; bytes: number; type: string }> = {};
  for (const { name, size, type } of rows) {
    const extension = /[^.](\.[^.\s]{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? "";
    const { documents, bytes } = types[extension] ?? { documents: 0, bytes: 0 };
    types[extension] = { documents: documents + 1, bytes: bytes + size, type };
  }
  return types;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
