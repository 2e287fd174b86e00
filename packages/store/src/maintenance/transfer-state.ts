// What a copy takes besides the history: the times and attributes of documents, sessions with their pins, and contents
// without a document.
import { bytesOf, hexOf } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import {
  currentSeq,
  type DocumentRow,
  ensureCollection,
  metadataOf,
  removeTags,
  setMetadata,
  setTags,
  tagsOf,
  touchDocument,
} from "../engine/sqlite/documents.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import type { WriteContext } from "../engine/writing/write-queue.js";
import type { PlacedState, TransferDocument, TransferState } from "./copy-store.js";

export function readState({ truth }: ReadEnvironment): PlacedState {
  return truth.reading(() => ({ ...stateIn(truth), seq: currentSeq(truth) }));
}

export function stateIn(truth: Db): TransferState {
  const documents = truth
    .all<Omit<TransferDocument, "hash" | "tags" | "metadata"> & { id: number; bytes: Uint8Array }>(
      `SELECT d.id, k.name AS collection, d.path, d.state, c.hash AS bytes, d.title, d.root, v.mode, v.mtime, d.created,
         d.modified, d.indexed
       FROM documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
       JOIN contents c ON c.id = v.content ORDER BY d.id`,
    )
    .map(({ id, bytes, ...row }) => ({
      ...row,
      hash: hexOf(bytes),
      tags: tagsOf(truth, id),
      metadata: metadataOf(truth, id),
    }));
  const sessions = truth
    .all<{ id: string; label: string | null; started: number; stopped: number | null }>(
      "SELECT id, label, started, stopped FROM sessions ORDER BY started, id",
    )
    .map((session) => ({
      ...session,
      documents: truth.all<{ collection: string; path: string; change: string }>(
        `SELECT k.name AS collection, d.path, s.change FROM session_documents s JOIN documents d ON d.id = s.document
         JOIN collections k ON k.id = d.collection WHERE s.session = ?`,
        session.id,
      ),
      pins: truth
        .all<{ hash: Uint8Array; pinned: number }>(
          "SELECT c.hash, p.pinned FROM pins p JOIN contents c ON c.id = p.content WHERE p.session = ?",
          session.id,
        )
        .map(({ hash, pinned }) => ({ hash: hexOf(hash), pinned })),
    }));
  const contents = truth
    .all<{ hash: Uint8Array; keptUntil: number }>(
      `SELECT c.hash, c.kept_until AS keptUntil FROM contents c WHERE c.kept_until > ?
         AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)`,
      Date.now(),
    )
    .map(({ hash, keptUntil }) => ({ hash: hexOf(hash), keptUntil }));
  const roots = truth.all<{ collection: string; path: string; added: number }>(
    "SELECT k.name AS collection, r.path, r.added FROM roots r JOIN collections k ON k.id = r.collection",
  );
  return { documents, sessions, contents, roots };
}

/** Takes over a state. Runs in the writer. */
export function takeState({ truth }: WriteContext, state: TransferState): void {
  for (const document of state.documents) takeDocument(truth, document);
  for (const { id, label, started, stopped, documents, pins } of state.sessions) {
    truth.run(
      "INSERT INTO sessions (id, label, started, stopped) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET stopped = excluded.stopped",
      ...[id, label, started, stopped],
    );
    for (const { collection, path, change } of documents) {
      truth.run(
        `INSERT OR REPLACE INTO session_documents SELECT ?, d.id, ? FROM documents d JOIN collections k ON k.id = d.collection
         WHERE k.name = ? AND d.path = ?`,
        ...[id, change, collection, path],
      );
    }
    for (const { hash, pinned } of pins) {
      truth.run("INSERT OR IGNORE INTO pins SELECT ?, id, ? FROM contents WHERE hash = ?", id, pinned, bytesOf(hash));
    }
  }
  for (const { hash, keptUntil } of state.contents) {
    truth.run(
      "UPDATE contents SET kept_until = max(coalesce(kept_until, 0), ?) WHERE hash = ?",
      keptUntil,
      bytesOf(hash),
    );
  }
  for (const { collection, path, added } of state.roots) {
    truth.run("INSERT OR REPLACE INTO roots VALUES (?, ?, ?)", ensureCollection(truth, collection), path, added);
  }
}

function takeDocument(truth: Db, wanted: TransferDocument): void {
  const known = truth.get<DocumentRow>(
    `SELECT d.* FROM documents d JOIN collections k ON k.id = d.collection WHERE k.name = ? AND d.path = ?`,
    wanted.collection,
    wanted.path,
  );
  if (known === undefined) return;
  const tags = tagsOf(truth, known.id);
  const metadata = metadataOf(truth, known.id);
  const surplusTags = tags.filter((tag) => !wanted.tags.includes(tag));
  const surplusKeys = Object.keys(metadata).filter((key) => !Object.hasOwn(wanted.metadata, key));
  const isSame =
    surplusTags.length + surplusKeys.length === 0 &&
    wanted.tags.every((tag) => tags.includes(tag)) &&
    Object.entries(wanted.metadata).every(([key, value]) => JSON.stringify(value) === JSON.stringify(metadata[key])) &&
    known.title === wanted.title;
  truth.run(
    "UPDATE documents SET title = ?, root = ?, created = ?, modified = ?, indexed = ? WHERE id = ?",
    ...[wanted.title, wanted.root, wanted.created, wanted.modified, wanted.indexed, known.id],
  );
  if (isSame) return;
  removeTags(truth, known.id, surplusTags);
  setTags(truth, known.id, wanted.tags);
  for (const key of surplusKeys)
    truth.run("DELETE FROM document_metadata WHERE document = ? AND key = ?", known.id, key);
  setMetadata(truth, known.id, wanted.metadata);
  touchDocument(truth, known.id);
}
