import type { DocumentInfo, ListParams, ListResult } from "../contract/index.js";
import { decodeCursor, encodeCursor } from "../contract/params.js";
import { hexOf } from "../engine/sqlite/contents.js";
import type { Db, SqlValue } from "../engine/sqlite/database.js";
import { metadataOf, tagsOf } from "../engine/sqlite/documents.js";
import { type SelectionParams, selectDocuments } from "../engine/sqlite/filters.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { listingOf } from "./listing.js";

const SORT_COLUMNS = {
  name: "d.name",
  size: "c.size",
  created: "d.created",
  modified: "d.modified",
  indexed: "d.indexed",
};

/** Parameters of `list` with the session resolved to its id. */
type ResolvedListParams = Omit<ListParams, "session"> & SelectionParams;

/** A document row with the columns of a listing. */
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
}

/** The columns of a {@link ListedRow} under the names of a selection. */
const LISTED_COLUMNS = "d.id, d.path, d.created, d.modified, d.indexed, c.hash, c.size, c.type, k.name AS collection";

/** `list`: lists documents in pages, with a cursor that stays valid while documents are added and removed. */
export function listDocuments({ truth }: ReadEnvironment, params: ResolvedListParams): ListResult {
  const { limit, offset, recent, sortBy, isDescending } = listingOf(params);
  const column = SORT_COLUMNS[sortBy];
  return truth.reading(() => {
    const selection = selectDocuments(truth, params);
    const values: SqlValue[] = [...selection.values];
    let where = selection.where;
    if (recent !== undefined) {
      where = `d.id IN (SELECT d.id FROM ${selection.from} WHERE ${where} ORDER BY d.indexed DESC, d.id DESC LIMIT ${recent}) AND ${where}`;
      values.push(...selection.values);
    }
    const { total } = truth.one<{ total: number }>(
      `SELECT count(*) AS total FROM ${selection.from} WHERE ${where}`,
      ...values,
    );
    if (params.cursor !== undefined) {
      const [value, id] = decodeCursor(params.cursor, 2) as [string | number, number];
      where += ` AND (${column}, d.id) ${isDescending ? "<" : ">"} (?, ?)`;
      values.push(value, id);
    }
    const order = isDescending ? "DESC" : "ASC";
    const rows = truth.all<ListedRow & { sort: string | number }>(
      `SELECT ${LISTED_COLUMNS}, ${column} AS sort FROM ${selection.from} WHERE ${where}
       ORDER BY ${column} ${order}, d.id ${order} LIMIT ? OFFSET ?`,
      ...values,
      limit + 1,
      params.cursor === undefined ? offset : 0,
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const cursor = rows.length > limit && last !== undefined ? { cursor: encodeCursor([last.sort, last.id]) } : {};
    if (params.pathsOnly) return { paths: page.map((row) => row.path), total, ...cursor };
    return { documents: page.map((row) => documentInfo(truth, row)), total, ...cursor };
  });
}

/** Returns a document's fields as shown in results. */
function documentInfo(db: Db, row: ListedRow): DocumentInfo {
  return {
    path: row.path,
    hash: hexOf(row.hash),
    size: row.size,
    collection: row.collection,
    tags: tagsOf(db, row.id),
    metadata: metadataOf(db, row.id),
    created: new Date(row.created).toISOString(),
    modified: new Date(row.modified).toISOString(),
    indexed: new Date(row.indexed).toISOString(),
    type: row.type,
  };
}
