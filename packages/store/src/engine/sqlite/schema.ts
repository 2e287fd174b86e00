// The tables of both databases and the migrations from older formats. FORMAT.md explains every column; change both
// together, with a migration.
import { randomUUID } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { Db } from "./database.js";

/** The format that this version writes. Older formats are migrated, newer ones rejected. */
export const FORMAT_VERSION = 2;
/** The oldest format with the same content tables, which can be read without migrating it first. */
export const OLDEST_READABLE_FORMAT = 1;
/** `TRKL` and `TRKI`: the `application_id` of the two files. */
export const TRUTH_APPLICATION_ID = 0x54524b4c;
export const INDEX_APPLICATION_ID = 0x54524b49;
export const TRUTH_FILE = "content.sqlite";
export const INDEX_FILE = "index.sqlite";

const TRUTH_VERSION_1 = `
CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  size INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE contents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  size INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('text', 'binary')),
  added INTEGER NOT NULL,
  kept_until INTEGER
);
CREATE TABLE content_chunks (
  content INTEGER NOT NULL REFERENCES contents,
  position INTEGER NOT NULL,
  chunk INTEGER NOT NULL REFERENCES chunks,
  PRIMARY KEY (content, position)
) WITHOUT ROWID;
CREATE INDEX content_chunks_by_chunk ON content_chunks (chunk);
CREATE TABLE uploads (id INTEGER PRIMARY KEY AUTOINCREMENT, touched INTEGER NOT NULL);
CREATE TABLE upload_chunks (
  upload INTEGER NOT NULL REFERENCES uploads ON DELETE CASCADE,
  position INTEGER NOT NULL,
  chunk INTEGER NOT NULL REFERENCES chunks,
  PRIMARY KEY (upload, position)
) WITHOUT ROWID;
CREATE INDEX upload_chunks_by_chunk ON upload_chunks (chunk);
CREATE TABLE collections (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  documents INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE roots (
  collection INTEGER NOT NULL REFERENCES collections,
  path TEXT NOT NULL,
  added INTEGER NOT NULL,
  PRIMARY KEY (collection, path)
) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL REFERENCES collections,
  path TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT,
  root TEXT,
  state TEXT NOT NULL CHECK (state IN ('live', 'removed', 'trash')),
  state_since INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  indexed INTEGER NOT NULL,
  inode INTEGER,
  checked INTEGER,
  seq INTEGER NOT NULL,
  UNIQUE (collection, path)
);
CREATE INDEX documents_by_seq ON documents (seq);
CREATE INDEX documents_by_name ON documents (name);
CREATE INDEX documents_by_path ON documents (path);
CREATE INDEX documents_in_trash ON documents (state_since) WHERE state = 'trash';
CREATE TABLE versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents,
  number INTEGER NOT NULL,
  content INTEGER NOT NULL REFERENCES contents,
  mode INTEGER,
  mtime INTEGER,
  added INTEGER NOT NULL,
  seq_from INTEGER NOT NULL,
  seq_to INTEGER
);
CREATE INDEX versions_by_document ON versions (document, seq_from);
CREATE INDEX versions_by_content ON versions (content);
CREATE INDEX versions_by_seq_from ON versions (seq_from);
CREATE INDEX versions_by_seq_to ON versions (seq_to) WHERE seq_to IS NOT NULL;
CREATE TABLE document_tags (
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (document, tag)
) WITHOUT ROWID;
CREATE INDEX document_tags_by_tag ON document_tags (tag);
CREATE TABLE document_metadata (
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (document, key)
) WITHOUT ROWID;
CREATE INDEX document_metadata_by_key ON document_metadata (key, value);
CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,
  collection INTEGER NOT NULL REFERENCES collections,
  label TEXT,
  created INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX snapshots_by_collection ON snapshots (collection, seq);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  label TEXT,
  started INTEGER NOT NULL,
  stopped INTEGER
) WITHOUT ROWID;
CREATE TABLE session_documents (
  session TEXT NOT NULL REFERENCES sessions,
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  change TEXT NOT NULL CHECK (change IN ('added', 'changed', 'removed')),
  PRIMARY KEY (session, document)
) WITHOUT ROWID;
CREATE INDEX session_documents_by_document ON session_documents (document);
CREATE TABLE pins (
  session TEXT NOT NULL REFERENCES sessions,
  content INTEGER NOT NULL REFERENCES contents,
  pinned INTEGER NOT NULL,
  PRIMARY KEY (session, content)
) WITHOUT ROWID;
CREATE INDEX pins_by_content ON pins (content);
`;

/** The tables and indexes of the current format, as a new store creates them. */
export const TRUTH_TABLES = TRUTH_VERSION_1;

/** Step `n` migrates format `n` to format `n + 1`; step 0 creates a new store. */
const TRUTH_MIGRATIONS: readonly ((db: Db) => void)[] = [
  (db) => {
    db.exec(TRUTH_VERSION_1);
    db.run("INSERT INTO facts VALUES ('store_id', ?), ('created', ?), ('seq', 0)", randomUUID(), Date.now());
    db.run("INSERT INTO collections (name, created) VALUES ('default', ?)", Date.now());
  },
  // Format 2 changes only the index, which is converted in the background. Its number keeps older programs, which cannot
  // read the new vectors, from using the store.
  () => {},
];

/** Migrates the content database to {@link FORMAT_VERSION}. Throws if a newer program wrote the store. */
export function migrateTruth(db: Db): void {
  if (checkFormat(db) === FORMAT_VERSION) return;
  db.immediate(() => {
    // Another process may have been faster.
    for (let version = checkFormat(db); version < FORMAT_VERSION; version++) {
      TRUTH_MIGRATIONS[version]?.(db);
      db.exec(`PRAGMA user_version = ${version + 1}`);
    }
    db.exec(`PRAGMA application_id = ${TRUTH_APPLICATION_ID}`);
  });
}

/** Returns the format of an open content database. Throws if it is newer than ours. */
export function checkFormat(db: Db): number {
  const version = db.pragma<number>("user_version");
  if (version > FORMAT_VERSION) {
    throw new TrunklineError(
      "IO",
      `The store has format ${version}; this version of Trunkline reads formats up to ${FORMAT_VERSION}.`,
      { hint: "Update Trunkline, or choose another folder with --store.", data: { format: version } },
    );
  }
  return version;
}

/** Increment it when the tables shared by all indexers change; the index is then rebuilt. */
const INDEX_VERSION = 3;

const INDEX_TABLES = `
CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE indexers (name TEXT PRIMARY KEY, version INTEGER NOT NULL, entry INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL,
  version INTEGER NOT NULL UNIQUE,
  content INTEGER NOT NULL,
  live INTEGER NOT NULL
);
CREATE INDEX entries_by_document ON entries (document);
CREATE INDEX entries_by_content ON entries (content);
`;

/** Whether the index belongs to this content database, has the current schema, and is not ahead of the database. */
export function indexFits(index: Db, truth: Db): boolean {
  if (index.pragma<number>("user_version") !== INDEX_VERSION) return false;
  const storeId = index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'store_id'")?.value;
  const reached = index.get<{ value: number }>("SELECT value FROM facts WHERE key = 'seq'")?.value ?? 0;
  const facts = new Map(truth.all<{ key: string; value: unknown }>("SELECT * FROM facts").map((f) => [f.key, f.value]));
  return storeId === facts.get("store_id") && reached <= (facts.get("seq") as number);
}

/** Returns the id that a store got when it was created. */
export function storeIdOf(truth: Db): string {
  return String(truth.one<{ value: string }>("SELECT value FROM facts WHERE key = 'store_id'").value);
}

/** Creates the tables of the index in an empty file. */
export function createIndexTables(index: Db, storeId: string): void {
  index.exec(INDEX_TABLES);
  index.run("INSERT INTO facts VALUES ('store_id', ?), ('seq', 0)", storeId);
  index.exec(`PRAGMA application_id = ${INDEX_APPLICATION_ID}`);
  index.exec(`PRAGMA user_version = ${INDEX_VERSION}`);
}
