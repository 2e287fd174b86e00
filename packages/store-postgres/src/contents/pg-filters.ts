// The filters that search, grep and list share, as SQL over documents and versions.
import { TrunklineError } from "@trunkline/core";
import type { FilterParams } from "@trunkline/store/contract";
import { compileGlob, metadataObject, tagList } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";

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
interface Selection {
  readonly from: string;
  readonly where: string;
  readonly values: readonly unknown[];
}

/** The shared filters plus those that only some operations have. `session` has been resolved to an id. */
export interface SelectionParams extends Omit<FilterParams, "session"> {
  readonly session?: string;
  readonly type?: "text" | "binary";
  readonly extension?: string;
  readonly pattern?: string;
}

/** Collects values of a statement: `place(value)` returns its `$n`. */
export class Values {
  readonly list: unknown[];

  constructor(first: readonly unknown[] = []) {
    this.list = [...first];
  }

  place(value: unknown): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/** SQL: whether the content is pinned in a session. */
const isPinned = (session: string) => `EXISTS (SELECT 1 FROM pins p WHERE p.session = ${session} AND p.content = c.id)`;

/** Selects the documents and versions that match the filters and that the viewer can see. */
export async function selectDocuments(sql: Sql, params: SelectionParams): Promise<Selection> {
  const where: string[] = [];
  const values = new Values();
  const place = (value: unknown) => values.place(value);
  const isHistoric = params.snapshot !== undefined;
  const collection = params.collection === undefined ? undefined : await requireCollection(sql, params.collection);
  if (params.snapshot !== undefined) {
    const snapshot = await findSnapshot(sql, params.snapshot, collection);
    const seq = place(snapshot.seq);
    where.push(`d.collection = ${place(snapshot.collection)}`);
    where.push(`v.seq_from <= ${seq} AND (v.seq_to IS NULL OR v.seq_to > ${seq})`);
  } else {
    where.push("d.state = 'live'");
    if (collection !== undefined) where.push(`d.collection = ${place(collection)}`);
    // Stored results are only included if their collection is named, or if they are pinned in the session.
    else {
      const isOrdinary =
        "d.collection NOT IN (SELECT id FROM collections WHERE name = 'results' OR starts_with(name, 'results@'))";
      where.push(params.session === undefined ? isOrdinary : `(${isOrdinary} OR ${isPinned(place(params.session))})`);
    }
  }
  const tags = tagList(params.tags);
  if (tags.length > 0) {
    const count = `(SELECT count(*) FROM document_tags t WHERE t.document = d.id AND t.tag = ANY(${place(tags)}::text[]))`;
    where.push(`${count} >= ${params.matchAllTags ? tags.length : 1}`);
  }
  for (const [key, value] of Object.entries(metadataObject(params.metadata))) {
    // `count=3` on a command line is text, but may have been stored as a number.
    const forms = [JSON.stringify(value), typeof value === "string" ? value : JSON.stringify(String(value))];
    where.push(
      `EXISTS (SELECT 1 FROM document_metadata m WHERE m.document = d.id AND m.key = ${place(key)} AND m.value = ANY(${place(forms)}::text[]))`,
    );
  }
  if (params.session !== undefined) {
    if ((await sql.get("SELECT 1 FROM seen_sessions WHERE id = $1", params.session)) === undefined) {
      throw new TrunklineError("NOT_FOUND", `The store has no session "${params.session}".`);
    }
    const session = place(params.session);
    where.push(
      `(EXISTS (SELECT 1 FROM session_documents s WHERE s.session = ${session} AND s.document = d.id) OR ${isPinned(session)})`,
    );
  }
  if (params.type !== undefined) where.push(`c.type = ${place(params.type)}`);
  if (params.extension !== undefined) {
    const extension = `.${params.extension.replace(/^\*?\./, "")}`.toLowerCase();
    where.push(`lower(right(d.name, ${[...extension].length})) = ${place(extension)}`);
  }
  const join = isHistoric ? "JOIN versions v ON v.document = d.id" : "JOIN versions v ON v.id = d.version";
  const from = `seen_documents d ${join} JOIN contents c ON c.id = v.content JOIN seen_collections k ON k.id = d.collection`;
  if (params.pattern !== undefined) {
    const isMatch = compileGlob(params.pattern);
    const rows = await sql.rows<{ id: number; path: string }>(
      `SELECT DISTINCT d.id, d.path FROM ${from} WHERE ${where.join(" AND ")}`,
      ...values.list,
    );
    const ids = rows.filter(({ path }) => isMatch(path)).map(({ id }) => id);
    where.push(`d.id = ANY(${place(ids)}::bigint[])`);
  }
  return { from, where: where.join(" AND "), values: values.list };
}

export async function collectionId(sql: Sql, name: string): Promise<number | undefined> {
  return (await sql.get<{ id: number }>("SELECT id FROM seen_collections WHERE name = $1", name))?.id;
}

export async function requireCollection(sql: Sql, name: string): Promise<number> {
  const id = await collectionId(sql, name);
  if (id !== undefined) return id;
  const names = await sql.rows<{ name: string }>(
    "SELECT name FROM seen_collections WHERE NOT starts_with(name, 'results@') ORDER BY name LIMIT 20",
  );
  throw new TrunklineError("NOT_FOUND", `The store has no collection "${name}".`, {
    hint: `Available: ${names.map((row) => row.name).join(", ")}.`,
  });
}

/** Finds a snapshot by its id, or the newest one with this label. */
export async function findSnapshot(sql: Sql, idOrLabel: string, collection?: number): Promise<SnapshotRow> {
  const found = await sql.get<SnapshotRow>(
    `SELECT * FROM seen_snapshots WHERE (id = $1 OR label = $1) AND ($2::int IS NULL OR collection = $2::int)
     ORDER BY (id = $1) DESC, seq DESC, created DESC LIMIT 1`,
    idOrLabel,
    collection ?? null,
  );
  if (found !== undefined) return found;
  throw new TrunklineError("NOT_FOUND", `The store has no snapshot "${idOrLabel}".`, {
    hint: "`list_snapshots` shows their ids and labels.",
  });
}
