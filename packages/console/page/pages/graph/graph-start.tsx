// Where a graph begins: documents and symbols by name.
import { useEffect, useMemo, useState } from "preact/hooks";
import { runOperation, useOperation } from "../../kit/operations.js";
import { Choice, Empty, ErrorNotice, Loading } from "../../kit/parts.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownCount, visible } from "../../kit/wording.js";
import type { GraphNode } from "./graph-data.js";
import { KindDot } from "./graph-nodes.js";

const ROW_HEIGHT = 32;
const LISTED = 5_000;
/** Types that a graph is worth starting from, the common ones first. */
const STARTS = [
  "file",
  "function",
  "class",
  "interface",
  "method",
  "type",
  "struct",
  "trait",
  "enum",
  "module",
  "external",
];

interface Listed {
  readonly nodes: readonly GraphNode[];
  readonly total: number;
}

interface StartProps {
  readonly workspace: string;
  readonly folder: string | undefined;
  readonly text: string;
  readonly onStart: (key: string) => void;
}

export function GraphStart({ workspace, folder, text, onStart }: StartProps) {
  const types = useOperation<{ types: readonly { type: string; count: number }[] }>(
    { workspace, op: "graph", params: { list_types: true } },
    ["store"],
  );
  const [type, setType] = useState("file");
  const [cursor, setCursor] = useState<number>();
  const counts = types.data?.types ?? [];
  const offered = STARTS.flatMap((name) => counts.find((one) => one.type === name) ?? []);
  const wanted = text.trim().toLowerCase();
  // A search looks through all of them; otherwise one type is listed.
  const names = (wanted === "" ? offered.filter((one) => one.type === type) : offered).map((one) => one.type).join();
  const { lists, error } = useLists(workspace, names);
  useEffect(() => setCursor(undefined), [wanted, type]);
  const found = useMemo(() => matching(lists, wanted), [lists, wanted]);
  const failure = types.error ?? error;
  if (failure !== undefined) {
    return (
      <div class="page-body padded">
        <ErrorNotice error={failure} retry={types.reload} />
      </div>
    );
  }
  if (types.data === undefined) return <Loading />;
  if (offered.length === 0) {
    return (
      <Empty icon="graph" title="The graph is empty" command="trunkline init">
        <p>It shows how the files and symbols of a project depend on each other. This indexes the project:</p>
      </Empty>
    );
  }
  const cut = lists?.some(({ nodes, total }) => total > nodes.length) === true;
  return (
    <div class="graph-start">
      <div class="graph-start-head">
        {wanted === "" ? (
          <Choice
            label="Type of node"
            value={type}
            options={offered.map((one) => ({ value: one.type, label: `${one.type} ${shownCount(one.count)}` }))}
            onChange={setType}
          />
        ) : (
          <span class="dim" role="status">
            {lists === undefined ? "Searching …" : `${counted(found.length, "node")} with this name`}
            {cut && ". Not all of them could be listed: press Enter to use the text as an exact name."}
          </span>
        )}
      </div>
      {lists === undefined ? (
        <Loading />
      ) : found.length === 0 ? (
        <Empty icon="search" title="No document or symbol has this name">
          <p>Press Enter to look for it as the end of a path.</p>
        </Empty>
      ) : (
        <Rows
          items={found}
          rowHeight={ROW_HEIGHT}
          label="Where to start"
          keyOf={({ key }, index) => `${key} ${index}`}
          chosen={cursor}
          onChoose={setCursor}
          onOpen={(index) => {
            const node = found[index];
            if (node !== undefined) onStart(node.key);
          }}
          render={({ name, type: kind, path }) => (
            <div class="graph-row">
              <KindDot type={kind} />
              <span class="cut name">{visible(name.slice(0, 200))}</span>
              <span class="cut dim grow">{visible(shortened(path ?? "", folder))}</span>
              <span class="dim">{kind}</span>
            </div>
          )}
        />
      )}
    </div>
  );
}

/** Lists the nodes of some types. Undefined while they are loading. */
function useLists(
  workspace: string,
  names: string,
): { lists: readonly Listed[] | undefined; error: Error | undefined } {
  const [loaded, setLoaded] = useState<{ names: string; lists?: readonly Listed[]; error?: Error }>({ names: "" });
  useEffect(() => {
    if (names === "") return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = names
      .split(",")
      .map((type) =>
        runOperation<Listed>({ workspace, op: "graph", params: { list_type: type, limit: LISTED }, signal }),
      );
    Promise.all(asked).then(
      (lists) => !signal.aborted && setLoaded({ names, lists }),
      (error: Error) => !signal.aborted && setLoaded({ names, error }),
    );
    return () => leaving.abort();
  }, [workspace, names]);
  const isCurrent = loaded.names === names;
  return { lists: isCurrent ? loaded.lists : undefined, error: isCurrent ? loaded.error : undefined };
}

/** Nodes whose name, or whose document's path, contains the text: the same name first, then beginnings. */
function matching(lists: readonly Listed[] | undefined, wanted: string): GraphNode[] {
  const all = (lists ?? []).flatMap(({ nodes }) => nodes);
  if (wanted === "") return all;
  const ranked = all.flatMap((node) => {
    const name = node.name.toLowerCase();
    const path = node.type === "file" ? (node.path ?? "").toLowerCase() : "";
    if (name === wanted) return [{ node, rank: 0 }];
    if (name.startsWith(wanted)) return [{ node, rank: 1 }];
    if (name.includes(wanted)) return [{ node, rank: 2 }];
    return path.includes(wanted) ? [{ node, rank: 3 }] : [];
  });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ node }) => node);
}

function shortened(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
