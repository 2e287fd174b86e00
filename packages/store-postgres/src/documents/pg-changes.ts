// `update`, `delete`, `undelete` and `snapshot`.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { DeleteParams, DeleteResult, SnapshotInfo, UndeleteResult, UpdateParams } from "@trunkline/store/contract";
import { isGlob, metadataObject, tagList } from "@trunkline/store/parts";
import { addTags, removeTags, setMetadata } from "../contents/attributes.js";
import {
  currentSeq,
  ensureCollection,
  hideDocuments,
  lockHistory,
  showDocuments,
  takeSeqs,
} from "../contents/document-history.js";
import {
  type DocumentRow,
  documentsMatching,
  documentsNamed,
  oneDocument,
  severalDocuments,
} from "../contents/named-documents.js";
import { resolveContent } from "../contents/pg-contents.js";
import { requireCollection, type SnapshotRow } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";
import { refreshEntries, type WordCounts } from "../search/entry-writes.js";

type Count = WordCounts["count"];

interface WithAbsolute {
  readonly absolute?: string;
}

/** `update`: changes the tags and metadata of all matching documents. */
export async function updateDocuments(
  sql: Sql,
  params: UpdateParams & WithAbsolute,
  count: Count,
): Promise<{ matched: number }> {
  await lockHistory(sql);
  const documents = await documentsMeant(sql, params);
  if (documents.length === 0) {
    const meant = params.hash ?? params.name ?? params.pattern;
    throw new TrunklineError("NOT_FOUND", `No document matches "${meant}".`, { hint: "`list` lists all documents." });
  }
  const ids = documents.map(({ id }) => id);
  await setMetadata(sql, ids, metadataObject(params.metadata));
  await removeTags(sql, ids, tagList(params.removeTags));
  await addTags(sql, ids, tagList(params.tags));
  const seq = await takeSeqs(sql, ids.length);
  await sql.run(
    "UPDATE documents d SET seq = n.seq FROM unnest($1::bigint[], $2::bigint[]) AS n(id, seq) WHERE d.id = n.id",
    ids,
    ids.map((_, index) => seq + index),
  );
  await refreshEntries(sql, ids, { known: new Map(), count });
  return { matched: documents.length };
}

async function documentsMeant(sql: Sql, params: UpdateParams & WithAbsolute): Promise<DocumentRow[]> {
  const { hash, name, pattern, collection, absolute } = params;
  if ([hash, name, pattern].filter((given) => given !== undefined).length !== 1) {
    throw new TrunklineError("INVALID_ARGUMENT", "update needs one of hash, name and pattern.");
  }
  if (pattern !== undefined) return await documentsMatching(sql, pattern, { collection });
  if (name !== undefined) return await namedOrGlob(sql, name, { collection, absolute });
  const content = await resolveContent(sql, hash as string);
  const id = collection === undefined ? null : await requireCollection(sql, collection);
  return await sql.rows<DocumentRow>(
    `SELECT d.* FROM seen_documents d JOIN versions v ON v.id = d.version
     WHERE v.content = $1 AND d.state = 'live' AND ($2::int IS NULL OR d.collection = $2::int) ORDER BY d.id`,
    content.id,
    id,
  );
}

/** Finds the document with this name, or all documents that match a glob. */
async function namedOrGlob(
  sql: Sql,
  name: string,
  options: { collection?: string; absolute?: string },
): Promise<DocumentRow[]> {
  const found = await documentsNamed(sql, name, options);
  if (found.length > 1 && !isGlob(name)) throw await severalDocuments(sql, name, found);
  return found;
}

/** `delete`: moves documents to the trash. Snapshots keep their content. */
export async function deleteDocuments(
  sql: Sql,
  params: DeleteParams & { absolutes: readonly (string | undefined)[]; session: string | undefined },
  count: Count,
): Promise<DeleteResult> {
  await lockHistory(sql);
  const { collection } = params;
  const names = [...(params.name === undefined ? [] : [params.name]), ...(params.names ?? [])];
  if (names.length === 0 && params.pattern === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "delete needs a name, names or a pattern.");
  }
  const documents = new Map<number, DocumentRow>();
  for (const [position, name] of names.entries()) {
    const found = await namedOrGlob(sql, name, { collection, absolute: params.absolutes[position] });
    if (found.length === 0 && !isGlob(name)) await oneDocument(sql, name, { collection });
    for (const document of found) documents.set(document.id, document);
  }
  if (params.pattern !== undefined) {
    for (const document of await documentsMatching(sql, params.pattern, { collection }))
      documents.set(document.id, document);
  }
  if (!params.dryRun) {
    await hideDocuments(sql, [...documents.values()], { state: "trash", session: params.session });
    await refreshEntries(sql, [...documents.keys()], { known: new Map(), count });
  }
  const deleted = [...documents.values()].map((document) => document.path);
  return { deleted, count: deleted.length };
}

/** `undelete`: restores documents from the trash. */
export async function undeleteDocument(
  sql: Sql,
  params: { name: string; collection?: string } & WithAbsolute,
  count: Count,
): Promise<UndeleteResult> {
  await lockHistory(sql);
  const { name, collection, absolute } = params;
  const found = await documentsNamed(sql, name, { collection, absolute, states: ["trash"] });
  if (found.length === 0) {
    throw new TrunklineError("NOT_FOUND", `The trash has no document "${name}".`, {
      hint: "`gc` empties the trash; snapshots keep their content.",
    });
  }
  if (found.length > 1 && !isGlob(name)) throw await severalDocuments(sql, name, found);
  await showDocuments(sql, found);
  await refreshEntries(
    sql,
    found.map(({ id }) => id),
    { known: new Map(), count },
  );
  return { restored: found.map((document) => document.path), count: found.length };
}

/**
 * `snapshot`: records the current sequence number of a collection. Each version has the range of numbers in which it
 * was current, so nothing is copied, however large the collection is.
 */
export async function takeSnapshot(
  sql: Sql,
  params: {
    collection?: string;
    label?: string;
    create?: boolean;
    /** Of a snapshot that is copied. */
    id?: string;
    created?: number;
  },
): Promise<SnapshotInfo> {
  await lockHistory(sql);
  const name = params.collection ?? "default";
  const collection = params.create ? await ensureCollection(sql, name) : await requireCollection(sql, name);
  const { documents, bytes } = await sql.one<{ documents: number; bytes: number }>(
    "SELECT documents, bytes FROM collections WHERE id = $1",
    collection,
  );
  const row: SnapshotRow = {
    id: params.id ?? randomBytes(6).toString("hex"),
    collection,
    label: params.label ?? null,
    created: params.created ?? Date.now(),
    seq: await currentSeq(sql),
    documents,
    bytes,
  };
  await sql.run(
    "INSERT INTO snapshots VALUES ($1, $2, $3, $4, $5, $6, $7)",
    ...[row.id, row.collection, row.label, row.created, row.seq, row.documents, row.bytes],
  );
  return snapshotInfo(row, name);
}

/** Returns a snapshot in the form used in results. */
export function snapshotInfo(row: SnapshotRow, collection: string): SnapshotInfo {
  const { id, label, documents, bytes } = row;
  return { id, collection, label, created: new Date(row.created).toISOString(), documents, bytes };
}
