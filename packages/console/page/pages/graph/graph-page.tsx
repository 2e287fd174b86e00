// The code graph around a document or symbol. The address has the start, the selection and what was expanded.
import { useCallback, useMemo, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { Choice, ErrorNotice, Loading, Notice, PageHead, SearchField } from "../../kit/parts.js";
import { addressOf, currentPlace, goTo, setParams } from "../../kit/places.js";
import { shownCount, visible } from "../../kit/wording.js";
import { GraphCanvas } from "./graph-canvas.js";
import {
  type Direction,
  type GraphRequest,
  MOST_NODES,
  type ShownGraph,
  useGraph,
  withoutRelations,
} from "./graph-data.js";
import { GraphNodes, Legend, relationLabel } from "./graph-nodes.js";
import { GraphStart } from "./graph-start.js";
import "./graph.css";

const DIRECTIONS: readonly { readonly value: Direction; readonly label: string }[] = [
  { value: "both", label: "Both" },
  { value: "out", label: "Outgoing" },
  { value: "in", label: "Incoming" },
];
const DEPTHS = ["1", "2", "3"].map((value) => ({ value, label: value }));
/** Every document is in a collection, which says nothing about the code. */
const HIDDEN = "IN_COLLECTION";
const NOTHING = "none";
const MOST_EXPANDED = 30;

export function GraphPage({ workspace, overview, place }: PageProps) {
  const { params } = place;
  const [text, setText] = useState("");
  const folder = overview.workspaces.find(({ id }) => id === workspace)?.folder;
  const direction = DIRECTIONS.find(({ value }) => value === params.dir)?.value ?? "both";
  const depth = DEPTHS.find(({ value }) => value === params.depth)?.value ?? "1";
  const hidden = useMemo(() => new Set((params.hide ?? HIDDEN).split(",")), [params.hide]);
  const expanded = useMemo(() => params.open?.split("\n") ?? [], [params.open]);
  const hasStart = params.name !== undefined || params.key !== undefined;
  const request: GraphRequest | undefined = hasStart
    ? { name: params.name, key: params.key, depth: Number(depth), direction, expanded }
    : undefined;
  const { graph: whole, error, isLoading } = useGraph(workspace, request);
  const graph = useMemo(() => (whole === undefined ? undefined : withoutRelations(whole, hidden)), [whole, hidden]);
  const selected = params.sel ?? graph?.origin.key;
  const start = (at: { readonly name?: string; readonly key?: string }) => {
    setText("");
    goTo("graph", { dir: params.dir, depth: params.depth, hide: params.hide, ...at });
  };
  const body = () => {
    if (text.trim() !== "" || !hasStart)
      return <GraphStart workspace={workspace} folder={folder} text={text} onStart={(key) => start({ key })} />;
    if (error !== undefined) {
      return (
        <>
          <div class="graph-note padded">
            <ErrorNotice error={error} />
          </div>
          <GraphStart
            workspace={workspace}
            folder={folder}
            text={params.name ?? ""}
            onStart={(key) => start({ key })}
          />
        </>
      );
    }
    if (graph === undefined || whole === undefined) return <Loading />;
    return (
      <div class="graph-split" aria-busy={isLoading}>
        <div class="graph-main">
          <Filters whole={whole} hidden={hidden} />
          {graph.isTruncated && (
            <div class="graph-note">
              <Notice tone="warn">
                There are more than {shownCount(MOST_NODES)} nodes. Start at something smaller, or follow fewer steps.
              </Notice>
            </div>
          )}
          {graph.notice !== undefined && (
            <div class="graph-note">
              <Notice>{visible(graph.notice)}</Notice>
            </div>
          )}
          <GraphCanvas graph={graph} selected={selected} onSelect={select} onExpand={expand} />
          <Legend />
        </div>
        <GraphNodes
          graph={graph}
          folder={folder}
          selected={selected}
          expanded={expanded}
          onSelect={select}
          onExpand={expand}
        />
      </div>
    );
  };
  const expand = useCallback((key: string) => {
    const open = currentPlace().params.open?.split("\n") ?? [];
    if (!open.includes(key)) setParams({ open: [...open, key].slice(-MOST_EXPANDED).join("\n"), sel: key });
  }, []);
  const select = useCallback((key: string | undefined) => setParams({ sel: key }), []);
  return (
    <>
      <PageHead
        title="Graph"
        about={
          hasStart && graph !== undefined
            ? `Around ${visible(graph.origin.name.slice(0, 100))}`
            : "How code depends on code"
        }
      >
        {hasStart && (
          <>
            <Choice<Direction>
              label="Direction"
              value={direction}
              options={DIRECTIONS}
              onChange={(value) => setParams({ dir: value === "both" ? undefined : value })}
            />
            <span class="dim" id="graph-steps">
              Depth
            </span>
            <Choice
              label="Depth"
              value={depth}
              options={DEPTHS}
              onChange={(value) => setParams({ depth: value === "1" ? undefined : value })}
            />
          </>
        )}
      </PageHead>
      <form
        class="graph-tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") start({ name: text.trim() });
        }}
      >
        <SearchField value={text} onInput={setText} placeholder="Start at a document or symbol" />
        {hasStart && (
          <a class="dim" href={addressOf("graph")} onClick={() => setText("")}>
            All documents and symbols
          </a>
        )}
      </form>
      {body()}
    </>
  );
}

/** Which relations are shown. */
function Filters({ whole, hidden }: { readonly whole: ShownGraph; readonly hidden: ReadonlySet<string> }) {
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const { relation } of whole.edges) found.set(relation, (found.get(relation) ?? 0) + 1);
    return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  }, [whole]);
  const toggle = (relation: string) => {
    const next = new Set(hidden);
    next.delete(NOTHING);
    if (!next.delete(relation)) next.add(relation);
    setParams({ hide: next.size === 0 ? NOTHING : [...next].join() });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out inline
    <div class="graph-filters" role="group" aria-label="Relations">
      {counts.map(([relation, count]) => (
        <button key={relation} type="button" aria-pressed={!hidden.has(relation)} onClick={() => toggle(relation)}>
          {relationLabel(relation)} <span class="dim">{shownCount(count)}</span>
        </button>
      ))}
    </div>
  );
}
