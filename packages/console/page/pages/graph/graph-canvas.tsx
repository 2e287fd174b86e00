// The drawn graph: pan, zoom, hover, select, expand. Everything it does can also be done in the list beside it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/parts.js";
import { counted, visible } from "../../kit/wording.js";
import type { ShownGraph } from "./graph-data.js";
import { currentColours, drawGraph, type View } from "./graph-drawing.js";
import { GraphLayout, type PlacedNode } from "./graph-layout.js";

/** How long the layout may work in a frame. Drawing needs the rest of its 16 ms. */
const LAYOUT_MS = 7;
/** While a graph with more edges than this settles, only some frames are drawn: drawing takes longer than the layout. */
const MANY_EDGES = 1_500;
const DRAWN_EVERY = 4;
/** A person who wants no motion sees the graph once it has settled. */
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const CLICK_PIXELS = 4;
const HIT_PIXELS = 6;
const [LEAST_SCALE, MOST_SCALE] = [0.05, 6];

interface CanvasProps {
  readonly graph: ShownGraph;
  readonly selected: string | undefined;
  readonly onSelect: (key: string | undefined) => void;
  readonly onExpand: (key: string) => void;
}

/** What draws the graph outside of the components: a frame must not wait for them. */
class Stage {
  readonly layout = new GraphLayout();
  view: View = { x: 0, y: 0, scale: 1 };
  /** Until the person moves it, the view shows everything. */
  isFree = false;
  hovered: string | undefined;
  selected: string | undefined;
  origin: string | undefined;
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  #colours = currentColours();
  #frame = 0;
  #isDrawn = false;
  #skipped = 0;
  #size = { width: 0, height: 0 };

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
  }

  get size() {
    return this.#size;
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = window.devicePixelRatio;
    this.#size = { width, height };
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.redraw();
  }

  recolour(): void {
    this.#colours = currentColours();
    this.redraw();
  }

  redraw(): void {
    this.#isDrawn = false;
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#run());
  }

  /** Shows all nodes. */
  fit(): void {
    const { left, top, width, height } = this.layout.bounds();
    const { width: w, height: h } = this.#size;
    const scale = Math.min(2.4, (w - 120) / Math.max(width, 1), (h - 100) / Math.max(height, 1));
    this.view = { x: left + width / 2, y: top + height / 2, scale: within(scale) };
  }

  /** Zooms, and keeps the point under the pointer where it is. */
  zoom(factor: number, at?: { readonly x: number; readonly y: number }): void {
    const { x, y, scale } = this.view;
    const { width, height } = this.#size;
    const next = within(scale * factor);
    const [dx, dy] = [(at?.x ?? width / 2) - width / 2, (at?.y ?? height / 2) - height / 2];
    this.isFree = true;
    this.view = { x: x + dx / scale - dx / next, y: y + dy / scale - dy / next, scale: next };
    this.redraw();
  }

  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.view;
    this.isFree = true;
    this.view = { x: x - dx / scale, y: y - dy / scale, scale };
    this.redraw();
  }

  centre(key: string): void {
    const node = this.layout.byKey.get(key);
    if (node === undefined) return;
    this.isFree = true;
    this.view = { x: node.x, y: node.y, scale: Math.max(this.view.scale, 1.2) };
    this.redraw();
  }

  nodeAt(x: number, y: number): PlacedNode | undefined {
    const { x: midX, y: midY, scale } = this.view;
    const { width, height } = this.#size;
    return this.layout.at((x - width / 2) / scale + midX, (y - height / 2) / scale + midY, HIT_PIXELS / scale);
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  #isSkipped(): boolean {
    if (STILL.matches) return true;
    return this.layout.edges.length > MANY_EDGES && ++this.#skipped % DRAWN_EVERY !== 0;
  }

  #run(): void {
    this.#frame = 0;
    const { layout } = this;
    if (layout.isMoving) {
      layout.move(LAYOUT_MS);
      if (!this.isFree) this.fit();
      this.#isDrawn = layout.isMoving && this.#isSkipped();
    }
    if (!this.#isDrawn && this.#context !== null) {
      this.#isDrawn = true;
      drawGraph(this.#context, {
        layout,
        view: this.view,
        ...this.#size,
        colours: this.#colours,
        origin: this.origin,
        selected: this.selected,
        hovered: this.hovered,
      });
    }
    this.#canvas.dataset.state = layout.isMoving ? "moving" : "settled";
    if (layout.isMoving) this.redraw();
  }
}

function within(scale: number): number {
  return Math.max(LEAST_SCALE, Math.min(MOST_SCALE, scale));
}

export function GraphCanvas({ graph, selected, onSelect, onExpand }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage | undefined>(undefined);
  const [hover, setHover] = useState<{ node: PlacedNode; x: number; y: number }>();
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const made = new Stage(element);
    stage.current = made;
    made.resize();
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    const onTheme = () => made.recolour();
    window.addEventListener("themechange", onTheme);
    // Preact's listeners for the wheel are passive in some browsers, and the page must not scroll.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015));
      made.zoom(factor, { x: event.offsetX, y: event.offsetY });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      observer.disconnect();
      window.removeEventListener("themechange", onTheme);
      element.removeEventListener("wheel", onWheel);
      made.stop();
    };
  }, []);
  const originKey = graph.origin.key;
  useEffect(() => {
    const { current } = stage;
    if (current === undefined) return;
    if (current.origin !== originKey) current.isFree = false;
    current.origin = originKey;
    current.layout.show(graph);
    setHover(undefined);
    current.redraw();
  }, [graph, originKey]);
  useEffect(() => {
    const { current } = stage;
    if (current === undefined) return;
    current.selected = selected;
    current.redraw();
  }, [selected]);
  const drag = useDrag(stage, {
    onClick: (node) => onSelect(node?.node.key),
    onHover: (node, x, y) => {
      const { current } = stage;
      if (current !== undefined && current.hovered !== node?.node.key) {
        current.hovered = node?.node.key;
        current.redraw();
      }
      setHover((before) => (node === undefined ? undefined : before?.node === node ? before : { node, x, y }));
    },
  });
  return (
    <div class="graph-area">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${counted(graph.nodes.size, "node")} and ${counted(graph.edges.length, "relation")} around ${visible(graph.origin.name)}. The list of nodes has the same content.`}
        {...drag}
        onDblClick={(event) => {
          const node = stage.current?.nodeAt(event.offsetX, event.offsetY);
          if (node !== undefined) onExpand(node.node.key);
        }}
      />
      {hover !== undefined && (
        <div class="graph-tip" style={{ left: `${hover.x + 14}px`, top: `${hover.y + 14}px` }}>
          <strong>{visible(hover.node.node.name.slice(0, 200))}</strong> {hover.node.node.type}
          {hover.node.node.path !== undefined && <div class="mono">{visible(hover.node.node.path)}</div>}
        </div>
      )}
      <div class="graph-zoom">
        <Button small icon="plus" label="Zoom in" onClick={() => stage.current?.zoom(1.4)}>
          {""}
        </Button>
        <Button small label="Zoom out" onClick={() => stage.current?.zoom(1 / 1.4)}>
          −
        </Button>
        <Button
          small
          onClick={() => {
            const { current } = stage;
            if (current === undefined) return;
            current.isFree = false;
            current.fit();
            current.redraw();
          }}
        >
          Fit
        </Button>
        <Button
          small
          disabled={selected === undefined}
          label="Centre the selected node"
          onClick={() => selected !== undefined && stage.current?.centre(selected)}
        >
          Centre
        </Button>
      </div>
    </div>
  );
}

interface DragActions {
  readonly onClick: (node: PlacedNode | undefined) => void;
  readonly onHover: (node: PlacedNode | undefined, x: number, y: number) => void;
}

/** Pointer events of the canvas: a press that moves pans, one that does not selects. */
function useDrag(stage: { readonly current: Stage | undefined }, actions: DragActions) {
  const press = useRef<{ x: number; y: number; hasMoved: boolean } | undefined>(undefined);
  const latest = useRef(actions);
  latest.current = actions;
  return useMemo(
    () => ({
      onPointerDown: (event: PointerEvent & { currentTarget: HTMLCanvasElement }) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        press.current = { x: event.offsetX, y: event.offsetY, hasMoved: false };
      },
      onPointerMove: (event: PointerEvent) => {
        const { offsetX: x, offsetY: y } = event;
        const pressed = press.current;
        if (pressed === undefined) {
          latest.current.onHover(stage.current?.nodeAt(x, y), x, y);
          return;
        }
        const hasMoved = pressed.hasMoved || Math.hypot(x - pressed.x, y - pressed.y) > CLICK_PIXELS;
        if (!hasMoved) return;
        latest.current.onHover(undefined, x, y);
        stage.current?.pan(x - pressed.x, y - pressed.y);
        press.current = { x, y, hasMoved };
      },
      onPointerUp: (event: PointerEvent) => {
        const pressed = press.current;
        press.current = undefined;
        if (pressed !== undefined && !pressed.hasMoved)
          latest.current.onClick(stage.current?.nodeAt(event.offsetX, event.offsetY));
      },
      onPointerLeave: () => latest.current.onHover(undefined, 0, 0),
      onPointerCancel: () => {
        press.current = undefined;
      },
    }),
    [stage],
  );
}
