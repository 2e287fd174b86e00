// `update`, `delete`, `undelete` and `snapshot`: changes that need only the content database. They run in the writer.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { DeleteParams, DeleteResult, SnapshotInfo, UpdateParams } from "../contract/index.js";
import { metadataObject, tagList } from "../contract/params.js";
import { isGlob } from "../engine/files/glob.js";
import { resolveContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import {
  currentSeq,
  type DocumentRow,
  ensureCollection,
  hideDocument,
  removeTags,
  setMetadata,
  setTags,
  showDocument,
  touchDocument,
} from "../engine/sqlite/documents.js";
import { requireCollection, type SnapshotRow } from "../engine/sqlite/filters.js";
import { documentsMatching, documentsNamed, oneDocument, severalDocuments } from "../engine/sqlite/find-document.js";
import { hiddenCollections, type Viewer } from "../engine/sqlite/visibility.js";
import type { MoveEnvironment } from "../engine/threads/thread-context.js";
import type { WriteContext } from "../engine/writing/write-queue.js";

/** The mover for documents. The writer makes these changes for it. */
export type DocumentMover = MoveEnvironment<{
  snapshot: typeof takeSnapshot;
  rememberRoot: typeof rememberRoot;
  removeDocuments: typeof removeDocuments;
}>;

/** The name as an absolute path, so paths relative to the caller's folder work. */
interface WithAbsolute {
  readonly absolute?: string;
}

/** For whom the writer works. Its connection is not restricted, so it has to filter. */
interface WithViewer {
  readonly viewer?: Viewer;
}

/** `update`: changes the tags and metadata of all matching documents. */
export function updateDocuments(
  { truth }: WriteContext,
  params: UpdateParams & WithAbsolute & WithViewer,
): { matched: number } {
  const documents = documentsMeant(truth, params);
  if (documents.length === 0) {
    const meant = params.hash ?? params.name ?? params.pattern;
    throw new TrunklineError("NOT_FOUND", `No document matches "${meant}".`, {
      hint: "`list` lists all documents.",
    });
  }
  const metadata = metadataObject(params.metadata);
  const tags = tagList(params.tags);
  const unwanted = tagList(params.removeTags);
  for (const document of documents) {
    setMetadata(truth, document.id, metadata);
    removeTags(truth, document.id, unwanted);
    setTags(truth, document.id, tags);
    touchDocument(truth, document.id);
  }
  return { matched: documents.length };
}

function documentsMeant(truth: Db, params: UpdateParams & WithAbsolute & WithViewer): DocumentRow[] {
  const { hash, name, pattern, collection, absolute, viewer } = params;
  if ([hash, name, pattern].filter((given) => given !== undefined).length !== 1) {
    throw new TrunklineError("INVALID_ARGUMENT", "update needs one of hash, name and pattern.");
  }
  if (pattern !== undefined) return documentsMatching(truth, pattern, { collection, viewer });
  if (name !== undefined) return namedOrGlob(truth, name, { collection, absolute, viewer });
  const content = resolveContent(truth, hash as string);
  const id = collection === undefined ? null : requireCollection(truth, collection);
  return truth.all<DocumentRow>(
    `SELECT d.* FROM documents d JOIN versions v ON v.id = d.version
     WHERE v.content = ? AND d.state = 'live' AND (? IS NULL OR d.collection = ?)
     ${viewer === undefined ? "" : `AND d.collection NOT IN (${hiddenCollections(viewer)})`}`,
    content.id,
    id,
    id,
  );
}

/** Finds the document with this name, or all documents that match a glob. */
function namedOrGlob(
  truth: Db,
  name: string,
  options: { collection?: string; absolute?: string; viewer?: Viewer },
): DocumentRow[] {
  const found = documentsNamed(truth, name, options);
  if (found.length > 1 && !isGlob(name)) throw severalDocuments(truth, name, found);
  return found;
}

/** `delete`: moves documents to the trash. Snapshots keep their content. */
export function deleteDocuments(
  { truth }: WriteContext,
  params: DeleteParams & WithViewer & { absolutes?: readonly (string | undefined)[]; session?: string },
): DeleteResult {
  const { collection, viewer } = params;
  const names = [...(params.name === undefined ? [] : [params.name]), ...(params.names ?? [])];
  if (names.length === 0 && params.pattern === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "delete needs a name, names or a pattern.");
  }
  const documents = new Map<number, DocumentRow>();
  names.forEach((name, position) => {
    const found = namedOrGlob(truth, name, { collection, absolute: params.absolutes?.[position], viewer });
    if (found.length === 0 && !isGlob(name)) oneDocument(truth, name, { collection, viewer });
    for (const document of found) documents.set(document.id, document);
  });
  if (params.pattern !== undefined) {
    for (const document of documentsMatching(truth, params.pattern, { collection, viewer }))
      documents.set(document.id, document);
  }
  if (!params.dryRun) {
    for (const document of documents.values())
      hideDocument(truth, document, { state: "trash", session: params.session });
  }
  const deleted = [...documents.values()].map((document) => document.path);
  return { deleted, count: deleted.length };
}

/** `undelete`: restores a document from the trash. */
export function undeleteDocument(
  { truth }: WriteContext,
  params: { name: string; collection?: string } & WithAbsolute & WithViewer,
): { restored: string[]; count: number } {
  const { name, collection, absolute, viewer } = params;
  const found = documentsNamed(truth, name, { collection, absolute, viewer, states: ["trash"] });
  if (found.length === 0) {
    throw new TrunklineError("NOT_FOUND", `The trash has no document "${name}".`, {
      hint: "`gc` empties the trash; snapshots keep their content.",
    });
  }
  if (found.length > 1 && !isGlob(name)) throw severalDocuments(truth, name, found);
  for (const document of found) showDocument(truth, document);
  return { restored: found.map((document) => document.path), count: found.length };
}

/**
 * `snapshot`: records the current sequence number of a collection. Each version has the range of numbers in which it
 * was current, so nothing is copied, however large the collection is.
 */
export function takeSnapshot(
  { truth }: WriteContext,
  params: {
    collection?: string;
    label?: string;
    create?: boolean;
    /** Of a snapshot that is copied. */
    id?: string;
    created?: number;
  },
): SnapshotInfo {
  const name = params.collection ?? "default";
  const collection = params.create ? ensureCollection(truth, name) : requireCollection(truth, name);
  const { documents, bytes } = truth.one<{ documents: number; bytes: number }>(
    "SELECT documents, bytes FROM collections WHERE id = ?",
    collection,
  );
  const row: SnapshotRow = {
    id: params.id ?? randomBytes(6).toString("hex"),
    collection,
    label: params.label ?? null,
    created: params.created ?? Date.now(),
    seq: currentSeq(truth),
    documents,
    bytes,
  };
  truth.run(
    "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)",
    row.id,
    row.collection,
    row.label,
    row.created,
    row.seq,
    row.documents,
    row.bytes,
  );
  return snapshotInfo(row, name);
}

/** Returns a snapshot in the form used in results. */
export function snapshotInfo(row: SnapshotRow, collection: string): SnapshotInfo {
  const { id, label, documents, bytes } = row;
  return { id, collection, label, created: new Date(row.created).toISOString(), documents, bytes };
}

/** Marks documents as removed, by id, because their files are gone. */
export function removeDocuments(
  { truth }: WriteContext,
  { ids, session }: { ids: readonly number[]; session?: string },
): { removed: number } {
  let removed = 0;
  for (const id of ids) {
    const document = truth.get<DocumentRow>("SELECT * FROM documents WHERE id = ? AND state = 'live'", id);
    if (document === undefined) continue;
    hideDocument(truth, document, { state: "removed", session });
    removed++;
  }
  return { removed };
}

/** Records that a folder was added. */
export function rememberRoot({ truth }: WriteContext, params: { collection: string; path: string }): void {
  const collection = ensureCollection(truth, params.collection);
  truth.run(
    "INSERT INTO roots VALUES (?, ?, ?) ON CONFLICT (collection, path) DO UPDATE SET added = excluded.added",
    collection,
    params.path,
    Date.now(),
  );
}
