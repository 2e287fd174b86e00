// Writes content and documents. Runs in the writer thread on input that other threads prepared.
import { TrunklineError } from "@trunkline/core";
import type { IndexText } from "../content/text.js";
import { findContent, type IncomingChunk, insertContent, storeChunk } from "../sqlite/contents.js";
import type { Db } from "../sqlite/database.js";
import { ensureCollection, putDocument } from "../sqlite/documents.js";
import { type IncomingContent, type IncomingDocument, type PackedChunk, unpackChunk } from "./incoming.js";
import type { WriteContext } from "./write-queue.js";

/** How long content without a document, and documents in the `results` collection, are retained. */
export const RESULTS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** A batch of documents for one collection. */
export interface AddDocuments {
  readonly collection: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
  readonly documents: readonly IncomingDocument[];
  readonly data: ArrayBuffer;
}

/** The outcome of a batch. `missing` has the indexes of documents whose chunks are not in the store. */
export interface AddedDocuments {
  readonly newBytes: number;
  readonly added: number;
  readonly changed: number;
  readonly missing: readonly number[];
}

export function addDocuments({ truth, texts }: WriteContext, batch: AddDocuments): AddedDocuments {
  const collection = ensureCollection(truth, batch.collection);
  const session = liveSession(truth, batch.session);
  const missing: number[] = [];
  let newBytes = 0;
  let added = 0;
  let changed = 0;
  batch.documents.forEach((document, position) => {
    const { path, root, title, file } = document;
    const stored = storeContent(truth, document.content, batch.data);
    if (stored === undefined) {
      missing.push(position);
      return;
    }
    newBytes += stored.newBytes;
    // Without the text, the index reads the content itself: it was too long to send, sent in advance, or already
    // stored.
    if (document.content.text !== undefined) texts.set(stored.id, document.content.text);
    const { tags, metadata } = batch;
    const outcome = putDocument(
      truth,
      { collection, path, root, title, file, tags, metadata, session },
      { id: stored.id, size: document.content.size },
    );
    if (outcome === "added") added++;
    else if (outcome === "changed") changed++;
  });
  return { newBytes, added, changed, missing };
}

/** Stores content without a document; it is retained for seven days after the last put. */
export function putBareContent(
  { truth }: WriteContext,
  { content, data }: { content: IncomingContent; data: ArrayBuffer },
): { stored: boolean } {
  const stored = storeContent(truth, content, data);
  if (stored === undefined) return { stored: false };
  truth.run("UPDATE contents SET kept_until = ? WHERE id = ?", Date.now() + RESULTS_KEPT_MS, stored.id);
  return { stored: true };
}

/** Stores part of a content that is too large for one transaction. gc keeps its chunks for a day. */
export function appendUpload(
  { truth }: WriteContext,
  params: { upload: number | undefined; position: number; chunks: readonly PackedChunk[]; data: ArrayBuffer },
): { upload: number; newBytes: number; missing: readonly number[] } {
  const upload = params.upload ?? truth.run("INSERT INTO uploads (touched) VALUES (?)", Date.now()).id;
  if (params.upload !== undefined) {
    const { changes } = truth.run("UPDATE uploads SET touched = ? WHERE id = ?", Date.now(), upload);
    if (changes === 0) throw new TrunklineError("NOT_FOUND", "The upload took too long and was discarded.");
  }
  const missing: number[] = [];
  let newBytes = 0;
  params.chunks.forEach((packed, offset) => {
    const stored = storeChunk(truth, unpackChunk(packed, params.data));
    if (stored === undefined) {
      missing.push(offset);
      return;
    }
    if (stored.isNew) newBytes += packed.size;
    truth.run("INSERT OR REPLACE INTO upload_chunks VALUES (?, ?, ?)", upload, params.position + offset, stored.id);
  });
  return { upload, newBytes, missing };
}

/** Returns the row id of a content, storing it if necessary; `undefined` if a chunk is missing. */
function storeContent(
  truth: Db,
  content: IncomingContent,
  data: ArrayBuffer,
): { id: number; newBytes: number } | undefined {
  const known = findContent(truth, content.hash);
  if (known !== undefined) {
    if (content.upload !== undefined) truth.run("DELETE FROM uploads WHERE id = ?", content.upload);
    return { id: known.id, newBytes: 0 };
  }
  if (content.upload !== undefined) return storeUploaded(truth, content, content.upload);
  const chunks = content.chunks.map((packed) => unpackChunk(packed, data));
  // Store all or nothing: a chunk without its content would be an orphan.
  if (chunks.some((chunk) => chunk.data === undefined && !isKnown(truth, chunk))) return undefined;
  // The sender assumed the whole content was stored and sent no chunks.
  if (chunks.reduce((sum, chunk) => sum + chunk.size, 0) !== content.size) return undefined;
  let newBytes = 0;
  const ids = chunks.map((chunk) => {
    const stored = storeChunk(truth, chunk) as { id: number; isNew: boolean };
    if (stored.isNew) newBytes += chunk.size;
    return stored.id;
  });
  return { id: insertContent(truth, content, ids), newBytes };
}

function isKnown(truth: Db, chunk: IncomingChunk): boolean {
  return storeChunk(truth, { ...chunk, data: undefined }) !== undefined;
}

function storeUploaded(truth: Db, content: IncomingContent, upload: number): { id: number; newBytes: number } {
  const chunks = truth.all<{ chunk: number; size: number }>(
    "SELECT u.chunk, k.size FROM upload_chunks u JOIN chunks k ON k.id = u.chunk WHERE u.upload = ? ORDER BY u.position",
    upload,
  );
  if (chunks.reduce((sum, chunk) => sum + chunk.size, 0) !== content.size) {
    throw new TrunklineError("IO", "The upload is incomplete: some of its chunks are gone.", { retryable: true });
  }
  const id = insertContent(
    truth,
    content,
    chunks.map((row) => row.chunk),
  );
  truth.run("DELETE FROM uploads WHERE id = ?", upload);
  return { id, newBytes: 0 };
}

/** Returns the session if it is open. Documents added after its end belong to no session. */
function liveSession(truth: Db, session: string | undefined): string | undefined {
  if (session === undefined) return undefined;
  return truth.get<{ id: string }>("SELECT id FROM sessions WHERE id = ? AND stopped IS NULL", session)?.id;
}

/** Returns the text if it is short enough to send; long texts are read from the store when they are indexed. */
export function worthSending(text: IndexText | undefined): IndexText | undefined {
  return text !== undefined && text.body.length <= 4 * 1024 * 1024 ? text : undefined;
}
