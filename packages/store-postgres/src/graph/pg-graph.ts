// `graph`: shows how documents and the symbols in them relate, starting from a node found by hash, name or key.
import { TrunklineError } from "@trunkline/core";
import type { GraphParams, GraphResult, RelatedDocuments } from "@trunkline/store/contract";
import {
  contentKey,
  DEFAULT_NODES,
  fileKey,
  type GraphEdge,
  graphWay,
  nothingNamed,
  type ParsedKey,
  parseKey,
  toMermaid,
  versionKey,
} from "@trunkline/store/parts";
import { type DocumentRow, documentsNamed, severalDocuments } from "../contents/named-documents.js";
import { findContent, hexOf, resolveContent } from "../contents/pg-contents.js";
import { collectionId, requireCollection } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";
import { traverseStored, VISIBLE } from "./graph-reads.js";
import { nodesOfType, typesOf } from "./graph-types.js";

const MOST_SYMBOLS = 200;

interface ResolvedGraphParams extends GraphParams {
  readonly absolute?: string;
}

/** The starting node and its collection, because a path can be in several. */
interface Origin {
  readonly key: string;
  readonly collection: string | undefined;
}

export async function graph(sql: Sql, params: ResolvedGraphParams): Promise<GraphResult> {
  const { listTypes, listType, format } = params;
  const way = graphWay(params);
  const { limit } = way;
  const notice = await noticeOf(sql);
  if (params.collection !== undefined) await requireCollection(sql, params.collection);
  if (listTypes) return { types: await typesOf(sql, params.collection), ...notice };
  if (listType !== undefined) return { ...(await nodesOfType(sql, listType, { ...params, limit })), ...notice };
  const origin = await originOf(sql, params);
  const found = await traverseStored(sql, origin, way);
  const truncated = found.truncated ? { truncated: true } : {};
  if (format === "mermaid") return { origin: found.origin, mermaid: toMermaid(found), ...truncated, ...notice };
  return { origin: found.origin, nodes: found.nodes, edges: found.edges.map(answerEdge), ...truncated, ...notice };
}

/** Returns what a live document is related to, for `get`. */
export async function relatedTo(
  sql: Sql,
  { path, collection, depth }: { readonly path: string; readonly collection: string; readonly depth: number },
): Promise<RelatedDocuments> {
  const found = await traverseStored(sql, { key: fileKey(path), collection }, { depth, limit: DEFAULT_NODES });
  return {
    nodes: found.nodes,
    edges: found.edges.map(answerEdge),
    ...(found.truncated ? { truncated: true } : {}),
    ...(await noticeOf(sql)),
  };
}

/** Results only mark edges that are not resolved. */
function answerEdge({ resolved, ...edge }: GraphEdge): Omit<GraphEdge, "resolved"> & { resolved?: false } {
  return resolved ? edge : { ...edge, resolved: false };
}

/** How many documents still have to be analysed or resolved. */
export async function graphPending(sql: Sql): Promise<number> {
  const { n } = await sql.one<{ n: number }>(
    `SELECT (SELECT count(*) FROM jobs j JOIN entries e ON e.id = j.entry AND e.state = 2)
       + (SELECT count(*) FROM graph_files WHERE is_pending) AS n`,
  );
  return n;
}

async function noticeOf(sql: Sql): Promise<{ notice?: string }> {
  const pending = await graphPending(sql);
  if (pending === 0) return {};
  return { notice: `${pending} ${pending === 1 ? "document is" : "documents are"} still being added to the graph.` };
}

async function originOf(sql: Sql, params: ResolvedGraphParams): Promise<Origin> {
  if (params.hash !== undefined) return await originByHash(sql, params.hash, params.collection);
  if (params.nodeKey !== undefined) return await originByKey(sql, params.nodeKey, params.collection);
  return await originByName(sql, params.name ?? "", params);
}

async function originOfDocument(sql: Sql, document: DocumentRow): Promise<Origin> {
  const { name } = await sql.one<{ name: string }>(
    "SELECT name FROM seen_collections WHERE id = $1",
    document.collection,
  );
  return { key: fileKey(document.path), collection: name };
}

/** Finds the newest document with this content, otherwise one that had it, otherwise the content itself. */
async function originByHash(sql: Sql, hash: string, collection: string | undefined): Promise<Origin> {
  const content = await resolveContent(sql, hash);
  const id = collection === undefined ? null : await requireCollection(sql, collection);
  const document = await sql.get<DocumentRow & { is_current: boolean }>(
    `SELECT d.*, d.version = v.id AS is_current FROM versions v JOIN seen_documents d ON d.id = v.document
     WHERE v.content = $1 AND d.state = 'live' AND ($2::int IS NULL OR d.collection = $2::int)
     ORDER BY (d.version = v.id) DESC, v.seq_from DESC LIMIT 1`,
    content.id,
    id,
  );
  if (document === undefined) return { key: contentKey(hexOf(content.hash)), collection };
  const origin = await originOfDocument(sql, document);
  return document.is_current ? origin : { ...origin, key: versionKey(document.path, hexOf(content.hash)) };
}

/** Finds a document with this name, or else a symbol with this name. */
async function originByName(sql: Sql, name: string, { collection, absolute }: ResolvedGraphParams): Promise<Origin> {
  const found = await documentsNamed(sql, name, { collection, absolute });
  if (found.length > 1) throw await severalDocuments(sql, name, found);
  if (found[0] !== undefined) return await originOfDocument(sql, found[0]);
  const last = name.slice(name.lastIndexOf(".") + 1);
  const rows = await sql.rows<{ key: string; collection: string }>(
    `SELECT s.key, k.name AS collection FROM graph_symbols s JOIN ${VISIBLE} ON f.id = s.file
     WHERE left(s.name, 200) = left($1, 200) AND s.name = $1 AND ($2::text IS NULL OR k.name = $2::text)
     ORDER BY f.path || '#', f.id, s.key LIMIT ${MOST_SYMBOLS}`,
    last,
    collection ?? null,
  );
  const symbols = rows.filter(({ key }) => last === name || (parseKey(key)?.qualifiedName ?? "").endsWith(name));
  const [only, ...others] = symbols;
  if (only === undefined) throw nothingNamed(name);
  if (others.length === 0) return only;
  const matches = symbols.slice(0, 20).map(({ key }) => key);
  throw new TrunklineError("AMBIGUOUS", `"${name}" is defined ${symbols.length} times: ${matches.join(", ")}.`, {
    hint: "Pass one of them as `node_key`.",
    data: { matches },
  });
}

async function originByKey(sql: Sql, key: string, collection: string | undefined): Promise<Origin> {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${key}" is not a node key.`, {
      hint: "Keys look like file:/src/a.ts or symbol:/src/a.ts#run; `list_type` lists the existing ones.",
    });
  }
  const places = parsed.path === undefined ? [collection] : await collectionsWith(sql, parsed.path, collection);
  const there: (string | undefined)[] = [];
  for (const place of places) if (await exists(sql, { key, parsed, collection: place })) there.push(place);
  if (there.length === 0) {
    throw new TrunklineError("NOT_FOUND", `The graph has no node "${key}".`, {
      hint: "`list_types` lists the types, `list_type` the nodes of one type.",
    });
  }
  if (there.length > 1) {
    throw new TrunklineError("AMBIGUOUS", `"${key}" is in ${there.length} collections: ${there.join(", ")}.`, {
      hint: "Choose one with `collection`.",
      data: { matches: there },
    });
  }
  return { key, collection: there[0] };
}

async function collectionsWith(sql: Sql, path: string, collection: string | undefined): Promise<string[]> {
  const rows = await sql.rows<{ name: string }>(
    `SELECT k.name FROM seen_documents d JOIN seen_collections k ON k.id = d.collection
     WHERE md5(d.path) = md5($1) AND d.path = $1 AND d.state = 'live' AND ($2::text IS NULL OR k.name = $2::text) ORDER BY k.name`,
    path,
    collection ?? null,
  );
  return rows.map((row) => row.name);
}

async function exists(
  sql: Sql,
  { key, parsed, collection }: { key: string; parsed: ParsedKey; collection: string | undefined },
): Promise<boolean> {
  const isThere = async (text: string, ...values: unknown[]) => (await sql.get(text, ...values)) !== undefined;
  const within = "($2::text IS NULL OR k.name = $2::text)";
  switch (parsed.space) {
    case "file":
      return true;
    case "symbol":
      return await isThere(
        `SELECT 1 FROM graph_symbols s JOIN ${VISIBLE} ON f.id = s.file WHERE s.key = $1 AND ${within} AND md5(f.path) = md5($3)`,
        ...[key, collection ?? null, parsed.path ?? ""],
      );
    case "external":
      return await isThere(
        `SELECT 1 FROM graph_edges e JOIN ${VISIBLE} ON f.id = e.file WHERE e.to_key = $1 AND ${within} LIMIT 1`,
        ...[key, collection ?? null],
      );
    case "tag":
      return await isThere(
        "SELECT 1 FROM document_tags t JOIN seen_documents d ON d.id = t.document WHERE t.tag = $1",
        parsed.name,
      );
    case "collection":
      return (await collectionId(sql, parsed.name)) !== undefined;
    case "content":
    case "version": {
      if (!/^[0-9a-f]{64}$/.test(parsed.hash ?? "")) return false;
      const content = await findContent(sql, parsed.hash ?? "");
      if (content === undefined || parsed.path === undefined) return content !== undefined;
      return await isThere(
        "SELECT 1 FROM versions v JOIN seen_documents d ON d.id = v.document WHERE v.content = $1 AND d.path = $2",
        ...[content.id, parsed.path],
      );
    }
  }
}
