// `list_types` and `list_type` of `graph`: list which nodes exist.

import { collectionKey, externalKey, fileKey, NODE_TYPES, type NodeType, tagKey } from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import type { GraphResult } from "../contract/index.js";
import { hexOf } from "../engine/sqlite/contents.js";
import type { SqlValue } from "../engine/sqlite/database.js";
import { namesOf, type TermFile } from "./file-terms.js";
import { GraphFiles } from "./graph-files.js";
import type { GraphDatabases } from "./stored-graph.js";

/**
 * How to select the nodes of a type from the content database: rows of `rest` (the key without its prefix), `name`, and
 * optionally `path` and `hash`.
 */
interface Listing {
  readonly sql: string;
  readonly key: (rest: string) => string;
}

interface ListedNode {
  readonly rest: string;
  readonly name: string;
  readonly path: string | null;
  readonly hash: Uint8Array | null;
}

const LIVE = "d.state = 'live' AND (? IS NULL OR k.name = ?)";
const DOCUMENTS = `documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
  JOIN contents c ON c.id = v.content`;

/** Every statement takes the collection twice. */
const LISTINGS: Readonly<Partial<Record<NodeType, Listing>>> = {
  file: {
    sql: `SELECT d.path AS rest, d.name, d.path, c.hash FROM ${DOCUMENTS} WHERE ${LIVE} ORDER BY d.path`,
    key: fileKey,
  },
  tag: {
    sql: `SELECT DISTINCT t.tag AS rest, t.tag AS name, NULL AS path, NULL AS hash
      FROM documents d JOIN collections k ON k.id = d.collection JOIN document_tags t ON t.document = d.id WHERE ${LIVE} ORDER BY 1`,
    key: tagKey,
  },
  collection: {
    sql: `SELECT k.name AS rest, k.name AS name, NULL AS path, NULL AS hash FROM collections k
      WHERE k.documents > 0 AND (? IS NULL OR k.name = ?) ORDER BY 1`,
    key: collectionKey,
  },
  version: {
    sql: `SELECT DISTINCT d.path || '#' || lower(hex(o.hash)) AS rest, d.name, d.path, o.hash FROM ${DOCUMENTS}
      JOIN versions w ON w.document = d.id AND w.content <> v.content JOIN contents o ON o.id = w.content
      WHERE ${LIVE} ORDER BY 1`,
    key: (rest) => `version:${rest}`,
  },
};

/** Counts the nodes of each type. */
export function typesOf(env: GraphDatabases, collection: string | undefined): { type: NodeType; count: number }[] {
  const scope = [collection ?? null, collection ?? null];
  const counts = new Map<NodeType, number>();
  for (const [type, { sql }] of Object.entries(LISTINGS)) {
    // The keys of LISTINGS are types.
    counts.set(type as NodeType, env.truth.one<{ n: number }>(`SELECT count(*) AS n FROM (${sql})`, ...scope).n);
  }
  const visible = new GraphFiles(env.index, { collection }).ids();
  for (const type of NODE_TYPES) {
    if (LISTINGS[type] !== undefined) continue;
    let count = 0;
    for (const { files } of namesOf(env.index, type)) count += nodesIn(type, files, visible);
    counts.set(type, count);
  }
  return NODE_TYPES.flatMap((type) => {
    const count = counts.get(type) ?? 0;
    return count === 0 ? [] : [{ type, count }];
  });
}

export function nodesOfType(
  env: GraphDatabases,
  text: string,
  { collection, limit }: { collection?: string; limit: number },
): Extract<GraphResult, { readonly total: number }> {
  const type = NODE_TYPES.find((name) => name === text.trim().toLowerCase());
  if (type === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a node type.`, {
      hint: `Node types: ${NODE_TYPES.join(", ")}.`,
    });
  }
  const { nodes, total } = listed(env, type, { collection, limit });
  return { type, nodes, total, ...(total > nodes.length ? { truncated: true } : {}) };
}

type ListedNodes = Pick<Extract<GraphResult, { readonly total: number }>, "nodes" | "total">;

function listed(
  env: GraphDatabases,
  type: NodeType,
  { collection, limit }: { collection?: string; limit: number },
): ListedNodes {
  const listing = LISTINGS[type];
  if (listing === undefined) return namedNodes(env, type, { collection, limit });
  const scope: SqlValue[] = [collection ?? null, collection ?? null];
  const { sql, key } = listing;
  const { total } = env.truth.one<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...scope);
  const nodes = env.truth.all<ListedNode>(`${sql} LIMIT ?`, ...scope, limit).map(({ rest, name, path, hash }) => ({
    key: key(rest),
    type,
    name,
    ...(path === null ? {} : { path }),
    ...(hash === null ? {} : { hash: hexOf(hash) }),
  }));
  return { nodes, total };
}

/** Lists symbols or external names, in the order of their names and keys. */
function namedNodes(
  { index }: GraphDatabases,
  type: NodeType,
  { collection, limit }: { collection?: string; limit: number },
): ListedNodes {
  const documents = new GraphFiles(index, { collection });
  const visible = documents.ids();
  const first: { name: string; files: TermFile[] }[] = [];
  let total = 0;
  for (const { name, files } of namesOf(index, type)) {
    const count = nodesIn(type, files, visible);
    if (count > 0 && total < limit) first.push({ name, files });
    total += count;
  }
  const nodes: ListedNodes["nodes"][number][] = [];
  for (const { name, files } of first) {
    if (type === "external") {
      nodes.push({ key: externalKey(name), type, name });
      continue;
    }
    for (const { symbols, path, hash } of documents.sorted(files.map(({ file }) => file))) {
      if (nodes.length >= limit) break;
      const keys = symbols.filter((symbol) => symbol.kind === type && symbol.name === name).map(({ key }) => key);
      for (const key of keys.sort()) nodes.push({ key, type, name, path, hash });
    }
  }
  return { nodes: nodes.slice(0, limit), total };
}

/** Counts the nodes with one name: a symbol for each definition, but one external name for all documents. */
function nodesIn(type: NodeType, files: readonly TermFile[], visible: ReadonlySet<number>): number {
  const counts = files.filter(({ file }) => visible.has(file)).map(({ count }) => count);
  if (type === "external") return Math.min(1, counts.length);
  return counts.reduce((sum, count) => sum + count, 0);
}
