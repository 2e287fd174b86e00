// Draws a graph on a canvas. Measured without a graphics card, with 2,000 nodes and 4,000 edges: thin lines are fastest as
// one path, circles one by one, and wide lines in one path are slower by orders of magnitude.
import { visible } from "../../kit/wording.js";
import { KINDS } from "./graph-data.js";
import type { GraphLayout, PlacedEdge, PlacedNode } from "./graph-layout.js";

/** What the canvas shows: `x` and `y` are the point of the graph in its middle. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

interface Colours {
  readonly background: string;
  readonly text: string;
  readonly edge: string;
  readonly accent: string;
  readonly halo: string;
  readonly kinds: readonly string[];
  readonly font: string;
}

export function currentColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    background: value("--bg"),
    text: value("--text"),
    edge: value("--border-strong"),
    accent: value("--accent"),
    halo: value("--selected"),
    kinds: KINDS.map((_, index) => value(`--chart-${index + 1}`)),
    font: value("--font"),
  };
}

interface Scene {
  readonly layout: GraphLayout;
  readonly view: View;
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  readonly origin: string | undefined;
  readonly selected: string | undefined;
  readonly hovered: string | undefined;
}

const FULL_CIRCLE = 2 * Math.PI;
/** The distance of the ring around the selected node, in pixels. */
const HALO = 8;
const LABEL_SCALE = 1.15;
const MOST_LABELS = 120;
/** Nodes with the most relations have a label at any scale. */
const IMPORTANT = 10;
const LONGEST_LABEL = 36;
/** More edges of the selected node than this are thin and without arrows. */
const MOST_WIDE = 300;

export function drawGraph(canvas: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, view, width, height, colours, selected } = scene;
  const ratio = window.devicePixelRatio;
  canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
  canvas.fillStyle = colours.background;
  canvas.fillRect(0, 0, width, height);
  const { scale } = view;
  const offset = { x: width / 2 - view.x * scale, y: height / 2 - view.y * scale };
  canvas.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * offset.x, ratio * offset.y);
  const isOwn = ({ source, target }: PlacedEdge) => source.node.key === selected || target.node.key === selected;
  const own = selected === undefined ? [] : layout.edges.filter(isOwn);
  canvas.lineWidth = 1 / scale;
  canvas.strokeStyle = colours.edge;
  canvas.globalAlpha = layout.edges.length > 1_500 || own.length > 0 ? 0.5 : 0.9;
  lines(canvas, own.length === 0 ? layout.edges : layout.edges.filter((edge) => !isOwn(edge)));
  canvas.globalAlpha = 1;
  canvas.strokeStyle = colours.accent;
  canvas.fillStyle = colours.accent;
  if (own.length > MOST_WIDE) lines(canvas, own);
  else {
    canvas.lineWidth = 1.75 / scale;
    for (const edge of own) {
      lines(canvas, [edge]);
      // The selected node has a ring, which an arrow must not be under.
      const gap = edge.target.node.key === selected ? HALO : 1;
      arrow(canvas, edge, { scale, gap: gap / scale });
    }
  }
  const [halfWidth, halfHeight] = [width / 2 / scale, height / 2 / scale];
  colours.kinds.forEach((colour, kind) => {
    canvas.fillStyle = colour;
    for (const { kind: its, x, y, radius } of layout.nodes) {
      const isOutside = Math.abs(x - view.x) > halfWidth + radius || Math.abs(y - view.y) > halfHeight + radius;
      if (its !== kind || isOutside) continue;
      canvas.beginPath();
      canvas.arc(x, y, radius, 0, FULL_CIRCLE);
      canvas.fill();
    }
  });
  rings(canvas, scene);
  canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
  labels(canvas, scene, { offset, own });
}

function lines(canvas: CanvasRenderingContext2D, edges: readonly PlacedEdge[]): void {
  canvas.beginPath();
  for (const { source, target } of edges) {
    canvas.moveTo(source.x, source.y);
    canvas.lineTo(target.x, target.y);
  }
  canvas.stroke();
}

function arrow(
  canvas: CanvasRenderingContext2D,
  { source, target }: PlacedEdge,
  { scale, gap }: { readonly scale: number; readonly gap: number },
): void {
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const length = Math.hypot(dx, dy);
  const size = 7 / scale;
  const end = target.radius + gap;
  if (length < end + size) return;
  const [ux, uy] = [dx / length, dy / length];
  const [tipX, tipY] = [target.x - ux * end, target.y - uy * end];
  canvas.beginPath();
  canvas.moveTo(tipX, tipY);
  canvas.lineTo(tipX - ux * size - uy * size * 0.5, tipY - uy * size + ux * size * 0.5);
  canvas.lineTo(tipX - ux * size + uy * size * 0.5, tipY - uy * size - ux * size * 0.5);
  canvas.fill();
}

function rings(canvas: CanvasRenderingContext2D, { layout, view, colours, origin, selected, hovered }: Scene): void {
  const around = (key: string | undefined, gap: number) => {
    const node = key === undefined ? undefined : layout.byKey.get(key);
    if (node === undefined) return false;
    canvas.beginPath();
    canvas.arc(node.x, node.y, node.radius + gap / view.scale, 0, FULL_CIRCLE);
    return true;
  };
  if (around(selected, HALO)) {
    canvas.fillStyle = colours.halo;
    canvas.fill();
    canvas.lineWidth = 2 / view.scale;
    canvas.strokeStyle = colours.accent;
    canvas.stroke();
  }
  canvas.lineWidth = 1.5 / view.scale;
  canvas.strokeStyle = colours.text;
  if (origin !== selected && around(origin, 4)) canvas.stroke();
  if (hovered !== selected && around(hovered, 4)) canvas.stroke();
  // They may lie below others, and the halo is over them.
  for (const key of [origin, selected, hovered]) {
    const node = key === undefined ? undefined : layout.byKey.get(key);
    canvas.fillStyle = colours.kinds[node?.kind ?? 0] ?? colours.text;
    if (around(key, 0)) canvas.fill();
  }
}

/** Writes names beside nodes, the important ones first, and leaves out what would lie over another name. */
function labels(
  canvas: CanvasRenderingContext2D,
  scene: Scene,
  { offset, own }: { readonly offset: { x: number; y: number }; readonly own: readonly PlacedEdge[] },
): void {
  const { layout, view, width, height, colours, origin, selected, hovered } = scene;
  const first = [hovered, selected, origin].flatMap((key) => layout.byKey.get(key ?? "") ?? []);
  const near = own.slice(0, 40).flatMap(({ source, target }) => [source, target]);
  const byDegree = [...layout.nodes].sort((one, other) => other.degree - one.degree);
  const rest = view.scale >= LABEL_SCALE ? byDegree : byDegree.slice(0, IMPORTANT);
  canvas.font = `12px ${colours.font}`;
  canvas.textBaseline = "middle";
  canvas.lineJoin = "round";
  canvas.lineWidth = 3;
  canvas.strokeStyle = colours.background;
  canvas.fillStyle = colours.text;
  const taken: { x: number; y: number; right: number }[] = [];
  for (const node of new Set<PlacedNode>([...first, ...near, ...rest])) {
    if (taken.length >= MOST_LABELS) break;
    const x = node.x * view.scale + offset.x + node.radius * view.scale + 5;
    const y = node.y * view.scale + offset.y;
    if (x < -100 || x > width || y < 0 || y > height) continue;
    const text = labelOf(node);
    const right = x + text.length * 7;
    if (taken.some((other) => Math.abs(other.y - y) < 14 && other.x < right && x < other.right)) continue;
    taken.push({ x, y, right });
    canvas.strokeText(text, x, y);
    canvas.fillText(text, x, y);
  }
}

function labelOf({ node }: PlacedNode): string {
  const name = visible(node.name.slice(0, LONGEST_LABEL + 1).replaceAll(/\s+/g, " "));
  return name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL)}…` : name;
}
