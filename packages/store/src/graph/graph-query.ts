// `graph`: shows how documents and the symbols in them relate, starting from a node found by hash, name or key.

import {
  contentKey,
  fileKey,
  type GraphEdge,
  NODE_TYPES,
  type ParsedKey,
  parseKey,
  toMermaid,
  traverse,
  versionKey,
} from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { GraphParams, GraphResult, RelatedDocuments } from "../contract/index.js";
import { findContent, hexOf, resolveContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { collectionId, type DocumentRow } from "../engine/sqlite/documents.js";
import { requireCollection } from "../engine/sqlite/filters.js";
import { documentsNamed, severalDocuments } from "../engine/sqlite/find-document.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { filesWith, nameTerm, touchesTerm } from "./file-terms.js";
import { GraphFiles } from "./graph-files.js";
import { graphPending } from "./graph-indexer.js";
import { DEFAULT_NODES, graphWay, nothingNamed } from "./graph-params.js";
import { nodesOfType, typesOf } from "./node-types.js";
import { type GraphDatabases, StoredGraph } from "./stored-graph.js";

/** Parameters of `graph`, plus the resolved form of a relative path. */
interface ResolvedGraphParams extends GraphParams {
  readonly absolute?: string;
}

/** The starting node and its collection, because a path can be in several. */
interface Origin {
  readonly key: string;
  readonly collection: string | undefined;
}

export function graph({ truth, graph: index }: ReadEnvironment, params: ResolvedGraphParams, call: Call): GraphResult {
  const env = { truth, index };
  const { listTypes, listType, format } = params;
  const way = graphWay(params);
  const { limit } = way;
  return reading(env, () => {
    const notice = noticeOf(env.index);
    if (params.collection !== undefined) requireCollection(env.truth, params.collection);
    if (listTypes) return { types: typesOf(env, params.collection), ...notice };
    if (listType !== undefined) return { ...nodesOfType(env, listType, { ...params, limit }), ...notice };
    const origin = originOf(env, params);
    const neighbours = new StoredGraph(env, { collection: origin.collection, limit, check: call.check });
    const found = traverse(origin.key, way, neighbours);
    const truncated = found.truncated ? { truncated: true } : {};
    if (format === "mermaid") return { origin: found.origin, mermaid: toMermaid(found), ...truncated, ...notice };
    return { origin: found.origin, nodes: found.nodes, edges: found.edges.map(answerEdge), ...truncated, ...notice };
  });
}

/** Returns what a live document is related to, for `get`. */
export function relatedTo(
  env: GraphDatabases,
  { path, collection, depth }: { path: string; collection: string; depth: number },
  call: Call,
): RelatedDocuments {
  return reading(env, () => {
    const neighbours = new StoredGraph(env, { collection, limit: DEFAULT_NODES, check: call.check });
    const found = traverse(fileKey(path), { depth, limit: DEFAULT_NODES }, neighbours);
    return {
      nodes: found.nodes,
      edges: found.edges.map(answerEdge),
      ...(found.truncated ? { truncated: true } : {}),
      ...noticeOf(env.index),
    };
  });
}

function reading<T>({ truth, index }: GraphDatabases, work: () => T): T {
  return truth.reading(() => index.reading(work));
}

/**
 * Converts an edge for results. Internal edges always say whether they are resolved; results only mark the unresolved
 * ones.
 */
function answerEdge({ resolved, ...edge }: GraphEdge): Omit<GraphEdge, "resolved"> & { resolved?: false } {
  return resolved ? edge : { ...edge, resolved: false };
}

function noticeOf(index: Db): { notice?: string } {
  const pending = graphPending(index);
  if (pending === 0) return {};
  return { notice: `${pending} ${pending === 1 ? "document is" : "documents are"} still being added to the graph.` };
}

function originOf(env: GraphDatabases, params: ResolvedGraphParams): Origin {
  if (params.hash !== undefined) return originByHash(env, params.hash, params.collection);
  if (params.nodeKey !== undefined) return originByKey(env, params.nodeKey, params.collection);
  return originByName(env, params.name ?? "", params);
}

function originOfDocument({ truth }: GraphDatabases, document: DocumentRow): Origin {
  const { name } = truth.one<{ name: string }>("SELECT name FROM collections WHERE id = ?", document.collection);
  return { key: fileKey(document.path), collection: name };
}

/** Finds the newest document with this content, otherwise one that had it, otherwise the content itself. */
function originByHash(env: GraphDatabases, hash: string, collection: string | undefined): Origin {
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

/** Finds a document with this name, or else a symbol with this name. */
function originByName(env: GraphDatabases, name: string, { collection, absolute }: ResolvedGraphParams): Origin {
  const found = documentsNamed(env.truth, name, { collection, absolute });
  if (found.length > 1) throw severalDocuments(env.truth, name, found);
  if (found[0] !== undefined) return originOfDocument(env, found[0]);
  const last = name.slice(name.lastIndexOf(".") + 1);
  const symbols = symbolsNamed(env.index, last, collection).filter(
    ({ key }) => last === name || (parseKey(key)?.qualifiedName ?? "").endsWith(name),
  );
  const [only, ...others] = symbols;
  if (only === undefined) {
    throw nothingNamed(name);
  }
  if (others.length === 0) return only;
  const matches = symbols.slice(0, 20).map(({ key }) => key);
  throw new TrunklineError("AMBIGUOUS", `"${name}" is defined ${symbols.length} times: ${matches.join(", ")}.`, {
    hint: "Pass one of them as `node_key`.",
    data: { matches },
  });
}

const MOST_SYMBOLS = 200;

/** Returns the first symbols with this name, in the order of their keys. */
function symbolsNamed(
  index: Db,
  name: string,
  collection: string | undefined,
): { readonly key: string; readonly collection: string }[] {
  const documents = new GraphFiles(index, { collection });
  const ids = new Set(
    NODE_TYPES.flatMap((type) => (type === "external" ? [] : filesWith(index, nameTerm(type, name)))),
  );
  const found: { key: string; collection: string }[] = [];
  for (const file of documents.sorted(ids)) {
    const keys = file.symbols.filter((symbol) => symbol.name === name).map(({ key }) => key);
    for (const key of keys.sort()) found.push({ key, collection: file.collection });
    if (found.length >= MOST_SYMBOLS) break;
  }
  return found.slice(0, MOST_SYMBOLS);
}

function originByKey(env: GraphDatabases, key: string, collection: string | undefined): Origin {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${key}" is not a node key.`, {
      hint: "Keys look like file:/src/a.ts or symbol:/src/a.ts#run; `list_type` lists the existing ones.",
    });
  }
  const { path } = parsed;
  const places = path === undefined ? [collection] : collectionsWith(env.truth, path, collection);
  const there = places.filter((place) => exists(env, { key, parsed, collection: place }));
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
  { truth, index }: GraphDatabases,
  { key, parsed, collection }: { key: string; parsed: ParsedKey; collection: string | undefined },
): boolean {
  switch (parsed.space) {
    case "file":
      return true;
    case "symbol":
      return new GraphFiles(index, { collection }).at(parsed.path ?? "").some((file) => file.symbol(key) !== undefined);
    case "external": {
      const [first] = new GraphFiles(index, { collection }).with(touchesTerm(key));
      return first !== undefined;
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
