// Documents, their versions, tags and metadata in the content database. Every document change takes the next sequence
// number, which orders the history that snapshots refer to and shows how far behind the index is.
import { TrunklineError } from "@trunkline/core";
import type { Db } from "./database.js";

/** `removed`: the file is gone. `trash`: the document was deleted, and `undelete` can restore it. */
export type DocumentState = "live" | "removed" | "trash";

/** The file a document comes from; missing for inline content. */
export interface FileFacts {
  readonly mode: number;
  /** In microseconds, which a double represents exactly and utimes can set. */
  readonly mtimeUs: number;
  readonly inode: number;
  readonly birthMs: number;
  /** When the file's facts were read, in microseconds: a file changed at the same instant is read again next time. */
  readonly checkedUs: number;
}

/** A row of `documents`. */
export interface DocumentRow {
  readonly id: number;
  readonly collection: number;
  readonly path: string;
  readonly name: string;
  readonly title: string | null;
  readonly root: string | null;
  readonly state: DocumentState;
  readonly version: number;
  readonly created: number;
  readonly modified: number;
  readonly indexed: number;
  readonly seq: number;
}

/** A row of `versions`. */
export interface VersionRow {
  readonly id: number;
  readonly document: number;
  readonly number: number;
  readonly content: number;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly added: number;
  readonly seq_from: number;
  readonly seq_to: number | null;
}

/** The part of a document write that is not its content. */
interface DocumentChange {
  readonly collection: number;
  readonly path: string;
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly file: FileFacts | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
}

export function baseNameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** Builds the error for a name that no document has. */
export function noDocument(name: string): TrunklineError {
  return new TrunklineError("NOT_FOUND", `The store has no document "${name}".`, {
    hint: /^[0-9a-f]{4,7}$/.test(name)
      ? "If it is a hash, give at least 8 of its digits."
      : "`list` lists all documents, `add` adds a file.",
  });
}

function nextSeq(db: Db): number {
  return db.one<{ value: number }>("UPDATE facts SET value = value + 1 WHERE key = 'seq' RETURNING value").value;
}

export function currentSeq(db: Db): number {
  return db.one<{ value: number }>("SELECT value FROM facts WHERE key = 'seq'").value;
}

export function collectionId(db: Db, name: string): number | undefined {
  return db.get<{ id: number }>("SELECT id FROM collections WHERE name = ?", name)?.id;
}

export function ensureCollection(db: Db, name: string): number {
  const known = collectionId(db, name);
  if (known !== undefined) return known;
  if (name === "" || name.length > 200 || /[\n\r\0]/.test(name)) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${name}" is not a valid collection name.`);
  }
  return db.run("INSERT INTO collections (name, created) VALUES (?, ?)", name, Date.now()).id;
}

/**
 * Stores content at a path, as a new document or a new version, unless nothing changed. Returns what happened to the
 * document.
 */
export function putDocument(
  db: Db,
  change: DocumentChange,
  content: { id: number; size: number },
): "added" | "changed" | "unchanged" {
  const now = Date.now();
  const known = db.get<DocumentRow>(
    "SELECT * FROM documents WHERE collection = ? AND path = ?",
    change.collection,
    change.path,
  );
  const outcome =
    known === undefined
      ? insertDocument(db, change, { ...content, now })
      : updateDocument(db, known, change, { ...content, now });
  return outcome;
}

type PutContent = { id: number; size: number; now: number };

function insertDocument(db: Db, change: DocumentChange, { id: content, size, now }: PutContent): "added" {
  const { file } = change;
  const seq = nextSeq(db);
  const { id } = db.run(
    `INSERT INTO documents (collection, path, name, title, root, state, state_since, created, modified, indexed, inode, checked, seq)
     VALUES (?, ?, ?, ?, ?, 'live', ?, ?, ?, ?, ?, ?, ?)`,
    change.collection,
    change.path,
    baseNameOf(change.path),
    change.title ?? null,
    change.root ?? null,
    now,
    file === undefined || file.birthMs <= 0 ? now : Math.round(file.birthMs),
    file === undefined ? now : Math.round(file.mtimeUs / 1000),
    now,
    file?.inode ?? null,
    file?.checkedUs ?? null,
    seq,
  );
  openVersion(db, { document: id, number: 1, content, seq, now, file });
  countDocument(db, change.collection, 1, size);
  setTags(db, id, change.tags);
  setMetadata(db, id, change.metadata);
  noteInSession(db, change.session, id, "added");
  return "added";
}

function updateDocument(
  db: Db,
  known: DocumentRow,
  change: DocumentChange,
  { id: content, size, now }: PutContent,
): "changed" | "unchanged" {
  const { file } = change;
  const current = db.one<VersionRow>("SELECT * FROM versions WHERE id = ?", known.version);
  const root = keepOuterRoot(known.root, change.root);
  const sameContent = known.state === "live" && current.content === content;
  const sameFile = file === undefined || (current.mode === file.mode && current.mtime === file.mtimeUs);
  const attributesChange = changesAttributes(db, known.id, change);
  if (sameContent && sameFile && !attributesChange) {
    db.run(
      "UPDATE documents SET root = ?, inode = ?, checked = ? WHERE id = ?",
      root,
      file?.inode ?? null,
      file?.checkedUs ?? null,
      known.id,
    );
    return "unchanged";
  }
  const seq = nextSeq(db);
  if (!sameContent || !sameFile) {
    const number = current.content === content ? current.number : lastVersionNumber(db, known.id) + 1;
    if (known.state === "live") {
      closeVersion(db, known, seq);
    }
    openVersion(db, { document: known.id, number, content, seq, now, file });
    countDocument(db, known.collection, 1, size);
  }
  db.run(
    `UPDATE documents SET title = ?, root = ?, state = 'live', state_since = CASE state WHEN 'live' THEN state_since ELSE ? END,
       modified = ?, indexed = ?, inode = ?, checked = ?, seq = ? WHERE id = ?`,
    change.title ?? null,
    root,
    now,
    file === undefined ? (sameContent ? known.modified : now) : Math.round(file.mtimeUs / 1000),
    sameContent ? known.indexed : now,
    file?.inode ?? null,
    file?.checkedUs ?? null,
    seq,
    known.id,
  );
  setTags(db, known.id, change.tags);
  setMetadata(db, known.id, change.metadata);
  noteInSession(db, change.session, known.id, known.state === "live" ? "changed" : "added");
  return sameContent ? "unchanged" : "changed";
}

/** Keeps the outer root if a folder inside it is added, so restore returns the whole tree. */
function keepOuterRoot(known: string | null, next: string | undefined): string | null {
  if (next === undefined) return known;
  if (known !== null && next.startsWith(known.endsWith("/") ? known : `${known}/`)) return known;
  return next;
}

function changesAttributes(db: Db, document: number, change: DocumentChange): boolean {
  const tags = new Set(tagsOf(db, document));
  if (change.tags.some((tag) => !tags.has(tag))) return true;
  const metadata = metadataOf(db, document);
  return Object.entries(change.metadata).some(
    ([key, value]) => JSON.stringify(metadata[key]) !== JSON.stringify(value),
  );
}

function openVersion(
  db: Db,
  version: {
    document: number;
    number: number;
    content: number;
    seq: number;
    now: number;
    file: Pick<FileFacts, "mode" | "mtimeUs"> | undefined;
  },
): void {
  const { document, number, content, seq, now, file } = version;
  const { id } = db.run(
    "INSERT INTO versions (document, number, content, mode, mtime, added, seq_from) VALUES (?, ?, ?, ?, ?, ?, ?)",
    document,
    number,
    content,
    file?.mode ?? null,
    file?.mtimeUs ?? null,
    now,
    seq,
  );
  db.run("UPDATE documents SET version = ? WHERE id = ?", id, document);
}

function closeVersion(db: Db, document: Pick<DocumentRow, "version" | "collection">, seq: number): void {
  const { size } = db.one<{ size: number }>(
    "SELECT c.size FROM versions v JOIN contents c ON c.id = v.content WHERE v.id = ?",
    document.version,
  );
  db.run("UPDATE versions SET seq_to = ? WHERE id = ?", seq, document.version);
  countDocument(db, document.collection, -1, -size);
}

function countDocument(db: Db, collection: number, documents: number, bytes: number): void {
  db.run(
    "UPDATE collections SET documents = documents + ?, bytes = bytes + ? WHERE id = ?",
    documents,
    bytes,
    collection,
  );
}

function lastVersionNumber(db: Db, document: number): number {
  return db.one<{ last: number }>("SELECT max(number) AS last FROM versions WHERE document = ?", document).last;
}

/** Hides a live document; its versions stay. */
export function hideDocument(
  db: Db,
  document: DocumentRow,
  { state, session }: { state: "removed" | "trash"; session?: string },
): void {
  const seq = nextSeq(db);
  if (document.state === "live") closeVersion(db, document, seq);
  db.run("UPDATE documents SET state = ?, state_since = ?, seq = ? WHERE id = ?", state, Date.now(), seq, document.id);
  noteInSession(db, session, document.id, "removed");
}

/** Restores a hidden document as it was. */
export function showDocument(db: Db, document: DocumentRow): void {
  if (document.state === "live") return;
  const seq = nextSeq(db);
  const last = db.one<VersionRow>("SELECT * FROM versions WHERE id = ?", document.version);
  const file = last.mode === null || last.mtime === null ? undefined : { mode: last.mode, mtimeUs: last.mtime };
  openVersion(db, {
    document: document.id,
    number: last.number,
    content: last.content,
    seq,
    now: Date.now(),
    file,
  });
  const { size } = db.one<{ size: number }>("SELECT size FROM contents WHERE id = ?", last.content);
  countDocument(db, document.collection, 1, size);
  db.run(
    "UPDATE documents SET state = 'live', state_since = ?, checked = NULL, seq = ? WHERE id = ?",
    Date.now(),
    seq,
    document.id,
  );
}

/** Records that tags or metadata changed, so the index is updated. */
export function touchDocument(db: Db, document: number): void {
  db.run("UPDATE documents SET seq = ? WHERE id = ?", nextSeq(db), document);
}

export function tagsOf(db: Db, document: number): string[] {
  return db
    .all<{ tag: string }>("SELECT tag FROM document_tags WHERE document = ? ORDER BY tag", document)
    .map((row) => row.tag);
}

export function metadataOf(db: Db, document: number): Record<string, unknown> {
  const rows = db.all<{ key: string; value: string }>(
    "SELECT key, value FROM document_metadata WHERE document = ? ORDER BY key",
    document,
  );
  return Object.fromEntries(rows.map((row) => [row.key, JSON.parse(row.value) as unknown]));
}

export function setTags(db: Db, document: number, tags: readonly string[]): void {
  for (const tag of tags) db.run("INSERT OR IGNORE INTO document_tags VALUES (?, ?)", document, tag);
}

export function removeTags(db: Db, document: number, tags: readonly string[]): void {
  for (const tag of tags) db.run("DELETE FROM document_tags WHERE document = ? AND tag = ?", document, tag);
}

/** Adds or replaces keys; `null` removes one. */
export function setMetadata(db: Db, document: number, metadata: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (value === null || value === undefined) {
      db.run("DELETE FROM document_metadata WHERE document = ? AND key = ?", document, key);
    } else {
      db.run("INSERT OR REPLACE INTO document_metadata VALUES (?, ?, ?)", document, key, JSON.stringify(value));
    }
  }
}

function noteInSession(
  db: Db,
  session: string | undefined,
  document: number,
  change: "added" | "changed" | "removed",
): void {
  if (session === undefined) return;
  // A document added and then changed in the same session still counts as added.
  db.run(
    `INSERT INTO session_documents VALUES (?, ?, ?) ON CONFLICT (session, document) DO UPDATE
     SET change = CASE WHEN change = 'added' AND excluded.change = 'changed' THEN 'added' ELSE excluded.change END`,
    session,
    document,
    change,
  );
}
