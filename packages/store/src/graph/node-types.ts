// `list_types` and `list_type` of `graph`: list which nodes exist.
import { TrunklineError } from "@trunkline/core";
import type { GraphResult } from "../contract/index.js";
import { hexOf } from "../engine/sqlite/contents.js";
import type { SqlValue } from "../engine/sqlite/database.js";
import { collectionKey, externalKey, fileKey, NODE_TYPES, type NodeType, tagKey } from "./index.js";
import type { GraphDatabases } from "./stored-graph.js";

/**
 * How to select the nodes of a type: rows of `rest` (the key without its prefix), `name`, and optionally `path` and
 * `hash`.
 */
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

/** Counts the nodes of each type. */
export function typesOf(env: GraphDatabases, collection: string | undefined): { type: NodeType; count: number }[] {
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

export function nodesOfType(
  env: GraphDatabases,
  text: string,
  { collection, limit }: { collection?: string | undefined; limit: number },
): Extract<GraphResult, { readonly total: number }> {
  const type = NODE_TYPES.find((name) => name === text.trim().toLowerCase());
  if (type === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a node type.`, {
      hint: `Node types: ${NODE_TYPES.join(", ")}.`,
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

/** Builds the listing of a symbol type. `type` is one of NODE_TYPES, so it is safe in SQL. */
function symbolListing(type: NodeType): Listing {
  return {
    from: "index",
    sql: `SELECT s.key AS rest, n.name, f.path, f.hash FROM graph_nodes n JOIN graph_files f ON f.id = n.file
      JOIN graph_keys s ON s.id = n.key WHERE n.type = '${type}' AND f.gone = 0 AND (? IS NULL OR f.collection = ?)
      ORDER BY n.name, s.key`,
    key: (rest) => rest,
  };
}
