// The code graph in tables. Each live document has what its own text says; edges between documents are resolved from
// that afterwards, for every new document and every one that depends on it. One gateway at a time changes the graph.
import {
  affectedBy,
  decodeFacts,
  type GraphFacts,
  type GraphSource,
  providedKeys,
  resolveFile,
} from "@trunkline/store/parts";
import { LOCKS, type Sql } from "../database/sql.js";

interface GraphedDocument {
  readonly document: number;
  readonly entry: number;
  readonly collection: number;
  readonly path: string;
  readonly hash: Uint8Array;
  /** What the text says. */
  readonly bytes: Uint8Array;
}

interface FileRow {
  readonly id: number;
  readonly document: number;
  readonly collection: number;
  readonly path: string;
  readonly facts: Uint8Array;
}

export async function lockGraph(sql: Sql): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.graph})`);
}

/** Stores what texts say, and marks the documents that have to be resolved again. Needs {@link lockGraph}. */
export async function putFacts(sql: Sql, documents: readonly GraphedDocument[]): Promise<void> {
  if (documents.length === 0) return;
  const ids = documents.map(({ document }) => document);
  const knownRows = await sql.rows<FileRow>("SELECT * FROM graph_files WHERE document = ANY($1::bigint[])", ids);
  const known = new Map(knownRows.map((row) => [row.document, row]));
  const decoded = documents.map((document) => ({ ...document, facts: decodeFacts(document.bytes, document.path) }));
  for (const collection of new Set(documents.map((document) => document.collection))) {
    const affected = decoded
      .filter((document) => document.collection === collection)
      .map(({ document, facts }) => {
        const row = known.get(document);
        return affectedBy(row === undefined ? undefined : decodeFacts(row.facts, row.path), facts);
      });
    await touch(sql, collection, affected);
  }
  const old = knownRows.map(({ id }) => id);
  for (const table of old.length === 0 ? [] : ["graph_symbols", "graph_provides", "graph_edges"]) {
    await sql.run(`DELETE FROM ${table} WHERE file = ANY($1::int[])`, old);
  }
  const files = await insertFiles(sql, documents);
  const symbols = decoded.flatMap(({ document, facts }) =>
    facts.symbols.map((symbol, position) => ({ ...symbol, position, file: files.get(document) })),
  );
  await sql.run(
    `INSERT INTO graph_symbols SELECT * FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::text[])`,
    symbols.map(({ file }) => file),
    symbols.map(({ position }) => position),
    symbols.map(({ key }) => key),
    symbols.map(({ kind }) => kind),
    symbols.map(({ name }) => name),
  );
  const provided = decoded.map(({ document, facts }) => ({ file: files.get(document), keys: providedKeys(facts) }));
  await insertKeys(sql, "graph_provides", provided);
}

/** Inserts or replaces files and returns their ids by document. */
async function insertFiles(sql: Sql, documents: readonly GraphedDocument[]): Promise<Map<number, number>> {
  let end = 0;
  const starts = documents.map(({ bytes }) => {
    end += bytes.length;
    return end - bytes.length;
  });
  const rows = await sql.rows<{ id: number; document: number }>(
    `INSERT INTO graph_files (document, entry, collection, path, hash, facts, is_pending)
     SELECT n.document, n.entry, n.collection, n.path, decode(n.hash, 'hex'), substring($6::bytea FROM n.start + 1 FOR n.size), true
     FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $7::int[], $8::int[])
       AS n(document, entry, collection, path, hash, start, size)
     ON CONFLICT (document) DO UPDATE SET entry = excluded.entry, hash = excluded.hash, facts = excluded.facts, is_pending = true
     RETURNING id, document`,
    documents.map(({ document }) => document),
    documents.map(({ entry }) => entry),
    documents.map(({ collection }) => collection),
    documents.map(({ path }) => path),
    documents.map(({ hash }) => Buffer.from(hash).toString("hex")),
    Buffer.concat(documents.map(({ bytes }) => bytes)),
    starts,
    documents.map(({ bytes }) => bytes.length),
  );
  return new Map(rows.map(({ id, document }) => [document, id]));
}

async function insertKeys(
  sql: Sql,
  table: "graph_provides" | "graph_depends",
  files: readonly { readonly file: number | undefined; readonly keys: Iterable<string> }[],
): Promise<void> {
  const rows = files.flatMap(({ file, keys }) => [...new Set(keys)].map((key) => ({ file, key })));
  await sql.run(
    `INSERT INTO ${table} SELECT * FROM unnest($1::int[], $2::text[])`,
    rows.map(({ file }) => file),
    rows.map(({ key }) => key),
  );
}

/** Removes a document that is not live any more. Needs {@link lockGraph}. */
export async function dropFacts(sql: Sql, document: number): Promise<void> {
  const known = await sql.get<FileRow>("DELETE FROM graph_files WHERE document = $1 RETURNING *", document);
  if (known !== undefined)
    await touch(sql, known.collection, [affectedBy(decodeFacts(known.facts, known.path), undefined)]);
}

async function touch(sql: Sql, collection: number, affected: readonly ReturnType<typeof affectedBy>[]): Promise<void> {
  const keys = [...new Set(affected.flatMap((each) => each.keys))];
  if (keys.length > 0)
    await sql.run(
      `UPDATE graph_files SET is_pending = true WHERE collection = $1 AND NOT is_pending AND id IN (
       SELECT g.file FROM unnest($2::text[]) k JOIN graph_depends g ON g.key = k)`,
      collection,
      keys,
    );
  for (const under of new Set(affected.map((each) => each.under))) {
    if (under === undefined) continue;
    const [condition, value] =
      under === "."
        ? ["NOT starts_with(path, $2)", "/"]
        : ["starts_with(path, $2)", under.endsWith("/") ? under : `${under}/`];
    await sql.run(
      `UPDATE graph_files SET is_pending = true WHERE collection = $1 AND NOT is_pending AND ${condition}`,
      ...[collection, value],
    );
  }
}

/** Resolves some of the waiting documents and returns how many. Needs {@link lockGraph}. */
export async function resolveSome(sql: Sql, most: number): Promise<number> {
  const rows = await sql.rows<FileRow>("SELECT * FROM graph_files WHERE is_pending ORDER BY id LIMIT $1", most);
  if (rows.length === 0) return 0;
  const resolved: Resolved[] = [];
  for (const collection of new Set(rows.map((row) => row.collection))) {
    const own = rows.filter((row) => row.collection === collection);
    resolved.push(...(await resolveTogether(sql, collection, own)));
  }
  const ids = rows.map(({ id }) => id);
  await sql.run("DELETE FROM graph_edges WHERE file = ANY($1::int[])", ids);
  await sql.run("DELETE FROM graph_depends WHERE file = ANY($1::int[])", ids);
  const edges = resolved.flatMap(({ file, edges: all }) => all.map((edge, position) => ({ ...edge, file, position })));
  await sql.run(
    `INSERT INTO graph_edges SELECT * FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::boolean[])`,
    edges.map(({ file }) => file),
    edges.map(({ position }) => position),
    edges.map(({ from }) => from),
    edges.map(({ to }) => to),
    edges.map(({ relation }) => relation),
    edges.map(({ line }) => line ?? null),
    edges.map((edge) => edge.resolved),
  );
  await insertKeys(
    sql,
    "graph_depends",
    resolved.map(({ file, dependsOn }) => ({ file, keys: dependsOn })),
  );
  await sql.run("UPDATE graph_files SET is_pending = false WHERE id = ANY($1::int[])", ids);
  return rows.length;
}

type Resolved = ReturnType<typeof resolveFile> & { readonly file: number };

/** Resolves files of one collection: each round answers the questions of all that are not done. */
async function resolveTogether(sql: Sql, collection: number, rows: readonly FileRow[]): Promise<Resolved[]> {
  const known = new Map<string, GraphFacts | readonly string[] | undefined>();
  const done: Resolved[] = [];
  let open = rows.map((row) => ({ file: row.id, facts: decodeFacts(row.facts, row.path) }));
  while (open.length > 0) {
    const asked = new Set<string>();
    const waiting: typeof open = [];
    for (const each of open) {
      let isDone = true;
      const result = resolveFile(
        each.facts,
        sourceOf((question) => {
          if (!known.has(question)) {
            asked.add(question);
            isDone = false;
          }
          return known.get(question);
        }),
      );
      if (isDone) done.push({ ...result, file: each.file });
      else waiting.push(each);
    }
    open = waiting;
    if (open.length === 0) break;
    const answers = await answer(sql, collection, [...asked]);
    for (const question of asked) known.set(question, answers.get(question));
  }
  return done;
}

type Ask = (question: string) => GraphFacts | readonly string[] | undefined;

function sourceOf(ask: Ask): GraphSource {
  return {
    file: (path) => ask(`file ${path}`) as GraphFacts | undefined,
    providers: (key) => (ask(`providers ${key}`) as readonly string[] | undefined) ?? [],
  };
}

async function answer(
  sql: Sql,
  collection: number,
  questions: readonly string[],
): Promise<Map<string, GraphFacts | readonly string[]>> {
  const answers = new Map<string, GraphFacts | readonly string[]>();
  const named = (word: string) =>
    questions.filter((each) => each.startsWith(`${word} `)).map((each) => each.slice(word.length + 1));
  const live = "JOIN documents d ON d.id = f.document AND d.state = 'live'";
  const files = await sql.rows<FileRow>(
    `SELECT f.* FROM unnest($2::text[]) p JOIN graph_files f ON md5(f.path) = md5(p) AND f.path = p AND f.collection = $1 ${live}`,
    collection,
    named("file"),
  );
  for (const { path, facts } of files) answers.set(`file ${path}`, decodeFacts(facts, path));
  const providers = await sql.rows<{ key: string; paths: string[] }>(
    `SELECT k AS key, array_agg(f.path ORDER BY f.path) AS paths FROM unnest($2::text[]) k JOIN graph_provides g ON g.key = k
     JOIN graph_files f ON f.id = g.file AND f.collection = $1 ${live} GROUP BY k`,
    collection,
    named("providers"),
  );
  for (const { key, paths } of providers) answers.set(`providers ${key}`, [...paths].sort());
  return answers;
}
