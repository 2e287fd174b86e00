import "./tools.css";
import type { ToolList, ToolRow } from "@trunkline/console/contract";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { useAnswer } from "../../kit/live.js";
import { Button, Dot, Empty, ErrorNotice, Loading, PageHead, SearchField } from "../../kit/parts.js";
import { setParams } from "../../kit/places.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownCount, visible } from "../../kit/wording.js";
import { Badges, ToolDetails } from "./tool-details.js";

const ROW_HEIGHT = 52;
/** A search begins when the person stops typing. */
const TYPING_MS = 200;

export function ToolsPage({ workspace, overview, place }: PageProps) {
  const { find, server, sort, tool: chosenName } = place.params;
  const all = useAnswer("tools", { workspace }, ["tools"]);
  const search = useAnswer("tools", find === undefined ? undefined : { workspace, find }, ["tools"]);
  const found = useLast(find === undefined ? all.data : search.data);
  const servers = useMemo(() => [...new Set(all.data?.tools.map((row) => row.server))], [all.data]);
  useServerLink(servers, find);
  const tools = useMemo(() => sorted(filtered(found?.tools ?? [], server), sort), [found, server, sort]);
  const at = tools.findIndex(({ name }) => name === chosenName);
  const chosen = tools[at] ?? all.data?.tools.find(({ name }) => name === chosenName);
  const error = find === undefined ? all.error : (search.error ?? all.error);
  const isEmpty = all.data !== undefined && all.data.tools.length === 0;
  return (
    <>
      <PageHead title="Tools" about={all.data === undefined ? undefined : summary(all.data, servers.length)}>
        <Search find={find ?? ""} />
        {servers.length > 1 && (
          <select
            aria-label="Server"
            value={server ?? ""}
            onChange={({ currentTarget }) => setParams({ server: currentTarget.value })}
          >
            <option value="">All servers</option>
            {servers.map((name) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        )}
      </PageHead>
      {error !== undefined && (
        <div class="tools-error">
          <ErrorNotice error={error} retry={find === undefined ? all.reload : search.reload} />
        </div>
      )}
      {found === undefined || all.data === undefined ? (
        error === undefined && <Loading />
      ) : isEmpty ? (
        <div class="page-body">
          <NoTools connecting={all.data.connecting} />
        </div>
      ) : (
        <div class={`split tools ${chosen === undefined ? "" : "with-details"}`}>
          <div class="tools-list" aria-busy={find !== undefined && search.isLoading}>
            <ListHead
              isRanked={find !== undefined}
              count={tools.length}
              sort={sort}
              note={find === undefined ? undefined : found.note}
              connecting={all.data.connecting}
            />
            {tools.length === 0 ? (
              <Empty icon="search" title="No tool matches">
                <p>Try other words{server === undefined ? "" : ", or look at all servers"}.</p>
              </Empty>
            ) : (
              <Rows
                items={tools}
                rowHeight={ROW_HEIGHT}
                label="Tools"
                keyOf={({ name }) => name}
                chosen={at < 0 ? undefined : at}
                onChoose={(index) => setParams({ tool: tools[index]?.name })}
                render={(row) => <ToolLine row={row} />}
              />
            )}
          </div>
          {chosen !== undefined && (
            <ToolDetails
              key={`${chosen.server} ${chosen.tool}`}
              workspace={workspace}
              server={chosen.server}
              tool={chosen.tool}
              questions={overview.questions}
              onClose={() => setParams({ tool: undefined })}
            />
          )}
        </div>
      )}
    </>
  );
}

/** The last value, while the next one is awaited: a list must not flicker with each letter. */
function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef<T | undefined>(undefined);
  if (value !== undefined) last.current = value;
  return last.current;
}

/** A link from elsewhere may search for the name of a server: that means all of its tools. */
function useServerLink(servers: readonly string[], find: string | undefined): void {
  const arrived = useRef(find);
  useEffect(() => {
    // A search that was typed here stays a search.
    if (find === undefined || find !== arrived.current) arrived.current = undefined;
    else if (servers.includes(find)) setParams({ find: undefined, server: find });
  }, [servers, find]);
}

function Search({ find }: { readonly find: string }) {
  const [text, setText] = useState(find);
  useEffect(() => setText(find), [find]);
  useEffect(() => {
    if (text.trim() === find) return undefined;
    const timer = setTimeout(() => setParams({ find: text.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, find]);
  return <SearchField value={text} onInput={setText} placeholder="What do you want to do?" />;
}

function filtered(tools: readonly ToolRow[], server: string | undefined): readonly ToolRow[] {
  return server === undefined ? tools : tools.filter((row) => row.server === server);
}

function sorted(tools: readonly ToolRow[], sort: string | undefined): readonly ToolRow[] {
  return sort === "tokens" ? [...tools].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0)) : tools;
}

function summary({ tools }: ToolList, servers: number): string {
  if (tools.length === 0) return "";
  const tokens = tools.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const cost = tokens === 0 ? "" : ` · ${shownCount(tokens)} tokens as a plain list`;
  return `${counted(tools.length, "tool")} of ${counted(servers, "server")}${cost}`;
}

function ListHead(props: {
  readonly isRanked: boolean;
  readonly count: number;
  readonly sort: string | undefined;
  readonly note: string | undefined;
  readonly connecting: readonly string[];
}) {
  const { isRanked, count, sort, note, connecting } = props;
  const byTokens = sort === "tokens";
  return (
    <div class="tools-head">
      <span role="status" class="cut">
        {isRanked ? `${counted(count, "tool")}, ${byTokens ? "found" : "best first"}` : "Tool"}
        {note !== undefined && <span title={visible(note)}> · {visible(note)}</span>}
        {connecting.length > 0 && (
          <span>
            {" "}
            · connecting {visible(connecting.slice(0, 3).join(", "))}
            {connecting.length > 3 ? ` and ${connecting.length - 3} more` : ""}
          </span>
        )}
      </span>
      <button
        type="button"
        aria-pressed={byTokens}
        title={byTokens ? "Back to the usual order" : "Most expensive first"}
        onClick={() => setParams({ sort: byTokens ? undefined : "tokens" })}
      >
        Tokens{byTokens ? " ↓" : ""}
      </button>
    </div>
  );
}

function ToolLine({ row }: { readonly row: ToolRow }) {
  return (
    <div class={`tool-line ${row.blocked === undefined ? "" : "blocked"}`}>
      <div class="what">
        <div class="cut">
          <span class="server">{visible(row.server)}.</span>
          <span class="name">{visible(row.tool)}</span>
          <code class="signature">{visible(row.signature)}</code>
        </div>
        <div class="cut summary">{row.summary === "" ? "No description" : visible(row.summary)}</div>
      </div>
      <Badges row={row} />
      <span
        class="number dim"
        title={row.tokens === undefined ? "Not counted yet" : `${shownCount(row.tokens)} tokens`}
      >
        {row.tokens === undefined ? "–" : shownCount(row.tokens)}
      </span>
    </div>
  );
}

function NoTools({ connecting }: { readonly connecting: readonly string[] }) {
  if (connecting.length > 0) {
    return (
      <Empty icon="tools" title="Connecting servers">
        <p class="connecting">
          <Dot tone="info" beating />
          {visible(connecting.slice(0, 5).join(", "))}
          {connecting.length > 5 ? ` and ${connecting.length - 5} more` : ""}
        </p>
      </Empty>
    );
  }
  return (
    <Empty
      icon="tools"
      title="No tools"
      command="trunkline servers add everything -- npx -y @modelcontextprotocol/server-everything"
    >
      <p>The tools of all servers appear here. Add a server, or see on the page Servers why one does not work.</p>
      <div class="buttons center">
        <Button onClick={() => (location.hash = "#/servers")}>Servers</Button>
      </div>
    </Empty>
  );
}
