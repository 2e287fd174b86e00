// Which documents a principal can see. Stored results belong to one principal: those of `local` are in the collection
// `results`, those of `alice` in `results@alice`. Everything else is shared. `local` sees everything; for all others,
// temporary views with the names of the tables hide what is not theirs, so that every query of a reader is covered,
// including those that are written later. Their own results appear as `results` to them.
import { LOCAL_PRINCIPAL, TrunklineError } from "@trunkline/core";
import type { Db } from "./database.js";

/** The collection for results that were too large to return inline. Its documents expire after seven days. */
const RESULTS_COLLECTION = "results";

/** A principal other than `local`; undefined is `local`. */
export type Viewer = string | undefined;

/** A condition on the column `name` of `collections`: it holds stored results of some principal. */
export const IS_RESULTS = `(name = '${RESULTS_COLLECTION}' OR name GLOB '${RESULTS_COLLECTION}@*')`;

export function isResultsCollection(name: string): boolean {
  return name === RESULTS_COLLECTION || name.startsWith(`${RESULTS_COLLECTION}@`);
}

/** Returns the viewer for a principal. Throws if the name could not be part of a collection's name. */
export function viewerOf(principal: string | undefined): Viewer {
  if (principal === undefined || principal === LOCAL_PRINCIPAL) return undefined;
  if (/^[\w-]{1,64}$/.test(principal)) return principal;
  throw new TrunklineError("INVALID_ARGUMENT", "The name of a principal has only letters, digits, - and _.");
}

/** Returns the name under which a collection of this viewer is stored. Throws if it belongs to someone else. */
export function storedCollection<T extends string | undefined>(name: T, viewer: Viewer): T | string {
  if (name === undefined || viewer === undefined || !isResultsCollection(name)) return name;
  const own = `${RESULTS_COLLECTION}@${viewer}`;
  if (name === RESULTS_COLLECTION || name === own) return own;
  throw new TrunklineError("NOT_FOUND", `The store has no collection "${name}".`, {
    hint: `Names that begin with ${RESULTS_COLLECTION}@ are reserved for stored results.`,
  });
}

/** Returns SQL that selects the ids of the collections that a viewer must not see. */
export function hiddenCollections(viewer: string): string {
  return `SELECT id FROM main.collections WHERE ${isHidden("name", viewer)}`;
}

function isHidden(column: string, viewer: string): string {
  return `${IS_RESULTS.replaceAll(/\bname\b/g, column)} AND ${column} <> '${RESULTS_COLLECTION}@${viewer}'`;
}

const SESSION_DIGITS = 16;

/** The start of the ids of a viewer's sessions. The rest is {@link SESSION_DIGITS} hexadecimal digits. */
export function sessionPrefix(viewer: Viewer): string {
  return viewer === undefined ? "ses-" : `ses-${viewer}-`;
}

/** Whether a session belongs to the viewer. */
export function ownsSession(viewer: Viewer, id: string): boolean {
  if (viewer === undefined) return true;
  const prefix = sessionPrefix(viewer);
  return id.length === prefix.length + SESSION_DIGITS && id.startsWith(prefix);
}

/** Hides on this connection what the viewer must not see. The connection cannot change these tables any more. */
export function restrictTruth(db: Db, viewer: string): void {
  const hidden = hiddenCollections(viewer);
  const prefix = sessionPrefix(viewer);
  db.exec(`
    CREATE TEMP VIEW collections AS
      SELECT id, CASE name WHEN '${RESULTS_COLLECTION}@${viewer}' THEN '${RESULTS_COLLECTION}' ELSE name END AS name,
        created, documents, bytes
      FROM main.collections WHERE NOT (${isHidden("name", viewer)});
    CREATE TEMP VIEW documents AS SELECT * FROM main.documents WHERE collection NOT IN (${hidden});
    CREATE TEMP VIEW snapshots AS SELECT * FROM main.snapshots WHERE collection NOT IN (${hidden});
    CREATE TEMP VIEW contents AS SELECT * FROM main.contents AS c WHERE EXISTS (
      SELECT 1 FROM main.versions v JOIN main.documents d ON d.id = v.document
      WHERE v.content = c.id AND d.collection NOT IN (${hidden}));
    CREATE TEMP VIEW sessions AS SELECT * FROM main.sessions
      WHERE length(id) = ${prefix.length + SESSION_DIGITS} AND substr(id, 1, ${prefix.length}) = '${prefix}';
  `);
}

/** The same for the relations between documents, in the index. */
export function restrictGraph(db: Db, viewer: string): void {
  const columns = db
    .all<{ name: string }>("SELECT name FROM pragma_table_info('graph_files')")
    .map(({ name }) =>
      name === "collection"
        ? `CASE collection WHEN '${RESULTS_COLLECTION}@${viewer}' THEN '${RESULTS_COLLECTION}' ELSE collection END AS collection`
        : name,
    );
  if (columns.length === 0) return;
  db.exec(`CREATE TEMP VIEW graph_files AS SELECT ${columns.join(", ")} FROM main.graph_files
    WHERE NOT (${isHidden("collection", viewer)})`);
}
