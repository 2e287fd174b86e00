// The nodes of the graph as a list, and the relations of the selected one: everything without the drawing.
import { useMemo, useState } from "preact/hooks";
import { Button, CopyButton } from "../../kit/parts.js";
import { addressOf } from "../../kit/places.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownCount, visible } from "../../kit/wording.js";
import { type GraphEdge, type GraphNode, KINDS, kindOf, type ShownGraph } from "./graph-data.js";

const ROW_HEIGHT = 30;
const RELATIONS = 50;

interface NodesProps {
  readonly graph: ShownGraph;
  readonly folder: string | undefined;
  readonly selected: string | undefined;
  readonly expanded: readonly string[];
  readonly onSelect: (key: string | undefined) => void;
  readonly onExpand: (key: string) => void;
}

export function GraphNodes(props: NodesProps) {
  const { graph, selected, onSelect } = props;
  const nodes = useMemo(
    () =>
      [...graph.nodes.values()].sort(
        (one, other) =>
          (one.distance ?? 0) - (other.distance ?? 0) ||
          kindOf(one.type) - kindOf(other.type) ||
          (one.name < other.name ? -1 : 1),
      ),
    [graph],
  );
  const chosen = nodes.findIndex(({ key }) => key === selected);
  const node = nodes[chosen];
  return (
    <aside class="graph-side" aria-label="Nodes">
      <h2>
        {counted(nodes.length, "node")}
        <span class="dim">, {counted(graph.edges.length, "relation")}</span>
      </h2>
      <Rows
        items={nodes}
        rowHeight={ROW_HEIGHT}
        label="Nodes"
        keyOf={({ key }) => key}
        chosen={chosen === -1 ? undefined : chosen}
        onChoose={(index) => onSelect(nodes[index]?.key)}
        render={({ name, type, key }) => (
          <div class="graph-row">
            <KindDot type={type} />
            <span class="cut grow">{visible(name.slice(0, 200))}</span>
            <span class="dim">{key === graph.origin.key ? `${type}, start` : type}</span>
          </div>
        )}
      />
      {node !== undefined && <SelectedNode {...props} key={node.key} node={node} />}
    </aside>
  );
}

export function KindDot({ type }: { readonly type: string }) {
  return <i class={`kind kind-${kindOf(type) + 1}`} aria-hidden="true" />;
}

export function Legend() {
  return (
    <ul class="graph-legend" aria-label="Colours">
      {KINDS.map(({ label, types }) => (
        <li key={label}>
          <KindDot type={types[0] ?? ""} />
          {label}
        </li>
      ))}
    </ul>
  );
}

function SelectedNode(props: NodesProps & { readonly node: GraphNode }) {
  const { graph, node, folder, expanded, onExpand, onSelect } = props;
  const { key, path, type, name } = node;
  const line = graph.edges.find((edge) => edge.to === key && edge.relation === "DEFINES")?.line;
  const shownPath = path !== undefined && folder !== undefined && path.startsWith(`${folder}/`);
  return (
    <section class="graph-selected" aria-label="Selected node">
      <header>
        <KindDot type={type} />
        <strong class="breakable">{visible(name.slice(0, 500))}</strong>
        <span class="dim">{type}</span>
      </header>
      {path !== undefined && (
        <div class="mono dim breakable">{visible(shownPath ? path.slice((folder ?? "").length + 1) : path)}</div>
      )}
      <div class="buttons left">
        <Button small disabled={expanded.includes(key)} onClick={() => onExpand(key)}>
          {expanded.includes(key) ? "Expanded" : "Expand"}
        </Button>
        {key !== graph.origin.key && (
          <a class="button small" href={addressOf("graph", { key })}>
            Start here
          </a>
        )}
        {path !== undefined && (
          <>
            <a
              class="button small"
              href={addressOf("store", { doc: path, line: line === undefined ? undefined : String(line) })}
            >
              Open document
            </a>
            <CopyButton text={path} label="Copy path" />
          </>
        )}
      </div>
      <Relations
        title="Outgoing"
        graph={graph}
        edges={graph.edges.filter(({ from }) => from === key)}
        end="to"
        onSelect={onSelect}
      />
      <Relations
        title="Incoming"
        graph={graph}
        edges={graph.edges.filter(({ to }) => to === key)}
        end="from"
        onSelect={onSelect}
      />
    </section>
  );
}

function Relations(props: {
  readonly title: string;
  readonly graph: ShownGraph;
  readonly edges: readonly GraphEdge[];
  /** The other end of the edges. */
  readonly end: "from" | "to";
  readonly onSelect: (key: string) => void;
}) {
  const { title, graph, edges, end, onSelect } = props;
  const [limit, setLimit] = useState(RELATIONS);
  if (edges.length === 0) return null;
  return (
    <>
      <h3>
        {title} <span class="dim">{shownCount(edges.length)}</span>
      </h3>
      <ul class="graph-relations">
        {edges.slice(0, limit).map((edge) => {
          const node = graph.nodes.get(edge[end]);
          return (
            <li key={`${edge.relation} ${edge[end]}`}>
              <span class="dim relation">{relationLabel(edge.relation)}</span>
              <button type="button" class="link-button cut" onClick={() => onSelect(edge[end])}>
                {visible((node?.name ?? edge[end]).slice(0, 200))}
              </button>
            </li>
          );
        })}
      </ul>
      {edges.length > limit && (
        <Button small kind="quiet" onClick={() => setLimit(limit + RELATIONS * 4)}>
          Show more
        </Button>
      )}
    </>
  );
}

/** `SAME_CONTENT` as people read it. */
export function relationLabel(relation: string): string {
  return relation.toLowerCase().replaceAll("_", " ");
}
