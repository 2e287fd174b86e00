// `export` and `import`: writes the whole content database to one file, and replays its history into another store.
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { isFolderSync, placeFileSync, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import { takeSnapshot } from "../documents/change.js";
import { openChunk } from "../engine/content/prepare.js";
import { bytesOf, findContent, hexOf, insertContent, storeChunk } from "../engine/sqlite/contents.js";
import { type Db, openDatabase } from "../engine/sqlite/database.js";
import {
  type DocumentRow,
  ensureCollection,
  hideDocument,
  metadataOf,
  putDocument,
  tagsOf,
  type VersionRow,
} from "../engine/sqlite/documents.js";
import { requireOwnTruth } from "../engine/sqlite/own-schema.js";
import { checkFormat, OLDEST_READABLE_FORMAT, TRUTH_APPLICATION_ID } from "../engine/sqlite/schema.js";
import type { MoveEnvironment, ReadEnvironment } from "../engine/threads/thread-context.js";
import { ChunkPacker, type PackedChunk, unpackChunk } from "../engine/writing/incoming.js";
import type { WriteContext } from "../engine/writing/write-queue.js";
import type { Replay, TransferEvent } from "./copy-store.js";
import { stateIn, type takeState } from "./transfer-state.js";

/** `export`: writes a compact copy of the current content database. The file appears only when it is complete. */
export function exportStore(
  { truth }: MoveEnvironment,
  { path, overwrite = false }: { path: string; overwrite?: boolean },
  call: Call,
): { path: string; bytes: number } {
  if (existsSync(path) && !overwrite) {
    throw new TrunklineError("INVALID_ARGUMENT", `${path} exists.`, {
      hint: "Choose another path, or overwrite the file (--overwrite).",
    });
  }
  placeFileSync(path, (_fd, partial) => {
    truth.run("VACUUM INTO ?", partial);
    call.check();
  });
  return { path, bytes: statSync(path).size };
}

interface ImportedContent {
  readonly hash: string;
  readonly size: number;
  readonly type: "text" | "binary";
  readonly chunks: readonly PackedChunk[];
}

const BATCH_EVENTS = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

type ImportEnvironment = MoveEnvironment<{
  importContents: typeof importContentBatch;
  importEvents: typeof importEventBatch;
  takeState: typeof takeState;
}>;

/** `import`: adds everything in an export, in its original order. Existing content is not stored again. */
export async function importStore(
  env: ImportEnvironment,
  { path }: { path: string },
  call: Call,
): Promise<{ documents: number; contents: number; snapshots: number; newBytes: number }> {
  const source = openExport(path);
  try {
    const { contents, newBytes } = await importContents(env, source, call);
    const { events, snapshots } = await importHistory(env, source, call);
    await env.writer.takeState(stateIn(source), { signal: call.signal });
    const { documents } = source.one<{ documents: number }>(
      "SELECT count(*) AS documents FROM documents WHERE state = 'live'",
    );
    call.progress({ progress: events, total: events });
    return { documents, contents, snapshots, newBytes: newBytes };
  } finally {
    source.close();
  }
}

/** Opens an export file. Reports problems as problems of the file, not of the store. */
function openExport(path: string): Db {
  if (!existsSync(path)) throw new TrunklineError("NOT_FOUND", `File not found: ${path}`);
  const foreign = (cause?: unknown) =>
    new TrunklineError("INVALID_ARGUMENT", `${path} is not an export in this format.`, {
      cause,
      hint: "Create one with trunkline store export.",
    });
  if (isFolderSync(path)) throw foreign();
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw toTrunklineError(error);
  }
  let source: Db | undefined;
  try {
    source = openDatabase(realpathSync(path), {
      readOnly: true,
      synchronous: "FULL",
      applicationId: TRUTH_APPLICATION_ID,
      check: requireOwnTruth,
    });
    if (checkFormat(source) < OLDEST_READABLE_FORMAT) throw foreign();
    return source;
  } catch (error) {
    source?.close();
    throw error instanceof TrunklineError && error.data?.sqlite === "SQLITE_NOTADB" ? foreign(error) : error;
  }
}

async function importContents(
  env: ImportEnvironment,
  source: Db,
  call: Call,
): Promise<{ contents: number; newBytes: number }> {
  let contents = 0;
  let newBytes = 0;
  let packer = new ChunkPacker();
  let batch: ImportedContent[] = [];
  const send = async () => {
    const data = packer.finish();
    const answer = await env.writer.importContents(
      { contents: batch, data },
      { signal: call.signal, transfer: [data] },
    );
    newBytes += answer.newBytes;
    packer = new ChunkPacker();
    batch = [];
  };
  const rows = source.all<{ id: number; hash: Uint8Array; size: number; type: "text" | "binary" }>(
    "SELECT id, hash, size, type FROM contents ORDER BY id",
  );
  for (const row of rows) {
    call.check();
    contents++;
    if (findContent(env.truth, hexOf(row.hash)) !== undefined) continue;
    const chunks: PackedChunk[] = [];
    const whole = createHash("sha256");
    let size = 0;
    for (const chunk of source.iterate<{ hash: Uint8Array; size: number; codec: number; data: Uint8Array }>(
      `SELECT k.hash, k.size, k.codec, k.data FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk
       WHERE cc.content = ? ORDER BY cc.position`,
      row.id,
    )) {
      call.check();
      const incoming = { ...chunk, hash: hexOf(chunk.hash) };
      // Do not import damaged chunks.
      const bytes = openChunk(incoming);
      whole.update(bytes);
      size += bytes.length;
      if (size > row.size) break;
      chunks.push(packer.pack(incoming));
    }
    const hash = hexOf(row.hash);
    // A file with this hash that is added later would not be stored again.
    if (size !== row.size || whole.digest("hex") !== hash) throw damagedContent(hash);
    batch.push({ hash, size, type: row.type, chunks });
    if (packer.bytes >= BATCH_BYTES || batch.length >= BATCH_EVENTS) await send();
  }
  await send();
  return { contents, newBytes };
}

function damagedContent(hash: string): TrunklineError {
  return new TrunklineError("IO", `The export is damaged: its content ${hash} does not match its hash.`, {
    hint: "No document was imported. Export the store again, and check it with trunkline store verify first.",
    data: { damaged: true },
  });
}

async function importHistory(
  env: ImportEnvironment,
  source: Db,
  call: Call,
): Promise<{ events: number; snapshots: number }> {
  const events = historyOf(source);
  for (let start = 0; start < events.length; start += BATCH_EVENTS) {
    call.check();
    await env.writer.importEvents({ events: events.slice(start, start + BATCH_EVENTS) }, { signal: call.signal });
    call.progress({ progress: start, total: events.length });
  }
  return { events: events.length, snapshots: events.filter((event) => event.kind === "snapshot").length };
}

function historyOf(source: Db): TransferEvent[] {
  const names = new Map(
    source.all<{ id: number; name: string }>("SELECT id, name FROM collections").map((row) => [row.id, row.name]),
  );
  const nameOf = (id: number) => names.get(id) as string;
  const timed: { order: number; event: TransferEvent }[] = [];
  const documents = new Map(source.all<DocumentRow>("SELECT * FROM documents").map((row) => [row.id, row]));
  const rows = source.all<VersionRow & { hash: Uint8Array }>(
    "SELECT v.*, c.hash FROM versions v JOIN contents c ON c.id = v.content ORDER BY v.document, v.seq_from",
  );
  rows.forEach((row, position) => {
    const document = documents.get(row.document) as DocumentRow;
    const { path, title, root } = document;
    const collection = nameOf(document.collection);
    const { mode, mtime } = row;
    const event: TransferEvent = {
      kind: "version",
      seq: row.seq_from,
      collection,
      path,
      root: root ?? undefined,
      title: title ?? undefined,
      hash: hexOf(row.hash),
      mode,
      mtime,
      tags: tagsOf(source, row.document),
      metadata: metadataOf(source, row.document),
    };
    timed.push({ order: 0, event });
    const next = rows[position + 1];
    const followed = next?.document === row.document && next.seq_from === row.seq_to;
    if (row.seq_to !== null && !followed) {
      const state = document.state === "trash" ? "trash" : "removed";
      timed.push({ order: 0, event: { kind: "hide", seq: row.seq_to, collection, path, state } });
    }
  });
  const snapshots = source.all<{ id: string; seq: number; collection: number; label: string | null; created: number }>(
    "SELECT id, seq, collection, label, created FROM snapshots ORDER BY created",
  );
  for (const { id, seq, collection, label, created } of snapshots) {
    const event = {
      kind: "snapshot",
      id,
      seq,
      collection: nameOf(collection),
      label: label ?? undefined,
      created,
    } as const;
    timed.push({ order: 1, event });
  }
  return timed.sort((a, b) => a.event.seq - b.event.seq || a.order - b.order).map(({ event }) => event);
}

/** Imports contents with all their chunks. Runs in the writer. */
export function importContentBatch(
  { truth }: WriteContext,
  { contents, data }: { contents: readonly ImportedContent[]; data: ArrayBuffer },
): { newBytes: number } {
  let newBytes = 0;
  for (const content of contents) {
    if (findContent(truth, content.hash) !== undefined) continue;
    const ids = content.chunks.map((packed) => {
      const stored = storeChunk(truth, unpackChunk(packed, data));
      if (stored === undefined) throw new TrunklineError("INTERNAL", "An imported chunk came without its bytes.");
      if (stored.isNew) newBytes += packed.size;
      return stored.id;
    });
    insertContent(truth, content, ids);
  }
  return { newBytes };
}

/** Imports a part of the history. Runs in the writer. */
export function importEventBatch(context: WriteContext, { events }: { events: readonly TransferEvent[] }): void {
  const { truth } = context;
  for (const event of events) {
    const collection = ensureCollection(truth, event.collection);
    if (event.kind === "snapshot") {
      const { id, created, label } = event;
      // The same snapshot, imported once more, is another one.
      const isFree = truth.get("SELECT 1 FROM snapshots WHERE id = ?", id) === undefined;
      takeSnapshot(context, { collection: event.collection, label, ...(isFree ? { id, created } : {}) });
      continue;
    }
    const document = truth.get<DocumentRow>(
      "SELECT * FROM documents WHERE collection = ? AND path = ?",
      collection,
      event.path,
    );
    if (event.kind === "hide") {
      if (document?.state === "live") hideDocument(truth, document, { state: event.state });
      continue;
    }
    const content = truth.one<{ id: number; size: number }>(
      "SELECT id, size FROM contents WHERE hash = ?",
      bytesOf(event.hash),
    );
    const { mode, mtime, root, title, tags, metadata } = event;
    const file =
      mode === null || mtime === null ? undefined : { mode, mtimeUs: mtime, inode: 0, birthMs: 0, checkedUs: 0 };
    putDocument(
      truth,
      { collection, path: event.path, root, title, file, tags, metadata, session: undefined },
      content,
    );
  }
}

/** Returns the whole history of this store. */
export function readHistory({ truth }: ReadEnvironment): TransferEvent[] {
  return truth.reading(() => historyOf(truth));
}

/** Returns the place up to which the history of another store was replayed here. */
export function replayedEvents({ truth }: ReadEnvironment, { from }: { from: string }): number {
  return truth.get<{ value: number }>("SELECT value FROM facts WHERE key = ?", `copied from ${from}`)?.value ?? 0;
}

/** Replays events of another store, and notes how far. Runs in the writer. */
export function replayEvents(context: WriteContext, { from, events, through }: Replay): void {
  importEventBatch(context, { events });
  context.truth.run("INSERT OR REPLACE INTO facts VALUES (?, ?)", `copied from ${from}`, through);
}
