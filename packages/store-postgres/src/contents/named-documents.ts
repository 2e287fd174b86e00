// Finds documents by name: the full path, the end of a path, or the base name. A glob can match several.
import { TrunklineError } from "@trunkline/core";
import { baseNameOf, compileGlob, isGlob, noDocument } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";
import { requireCollection } from "./pg-filters.js";

type DocumentState = "live" | "removed" | "trash";

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

interface FindOptions {
  readonly collection?: string;
  readonly states?: readonly DocumentState[];
  /** The name resolved to an absolute path. Tried before matching path ends. */
  readonly absolute?: string;
}

/** Finds every document that the name matches: the exact path, otherwise path ends, otherwise a glob's matches. */
export async function documentsNamed(sql: Sql, name: string, options: FindOptions = {}): Promise<DocumentRow[]> {
  for (const path of [name, ...(options.absolute === undefined ? [] : [options.absolute])]) {
    const found = await query(sql, "md5(path) = md5($1) AND path = $1", path, options);
    if (found.length > 0) return found;
  }
  const suffix = `/${name.replace(/^(?:\.?\/)+/, "")}`;
  const named = await query(sql, "left(name, 400) = left($1, 400) AND name = $1", baseNameOf(name), options);
  const bySuffix = named.filter((row) => row.path === suffix.slice(1) || row.path.endsWith(suffix));
  return bySuffix.length > 0 || !isGlob(name) ? bySuffix : await documentsMatching(sql, name, options);
}

export async function documentsMatching(sql: Sql, pattern: string, options: FindOptions = {}): Promise<DocumentRow[]> {
  const isMatch = compileGlob(pattern);
  return (await query(sql, "$1 = ''", "", options)).filter((row) => isMatch(row.path));
}

/** Finds the only document with this name. Throws `NOT_FOUND`, or `AMBIGUOUS` with the paths. */
export async function oneDocument(sql: Sql, name: string, options: FindOptions = {}): Promise<DocumentRow> {
  const found = await documentsNamed(sql, name, options);
  const [first, ...others] = found;
  if (first === undefined) throw noDocument(name);
  if (others.length > 0) throw await severalDocuments(sql, name, found);
  return first;
}

/** Builds the error for a name that matches several documents. */
export async function severalDocuments(sql: Sql, name: string, found: readonly DocumentRow[]): Promise<TrunklineError> {
  const rows = await sql.rows<{ id: number; name: string }>("SELECT id, name FROM seen_collections");
  const names = new Map(rows.map((row) => [row.id, row.name]));
  const paths = found.slice(0, 20).map(({ path, collection }) => {
    const place = names.get(collection) ?? "";
    return place === "default" ? path : `${path} (in ${place})`;
  });
  return new TrunklineError("AMBIGUOUS", `"${name}" matches ${found.length} documents: ${paths.join(", ")}.`, {
    hint: "Use more of the path, or choose a `collection`.",
    data: { matches: paths },
  });
}

async function query(sql: Sql, condition: string, value: string, options: FindOptions): Promise<DocumentRow[]> {
  const collection = options.collection === undefined ? null : await requireCollection(sql, options.collection);
  return await sql.rows<DocumentRow>(
    `SELECT * FROM seen_documents WHERE ${condition} AND ($2::int IS NULL OR collection = $2::int) AND state = ANY($3::text[])
     ORDER BY path, id`,
    value,
    collection,
    options.states ?? ["live"],
  );
}
