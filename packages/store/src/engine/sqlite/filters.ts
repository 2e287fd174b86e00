// The filters that search, grep and list share, as SQL over documents and versions.
import { TrunklineError } from "@trunkline/core";
import type { FilterParams } from "../../contract/index.js";
import { metadataObject, tagList } from "../../contract/params.js";
import { compileGlob } from "../files/glob.js";
import type { Db, SqlValue } from "./database.js";
import { collectionId } from "./documents.js";
import { IS_RESULTS } from "./visibility.js";

/** A row of `snapshots`. */
export interface SnapshotRow {
  readonly id: string;
  readonly collection: number;
  readonly label: string | null;
  readonly created: number;
  readonly seq: number;
  readonly documents: number;
  readonly bytes: number;
}

/** SQL for `FROM` and `WHERE`: `d` is the document, `v` its version, `c` the content, `k` the collection. */
export interface Selection {
  readonly from: string;
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Whether this selects a past state. */
  readonly historic: boolean;
}

/** The shared filters plus those that only some operations have. `session` has been resolved to an id. */
export interface SelectionParams extends Omit<FilterParams, "session"> {
  readonly session?: string;
  readonly type?: "text" | "binary";
  readonly extension?: string;
  readonly pattern?: string;
}

/** Defines the SQL functions that {@link selectDocuments} uses. Call it once per connection. */
export function defineFilterFunctions(db: Db): void {
  const compiled = new Map<string, (path: string) => boolean>();
  db.define("path_matches", (pattern, path) => {
    let test = compiled.get(pattern as string);
    if (test === undefined) {
      test = compileGlob(pattern as string);
      compiled.clear();
      compiled.set(pattern as string, test);
    }
    return test(path as string) ? 1 : 0;
  });
}

/** SQL: whether the content is pinned in a session. */
const PINNED = "EXISTS (SELECT 1 FROM pins p WHERE p.session = ? AND p.content = c.id)";

/** Selects the documents and versions that match the filters. */
export function selectDocuments(db: Db, params: SelectionParams): Selection {
  const where: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]) => {
    where.push(sql);
    values.push(...more);
  };
  const historic = params.snapshot !== undefined;
  const collection = params.collection === undefined ? undefined : requireCollection(db, params.collection);
  if (params.snapshot !== undefined) {
    const snapshot = findSnapshot(db, params.snapshot, collection);
    add("d.collection = ?", snapshot.collection);
    add("v.seq_from <= ? AND (v.seq_to IS NULL OR v.seq_to > ?)", snapshot.seq, snapshot.seq);
  } else {
    add("d.state = 'live'");
    if (collection !== undefined) add("d.collection = ?", collection);
    // Stored results are only included if their collection is named, or if they are pinned in the session.
    else {
      const results = `SELECT id FROM main.collections WHERE ${IS_RESULTS}`;
      if (params.session === undefined) add(`d.collection NOT IN (${results})`);
      else add(`(d.collection NOT IN (${results}) OR ${PINNED})`, params.session);
    }
  }
  addTags(params, add);
  for (const [key, value] of Object.entries(metadataObject(params.metadata))) {
    add(
      "EXISTS (SELECT 1 FROM document_metadata m WHERE m.document = d.id AND m.key = ? AND m.value IN (?, ?))",
      key,
      JSON.stringify(value),
      // `count=3` on a command line is text, but may have been stored as a number.
      typeof value === "string" ? value : JSON.stringify(String(value)),
    );
  }
  if (params.session !== undefined) {
    if (db.get("SELECT 1 FROM sessions WHERE id = ?", params.session) === undefined) {
      throw new TrunklineError("NOT_FOUND", `The store has no session "${params.session}".`);
    }
    add(
      `(EXISTS (SELECT 1 FROM session_documents s WHERE s.session = ? AND s.document = d.id) OR ${PINNED})`,
      params.session,
      params.session,
    );
  }
  if (params.type !== undefined) add("c.type = ?", params.type);
  if (params.extension !== undefined) {
    const extension = `.${params.extension.replace(/^\*?\./, "")}`.toLowerCase();
    add("lower(substr(d.name, ?)) = ?", -extension.length, extension);
  }
  if (params.pattern !== undefined) add("path_matches(?, d.path)", params.pattern);
  const join = historic ? "JOIN versions v ON v.document = d.id" : "JOIN versions v ON v.id = d.version";
  return {
    from: `documents d ${join} JOIN contents c ON c.id = v.content JOIN collections k ON k.id = d.collection`,
    where: where.join(" AND "),
    values,
    historic,
  };
}

function addTags(params: SelectionParams, add: (sql: string, ...values: SqlValue[]) => void): void {
  const tags = tagList(params.tags);
  if (tags.length === 0) return;
  const marks = tags.map(() => "?").join(", ");
  const count = `(SELECT count(*) FROM document_tags t WHERE t.document = d.id AND t.tag IN (${marks}))`;
  add(`${count} >= ?`, ...tags, params.matchAllTags ? tags.length : 1);
}

export function requireCollection(db: Db, name: string): number {
  const id = collectionId(db, name);
  if (id !== undefined) return id;
  const names = db
    .all<{ name: string }>("SELECT name FROM collections WHERE name NOT GLOB 'results@*' ORDER BY name LIMIT 20")
    .map((row) => row.name);
  throw new TrunklineError("NOT_FOUND", `The store has no collection "${name}".`, {
    hint: `Available: ${names.join(", ")}.`,
  });
}

/** Finds a snapshot by its id, or the newest one with this label. */
export function findSnapshot(db: Db, idOrLabel: string, collection?: number): SnapshotRow {
  const found = db.get<SnapshotRow>(
    `SELECT * FROM snapshots WHERE (id = ? OR label = ?) AND (? IS NULL OR collection = ?)
     ORDER BY id = ? DESC, seq DESC, created DESC LIMIT 1`,
    idOrLabel,
    idOrLabel,
    collection ?? null,
    collection ?? null,
    idOrLabel,
  );
  if (found !== undefined) return found;
  throw new TrunklineError("NOT_FOUND", `The store has no snapshot "${idOrLabel}".`, {
    hint: "`list_snapshots` shows their ids and labels.",
  });
}
