// `graph`: what documents and what is defined in them have to do with each other. Edges of the text come from the index;
// tags, collections, equal content and versions are read from the truth as they are.
import { TrunklineError } from "@trunkline/core";
import {
  collectionKey,
  contentKey,
  externalKey,
  fileKey,
  type GraphEdge,
  type Neighbours,
  NODE_TYPES,
  type NodeDescription,
  type NodeType,
  type ParsedKey,
  parseKey,
  parseRelation,
  RELATIONS,
  type Relation,
  tagKey,
  toMermaid,
  traverse,
  versionKey,
} from "../graph/index.js";
import { graphPending } from "../indexing/graph.js";
import { wholeNumber } from "../params.js";
import { bytesOf, findContent, hexOf, resolveContent } from "../sqlite/contents.js";
import type { Db, SqlValue } from "../sqlite/database.js";
import { collectionId, type DocumentRow } from "../sqlite/documents.js";
import { requireCollection } from "../sqlite/filters.js";
import { documentsNamed, oneDocument, severalDocuments } from "../sqlite/find-document.js";
import type { GraphParams, GraphResult, RelatedDocuments } from "../types.js";
import type { Call } from "../workers/rpc.js";
import type { ReadEnvironment } from "./environment.js";

const DEFAULT_LIMIT = 100;
const MOST_NODES = 10_000;

/** Parameters of `graph` with a relative path resolved as well. */
export interface ResolvedGraphParams extends GraphParams {
  readonly absolute?: string | undefined;
}

interface Databases {
  readonly truth: Db;
  readonly index: Db;
}

/** Where to begin, and the collection to stay in: a path may be in several. */
interface Origin {
  readonly key: string;
  readonly collection: string | undefined;
}

/** `graph`. */
export function graph(env: ReadEnvironment, params: ResolvedGraphParams, call: Call): GraphResult {
  const { hash, name, node_key, list_types, list_type, format = "json" } = params;
  const asked = [hash, name, node_key, list_types || undefined, list_type].filter((value) => value !== undefined);
  if (asked.length !== 1) {
    throw new TrunklineError("INVALID_ARGUMENT", "graph needs one of hash, name, node_key, list_types and list_type.");
  }
  if (format !== "json" && format !== "mermaid") {
    throw new TrunklineError("INVALID_ARGUMENT", `"${String(format)}" is no format of graph.`, {
      hint: "Use json or mermaid.",
    });
  }
  const depth = wholeNumber(params.depth, { name: "depth", from: 1, to: 5 }) ?? 1;
  const limit = wholeNumber(params.limit, { name: "limit", from: 1, to: MOST_NODES }) ?? DEFAULT_LIMIT;
  const relation = params.relation === undefined ? undefined : relationOf(params.relation);
  return reading(env, () => {
    const notice = noticeOf(env.index);
    if (params.collection !== undefined) requireCollection(env.truth, params.collection);
    if (list_types) return { types: typesOf(env, params.collection), ...notice };
    if (list_type !== undefined) return { ...nodesOfType(env, list_type, { ...params, limit }), ...notice };
    const origin = originOf(env, params);
    const neighbours = new StoredGraph(env, { collection: origin.collection, limit, check: call.check });
    const reverse = params.reverse ?? false;
    const found = traverse(
      origin.key,
      { depth, limit, reverse, ...(relation === undefined ? {} : { relation }) },
      neighbours,
    );
    const truncated = found.truncated ? { truncated: true } : {};
    if (format === "mermaid") return { origin: found.origin, mermaid: toMermaid(found), ...truncated, ...notice };
    return { origin: found.origin, nodes: found.nodes, edges: found.edges.map(answerEdge), ...truncated, ...notice };
  });
}

/** What a live document is related to, for `get`. */
export function relatedTo(
  env: Databases,
  { path, collection, depth }: { path: string; collection: string; depth: number },
  call: Call,
): RelatedDocuments {
  return reading(env, () => {
    const neighbours = new StoredGraph(env, { collection, limit: DEFAULT_LIMIT, check: call.check });
    const found = traverse(fileKey(path), { depth, limit: DEFAULT_LIMIT }, neighbours);
    return {
      nodes: found.nodes,
      edges: found.edges.map(answerEdge),
      ...(found.truncated ? { truncated: true } : {}),
      ...noticeOf(env.index),
    };
  });
}

function reading<T>({ truth, index }: Databases, work: () => T): T {
  return truth.reading(() => index.reading(work));
}

/** The parser's edges say of each whether it is resolved; answers only say so of those that are not. */
function answerEdge({ resolved, ...edge }: GraphEdge): Omit<GraphEdge, "resolved"> & { resolved?: false } {
  return resolved ? edge : { ...edge, resolved: false };
}

function noticeOf(index: Db): { notice?: string } {
  const pending = graphPending(index);
  if (pending === 0) return {};
  return { notice: `${pending} ${pending === 1 ? "document is" : "documents are"} still being taken into the graph.` };
}

function relationOf(text: string): Relation {
  const relation = parseRelation(text);
  if (relation !== undefined) return relation;
  throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is no relation.`, {
    hint: `There are: ${RELATIONS.join(", ")}.`,
  });
}

function originOf(env: Databases, params: ResolvedGraphParams): Origin {
  if (params.hash !== undefined) return originByHash(env, params.hash, params.collection);
  if (params.node_key !== undefined) return originByKey(env, params.node_key, params.collection);
  return originByName(env, params.name ?? "", params);
}

function originOfDocument({ truth }: Databases, document: DocumentRow): Origin {
  const { name } = truth.one<{ name: string }>("SELECT name FROM collections WHERE id = ?", document.collection);
  return { key: fileKey(document.path), collection: name };
}

/** The document that has the content, the newest of several; else the one that had it; else the content itself. */
function originByHash(env: Databases, hash: string, collection: string | undefined): Origin {
  const content = resolveContent(env.truth, hash);
  const id = collection === undefined ? null : requireCollection(env.truth, collection);
  const document = env.truth.get<DocumentRow & { current: number }>(
    `SELECT d.*, d.version = v.id AS current FROM versions v JOIN documents d ON d.id = v.document
     WHERE v.content = ? AND d.state = 'live' AND (? IS NULL OR d.collection = ?)
     ORDER BY d.version = v.id DESC, v.seq_from DESC LIMIT 1`,
    content.id,
    id,
    id,
  );
  if (document === undefined) return { key: contentKey(hexOf(content.hash)), collection };
  const origin = originOfDocument(env, document);
  return document.current === 1 ? origin : { ...origin, key: versionKey(document.path, hexOf(content.hash)) };
}

/** A document of this name; where there is none, something that is defined under it. */
function originByName(env: Databases, name: string, { collection, absolute }: ResolvedGraphParams): Origin {
  const found = documentsNamed(env.truth, name, { collection, absolute });
  if (found.length > 1) throw severalDocuments(env.truth, name, found);
  if (found[0] !== undefined) return originOfDocument(env, found[0]);
  const last = name.slice(name.lastIndexOf(".") + 1);
  const symbols = env.index
    .all<{ key: string; collection: string }>(
      `SELECT k.key, f.collection FROM graph_nodes n JOIN graph_keys k ON k.id = n.key JOIN graph_files f ON f.id = n.file
       WHERE n.name = ? AND f.gone = 0 AND (? IS NULL OR f.collection = ?) ORDER BY k.key LIMIT 200`,
      last,
      collection ?? null,
      collection ?? null,
    )
    .filter(({ key }) => last === name || (parseKey(key)?.qualifiedName ?? "").endsWith(name));
  const [only, ...others] = symbols;
  if (only === undefined) {
    // Says that there is no such document.
    return originOfDocument(env, oneDocument(env.truth, name, { collection, absolute }));
  }
  if (others.length === 0) return only;
  const matches = symbols.slice(0, 20).map(({ key }) => key);
  throw new TrunklineError("AMBIGUOUS", `"${name}" is defined ${symbols.length} times: ${matches.join(", ")}.`, {
    hint: "Give one of them as node_key.",
    data: { matches },
  });
}

function originByKey(env: Databases, key: string, collection: string | undefined): Origin {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${key}" is not the key of a node.`, {
      hint: "Keys look like file:/src/a.ts and symbol:/src/a.ts#run; list_type shows those that there are.",
    });
  }
  const { path } = parsed;
  const places = path === undefined ? [collection] : collectionsWith(env.truth, path, collection);
  const there = places.filter((place) => exists(env, { key, parsed, collection: place }));
  if (there.length === 0) {
    throw new TrunklineError("NOT_FOUND", `The graph has no node "${key}".`, {
      hint: "list_types shows what there is, list_type the nodes of one type.",
    });
  }
  if (there.length > 1) {
    throw new TrunklineError("AMBIGUOUS", `"${key}" is in ${there.length} collections: ${there.join(", ")}.`, {
      hint: "Give a collection.",
      data: { matches: there },
    });
  }
  return { key, collection: there[0] };
}

function collectionsWith(truth: Db, path: string, collection: string | undefined): string[] {
  return truth
    .all<{ name: string }>(
      `SELECT k.name FROM documents d JOIN collections k ON k.id = d.collection
       WHERE d.path = ? AND d.state = 'live' AND (? IS NULL OR k.name = ?) ORDER BY k.name`,
      path,
      collection ?? null,
      collection ?? null,
    )
    .map((row) => row.name);
}

function exists(
  { truth, index }: Databases,
  { key, parsed, collection }: { key: string; parsed: ParsedKey; collection: string | undefined },
): boolean {
  switch (parsed.space) {
    case "file":
      return true;
    case "symbol":
    case "external": {
      const id = index.get<{ id: number }>("SELECT id FROM graph_keys WHERE key = ?", key)?.id;
      if (id === undefined) return false;
      const from = parsed.space === "symbol" ? "graph_nodes g" : "graph_edges g";
      const column = parsed.space === "symbol" ? "g.key" : "g.target";
      return (
        index.get(
          `SELECT 1 FROM ${from} JOIN graph_files f ON f.id = g.file WHERE ${column} = ? AND (? IS NULL OR f.collection = ?)`,
          id,
          collection ?? null,
          collection ?? null,
        ) !== undefined
      );
    }
    case "tag":
      return truth.get("SELECT 1 FROM document_tags WHERE tag = ?", parsed.name) !== undefined;
    case "collection":
      return collectionId(truth, parsed.name) !== undefined;
    case "content":
    case "version": {
      if (!/^[0-9a-f]{64}$/.test(parsed.hash ?? "")) return false;
      const content = findContent(truth, parsed.hash ?? "");
      if (content === undefined || parsed.path === undefined) return content !== undefined;
      return (
        truth.get(
          "SELECT 1 FROM versions v JOIN documents d ON d.id = v.document WHERE v.content = ? AND d.path = ?",
          content.id,
          parsed.path,
        ) !== undefined
      );
    }
  }
}

/** Both databases as one graph, within one collection or over all. */
class StoredGraph implements Neighbours {
  readonly #truth: Db;
  readonly #index: Db;
  readonly #collection: string | null;
  readonly #most: number;
  readonly #check: () => void;

  constructor(
    { truth, index }: Databases,
    options: { readonly collection: string | undefined; readonly limit: number; readonly check: () => void },
  ) {
    this.#truth = truth;
    this.#index = index;
    this.#collection = options.collection ?? null;
    // Half of them may be known already; what goes beyond can only be cut.
    this.#most = 2 * options.limit + 2;
    this.#check = options.check;
  }

  *edges(key: string, filter: { readonly relation?: Relation; readonly reverse: boolean }): Iterable<GraphEdge> {
    this.#check();
    yield* this.#textEdges(key, filter);
    const parsed = parseKey(key);
    if (parsed === undefined || parsed.space === "symbol" || parsed.space === "external") return;
    const all = filter.reverse ? this.#incoming(parsed) : this.#outgoing(parsed);
    for (const [relation, other] of all) {
      if (filter.relation !== undefined && relation !== filter.relation) continue;
      for (const end of other()) {
        const [from, to] = filter.reverse ? [end, key] : [key, end];
        yield { from, to, relation, resolved: true };
      }
    }
  }

  #textEdges(
    key: string,
    { relation, reverse }: { readonly relation?: Relation; readonly reverse: boolean },
  ): GraphEdge[] {
    const [own, other] = reverse ? ["target", "source"] : ["source", "target"];
    const rows = this.#index.all<{ other: string; relation: Relation; line: number | null; resolved: number }>(
      `SELECT o.key AS other, g.relation, g.line, g.resolved FROM graph_keys k JOIN graph_edges g ON g.${own} = k.id
       JOIN graph_keys o ON o.id = g.${other} JOIN graph_files f ON f.id = g.file
       WHERE k.key = ? AND (? IS NULL OR f.collection = ?) AND (? IS NULL OR g.relation = ?) AND f.gone = 0
       ORDER BY f.path, g.position`,
      key,
      this.#collection,
      this.#collection,
      relation ?? null,
      relation ?? null,
    );
    return rows.map((row) => ({
      from: reverse ? row.other : key,
      to: reverse ? key : row.other,
      relation: row.relation,
      ...(row.line === null ? {} : { line: row.line }),
      resolved: row.resolved === 1,
    }));
  }

  /** A document has tags and lies in a collection; documents with the same content point at each other. */
  #outgoing(parsed: ParsedKey): (readonly [Relation, () => string[]])[] {
    const { path = "", hash = "" } = parsed;
    switch (parsed.space) {
      case "file":
        return [
          ["TAGGED", () => this.#ofDocument("document_tags t", "t.tag", "t.document = d.id", path).map(tagKey)],
          [
            "IN_COLLECTION",
            () => this.#ofDocument("collections n", "n.name", "n.id = d.collection", path).map(collectionKey),
          ],
          ["SAME_CONTENT", () => this.#sameContent(path)],
        ];
      case "content":
        return [["SAME_CONTENT", () => this.#files("c.hash = ?", bytesOf(hash))]];
      case "version":
        return [["VERSION_OF", () => [fileKey(path)]]];
      default:
        return [];
    }
  }

  #incoming(parsed: ParsedKey): (readonly [Relation, () => string[]])[] {
    const { path = "", name } = parsed;
    switch (parsed.space) {
      case "file":
        return [
          ["SAME_CONTENT", () => this.#sameContent(path)],
          ["VERSION_OF", () => this.#versions(path)],
        ];
      case "tag":
        return [
          [
            "TAGGED",
            () => this.#files("EXISTS (SELECT 1 FROM document_tags t WHERE t.document = d.id AND t.tag = ?)", name),
          ],
        ];
      case "collection":
        return [["IN_COLLECTION", () => this.#files("k.name = ?", name)]];
      default:
        return [];
    }
  }

  #ofDocument(table: string, column: string, on: string, path: string): string[] {
    return this.#truth
      .all<{ value: string }>(
        `SELECT DISTINCT ${column} AS value FROM documents d JOIN collections k ON k.id = d.collection JOIN ${table} ON ${on}
         WHERE d.path = ? AND d.state = 'live' AND (? IS NULL OR k.name = ?) ORDER BY 1 LIMIT ?`,
        path,
        this.#collection,
        this.#collection,
        this.#most,
      )
      .map((row) => row.value);
  }

  #files(condition: string, ...values: SqlValue[]): string[] {
    return this.#truth
      .all<{ path: string }>(
        `SELECT DISTINCT d.path FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
         JOIN collections k ON k.id = d.collection
         WHERE ${condition} AND d.state = 'live' AND (? IS NULL OR k.name = ?) ORDER BY d.path LIMIT ?`,
        ...values,
        this.#collection,
        this.#collection,
        this.#most,
      )
      .map((row) => fileKey(row.path));
  }

  #sameContent(path: string): string[] {
    const hash = this.#hashOf(path);
    if (hash === undefined) return [];
    // Nothing is nothing in common.
    return this.#files("c.hash = ? AND c.size > 0 AND d.path <> ?", hash, path);
  }

  #hashOf(path: string): Uint8Array | undefined {
    return this.#truth.get<{ hash: Uint8Array }>(
      `SELECT c.hash FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
       JOIN collections k ON k.id = d.collection
       WHERE d.path = ? AND d.state = 'live' AND (? IS NULL OR k.name = ?) LIMIT 1`,
      path,
      this.#collection,
      this.#collection,
    )?.hash;
  }

  /** The contents that a document had before. */
  #versions(path: string): string[] {
    const rows = this.#truth.all<{ hash: Uint8Array }>(
      `SELECT c.hash, max(v.seq_from) AS last FROM documents d JOIN versions v ON v.document = d.id
       JOIN contents c ON c.id = v.content JOIN collections k ON k.id = d.collection JOIN versions now ON now.id = d.version
       WHERE d.path = ? AND d.state = 'live' AND v.content <> now.content AND (? IS NULL OR k.name = ?)
       GROUP BY c.id ORDER BY last DESC LIMIT ?`,
      path,
      this.#collection,
      this.#collection,
      this.#most,
    );
    return rows.map((row) => versionKey(path, hexOf(row.hash)));
  }

  *symbols(key: string): Iterable<string> {
    const rows = this.#index.all<{ key: string }>(
      `SELECT k.key FROM graph_files f JOIN graph_nodes n ON n.file = f.id JOIN graph_keys k ON k.id = n.key
       WHERE f.path = ? AND (? IS NULL OR f.collection = ?) AND f.gone = 0 ORDER BY n.position`,
      key.slice(fileKey("").length),
      this.#collection,
      this.#collection,
    );
    for (const row of rows) yield row.key;
  }

  describe(key: string): NodeDescription | undefined {
    const parsed = parseKey(key);
    if (parsed?.space === "file") {
      const hash = this.#hashOf(parsed.path ?? "");
      return hash === undefined ? undefined : { hash: hexOf(hash) };
    }
    if (parsed?.space !== "symbol") return undefined;
    return this.#index.get<{ type: NodeType; name: string; path: string; hash: string }>(
      `SELECT n.type, n.name, f.path, f.hash FROM graph_keys k JOIN graph_nodes n ON n.key = k.id
       JOIN graph_files f ON f.id = n.file WHERE k.key = ? AND (? IS NULL OR f.collection = ?)`,
      key,
      this.#collection,
      this.#collection,
    );
  }
}

/** How the nodes of a type are selected: rows of `rest` (the key without its space), `name`, and maybe `path` and `hash`. */
interface Listing {
  readonly from: "truth" | "index";
  readonly sql: string;
  readonly key: (rest: string) => string;
}

interface ListedNode {
  readonly rest: string;
  readonly name: string;
  readonly path: string | null;
  readonly hash: Uint8Array | string | null;
}

const LIVE = "d.state = 'live' AND (? IS NULL OR k.name = ?)";
const DOCUMENTS = `documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
  JOIN contents c ON c.id = v.content`;

/** Every statement takes the collection twice. */
const LISTINGS: Readonly<Partial<Record<NodeType, Listing>>> = {
  file: {
    from: "truth",
    sql: `SELECT d.path AS rest, d.name, d.path, c.hash FROM ${DOCUMENTS} WHERE ${LIVE} ORDER BY d.path`,
    key: fileKey,
  },
  tag: {
    from: "truth",
    sql: `SELECT DISTINCT t.tag AS rest, t.tag AS name, NULL AS path, NULL AS hash
      FROM documents d JOIN collections k ON k.id = d.collection JOIN document_tags t ON t.document = d.id WHERE ${LIVE} ORDER BY 1`,
    key: tagKey,
  },
  collection: {
    from: "truth",
    sql: `SELECT k.name AS rest, k.name AS name, NULL AS path, NULL AS hash FROM collections k
      WHERE k.documents > 0 AND (? IS NULL OR k.name = ?) ORDER BY 1`,
    key: collectionKey,
  },
  version: {
    from: "truth",
    sql: `SELECT DISTINCT d.path || '#' || lower(hex(o.hash)) AS rest, d.name, d.path, o.hash FROM ${DOCUMENTS}
      JOIN versions w ON w.document = d.id AND w.content <> v.content JOIN contents o ON o.id = w.content
      WHERE ${LIVE} ORDER BY 1`,
    key: (rest) => `version:${rest}`,
  },
  external: {
    from: "index",
    sql: `SELECT substr(t.key, 10) AS rest, substr(t.key, 10) AS name, NULL AS path, NULL AS hash FROM graph_keys t
      WHERE t.key >= 'external:' AND t.key < 'external;' AND EXISTS (
        SELECT 1 FROM graph_edges g JOIN graph_files f ON f.id = g.file
        WHERE g.target = t.id AND f.gone = 0 AND (? IS NULL OR f.collection = ?)) ORDER BY 1`,
    key: externalKey,
  },
};

function typesOf(env: Databases, collection: string | undefined): { type: NodeType; count: number }[] {
  const scope = [collection ?? null, collection ?? null];
  const counts = new Map<NodeType, number>();
  for (const [type, { from, sql }] of Object.entries(LISTINGS)) {
    // The keys of LISTINGS are types.
    counts.set(type as NodeType, env[from].one<{ n: number }>(`SELECT count(*) AS n FROM (${sql})`, ...scope).n);
  }
  for (const { type, n } of env.index.all<{ type: NodeType; n: number }>(
    `SELECT n.type, count(*) AS n FROM graph_nodes n JOIN graph_files f ON f.id = n.file
     WHERE f.gone = 0 AND (? IS NULL OR f.collection = ?) GROUP BY n.type`,
    ...scope,
  )) {
    counts.set(type, n);
  }
  return NODE_TYPES.flatMap((type) => {
    const count = counts.get(type) ?? 0;
    return count === 0 ? [] : [{ type, count }];
  });
}

function nodesOfType(
  env: Databases,
  text: string,
  { collection, limit }: { collection?: string | undefined; limit: number },
): Extract<GraphResult, { readonly total: number }> {
  const type = NODE_TYPES.find((name) => name === text.trim().toLowerCase());
  if (type === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is no type of node.`, {
      hint: `There are: ${NODE_TYPES.join(", ")}.`,
    });
  }
  const scope: SqlValue[] = [collection ?? null, collection ?? null];
  const { from, sql, key } = LISTINGS[type] ?? symbolListing(type);
  const { total } = env[from].one<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...scope);
  const nodes = env[from].all<ListedNode>(`${sql} LIMIT ?`, ...scope, limit).map(({ rest, name, path, hash }) => ({
    key: key(rest),
    type,
    name,
    ...(path === null ? {} : { path }),
    ...(hash === null ? {} : { hash: typeof hash === "string" ? hash : hexOf(hash) }),
  }));
  return { type, nodes, total, ...(total > nodes.length ? { truncated: true } : {}) };
}

/** `type` is one of NODE_TYPES. */
function symbolListing(type: NodeType): Listing {
  return {
    from: "index",
    sql: `SELECT s.key AS rest, n.name, f.path, f.hash FROM graph_nodes n JOIN graph_files f ON f.id = n.file
      JOIN graph_keys s ON s.id = n.key WHERE n.type = '${type}' AND f.gone = 0 AND (? IS NULL OR f.collection = ?)
      ORDER BY n.name, s.key`,
    key: (rest) => rest,
  };
}
