// Renders part of the graph as a text tree: each node below the one that leads to it, expanded once.
import type { GraphEdgeInfo, GraphNodeInfo, RelatedDocuments } from "@trunkline/store";
import { pathShower, shownText } from "../../terminal/output.js";
import type { Palette } from "../../terminal/palette.js";

/** `reverse`: branches lead to the nodes that point here. */
interface TreeOptions {
  readonly palette: Palette;
  readonly cwd: string;
  readonly reverse: boolean;
}

interface Branch {
  readonly node: GraphNodeInfo & { readonly distance: number };
  readonly edges: GraphEdgeInfo[];
}

/** Returns the lines of a tree that starts at the origin. */
export function graphTree(
  graph: Pick<RelatedDocuments, "nodes" | "edges"> & { readonly origin: GraphNodeInfo },
  options: TreeOptions,
): string[] {
  const { palette, reverse } = options;
  const shownPath = pathShower(options);
  const { origin } = graph;
  const nodes = new Map([{ ...origin, distance: 0 }, ...graph.nodes].map((node) => [node.key, node]));
  const branches = new Map<string, Map<string, Branch>>();
  for (const edge of graph.edges) {
    const [near, far] = reverse ? [edge.to, edge.from] : [edge.from, edge.to];
    const node = nodes.get(far);
    if (node === undefined) continue;
    const of = branches.get(near) ?? new Map<string, Branch>();
    branches.set(near, of);
    const branch = of.get(far) ?? { node, edges: [] };
    of.set(far, branch);
    branch.edges.push(edge);
  }
  const lines = [`${nameOf(origin, undefined, { palette, shownPath })}`];
  const unfolded = new Set([origin.key]);
  const unfold = (parent: GraphNodeInfo & { distance: number }, indent: string): void => {
    const all = [...(branches.get(parent.key)?.values() ?? [])];
    all.forEach(({ node, edges }, position) => {
      const isLast = position === all.length - 1;
      // A node is expanded where it is nearest to the origin; elsewhere it is only named.
      const isHere = node.distance === parent.distance + 1 && !unfolded.has(node.key);
      const isElsewhere = !isHere && (branches.get(node.key)?.size ?? 0) > 0;
      const mark = palette.dim(`${indent}${isLast ? "└─" : "├─"}`);
      const relations = relationsOf(edges, reverse);
      const rest = isElsewhere ? palette.dim(" …") : "";
      lines.push(
        `${mark} ${palette.dim(relations)} ${nameOf(node, parent, { palette, shownPath })}${placeOf(edges, palette)}${rest}`,
      );
      if (!isHere) return;
      unfolded.add(node.key);
      unfold(node, `${indent}${isLast ? "   " : "│  "}`);
    });
  };
  unfold({ ...origin, distance: 0 }, "");
  if (lines.length === 1) lines.push(palette.dim("└─ nothing"));
  return lines;
}

function relationsOf(edges: readonly GraphEdgeInfo[], reverse: boolean): string {
  const relations = [...new Set(edges.map((edge) => edge.relation))].join(", ");
  return reverse ? `<- ${relations}` : relations;
}

/** Notes the edge's line, and whether its target is unresolved. */
function placeOf(edges: readonly GraphEdgeInfo[], palette: Palette): string {
  const line = edges.find((edge) => edge.line !== undefined)?.line;
  const notes = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(edges.some((edge) => edge.resolved === false) ? ["unresolved"] : []),
  ];
  return notes.length === 0 ? "" : palette.dim(` (${notes.join(", ")})`);
}

/**
 * Shows a document by its path, and anything else by name and type, with its document if that differs from the
 * parent's.
 */
function nameOf(
  { type, name, path }: GraphNodeInfo,
  parent: GraphNodeInfo | undefined,
  { palette, shownPath }: { palette: Palette; shownPath: (path: string) => string },
): string {
  if (type === "file") return palette.accent(shownPath(path ?? name));
  const place = path === undefined || path === parent?.path ? "" : ` in ${palette.accent(shownPath(path))}`;
  return `${shownText(name, palette.isTerminal)} ${palette.dim(type)}${place}`;
}
