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
import { untilAnswered } from "../search/until-answered.js";

export interface GraphedDocument {
  readonly document: number;
  readonly entry: number;
  readonly collection: number;
  readonly path: string;
  readonly hash: Uint8Array;
}

interface FileRow {
  readonly id: number;
  readonly collection: number;
  readonly path: string;
  readonly facts: Uint8Array;
}

export async function lockGraph(sql: Sql): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.graph})`);
}

/** Stores what a text says, and marks the documents that have to be resolved again. Needs {@link lockGraph}. */
export async function putFacts(sql: Sql, document: GraphedDocument, bytes: Uint8Array): Promise<void> {
  const { collection, path } = document;
  const facts = decodeFacts(bytes, path);
  const known = await sql.get<FileRow>("SELECT * FROM graph_files WHERE document = $1", document.document);
  const before = known === undefined ? undefined : decodeFacts(known.facts, known.path);
  await touch(sql, collection, affectedBy(before, facts));
  const { id } = await sql.one<{ id: number }>(
    `INSERT INTO graph_files (document, entry, collection, path, hash, facts, is_pending) VALUES ($1, $2, $3, $4, $5, $6, true)
     ON CONFLICT (document) DO UPDATE SET entry = excluded.entry, hash = excluded.hash, facts = excluded.facts, is_pending = true
     RETURNING id`,
    ...[document.document, document.entry, collection, path, document.hash, bytes],
  );
  if (known !== undefined) {
    await sql.run("DELETE FROM graph_symbols WHERE file = $1", id);
    await sql.run("DELETE FROM graph_provides WHERE file = $1", id);
    await sql.run("DELETE FROM graph_edges WHERE file = $1", id);
  }
  const { symbols } = facts;
  if (symbols.length > 0)
    await sql.run(
      `INSERT INTO graph_symbols SELECT $1, n.position, n.key, n.kind, n.name
     FROM unnest($2::int[], $3::text[], $4::text[], $5::text[]) AS n(position, key, kind, name)`,
      id,
      symbols.map((_, position) => position),
      symbols.map(({ key }) => key),
      symbols.map(({ kind }) => kind),
      symbols.map(({ name }) => name),
    );
  await sql.run("INSERT INTO graph_provides SELECT $1, unnest($2::text[])", id, [...new Set(providedKeys(facts))]);
}

/** Removes a document that is not live any more. Needs {@link lockGraph}. */
export async function dropFacts(sql: Sql, document: number): Promise<void> {
  const known = await sql.get<FileRow>("DELETE FROM graph_files WHERE document = $1 RETURNING *", document);
  if (known !== undefined)
    await touch(sql, known.collection, affectedBy(decodeFacts(known.facts, known.path), undefined));
}

async function touch(sql: Sql, collection: number, { keys, under }: ReturnType<typeof affectedBy>): Promise<void> {
  if (keys.length > 0)
    await sql.run(
      `UPDATE graph_files SET is_pending = true WHERE collection = $1 AND id IN (
       SELECT g.file FROM unnest($2::text[]) k JOIN graph_depends g ON g.key = k)`,
      collection,
      keys,
    );
  if (under === undefined) return;
  const [condition, value] =
    under === "."
      ? ["NOT starts_with(path, $2)", "/"]
      : ["starts_with(path, $2)", under.endsWith("/") ? under : `${under}/`];
  await sql.run(`UPDATE graph_files SET is_pending = true WHERE collection = $1 AND ${condition}`, collection, value);
}

/** Resolves some of the waiting documents and returns how many. Needs {@link lockGraph}. */
export async function resolveSome(sql: Sql, most: number): Promise<number> {
  const rows = await sql.rows<FileRow>("SELECT * FROM graph_files WHERE is_pending ORDER BY id LIMIT $1", most);
  for (const row of rows) await resolveAgain(sql, row);
  return rows.length;
}

async function resolveAgain(sql: Sql, row: FileRow): Promise<void> {
  const facts = decodeFacts(row.facts, row.path);
  const { edges, dependsOn } = await untilAnswered<GraphFacts | readonly string[], ReturnType<typeof resolveFile>>(
    (ask) => resolveFile(facts, sourceOf(ask)),
    (questions) => answer(sql, row.collection, questions),
  );
  await sql.run("DELETE FROM graph_edges WHERE file = $1", row.id);
  await sql.run("DELETE FROM graph_depends WHERE file = $1", row.id);
  await sql.run(
    `INSERT INTO graph_edges SELECT $1, n.position, n.source, n.target, n.relation, n.line, n.is_resolved
     FROM unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::boolean[])
       AS n(position, source, target, relation, line, is_resolved)`,
    row.id,
    edges.map((_, position) => position),
    edges.map(({ from }) => from),
    edges.map(({ to }) => to),
    edges.map(({ relation }) => relation),
    edges.map(({ line }) => line ?? null),
    edges.map(({ resolved }) => resolved),
  );
  await sql.run("INSERT INTO graph_depends SELECT $1, unnest($2::text[])", row.id, [...new Set(dependsOn)]);
  await sql.run("UPDATE graph_files SET is_pending = false WHERE id = $1", row.id);
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
