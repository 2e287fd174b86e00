// `list_types` and `list_type` of `graph`: list which nodes exist.
import { TrunklineError } from "@trunkline/core";
import type { GraphResult } from "@trunkline/store/contract";
import { collectionKey, externalKey, fileKey, NODE_TYPES, type NodeType, tagKey } from "@trunkline/store/parts";
import { hexOf } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";
import { VISIBLE } from "./graph-reads.js";

/** Selects nodes: rows of `rest` (the key without its prefix), `name`, `path` and `hash`. `$1` is the collection. */
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

const WITHIN = "($1::text IS NULL OR k.name = $1::text)";
const LIVE = `d.state = 'live' AND ${WITHIN}`;
const DOCUMENTS = `seen_documents d JOIN seen_collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
  JOIN contents c ON c.id = v.content`;
const NOWHERE = "NULL::text AS path, NULL::bytea AS hash";
const EXTERNAL = externalKey("");

const LISTINGS: Readonly<Partial<Record<NodeType, Listing>>> = {
  file: {
    sql: `SELECT d.path AS rest, d.name, d.path, c.hash FROM ${DOCUMENTS} WHERE ${LIVE} ORDER BY d.path`,
    key: fileKey,
  },
  tag: {
    sql: `SELECT DISTINCT t.tag AS rest, t.tag AS name, ${NOWHERE} FROM seen_documents d
      JOIN seen_collections k ON k.id = d.collection JOIN document_tags t ON t.document = d.id WHERE ${LIVE} ORDER BY 1`,
    key: tagKey,
  },
  collection: {
    sql: `SELECT k.name AS rest, k.name, ${NOWHERE} FROM seen_collections k WHERE k.documents > 0 AND ${WITHIN} ORDER BY 1`,
    key: collectionKey,
  },
  version: {
    sql: `SELECT DISTINCT d.path || '#' || encode(o.hash, 'hex') AS rest, d.name, d.path, o.hash FROM ${DOCUMENTS}
      JOIN versions w ON w.document = d.id AND w.content <> v.content JOIN contents o ON o.id = w.content
      WHERE ${LIVE} ORDER BY 1`,
    key: (rest) => `version:${rest}`,
  },
  external: {
    sql: `SELECT DISTINCT substr(e.to_key, ${EXTERNAL.length + 1}) AS rest, substr(e.to_key, ${EXTERNAL.length + 1}) AS name, ${NOWHERE}
      FROM graph_edges e JOIN ${VISIBLE} ON f.id = e.file WHERE starts_with(e.to_key, '${EXTERNAL}') AND ${WITHIN} ORDER BY 1`,
    key: externalKey,
  },
};

function listingOf(type: NodeType): Listing {
  return (
    LISTINGS[type] ?? {
      sql: `SELECT s.key AS rest, s.name, f.path, f.hash FROM graph_symbols s JOIN ${VISIBLE} ON f.id = s.file
        WHERE s.kind = '${type}' AND ${WITHIN} ORDER BY s.name, f.path || '#', f.id, s.key`,
      key: (rest) => rest,
    }
  );
}

/** Counts the nodes of each type. */
export async function typesOf(sql: Sql, collection: string | undefined): Promise<{ type: NodeType; count: number }[]> {
  const kinds = await sql.rows<{ kind: string; count: number }>(
    `SELECT s.kind, count(*) AS count FROM graph_symbols s JOIN ${VISIBLE} ON f.id = s.file WHERE ${WITHIN} GROUP BY s.kind`,
    collection ?? null,
  );
  const counts = new Map(kinds.map(({ kind, count }) => [kind, count]));
  for (const [type, listing] of Object.entries(LISTINGS)) {
    const { n } = await sql.one<{ n: number }>(`SELECT count(*) AS n FROM (${listing.sql}) nodes`, collection ?? null);
    counts.set(type, n);
  }
  return NODE_TYPES.flatMap((type) => {
    const count = counts.get(type) ?? 0;
    return count === 0 ? [] : [{ type, count }];
  });
}

export async function nodesOfType(
  sql: Sql,
  text: string,
  { collection, limit }: { collection?: string; limit: number },
): Promise<Extract<GraphResult, { readonly total: number }>> {
  const type = NODE_TYPES.find((name) => name === text.trim().toLowerCase());
  if (type === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a node type.`, {
      hint: `Node types: ${NODE_TYPES.join(", ")}.`,
    });
  }
  const listing = listingOf(type);
  const { total } = await sql.one<{ total: number }>(
    `SELECT count(*) AS total FROM (${listing.sql}) nodes`,
    collection ?? null,
  );
  const rows = await sql.rows<ListedNode>(`${listing.sql} LIMIT $2`, collection ?? null, limit);
  const nodes = rows.map(({ rest, name, path, hash }) => ({
    key: listing.key(rest),
    type,
    name,
    ...(path === null ? {} : { path }),
    ...(hash === null ? {} : { hash: hexOf(hash) }),
  }));
  return { type, nodes, total, ...(total > nodes.length ? { truncated: true } : {}) };
}
