import type { ServerRow } from "@trunkline/console/contract";
import { useMemo, useRef, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { ask, useAnswer } from "../../kit/live.js";
import {
  ActionButton,
  Button,
  Dot,
  Empty,
  ErrorNotice,
  Loading,
  PageHead,
  SearchField,
  Sparkline,
  type Tone,
} from "../../kit/parts.js";
import { setParams } from "../../kit/places.js";
import { counted, shownBytes, shownCount, shownMs, visible } from "../../kit/wording.js";
import { AddServer } from "./add-server.js";
import { ImportServers } from "./import-servers.js";
import { ServerDetails } from "./server-details.js";
import { actionsIn, needsPerson, STATES } from "./server-states.js";
import "./servers.css";

/** With fewer servers, a search field is only in the way. */
const SEARCH_FROM = 9;

export function ServersPage({ workspace, place }: PageProps) {
  const { data, error, reload } = useAnswer("servers", { workspace }, ["servers"]);
  const [find, setFind] = useState("");
  const [shown, setShown] = useState<"add" | "import">();
  const servers = data?.servers ?? [];
  const found = useMemo(() => servers.filter((server) => matches(server, find)), [servers, find]);
  const chosen = servers.find(({ name }) => name === place.params.server);
  const choose = (name: string | undefined) => setParams({ server: name });
  const waiting = servers.filter(({ state }) => state === "not-connected").length;
  return (
    <>
      <PageHead title="Servers" about={data === undefined ? undefined : summary(servers)}>
        {waiting > 0 && (
          <ActionButton icon="play" run={() => ask("servers", { workspace, connect: true })}>
            Connect all
          </ActionButton>
        )}
        <Button icon="file" onClick={() => setShown("import")}>
          Import
        </Button>
        <Button kind="primary" icon="plus" onClick={() => setShown("add")}>
          Add server
        </Button>
      </PageHead>
      {error !== undefined && (
        <div class="servers-error">
          <ErrorNotice error={error} retry={reload} />
        </div>
      )}
      {data === undefined ? (
        error === undefined && <Loading />
      ) : servers.length === 0 ? (
        <div class="page-body">
          <NoServers onImport={() => setShown("import")} />
        </div>
      ) : (
        <div class={`split ${chosen === undefined ? "" : "with-details"}`}>
          <div class="servers-list">
            {servers.length >= SEARCH_FROM && (
              <div class="servers-filter">
                <SearchField value={find} onInput={setFind} placeholder="Filter by name, state or command" />
                {find !== "" && <span class="dim">{counted(found.length, "server")}</span>}
              </div>
            )}
            <ServerTable servers={found} workspace={workspace} chosen={chosen?.name} onChoose={choose} />
            {found.length === 0 && <p class="servers-none dim">No server matches.</p>}
          </div>
          {chosen !== undefined && (
            <ServerDetails
              key={chosen.name}
              server={chosen}
              workspace={workspace}
              wantsSignIn={place.params.do === "sign-in"}
              onClose={() => setParams({ server: undefined, do: undefined })}
            />
          )}
        </div>
      )}
      {shown === "add" && (
        <AddServer
          workspace={workspace}
          onClose={() => setShown(undefined)}
          onAdded={(name) => {
            setShown(undefined);
            choose(name);
          }}
        />
      )}
      {shown === "import" && <ImportServers workspace={workspace} onClose={() => setShown(undefined)} />}
    </>
  );
}

function summary(servers: readonly ServerRow[]): string {
  const count = servers.filter(needsPerson).length;
  const needing = count === 0 ? "" : `, ${shownCount(count)} ${count === 1 ? "needs" : "need"} you`;
  return `${counted(servers.length, "server")}${needing}`;
}

function matches({ name, state, target, problem }: ServerRow, find: string): boolean {
  const words = find.toLowerCase().split(/\s+/);
  const text = `${name} ${STATES[state].word} ${target} ${problem?.message ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function NoServers({ onImport }: { readonly onImport: () => void }) {
  return (
    <Empty
      icon="servers"
      title="No servers yet"
      command="trunkline servers add everything -- npx -y @modelcontextprotocol/server-everything"
    >
      <p>Add a server here or in a terminal, or import those that your editor already has.</p>
      <div class="buttons servers-empty">
        <Button icon="file" onClick={onImport}>
          Import from other programs
        </Button>
      </div>
    </Empty>
  );
}

function ServerTable(props: {
  readonly servers: readonly ServerRow[];
  readonly workspace: string;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const names = [...(body.current?.querySelectorAll<HTMLButtonElement>("button.server-name") ?? [])];
    const at = names.indexOf(document.activeElement as HTMLButtonElement);
    const next = names[at + step];
    if (step === 0 || at === -1 || next === undefined) return;
    event.preventDefault();
    next.focus();
    next.click();
  };
  return (
    <table class="table servers-table">
      <thead>
        <tr>
          <th scope="col">Server</th>
          <th scope="col" class="state">
            State
          </th>
          <th scope="col" class="number tools">
            Tools
          </th>
          <th scope="col" class="number wide">
            Calls
          </th>
          <th scope="col" class="number wide">
            Errors
          </th>
          <th scope="col" class="latency wide">
            Latency
          </th>
          <th scope="col" class="number memory wide">
            Memory
          </th>
          <th scope="col" class="act">
            <span class="visually-hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={onKeyDown}>
        {props.servers.map((server) => (
          <Row key={server.name} server={server} {...props} />
        ))}
      </tbody>
    </table>
  );
}

function Row(props: {
  readonly server: ServerRow;
  readonly workspace: string;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}) {
  const { server, workspace, chosen, onChoose } = props;
  const { name, state, calls, errors, latencies, p50Ms, memoryBytes } = server;
  const look = STATES[state];
  const remark = remarkOn(server);
  const isUsed = state === "connected" || state === "idle";
  return (
    <tr data-choosable aria-selected={name === chosen} data-server={name} onClick={() => onChoose(name)}>
      <th scope="row">
        <div class="server-line">
          <Dot tone={look.tone} hollow={look.hollow === true} beating={look.beating === true} />
          <button type="button" class="server-name" title={visible(name)} aria-expanded={name === chosen}>
            {visible(name)}
          </button>
          <span class="dim cut mono target">{visible(server.target)}</span>
        </div>
        {remark !== undefined && (
          <div class="server-problem" title={visible(remark.text)}>
            <span class={remark.tone}>{visible(remark.text.split("\n", 1)[0] ?? "")}</span>
            {remark.hint !== undefined && ` ${visible(remark.hint.split("\n", 1)[0] ?? "")}`}
          </div>
        )}
      </th>
      <td class="state" title={look.about}>
        <span class={`word ${look.tone}`}>{look.word}</span>
      </td>
      <td class="number tools">{isUsed ? shownCount(server.tools) : <Dash />}</td>
      <td class="number wide">{calls > 0 ? shownCount(calls) : <Dash />}</td>
      <td class="number wide">{errors > 0 ? <span class="bad">{shownCount(errors)}</span> : <Dash />}</td>
      <td class="latency wide">
        {p50Ms === undefined ? (
          <Dash />
        ) : (
          <div class="server-latency">
            <Sparkline values={latencies} label={`The last ${counted(latencies.length, "call")}`} />
            <span class="number">{shownMs(p50Ms)}</span>
          </div>
        )}
      </td>
      <td class="number memory wide">{memoryBytes === undefined ? <Dash /> : shownBytes(memoryBytes)}</td>
      <td class="act">
        <RowAction server={server} workspace={workspace} />
      </td>
    </tr>
  );
}

/** Why a server needs a person, and what to do about it. */
function remarkOn({ state, problem, held }: ServerRow): { text: string; hint?: string; tone: Tone } | undefined {
  if (problem !== undefined && state !== "disabled") {
    return { text: withoutCode(problem.message), hint: problem.hint, tone: STATES[state].tone };
  }
  if (held === 0) return undefined;
  return { text: `${counted(held, "definition")} held until you approve`, tone: "warn" };
}

/** The details have the code. */
function withoutCode(message: string): string {
  return message.replace(/^[A-Z_]+: /, "");
}

function Dash() {
  return <span class="dim">–</span>;
}

/** The one thing to do next, for servers that do not work. The rest is in the details. */
function RowAction({ server, workspace }: { readonly server: ServerRow; readonly workspace: string }) {
  const { name, state } = server;
  if (state === "needs-auth") {
    return (
      <Button small kind="primary" onClick={() => setParams({ server: name, do: "sign-in" })}>
        Sign in
      </Button>
    );
  }
  if (server.held > 0 && state === "connected") {
    return (
      <Button small label={`Review ${visible(name)}`} onClick={() => setParams({ server: name })}>
        Review
      </Button>
    );
  }
  const [next] = actionsIn(state);
  if (next === undefined || state === "connected" || state === "connecting" || state === "untrusted") return null;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keeps a click on the button from choosing the row, nothing else
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <span onClick={(event) => event.stopPropagation()}>
      <ActionButton
        small
        kind={state === "failed" ? undefined : "quiet"}
        label={`${next.label} ${visible(name)}`}
        run={() => ask("servers/act", { workspace, server: name, action: next.action })}
      >
        {next.label}
      </ActionButton>
    </span>
  );
}
