// Where the nodes of a graph are. Forces move them, a few milliseconds at a time, so that the page stays responsive.
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import { type GraphNode, kindOf, type ShownGraph } from "./graph-data.js";

export interface PlacedNode extends SimulationNodeDatum {
  readonly node: GraphNode;
  readonly kind: number;
  readonly radius: number;
  readonly degree: number;
  x: number;
  y: number;
}

/** A line from one node to another, whatever their relations are. */
export interface PlacedEdge extends SimulationLinkDatum<PlacedNode> {
  source: PlacedNode;
  target: PlacedNode;
}

const SETTLED = 0.02;
/** Above this, keeping nodes apart costs more than it helps. */
const MOST_COLLIDING = 600;
/** The angle between one new node and the next: the golden angle spreads any number of them evenly. */
const TURN = Math.PI * (3 - Math.sqrt(5));

export class GraphLayout {
  nodes: readonly PlacedNode[] = [];
  edges: readonly PlacedEdge[] = [];
  readonly byKey = new Map<string, PlacedNode>();
  #simulation: Simulation<PlacedNode, PlacedEdge> | undefined;

  get isMoving(): boolean {
    return this.#simulation !== undefined && this.#simulation.alpha() > SETTLED;
  }

  /** Shows another graph. Nodes that were there before stay where they are, and new ones begin beside a neighbour. */
  show({ nodes, edges, origin }: ShownGraph): void {
    const before = new Map(this.byKey);
    const degrees = new Map<string, number>();
    const beside = new Map<string, PlacedNode>();
    for (const { from, to } of edges) {
      degrees.set(from, (degrees.get(from) ?? 0) + 1);
      degrees.set(to, (degrees.get(to) ?? 0) + 1);
      const [start, end] = [before.get(from), before.get(to)];
      if (start !== undefined) beside.set(to, start);
      if (end !== undefined) beside.set(from, end);
    }
    this.byKey.clear();
    let added = 0;
    for (const node of nodes.values()) {
      const known = before.get(node.key);
      const degree = degrees.get(node.key) ?? 0;
      const near = beside.get(node.key);
      const away = 12 * Math.sqrt(++added);
      this.byKey.set(node.key, {
        node,
        degree,
        kind: kindOf(node.type),
        radius: (node.key === origin.key ? 8 : 4) + Math.min(6, Math.sqrt(degree)),
        x: known?.x ?? (near?.x ?? 0) + away * Math.cos(added * TURN),
        y: known?.y ?? (near?.y ?? 0) + away * Math.sin(added * TURN),
      });
    }
    this.nodes = [...this.byKey.values()];
    const pairs = new Map(edges.map(({ from, to }) => [`${from}\n${to}`, { from, to }]));
    this.edges = [...pairs.values()].flatMap(({ from, to }) => {
      const [source, target] = [this.byKey.get(from), this.byKey.get(to)];
      return source === undefined || target === undefined || source === target ? [] : [{ source, target }];
    });
    const isLarge = this.nodes.length > MOST_COLLIDING;
    this.#simulation = forceSimulation<PlacedNode, PlacedEdge>([...this.nodes])
      .stop()
      .alpha(before.size === 0 ? 1 : 0.5)
      .alphaDecay(isLarge ? 0.04 : 0.025)
      .force("link", forceLink<PlacedNode, PlacedEdge>([...this.edges]).distance(isLarge ? 30 : 60))
      .force(
        "charge",
        forceManyBody<PlacedNode>()
          .strength(isLarge ? -30 : -160)
          .theta(1.1)
          .distanceMax(600),
      )
      .force("x", forceX<PlacedNode>(0).strength(0.04))
      .force("y", forceY<PlacedNode>(0).strength(0.04));
    if (!isLarge)
      this.#simulation.force(
        "collide",
        forceCollide<PlacedNode>(({ radius }) => radius + 4),
      );
  }

  /** Moves the nodes for about this long, at least once. */
  move(budgetMs: number): void {
    const end = performance.now() + budgetMs;
    do this.#simulation?.tick();
    while (this.isMoving && performance.now() < end);
  }

  /** The node at a point, if it is at most this far away. */
  at(x: number, y: number, within: number): PlacedNode | undefined {
    let [best, least]: [PlacedNode | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const node of this.nodes) {
      const distance = Math.hypot(node.x - x, node.y - y) - node.radius;
      if (distance < Math.min(least, within)) [best, least] = [node, distance];
    }
    return best;
  }

  /** The rectangle that all nodes are in. */
  bounds(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number } {
    let [left, top, right, bottom] = [0, 0, 0, 0];
    this.nodes.forEach(({ x, y }, index) => {
      left = index === 0 ? x : Math.min(left, x);
      right = index === 0 ? x : Math.max(right, x);
      top = index === 0 ? y : Math.min(top, y);
      bottom = index === 0 ? y : Math.max(bottom, y);
    });
    return { left, top, width: right - left, height: bottom - top };
  }
}
