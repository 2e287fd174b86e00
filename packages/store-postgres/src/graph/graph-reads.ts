// Walks through the stored graph. Edges found in texts have a table; tags, collections, equal content and versions are
// read from the documents. Each step of a walk is a few statements, however many nodes it reaches.
import {
  collectionKey,
  fileKey,
  type GraphEdge,
  type NodeDescription,
  parseKey,
  type Relation,
  tagKey,
  traverse,
  versionKey,
} from "@trunkline/store/parts";
import { hexOf } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";
import { untilAnswered } from "../search/until-answered.js";

/** Documents of the graph that are live and that the viewer can see: `f`, `d` and `k`. */
export const VISIBLE = `(graph_files f JOIN seen_documents d ON d.id = f.document AND d.state = 'live'
  JOIN seen_collections k ON k.id = d.collection)`;

/** Live documents: `d`, `v`, `c` and `k`. */
const LIVE = `seen_documents d JOIN seen_collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
  JOIN contents c ON c.id = v.content`;

type Answer = readonly GraphEdge[] | readonly string[] | NodeDescription;

interface Walk {
  readonly sql: Sql;
  readonly collection: string | null;
  /** Half of these may be known already; anything beyond would be cut anyway. */
  readonly most: number;
}

export async function traverseStored(
  sql: Sql,
  origin: { readonly key: string; readonly collection: string | undefined },
  options: { depth: number; limit: number; reverse?: boolean; relation?: Relation },
): Promise<ReturnType<typeof traverse>> {
  const walk: Walk = { sql, collection: origin.collection ?? null, most: 2 * options.limit + 2 };
  return await untilAnswered<Answer, ReturnType<typeof traverse>>(
    (ask) =>
      traverse(origin.key, options, {
        *edges(key, { relation, reverse }) {
          const found = ask(`${reverse ? "to" : "from"} ${key}`) as readonly GraphEdge[] | undefined;
          for (const edge of found ?? []) if (relation === undefined || edge.relation === relation) yield edge;
        },
        symbols: (key) => (ask(`symbols ${key}`) as readonly string[] | undefined) ?? [],
        describe: (key) => ask(`describe ${key}`) as NodeDescription | undefined,
      }),
    async (questions) => {
      const named = (word: string) =>
        questions.filter((each) => each.startsWith(`${word} `)).map((each) => each.slice(word.length + 1));
      const answers = new Map<string, Answer>();
      for (const reverse of [false, true]) {
        const word = reverse ? "to" : "from";
        const found = await edgesOf(walk, named(word), reverse);
        for (const [key, edges] of found) answers.set(`${word} ${key}`, edges);
      }
      for (const [key, symbols] of await symbolsOf(walk, named("symbols"))) answers.set(`symbols ${key}`, symbols);
      for (const [key, known] of await describe(walk, named("describe"))) answers.set(`describe ${key}`, known);
      return answers;
    },
  );
}

async function edgesOf(walk: Walk, keys: readonly string[], reverse: boolean): Promise<Map<string, GraphEdge[]>> {
  const found = new Map(keys.map((key): [string, GraphEdge[]] => [key, []]));
  if (keys.length === 0) return found;
  const column = reverse ? "to_key" : "from_key";
  const rows = await walk.sql.rows<{
    from_key: string;
    to_key: string;
    relation: Relation;
    line: number | null;
    is_resolved: boolean;
  }>(
    `SELECT e.from_key, e.to_key, e.relation, e.line, e.is_resolved
     FROM unnest($1::text[]) n JOIN graph_edges e ON e.${column} = n JOIN ${VISIBLE} ON f.id = e.file
     WHERE $2::text IS NULL OR k.name = $2::text ORDER BY f.path, e.position`,
    keys,
    walk.collection,
  );
  for (const { from_key: from, to_key: to, relation, line, is_resolved: resolved } of rows) {
    found.get(reverse ? to : from)?.push({ from, to, relation, ...(line === null ? {} : { line }), resolved });
  }
  const others = reverse ? await incoming(walk, keys) : await outgoing(walk, keys);
  for (const [key, relation, other] of others) {
    const [from, to] = reverse ? [other, key] : [key, other];
    found.get(key)?.push({ from, to, relation, resolved: true });
  }
  return found;
}

type Link = readonly [key: string, relation: Relation, other: string];

/** A document has tags, is in a collection, and points to documents with the same content. */
async function outgoing(walk: Walk, keys: readonly string[]): Promise<Link[]> {
  const paths = pathsOf(keys);
  const links: Link[] = [
    ...(await values(walk, paths, "JOIN document_tags t ON t.document = d.id", "t.tag")).map(
      ([path, tag]): Link => [fileKey(path), "TAGGED", tagKey(tag)],
    ),
    ...(await values(walk, paths, "", "k.name")).map(
      ([path, name]): Link => [fileKey(path), "IN_COLLECTION", collectionKey(name)],
    ),
    ...(await sameContent(walk, paths)),
  ];
  for (const key of keys) {
    const parsed = parseKey(key);
    if (parsed?.space === "version") links.push([key, "VERSION_OF", fileKey(parsed.path ?? "")]);
    if (parsed?.space !== "content") continue;
    const hash = Buffer.from(parsed.hash ?? "", "hex");
    for (const path of await livePaths(walk, "c.hash = $3", hash)) links.push([key, "SAME_CONTENT", fileKey(path)]);
  }
  return links;
}

async function incoming(walk: Walk, keys: readonly string[]): Promise<Link[]> {
  const paths = pathsOf(keys);
  const links: Link[] = [...(await sameContent(walk, paths)), ...(await olderVersions(walk, paths))];
  for (const key of keys) {
    const parsed = parseKey(key);
    if (parsed?.space === "tag") {
      const condition = "EXISTS (SELECT 1 FROM document_tags t WHERE t.document = d.id AND t.tag = $3)";
      for (const path of await livePaths(walk, condition, parsed.name)) links.push([key, "TAGGED", fileKey(path)]);
    } else if (parsed?.space === "collection") {
      for (const path of await livePaths(walk, "k.name = $3", parsed.name))
        links.push([key, "IN_COLLECTION", fileKey(path)]);
    }
  }
  return links;
}

function pathsOf(keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const parsed = parseKey(key);
    return parsed?.space === "file" && parsed.path !== undefined ? [parsed.path] : [];
  });
}

async function values(
  { sql, collection }: Walk,
  paths: readonly string[],
  join: string,
  column: string,
): Promise<[string, string][]> {
  if (paths.length === 0) return [];
  const rows = await sql.rows<{ path: string; value: string }>(
    `SELECT DISTINCT d.path, ${column} AS value FROM unnest($1::text[]) p
     JOIN (${LIVE} ${join}) ON md5(d.path) = md5(p) AND d.path = p
     WHERE d.state = 'live' AND ($2::text IS NULL OR k.name = $2::text) ORDER BY 1, 2`,
    paths,
    collection,
  );
  return rows.map(({ path, value }) => [path, value]);
}

async function livePaths({ sql, collection, most }: Walk, condition: string, value: unknown): Promise<string[]> {
  const rows = await sql.rows<{ path: string }>(
    `SELECT DISTINCT d.path FROM ${LIVE} WHERE ${condition} AND d.state = 'live' AND ($1::text IS NULL OR k.name = $1::text)
     ORDER BY d.path LIMIT $2`,
    ...[collection, most, value],
  );
  return rows.map(({ path }) => path);
}

/** Empty files have nothing in common. */
async function sameContent({ sql, collection }: Walk, paths: readonly string[]): Promise<Link[]> {
  if (paths.length === 0) return [];
  const rows = await sql.rows<{ path: string; other: string }>(
    `SELECT DISTINCT n.path, d.path AS other FROM (
       SELECT DISTINCT ON (d.path) d.path, v.content FROM unnest($1::text[]) p JOIN (${LIVE}) ON md5(d.path) = md5(p) AND d.path = p
       WHERE d.state = 'live' AND ($2::text IS NULL OR k.name = $2::text) ORDER BY d.path, d.id) n
     JOIN versions v ON v.content = n.content JOIN seen_documents d ON d.version = v.id AND d.state = 'live' AND d.path <> n.path
     JOIN contents c ON c.id = v.content AND c.size > 0 JOIN seen_collections k ON k.id = d.collection
     WHERE $2::text IS NULL OR k.name = $2::text ORDER BY 1, 2`,
    paths,
    collection,
  );
  return rows.map(({ path, other }): Link => [fileKey(path), "SAME_CONTENT", fileKey(other)]);
}

/** Returns the contents that documents had before. */
async function olderVersions({ sql, collection }: Walk, paths: readonly string[]): Promise<Link[]> {
  if (paths.length === 0) return [];
  const rows = await sql.rows<{ path: string; hash: Uint8Array }>(
    `SELECT d.path, o.hash, max(w.seq_from) AS last FROM unnest($1::text[]) p JOIN (${LIVE}) ON md5(d.path) = md5(p) AND d.path = p
     JOIN versions w ON w.document = d.id AND w.content <> v.content JOIN contents o ON o.id = w.content
     WHERE d.state = 'live' AND ($2::text IS NULL OR k.name = $2::text) GROUP BY d.path, o.hash ORDER BY last DESC`,
    paths,
    collection,
  );
  return rows.map(({ path, hash }): Link => [fileKey(path), "VERSION_OF", versionKey(path, hexOf(hash))]);
}

async function symbolsOf({ sql, collection }: Walk, keys: readonly string[]): Promise<Map<string, string[]>> {
  const paths = pathsOf(keys);
  const found = new Map<string, string[]>();
  if (paths.length === 0) return found;
  const rows = await sql.rows<{ path: string; key: string }>(
    `SELECT f.path, s.key FROM unnest($1::text[]) p JOIN ${VISIBLE} ON md5(f.path) = md5(p) AND f.path = p
     JOIN graph_symbols s ON s.file = f.id WHERE $2::text IS NULL OR k.name = $2::text ORDER BY f.id, s.position`,
    paths,
    collection,
  );
  for (const { path, key } of rows) {
    const symbols = found.get(fileKey(path)) ?? [];
    symbols.push(key);
    found.set(fileKey(path), symbols);
  }
  return found;
}

async function describe({ sql, collection }: Walk, keys: readonly string[]): Promise<Map<string, NodeDescription>> {
  const found = new Map<string, NodeDescription>();
  const files = await sql.rows<{ path: string; hash: Uint8Array }>(
    `SELECT DISTINCT ON (d.path) d.path, c.hash FROM unnest($1::text[]) p JOIN (${LIVE}) ON md5(d.path) = md5(p) AND d.path = p
     WHERE d.state = 'live' AND ($2::text IS NULL OR k.name = $2::text) ORDER BY d.path, d.id`,
    pathsOf(keys),
    collection,
  );
  for (const { path, hash } of files) found.set(fileKey(path), { hash: hexOf(hash) });
  const symbols = keys.filter((key) => parseKey(key)?.space === "symbol");
  const rows = await sql.rows<{
    key: string;
    kind: NodeDescription["type"];
    name: string;
    path: string;
    hash: Uint8Array;
  }>(
    `SELECT s.key, s.kind, s.name, f.path, f.hash FROM unnest($1::text[], $2::text[]) AS n(key, path)
     JOIN ${VISIBLE} ON md5(f.path) = md5(n.path) AND f.path = n.path JOIN graph_symbols s ON s.file = f.id AND s.key = n.key
     WHERE $3::text IS NULL OR k.name = $3::text ORDER BY f.id DESC`,
    symbols,
    symbols.map((key) => parseKey(key)?.path ?? ""),
    collection,
  );
  for (const { key, kind, name, path, hash } of rows)
    found.set(key, { ...(kind === undefined ? {} : { type: kind }), name, path, hash: hexOf(hash) });
  return found;
}
