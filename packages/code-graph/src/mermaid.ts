// Renders a traversal as a Mermaid flowchart.

import { toOneLine } from "@trunkline/core";
import type { NodeType } from "./model/graph-model.js";
import type { GraphNode, Traversal } from "./traverse.js";

/** The shape of each node type; the default is a rectangle. */
const SHAPES: Partial<Record<NodeType, readonly [string, string]>> = {
  file: ["[[", "]]"],
  function: ["(", ")"],
  method: ["(", ")"],
  class: ["[", "]"],
  external: ["{{", "}}"],
  tag: ["([", "])"],
  collection: ["[(", ")]"],
};

const MAX_LABEL = 80;

/** Returns the chart's source. Edges to unresolved targets are dotted. */
export function toMermaid(traversal: Pick<Traversal, "origin" | "nodes" | "edges">): string {
  const ids = new Map<string, string>();
  const lines = ["flowchart LR"];
  const add = (node: Omit<GraphNode, "distance">) => {
    if (ids.has(node.key)) return;
    const id = `n${ids.size}`;
    ids.set(node.key, id);
    const [open, close] = SHAPES[node.type] ?? ["[", "]"];
    lines.push(`  ${id}${open}"${label(node.name)}"${close}`);
  };
  add(traversal.origin);
  for (const node of traversal.nodes) add(node);
  for (const { from, to, relation, resolved } of traversal.edges) {
    const [source, target] = [ids.get(from), ids.get(to)];
    if (source === undefined || target === undefined) continue;
    lines.push(`  ${source} ${resolved ? "-->" : "-.->"}|${relation}| ${target}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Escapes text for a quoted label: Mermaid uses entities with `#`. */
function label(name: string): string {
  const short = name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name;
  return toOneLine(short).replace(/[#"<>&`\\[\]{}|]/g, (char) => `#${char.charCodeAt(0)};`);
}
