// `list_collections` and `list_snapshots`.

import type { CollectionInfo, SnapshotInfo } from "../contract/index.js";
import { decodeCursor, encodeCursor, wholeNumber } from "../contract/params.js";
import { requireCollection, type SnapshotRow } from "../engine/sqlite/filters.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { snapshotInfo } from "./change.js";

export function listCollections({ truth }: ReadEnvironment): { collections: CollectionInfo[]; total: number } {
  const rows = truth.all<{
    id: number;
    name: string;
    created: number;
    documents: number;
    bytes: number;
    snapshots: number;
  }>(
    `SELECT k.id, k.name, k.created, k.documents, k.bytes, (SELECT count(*) FROM snapshots s WHERE s.collection = k.id) AS snapshots
     FROM collections k ORDER BY k.name`,
  );
  const collections = rows.map(({ id, name, created, documents, bytes, snapshots }) => ({
    name,
    created: new Date(created).toISOString(),
    documents,
    bytes,
    snapshots,
    roots: truth
      .all<{ path: string }>("SELECT path FROM roots WHERE collection = ? ORDER BY path", id)
      .map((root) => root.path),
  }));
  return { collections, total: collections.length };
}

const DEFAULT_LIMIT = 100;

/** Lists snapshots, newest first. */
export function listSnapshots(
  { truth }: ReadEnvironment,
  params: { collection?: string; limit?: number; cursor?: string },
): { snapshots: SnapshotInfo[]; total: number; cursor?: string } {
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const collection = params.collection === undefined ? null : requireCollection(truth, params.collection);
  const [created, id] = params.cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : decodeCursor(params.cursor, 2);
  const { total } = truth.one<{ total: number }>(
    "SELECT count(*) AS total FROM snapshots WHERE ? IS NULL OR collection = ?",
    collection,
    collection,
  );
  const rows = truth.all<SnapshotRow & { name: string }>(
    `SELECT s.*, k.name FROM snapshots s JOIN collections k ON k.id = s.collection
     WHERE (? IS NULL OR s.collection = ?) AND (s.created, s.id) < (?, ?) ORDER BY s.created DESC, s.id DESC LIMIT ?`,
    collection,
    collection,
    created as number,
    id as string,
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const snapshots = page.map((row) => snapshotInfo(row, row.name));
  return {
    snapshots,
    total,
    ...(rows.length > limit && last !== undefined ? { cursor: encodeCursor([last.created, last.id]) } : {}),
  };
}
