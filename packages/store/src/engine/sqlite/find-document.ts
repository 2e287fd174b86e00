// Finds documents by name: the full path, the end of a path, or the base name. A glob can match several.
import { TrunklineError } from "@trunkline/core";
import { compileGlob, isGlob } from "../files/glob.js";
import type { Db } from "./database.js";
import { baseNameOf, type DocumentRow, type DocumentState, noDocument } from "./documents.js";
import { requireCollection } from "./filters.js";
import { hiddenCollections, type Viewer } from "./visibility.js";

interface FindOptions {
  readonly collection?: string;
  readonly states?: readonly DocumentState[];
  /** For whom, on a connection that is not restricted to a viewer. */
  readonly viewer?: Viewer;
  /** The name resolved to an absolute path. Tried before matching path ends. */
  readonly absolute?: string;
}

/**
 * Finds every document that the name matches: the exact path if it exists, otherwise path ends, otherwise a glob's
 * matches.
 */
export function documentsNamed(db: Db, name: string, options: FindOptions = {}): DocumentRow[] {
  const exact = [name, ...(options.absolute === undefined ? [] : [options.absolute])];
  for (const path of exact) {
    const found = query(db, "path = ?", path, options);
    if (found.length > 0) return found;
  }
  const suffix = `/${name.replace(/^(?:\.?\/)+/, "")}`;
  const bySuffix = query(db, "name = ?", baseNameOf(name), options).filter(
    (row) => row.path === suffix.slice(1) || row.path.endsWith(suffix),
  );
  return bySuffix.length > 0 || !isGlob(name) ? bySuffix : documentsMatching(db, name, options);
}

/** Finds every document that a glob matches. */
export function documentsMatching(db: Db, pattern: string, options: FindOptions = {}): DocumentRow[] {
  const test = compileGlob(pattern);
  return query(db, "1 = ?", 1, options).filter((row) => test(row.path));
}

/** Finds the only document with this name. Throws `NOT_FOUND`, or `AMBIGUOUS` with the paths. */
export function oneDocument(db: Db, name: string, options: FindOptions = {}): DocumentRow {
  const found = documentsNamed(db, name, options);
  const [first, ...others] = found;
  if (first === undefined) throw noDocument(name);
  if (others.length > 0) throw severalDocuments(db, name, found);
  return first;
}

/** Builds the error for a name that matches several documents. */
export function severalDocuments(db: Db, name: string, found: readonly DocumentRow[]): TrunklineError {
  const paths = found.slice(0, 20).map((row) => describePlace(db, row));
  return new TrunklineError("AMBIGUOUS", `"${name}" matches ${found.length} documents: ${paths.join(", ")}.`, {
    hint: "Use more of the path, or choose a `collection`.",
    data: { matches: paths },
  });
}

function describePlace(db: Db, row: DocumentRow): string {
  const { name } = db.one<{ name: string }>("SELECT name FROM collections WHERE id = ?", row.collection);
  return name === "default" ? row.path : `${row.path} (in ${name})`;
}

function query(db: Db, condition: string, value: string | number, options: FindOptions): DocumentRow[] {
  const states = options.states ?? ["live"];
  const { viewer } = options;
  const collection = options.collection === undefined ? null : requireCollection(db, options.collection);
  const visible = viewer === undefined ? "" : `AND collection NOT IN (${hiddenCollections(viewer)})`;
  return db
    .all<DocumentRow>(
      `SELECT * FROM documents WHERE ${condition} AND (? IS NULL OR collection = ?) ${visible} ORDER BY path, id`,
      value,
      collection,
      collection,
    )
    .filter((row) => states.includes(row.state));
}
