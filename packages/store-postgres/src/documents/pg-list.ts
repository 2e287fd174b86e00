// `list`, `list_collections` and `list_snapshots`.
import type { ListCollectionsResult, ListParams, ListResult, ListSnapshotsResult } from "@trunkline/store/contract";
import { decodeCursor, encodeCursor, listingOf, wholeNumber } from "@trunkline/store/parts";
import { attributesOf } from "../contents/attributes.js";
import { hexOf } from "../contents/pg-contents.js";
import {
  requireCollection,
  type SelectionParams,
  type SnapshotRow,
  selectDocuments,
  Values,
} from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";
import { snapshotInfo } from "./pg-changes.js";

const DEFAULT_LIMIT = 100;
const SORT_COLUMNS = {
  name: ["d.name", "text"],
  size: ["c.size", "bigint"],
  created: ["d.created", "bigint"],
  modified: ["d.modified", "bigint"],
  indexed: ["d.indexed", "bigint"],
} as const;

interface ListedRow {
  readonly id: number;
  readonly path: string;
  readonly created: number;
  readonly modified: number;
  readonly indexed: number;
  readonly hash: Uint8Array;
  readonly size: number;
  readonly type: "text" | "binary";
  readonly collection: string;
  readonly sort: string | number;
}

/** `list`: lists documents in pages, with a cursor that stays valid while documents are added and removed. */
export async function listDocuments(
  sql: Sql,
  params: Omit<ListParams, "session"> & SelectionParams,
): Promise<ListResult> {
  const { limit, offset, recent, sortBy, isDescending } = listingOf(params);
  const [column, type] = SORT_COLUMNS[sortBy];
  const selection = await selectDocuments(sql, params);
  const values = new Values(selection.values);
  let { where } = selection;
  if (recent !== undefined) {
    where = `d.id IN (SELECT d.id FROM ${selection.from} WHERE ${where} ORDER BY d.indexed DESC, d.id DESC LIMIT ${recent}) AND ${where}`;
  }
  const { total } = await sql.one<{ total: number }>(
    `SELECT count(*) AS total FROM ${selection.from} WHERE ${where}`,
    ...values.list,
  );
  if (params.cursor !== undefined) {
    const [value, id] = decodeCursor(params.cursor, 2) as [string | number, number];
    const collated = type === "text" ? ' COLLATE "C"' : "";
    where += ` AND (${column}, d.id) ${isDescending ? "<" : ">"} (${values.place(value)}::${type}${collated}, ${values.place(id)}::bigint)`;
  }
  const order = isDescending ? "DESC" : "ASC";
  const rows = await sql.rows<ListedRow>(
    `SELECT d.id, d.path, d.created, d.modified, d.indexed, c.hash, c.size, c.type, k.name AS collection, ${column} AS sort
     FROM ${selection.from} WHERE ${where} ORDER BY ${column} ${order}, d.id ${order}
     LIMIT ${values.place(limit + 1)} OFFSET ${values.place(params.cursor === undefined ? offset : 0)}`,
    ...values.list,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const cursor = rows.length > limit && last !== undefined ? { cursor: encodeCursor([last.sort, last.id]) } : {};
  if (params.pathsOnly) return { paths: page.map((row) => row.path), total, ...cursor };
  const attributes = await attributesOf(
    sql,
    page.map(({ id }) => id),
  );
  const documents = page.map((row) => ({
    path: row.path,
    hash: hexOf(row.hash),
    size: row.size,
    collection: row.collection,
    tags: attributes.get(row.id)?.tags ?? [],
    metadata: attributes.get(row.id)?.metadata ?? {},
    created: new Date(row.created).toISOString(),
    modified: new Date(row.modified).toISOString(),
    indexed: new Date(row.indexed).toISOString(),
    type: row.type,
  }));
  return { documents, total, ...cursor };
}

export async function listCollections(sql: Sql): Promise<ListCollectionsResult> {
  const rows = await sql.rows<{
    name: string;
    created: number;
    documents: number;
    bytes: number;
    snapshots: number;
    roots: string[];
  }>(
    `SELECT k.name, k.created, k.documents, k.bytes, (SELECT count(*) FROM snapshots s WHERE s.collection = k.id) AS snapshots,
       ARRAY(SELECT r.path FROM roots r WHERE r.collection = k.id ORDER BY r.path) AS roots
     FROM seen_collections k ORDER BY k.name`,
  );
  const collections = rows.map(({ name, created, documents, bytes, snapshots, roots }) => ({
    name,
    created: new Date(created).toISOString(),
    documents,
    bytes,
    snapshots,
    roots,
  }));
  return { collections, total: collections.length };
}

/** Lists snapshots, newest first. */
export async function listSnapshots(
  sql: Sql,
  params: { collection?: string; limit?: number; cursor?: string },
): Promise<ListSnapshotsResult> {
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const collection = params.collection === undefined ? null : await requireCollection(sql, params.collection);
  const [created, id] = params.cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : decodeCursor(params.cursor, 2);
  const { total } = await sql.one<{ total: number }>(
    "SELECT count(*) AS total FROM seen_snapshots WHERE $1::int IS NULL OR collection = $1::int",
    collection,
  );
  const rows = await sql.rows<SnapshotRow & { name: string }>(
    `SELECT s.*, k.name FROM seen_snapshots s JOIN seen_collections k ON k.id = s.collection
     WHERE ($1::int IS NULL OR s.collection = $1::int) AND (s.created, s.id) < ($2::bigint, $3::text)
     ORDER BY s.created DESC, s.id DESC LIMIT $4`,
    ...[collection, created, id, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    snapshots: page.map((row) => snapshotInfo(row, row.name)),
    total,
    ...(rows.length > limit && last !== undefined ? { cursor: encodeCursor([last.created, last.id]) } : {}),
  };
}
