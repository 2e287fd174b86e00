// `grep` in a reader: finds the documents that may match, page by page. The grep threads read and match them.
import { sep } from "node:path";
import { TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import { reachedSeq } from "../engine/indexing/catch-up.js";
import type { Db, SqlValue } from "../engine/sqlite/database.js";
import { type Selection, type SelectionParams, selectDocuments } from "../engine/sqlite/filters.js";
import { indexFits } from "../engine/sqlite/schema.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { EMPTY_PAGE, type GrepPage, type ListedDocument, listOf, mayMatch, pageOf } from "./grep-list.js";
import { compareText, findCandidates, queryText, type TrigramQuery, trigramIndexer } from "./index.js";

/** The filters, with the session resolved to its id. */
export type GrepFilters = Pick<
  SelectionParams,
  "collection" | "snapshot" | "tags" | "matchAllTags" | "metadata" | "session"
>;

/** A file or folder as given, and resolved against the caller's working directory. */
export interface GivenPath {
  readonly given: string;
  readonly absolute: string;
}

/** The parameters of one page of documents. */
export interface GrepPageParams {
  readonly filters: GrepFilters;
  readonly trigrams: TrigramQuery | "none";
  /** Paths of documents and folders; absent for everything. */
  readonly places: readonly string[] | undefined;
  readonly from: { readonly path: string; readonly hash?: string } | undefined;
  readonly limit: number;
}

/** Up to this many candidate documents are looked up one by one; with more, all documents are scanned. */
const MOST_LOOKED_UP = 20_000;

/**
 * Resolves the given paths: the path itself, also from the working directory; if neither exists, every path that ends
 * in it. Throws `NOT_FOUND` for a path that matches nothing.
 */
export function grepPlaces(
  { truth }: ReadEnvironment,
  { filters: { collection, snapshot }, paths }: { filters: GrepFilters; paths: readonly GivenPath[] },
): string[] {
  return truth.reading(() => {
    const selection = selectDocuments(truth, { collection, snapshot });
    const places = new Set<string>();
    for (const { given, absolute } of paths) {
      const name = given.replace(/^(?:\.\/+)+/, "").replace(/(?<=.)[/\\]+$/, "");
      const exact = [name, absolute.replace(/[/\\]+$/, "")].filter((place) => isThere(truth, selection, place));
      const found = exact.length > 0 ? exact : placesEndingIn(truth, selection, name);
      if (found.length === 0) {
        throw new TrunklineError("NOT_FOUND", `The store has no document or folder "${given}".`, {
          hint: "`list` shows what exists; `include` accepts patterns.",
        });
      }
      for (const place of found) places.add(place);
    }
    return [...places];
  });
}

const SEPARATORS = [...new Set(["/", sep])];

function isThere(truth: Db, { from, where, values }: Selection, place: string): boolean {
  const folders = SEPARATORS.map(() => "(d.path >= ? AND d.path < ?)").join(" OR ");
  const ends = SEPARATORS.flatMap((separator) => [place + separator, place + after(separator)]);
  const sql = `SELECT 1 FROM ${from} WHERE ${where} AND (d.path = ? OR ${folders}) LIMIT 1`;
  return truth.get(sql, ...values, place, ...ends) !== undefined;
}

function placesEndingIn(truth: Db, { from, where, values }: Selection, name: string): string[] {
  const part = `/${name.replace(/^\/+/, "")}`;
  if (part === "/") return [];
  const rows = truth.all<{ place: string }>(
    `SELECT DISTINCT substr(d.path, 1, instr('/' || d.path || '/', ?) + ?) AS place FROM ${from}
     WHERE ${where} AND instr('/' || d.path || '/', ?) > 0`,
    `${part}/`,
    [...part].length - 2,
    ...values,
    `${part}/`,
  );
  return rows.map((row) => row.place);
}

/** Returns the next character. */
function after(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 1);
}

interface Row {
  readonly path: string;
  readonly hash: string;
  readonly sizeBytes: number;
  readonly binary: boolean;
  readonly version: number;
}

const COLUMNS = "d.path, lower(hex(c.hash)) AS hash, c.size, c.type = 'binary' AS binary, v.id AS version";

/** Returns one page of the documents that may match, and of binary ones, which are counted. */
export function grepPage(env: ReadEnvironment, params: GrepPageParams, call: Call): GrepPage {
  const { truth, index } = env;
  // Read the index before the content database: changes in between have a higher sequence number than the index knows.
  return index.reading(() => {
    const candidates = candidatesOf(env, params.trigrams);
    return truth.reading(() => {
      const selection = selectDocuments(truth, params.filters);
      const list = listOf(env, JSON.stringify([params.filters, params.places]));
      if (list.isComplete) return list.page(params, candidates);
      const few = candidates === undefined || selection.historic ? undefined : documentsToLookUp(env, candidates);
      const bounds = boundsOf(params);
      if (bounds === undefined) return EMPTY_PAGE;
      const rows =
        few === undefined ? scan(truth, selection, bounds, params.limit) : lookUp(truth, selection, bounds, few);
      call.check();
      const last = few === undefined && rows.length === params.limit ? rows.at(-1) : undefined;
      const next = last === undefined ? undefined : { path: last.path, hash: last.hash };
      const documents = withEntries(index, rows.filter(placeTest(params.places)).filter(isFirst));
      if (few === undefined) list.append(documents, { from: params.from, next });
      const possible = few === undefined ? documents.filter((document) => mayMatch(document, candidates)) : documents;
      return pageOf(possible, next);
    });
  });
}

/** Whether a row is not a repetition: the same content at the same path in two collections counts once. */
function isFirst(row: Row, position: number, rows: readonly Row[]): boolean {
  const before = rows[position - 1];
  return before === undefined || before.path !== row.path || before.hash !== row.hash;
}

/** Adds the index entries. */
function withEntries(index: Db, rows: readonly Row[]): ListedDocument[] {
  const { ids, versions } = index.one<{ ids: string | null; versions: string | null }>(
    `SELECT group_concat(id, ' ') AS ids, group_concat(version, ' ') AS versions FROM entries
     WHERE version IN (SELECT value FROM json_each(?))`,
    JSON.stringify(rows.map((row) => row.version)),
  );
  const indexed = numbersOf(versions);
  const entries = new Map(numbersOf(ids).map((id, position) => [indexed[position], id]));
  return rows.map(({ path, hash, sizeBytes, binary, version }) => ({
    path,
    hash,
    sizeBytes,
    binary,
    entry: entries.get(version),
  }));
}

function numbersOf(text: string | null): number[] {
  return text === null || text === "" ? [] : text.split(" ").map(Number);
}

interface KeptCandidates {
  readonly key: string;
  readonly entries: ReadonlySet<number>;
}

const kept = new WeakMap<Db, KeptCandidates>();

/** Returns the entries that may match according to the current index; undefined if every document may. */
function candidatesOf(
  { truth, index }: ReadEnvironment,
  query: TrigramQuery | "none",
): ReadonlySet<number> | undefined {
  if (query === "none" || !indexFits(index, truth)) return undefined;
  const state = index.get<{ version: number }>("SELECT version FROM indexers WHERE name = ?", trigramIndexer.name);
  if (state?.version !== trigramIndexer.version) return undefined;
  const key = `${index.pragma<number>("data_version")} ${queryText(query)}`;
  const known = kept.get(index);
  if (known?.key === key) return known.entries;
  const entries = findCandidates(index, query);
  if (entries !== undefined) kept.set(index, { key, entries });
  return entries;
}

/**
 * Returns the ids of documents whose current version may match, that the index has not seen, or that are binary;
 * undefined if there are many.
 */
function documentsToLookUp({ truth, index }: ReadEnvironment, candidates: ReadonlySet<number>): number[] | undefined {
  if (candidates.size > MOST_LOOKED_UP) return undefined;
  const documents = new Set<number>();
  const { found } = index.one<{ found: string | null }>(
    "SELECT group_concat(document, ' ') AS found FROM entries WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify([...candidates]),
  );
  for (const id of numbersOf(found)) documents.add(id);
  const unseen = "SELECT id FROM documents WHERE seq > ? LIMIT ?";
  for (const { id } of truth.all<{ id: number }>(unseen, reachedSeq(index), MOST_LOOKED_UP + 1)) documents.add(id);
  const binary = `SELECT v.document AS id FROM contents c CROSS JOIN versions v ON v.content = c.id
    WHERE c.type = 'binary' AND v.seq_to IS NULL LIMIT ?`;
  for (const { id } of truth.all<{ id: number }>(binary, MOST_LOOKED_UP + 1)) documents.add(id);
  return documents.size > MOST_LOOKED_UP ? undefined : [...documents];
}

interface Bounds {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Returns the range of paths the page covers, or `undefined` if it is empty. */
function boundsOf({ places, from }: GrepPageParams): Bounds | undefined {
  const sql: string[] = [];
  const values: SqlValue[] = [];
  if (places !== undefined) {
    const sorted = [...places].sort(compareText);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    sql.push("d.path >= ? AND d.path < ?");
    // A folder's documents come before anything that starts with the character after its separator.
    const ends = sorted.flatMap((place) => SEPARATORS.map((separator) => place + after(separator)));
    values.push(first, ends.sort(compareText).at(-1) as string);
  }
  if (from !== undefined) {
    sql.push("d.path >= ?");
    values.push(from.path);
    if (from.hash !== undefined) {
      sql.push("(d.path > ? OR c.hash > ?)");
      values.push(from.path, Buffer.from(from.hash, "hex"));
    }
  }
  return { sql: sql.map((condition) => ` AND ${condition}`).join(""), values };
}

/** Reads all documents, ordered by path and hash. */
function scan(truth: Db, { from, where, values }: Selection, bounds: Bounds, limit: number): Row[] {
  const sql = `SELECT ${COLUMNS} FROM ${from} WHERE ${where}${bounds.sql} ORDER BY d.path, c.hash LIMIT ?`;
  return readRows(truth, sql, [...values, ...bounds.values, limit]);
}

/** Reads the documents with these ids, in the same order. */
function lookUp(truth: Db, { from, where, values }: Selection, bounds: Bounds, ids: readonly number[]): Row[] {
  const sql = `SELECT ${COLUMNS} FROM json_each(?) j CROSS JOIN ${from}
     WHERE d.id = j.value AND ${where}${bounds.sql} ORDER BY d.path, c.hash`;
  return readRows(truth, sql, [JSON.stringify(ids), ...values, ...bounds.values]);
}

/** Has SQLite put each column into one text: passing tens of thousands of rows one by one takes three times as long. */
function readRows(truth: Db, sql: string, values: readonly SqlValue[]): Row[] {
  const columns = truth.one<Record<"paths" | "hashes" | "sizes" | "binary" | "versions", string | null>>(
    `SELECT json_group_array(path) AS paths, group_concat(hash, ' ') AS hashes, group_concat(size, ' ') AS sizes,
       group_concat(binary, '') AS binary, group_concat(version, ' ') AS versions FROM (${sql})`,
    ...values,
  );
  const { hashes, binary } = columns;
  if (hashes === null || binary === null) return [];
  const paths = JSON.parse(columns.paths ?? "[]") as string[];
  const sizes = numbersOf(columns.sizes);
  const versions = numbersOf(columns.versions);
  return hashes.split(" ").map((hash, position) => ({
    path: paths[position] as string,
    hash,
    sizeBytes: sizes[position] as number,
    binary: binary[position] === "1",
    version: versions[position] as number,
  }));
}

/** Returns a test for whether a document is at one of the places or in a folder there. */
function placeTest(places: readonly string[] | undefined): (row: Row) => boolean {
  if (places === undefined) return () => true;
  const all = new Set(places);
  return ({ path }) => {
    if (all.has(path)) return true;
    for (let at = 0; at < path.length; at++) {
      if (SEPARATORS.includes(path[at] as string) && all.has(path.slice(0, at))) return true;
    }
    return false;
  };
}
