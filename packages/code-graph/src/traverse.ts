// Traverses the graph from one node outwards. Pure: the caller provides the neighbours of a node.
import { TrunklineError } from "@trunkline/core";
import { type GraphEdge, type NodeType, RELATIONS, type Relation } from "./model/graph-model.js";
import { parseKey, typeOfKey } from "./model/node-keys.js";

export interface GraphNode {
  readonly key: string;
  readonly type: NodeType;
  readonly name: string;
  readonly path?: string;
  readonly hash?: string;
  /** Steps from the origin. */
  readonly distance: number;
}

/** What is known about a node apart from its key. */
export type NodeDescription = Partial<Omit<GraphNode, "key" | "distance">>;

/** The parts of the graph that {@link traverse} needs. */
export interface Neighbours {
  /** Yields edges that start at the key, or end there with `reverse`; only those of `relation`, if given. */
  edges(key: string, filter: { readonly relation?: Relation; readonly reverse: boolean }): Iterable<GraphEdge>;
  /** The keys of a file's symbols. */
  symbols(fileKey: string): Iterable<string>;
  /** Default: what the key itself says. */
  describe?(key: string): NodeDescription | undefined;
}

interface TraverseOptions {
  readonly relation?: Relation;
  /** 1 to 5; default 1. */
  readonly depth?: number;
  /** The maximum number of nodes; default 100. */
  readonly limit?: number;
  /** Follow incoming edges. */
  readonly reverse?: boolean;
}

/** What {@link traverse} found. `nodes` excludes the origin and is sorted by distance. */
export interface Traversal {
  readonly origin: Omit<GraphNode, "distance">;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Whether there were more nodes than the limit. */
  readonly truncated: boolean;
}

/** Parses a relation's name, ignoring case; undefined if there is none. */
export function parseRelation(text: string): Relation | undefined {
  const upper = text
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, "_");
  return RELATIONS.find((relation) => relation === upper);
}

/**
 * Traverses breadth first, so each node has its shortest distance. A file's calls are those of its symbols, returned as
 * edges of the file. Edges keep their direction, even with `reverse`.
 */
export function traverse(origin: string, options: TraverseOptions, neighbours: Neighbours): Traversal {
  const { depth = 1, limit = 100, reverse = false, relation } = options;
  if (!Number.isInteger(depth) || depth < 1 || depth > 5) {
    throw new TrunklineError("INVALID_ARGUMENT", `The graph depth must be 1 to 5, not ${depth}.`);
  }
  if (!Number.isInteger(limit) || limit < 1) {
    throw new TrunklineError("INVALID_ARGUMENT", `The graph limit must be at least 1, not ${limit}.`);
  }
  const distances = new Map([[origin, 0]]);
  const edges = new Map<string, GraphEdge>();
  let truncated = false;
  let front = [origin];
  for (let distance = 1; distance <= depth && front.length > 0; distance++) {
    const next: string[] = [];
    for (const key of front) {
      for (const edge of edgesOf(key, { reverse, ...(relation === undefined ? {} : { relation }) }, neighbours)) {
        const other = reverse ? edge.from : edge.to;
        if (!distances.has(other)) {
          if (distances.size > limit) {
            truncated = true;
            continue;
          }
          distances.set(other, distance);
          next.push(other);
        }
        const identity = `${edge.from}\n${edge.relation}\n${edge.to}`;
        if (!edges.has(identity)) edges.set(identity, edge);
      }
    }
    front = next;
  }
  const nodes: GraphNode[] = [];
  for (const [key, distance] of distances) if (key !== origin) nodes.push({ ...describe(key, neighbours), distance });
  return { origin: describe(origin, neighbours), nodes, edges: [...edges.values()], truncated };
}

/** Returns edges with the most informative first, so the limit cuts unresolved ones. */
function edgesOf(
  key: string,
  filter: { readonly relation?: Relation; readonly reverse: boolean },
  neighbours: Neighbours,
): GraphEdge[] {
  const found = [...neighbours.edges(key, filter)];
  const withCalls = filter.relation === undefined || filter.relation === "CALLS";
  if (withCalls && key.startsWith("file:")) {
    for (const symbol of neighbours.symbols(key)) {
      for (const edge of neighbours.edges(symbol, { relation: "CALLS", reverse: filter.reverse })) {
        found.push(filter.reverse ? { ...edge, to: key } : { ...edge, from: key });
      }
    }
  }
  const rank = (edge: GraphEdge) => (edge.resolved ? 0 : RELATIONS.length) + RELATIONS.indexOf(edge.relation);
  return found.sort((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0));
}

function describe(key: string, neighbours: Neighbours): Omit<GraphNode, "distance"> {
  const parsed = parseKey(key);
  const known = neighbours.describe?.(key);
  const path = known?.path ?? parsed?.path;
  const hash = known?.hash ?? parsed?.hash;
  return {
    key,
    type: known?.type ?? typeOfKey(key) ?? "external",
    name: known?.name ?? parsed?.name ?? key,
    ...(path === undefined ? {} : { path }),
    ...(hash === undefined ? {} : { hash }),
  };
}
