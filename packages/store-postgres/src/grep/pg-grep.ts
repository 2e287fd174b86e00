// `grep`: pg_trgm finds the documents that may match, the store's own matcher finds the lines.
import { resolve, sep } from "node:path";
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import type { GrepParams, GrepResult } from "@trunkline/store/contract";
import {
  compareText,
  type GrepCallOptions,
  type GrepDocument,
  GrepPool,
  type GrepSource,
  grep,
  type TrigramQuery,
  type Viewer,
} from "@trunkline/store/parts";
import { contentById, findContent, readContent } from "../contents/pg-contents.js";
import { type SelectionParams, selectDocuments, Values } from "../contents/pg-filters.js";
import type { Database, Sql } from "../database/sql.js";

const PAGE = 20_000;

interface GivenPath {
  readonly given: string;
  readonly absolute: string;
}

interface Place {
  readonly path: string;
  readonly hash?: Uint8Array;
}

export class PostgresGrep {
  readonly #database: Database;
  readonly #threads = new GrepPool({});

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs a query. `session` is already an id. */
  async run(
    params: Omit<GrepParams, "session"> & { session: string | undefined },
    { viewer, cwd, ...options }: GrepCallOptions & { viewer?: Viewer; cwd: string },
  ): Promise<GrepResult> {
    const { paths, documents, collection, snapshot, tags, matchAllTags, metadata, session, cursor, ...rest } = params;
    const filters = { collection, snapshot, tags, matchAllTags, metadata, session };
    const given = paths?.length ? paths.map((path) => ({ given: path, absolute: resolve(cwd, path) })) : undefined;
    const source = documents === undefined ? this.#source(filters, given, viewer) : this.#given(documents, viewer);
    // A cursor is bound to paths and filters, so they are part of the query; the order of parameters is not.
    const sorted = Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) as typeof rest;
    const query = { ...sorted, pattern: rest.pattern, cursor, within: documents ?? given, filters };
    return await grep(query, { source, pool: this.#threads }, options);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }

  /** Provides documents the caller knows, whether or not the store has them under these paths. */
  #given(documents: readonly { readonly path: string; readonly hash: string }[], viewer: Viewer): GrepSource {
    const read = (path: string, hash: string) => this.#read({ path, hash }, viewer);
    return {
      async *documents() {
        const distinct = new Map(documents.map(({ path, hash }) => [JSON.stringify([path, hash]), { path, hash }]));
        yield [...distinct.values()]
          .sort((a, b) => compareText(a.path, b.path) || compareText(a.hash, b.hash))
          .map(({ path, hash }) => ({ path, hash, read: () => read(path, hash) }));
      },
    };
  }

  async #read({ path, hash, id }: { path: string; hash: string; id?: number }, viewer?: Viewer): Promise<Uint8Array> {
    return await this.#database.read({ viewer }, async (sql) => {
      const content = id === undefined ? await findContent(sql, hash) : await contentById(sql, id);
      if (content === undefined) throw new TrunklineError("NOT_FOUND", `The store has no content "${hash}".`);
      try {
        return await readContent(sql, content);
      } catch (error) {
        if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
        throw new TrunklineError("IO", `Cannot search ${path}: ${error.message}`, {
          cause: error,
          hint: "Skip it with `exclude`, or fix it: run trunkline store repair, or add the file again.",
          data: { ...error.data, path },
        });
      }
    });
  }

  #source(filters: SelectionParams, paths: readonly GivenPath[] | undefined, viewer: Viewer): GrepSource {
    const database = this.#database;
    const read = (document: { path: string; hash: string; id: number }) => this.#read(document);
    return {
      async *documents({ trigrams, fromPath, signal }) {
        const places =
          paths === undefined
            ? undefined
            : await database.read({ viewer, signal }, (sql) => placesOf(sql, filters, paths));
        let from: Place | undefined = fromPath === undefined ? undefined : { path: fromPath };
        while (true) {
          const rows: GrepRow[] = await database.read({ viewer, signal }, (sql) =>
            pageOf(sql, { filters, trigrams, places, from }),
          );
          yield rows.filter(isFirst).map(({ path, hash, size, type, content }): GrepDocument => {
            const document = { path, hash: Buffer.from(hash).toString("hex"), id: content };
            return { ...document, sizeBytes: size, binary: type === "binary", read: () => read(document) };
          });
          const last = rows.at(-1);
          if (rows.length < PAGE || last === undefined) return;
          from = { path: last.path, hash: last.hash };
        }
      },
    };
  }
}

interface GrepRow {
  readonly path: string;
  readonly hash: Uint8Array;
  readonly size: number;
  readonly type: string;
  readonly content: number;
}

/** The same content at the same path in two collections counts once. */
function isFirst(row: GrepRow, position: number, rows: readonly GrepRow[]): boolean {
  const before = rows[position - 1];
  return before === undefined || before.path !== row.path || Buffer.compare(before.hash, row.hash) !== 0;
}

async function pageOf(
  sql: Sql,
  {
    filters,
    trigrams,
    places,
    from,
  }: {
    filters: SelectionParams;
    trigrams: TrigramQuery | "none";
    places: readonly string[] | undefined;
    from: Place | undefined;
  },
): Promise<GrepRow[]> {
  const selection = await selectDocuments(sql, filters);
  const values = new Values(selection.values);
  const where = [selection.where];
  const condition = trigrams === "none" ? undefined : conditionOf(trigrams, values);
  if (condition !== undefined) {
    // Texts that are not in the index yet, or too long for it, may match. Binary contents are counted.
    where.push(`(c.type = 'binary' OR c.id IN (SELECT content FROM texts WHERE ${condition})
      OR NOT EXISTS (SELECT 1 FROM texts t WHERE t.content = c.id AND t.body IS NOT NULL))`);
  }
  if (places !== undefined) where.push(placeCondition(places, values));
  if (from !== undefined) {
    const path = values.place(from.path);
    where.push(
      from.hash === undefined ? `d.path >= ${path}` : `(d.path, c.hash) > (${path}, ${values.place(from.hash)}::bytea)`,
    );
  }
  return await sql.rows<GrepRow>(
    `SELECT d.path, c.hash, c.size, c.type, c.id AS content FROM ${selection.from} WHERE ${where.join(" AND ")}
     ORDER BY d.path, c.hash LIMIT ${PAGE}`,
    ...values.list,
  );
}

/** More conditions than this make it slower, not more exact. */
const MOST_CONDITIONS = 6;

/** A condition on the folded text. pg_trgm knows letters and digits; other trigrams say nothing. */
function conditionOf(query: TrigramQuery, values: Values): string | undefined {
  if (query.kind === "trigram") {
    return /^[a-z0-9]{3}$/.test(query.text) ? `body LIKE ${values.place(`%${query.text}%`)}` : undefined;
  }
  if (query.kind === "or" && query.of.some((part) => !saysSomething(part))) return undefined;
  const useful = query.of.filter(saysSomething);
  const chosen = query.kind === "or" ? useful : spread(useful);
  const parts = chosen.map((part) => conditionOf(part, values)).filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `(${parts.join(query.kind === "and" ? " AND " : " OR ")})`;
}

function saysSomething(query: TrigramQuery): boolean {
  if (query.kind === "trigram") return /^[a-z0-9]{3}$/.test(query.text);
  return query.kind === "and" ? query.of.some(saysSomething) : query.of.every(saysSomething);
}

/** Picks trigrams far from each other: neighbours say nearly the same. */
function spread(parts: readonly TrigramQuery[]): TrigramQuery[] {
  const step = Math.max(1, parts.length / MOST_CONDITIONS);
  const chosen: TrigramQuery[] = [];
  for (let at = 0; at < parts.length && chosen.length < MOST_CONDITIONS; at += step)
    chosen.push(parts[Math.floor(at)] as TrigramQuery);
  return chosen;
}

const SEPARATORS = [...new Set(["/", sep])];

function placeCondition(places: readonly string[], values: Values): string {
  const parts = places.flatMap((place) => [
    `d.path = ${values.place(place)}`,
    ...SEPARATORS.map((separator) => `starts_with(d.path, ${values.place(place + separator)})`),
  ]);
  return `(${parts.length === 0 ? "false" : parts.join(" OR ")})`;
}

/** Resolves the given paths: the path itself, also from the working directory; if neither exists, every path that ends in it. */
async function placesOf(
  sql: Sql,
  { collection, snapshot }: SelectionParams,
  paths: readonly GivenPath[],
): Promise<string[]> {
  const selection = await selectDocuments(sql, { collection, snapshot });
  const places = new Set<string>();
  for (const { given, absolute } of paths) {
    const name = given.replace(/^(?:\.\/+)+/, "").replace(/(?<=.)[/\\]+$/, "");
    const exact: string[] = [];
    for (const place of [name, absolute.replace(/[/\\]+$/, "")]) {
      const values = new Values(selection.values);
      const text = `SELECT 1 FROM ${selection.from} WHERE ${selection.where} AND ${placeCondition([place], values)} LIMIT 1`;
      if ((await sql.get(text, ...values.list)) !== undefined) exact.push(place);
    }
    const found = exact.length > 0 ? exact : await placesEndingIn(sql, selection, name);
    if (found.length === 0) {
      throw new TrunklineError("NOT_FOUND", `The store has no document or folder "${given}".`, {
        hint: "`list` shows what exists; `include` accepts patterns.",
      });
    }
    for (const place of found) places.add(place);
  }
  return [...places];
}

async function placesEndingIn(
  sql: Sql,
  { from, where, values: given }: { from: string; where: string; values: readonly unknown[] },
  name: string,
): Promise<string[]> {
  const part = `/${name.replace(/^\/+/, "")}`;
  if (part === "/") return [];
  const values = new Values(given);
  const rows = await sql.rows<{ path: string }>(
    `SELECT DISTINCT d.path FROM ${from} WHERE ${where} AND strpos('/' || d.path || '/', ${values.place(`${part}/`)}) > 0`,
    ...values.list,
  );
  return [...new Set(rows.map(({ path }) => path.slice(0, `/${path}/`.indexOf(`${part}/`) + part.length - 1)))];
}
