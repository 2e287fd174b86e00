// The part of the code graph that is shown: nodes and relations around an origin, merged from several answers.
import { useEffect, useRef, useState } from "preact/hooks";
import { onStoreChange, runOperation } from "../../kit/operations.js";
import { toError } from "../../kit/parts.js";

export interface GraphNode {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly path?: string;
  readonly distance?: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly line?: number;
  /** The target is known only by its name. */
  readonly resolved?: false;
}

interface GraphAnswer {
  readonly origin: GraphNode;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly truncated?: boolean;
  readonly notice?: string;
}

export type Direction = "both" | "out" | "in";

export interface GraphRequest {
  /** What the person typed or chose: the name of a document or symbol, or the key of a node. */
  readonly name?: string;
  readonly key?: string;
  readonly depth: number;
  readonly direction: Direction;
  /** The keys of nodes whose neighbours are shown too. */
  readonly expanded: readonly string[];
}

export interface ShownGraph {
  readonly origin: GraphNode;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly GraphEdge[];
  readonly isTruncated: boolean;
  readonly notice: string | undefined;
}

/** The most nodes of one answer. */
export const MOST_NODES = 2_000;

/** Groups of node types, in the order of the chart colours. */
export const KINDS: readonly { readonly label: string; readonly types: readonly string[] }[] = [
  { label: "File", types: ["file", "module"] },
  { label: "Function", types: ["function", "method", "macro"] },
  { label: "Type", types: ["class", "struct", "interface", "trait", "enum", "type"] },
  { label: "Tag or collection", types: ["tag", "collection", "content", "version"] },
  { label: "Value", types: ["variable", "property", "heading"] },
  { label: "External", types: ["external"] },
];

/** The index of a type in {@link KINDS}. */
export function kindOf(type: string): number {
  const found = KINDS.findIndex(({ types }) => types.includes(type));
  return found === -1 ? KINDS.length - 1 : found;
}

interface Loaded {
  readonly key: string;
  readonly graph?: ShownGraph;
  readonly error?: Error;
}

/** Loads a graph, and again when the store changes. Answers are kept, so that expanding asks only for what is new. */
export function useGraph(
  workspace: string,
  request: GraphRequest | undefined,
): { graph: ShownGraph | undefined; error: Error | undefined; isLoading: boolean } {
  const [loaded, setLoaded] = useState<Loaded>({ key: "" });
  const [turn, setTurn] = useState(0);
  const answers = useRef(new Map<string, Promise<GraphAnswer>>());
  useEffect(
    () =>
      onStoreChange(workspace, () => {
        answers.current.clear();
        setTurn((count) => count + 1);
      }),
    [workspace],
  );
  const key = request === undefined ? "" : JSON.stringify(request);
  useEffect(() => {
    if (request === undefined) return undefined;
    let isWanted = true;
    const known = answers.current;
    const load = (params: Readonly<Record<string, string | number | boolean>>) => {
      const id = JSON.stringify(params);
      const asked = known.get(id) ?? runOperation<GraphAnswer>({ workspace, op: "graph", params });
      known.set(id, asked);
      asked.catch(() => known.delete(id));
      return asked;
    };
    loadAll(request, load).then(
      (graph) => isWanted && setLoaded({ key, graph }),
      (error: unknown) => isWanted && setLoaded({ key, error: toError(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [workspace, key, turn]);
  // What was shown stays while more is loaded.
  return {
    graph: request === undefined ? undefined : loaded.graph,
    error: loaded.key === key ? loaded.error : undefined,
    isLoading: request !== undefined && loaded.key !== key,
  };
}

type Load = (params: Readonly<Record<string, string | number | boolean>>) => Promise<GraphAnswer>;

async function loadAll({ name, key, depth, direction, expanded }: GraphRequest, load: Load): Promise<ShownGraph> {
  const start: Record<string, string> = key === undefined ? { name: name ?? "" } : { node_key: key };
  const sides = direction === "both" ? [false, true] : [direction === "in"];
  const asked = sides.map((reverse) => load({ ...start, depth, limit: MOST_NODES, reverse }));
  const more = expanded.flatMap((node) =>
    [false, true].map((reverse) => load({ node_key: node, depth: 1, limit: MOST_NODES, reverse })),
  );
  // A node that was expanded may be gone meanwhile; the rest is still worth showing.
  const settled = await Promise.allSettled(more);
  const answers = await Promise.all(asked);
  const others = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  return merged(answers, others);
}

function merged(answers: readonly GraphAnswer[], expanded: readonly GraphAnswer[]): ShownGraph {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const [first] = answers;
  if (first === undefined) throw new Error("The graph has no answer.");
  for (const answer of [...answers, ...expanded]) {
    for (const node of [answer.origin, ...answer.nodes]) {
      const known = nodes.get(node.key);
      if (known === undefined || (node.distance ?? 0) < (known.distance ?? 0)) nodes.set(node.key, node);
    }
    for (const edge of answer.edges) edges.set(`${edge.from}\n${edge.to}\n${edge.relation}`, edge);
  }
  nodes.set(first.origin.key, first.origin);
  return {
    origin: first.origin,
    nodes,
    edges: [...edges.values()].filter(({ from, to }) => nodes.has(from) && nodes.has(to)),
    isTruncated: [...answers, ...expanded].some(({ truncated }) => truncated === true),
    notice: first.notice,
  };
}

/** The graph without some relations, and without nodes that are only related by them. */
export function withoutRelations(graph: ShownGraph, hidden: ReadonlySet<string>): ShownGraph {
  const edges = graph.edges.filter(({ relation }) => !hidden.has(relation));
  const kept = new Set([graph.origin.key, ...edges.flatMap(({ from, to }) => [from, to])]);
  const nodes = new Map([...graph.nodes].filter(([key]) => kept.has(key)));
  return { ...graph, nodes, edges };
}
