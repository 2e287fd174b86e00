// The frame around every page: navigation, workspace, connection, keys. Pages are loaded when they are opened.
import type { Overview } from "@trunkline/console/contract";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./kit/icons.js";
import { live, useAnswer, useConnection } from "./kit/live.js";
import { Button, Code, Dot, Empty, ErrorNotice, isTyping, Loading, Toasts, Window } from "./kit/parts.js";
import { addressOf, goTo, PAGES, type PageName, type Place, usePlace } from "./kit/places.js";
import { currentTheme, setTheme } from "./kit/theme.js";
import { counted, pathEnd, shownBytes, visible } from "./kit/wording.js";

export interface PageProps {
  /** The id of the chosen workspace. */
  readonly workspace: string;
  readonly overview: Overview;
  readonly place: Place;
}

interface PageEntry {
  readonly title: string;
  /** Pressed after `g`. */
  readonly key: string;
  readonly load: () => Promise<ComponentType<PageProps>>;
}

const ENTRIES: Readonly<Record<PageName, PageEntry>> = {
  servers: {
    title: "Servers",
    key: "s",
    load: async () => (await import("./pages/servers/servers-page.js")).ServersPage,
  },
  traffic: {
    title: "Traffic",
    key: "t",
    load: async () => (await import("./pages/traffic/traffic-page.js")).TrafficPage,
  },
  tools: { title: "Tools", key: "o", load: async () => (await import("./pages/tools/tools-page.js")).ToolsPage },
  questions: {
    title: "Questions",
    key: "q",
    load: async () => (await import("./pages/questions/questions-page.js")).QuestionsPage,
  },
  store: { title: "Store", key: "d", load: async () => (await import("./pages/store/store-page.js")).StorePage },
  graph: { title: "Graph", key: "r", load: async () => (await import("./pages/graph/graph-page.js")).GraphPage },
  settings: {
    title: "Settings",
    key: "e",
    load: async () => (await import("./pages/settings/settings-page.js")).SettingsPage,
  },
};

/** As much of a workspace's folder as fits beside the number of its clients. */
const LABEL_CHARS = 22;

const WORKSPACE_KEY = "trunkline-workspace";

export function Frame({ firstWorkspace }: { readonly firstWorkspace: string | undefined }) {
  const connection = useConnection();
  const place = usePlace();
  const overview = useAnswer("overview", {}, ["overview", "questions"]);
  const [chosen, setChosen] = useState(firstWorkspace ?? sessionStorage.getItem(WORKSPACE_KEY) ?? undefined);
  const [showsKeys, setShowsKeys] = useState(false);
  useKeys(() => setShowsKeys(true));
  const waiting = overview.data?.questions ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${ENTRIES[place.page].title} · Trunkline`;
  }, [place.page, waiting]);
  if (connection === "signed-out") return <SignedOut />;
  const { data } = overview;
  const workspaces = data?.workspaces ?? [];
  const workspace = workspaces.find(({ id }) => id === chosen) ?? workspaces[0];
  const choose = (id: string) => {
    sessionStorage.setItem(WORKSPACE_KEY, id);
    setChosen(id);
  };
  if (chosen !== undefined && sessionStorage.getItem(WORKSPACE_KEY) === null)
    sessionStorage.setItem(WORKSPACE_KEY, chosen);
  return (
    <div class="frame">
      <header class="side">
        <div class="brand">
          <Brand />
          <span>Trunkline</span>
        </div>
        {workspaces.length > 0 && (
          <div class="workspace-choice">
            <label for="workspace">Workspace</label>
            <select
              id="workspace"
              value={workspace?.id}
              title={workspace?.folder}
              onChange={(event) => choose(event.currentTarget.value)}
            >
              {workspaces.map(({ id, label, clients }) => (
                <option key={id} value={id}>
                  {visible(pathEnd(label, LABEL_CHARS))}
                  {clients > 0 ? ` (${counted(clients, "client")})` : ""}
                </option>
              ))}
            </select>
          </div>
        )}
        <nav aria-label="Pages">
          <ul>
            {PAGES.map((name) => (
              <li key={name}>
                <a href={addressOf(name)} aria-current={place.page === name ? "page" : undefined}>
                  <Icon name={name} />
                  <span class="grow">{ENTRIES[name].title}</span>
                  {name === "questions" && (data?.questions ?? 0) > 0 && (
                    <span class="count" title={`${counted(data?.questions ?? 0, "question")} waiting for you`}>
                      {data?.questions}
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="grow" />
        <SideFoot overview={data} onKeys={() => setShowsKeys(true)} />
      </header>
      <main id="main">
        {connection === "lost" && <Lost />}
        {workspace === undefined || data === undefined ? (
          data !== undefined ? (
            <NoWorkspace />
          ) : overview.error === undefined ? (
            <Loading />
          ) : (
            <div class="page-body padded">
              <ErrorNotice error={overview.error} retry={overview.reload} />
            </div>
          )
        ) : (
          <CurrentPage key={`${place.page} ${workspace.id}`} workspace={workspace.id} overview={data} place={place} />
        )}
      </main>
      {showsKeys && <KeyHelp onClose={() => setShowsKeys(false)} />}
      <Toasts />
    </div>
  );
}

function CurrentPage(props: PageProps) {
  const [page, setPage] = useState<{ component: ComponentType<PageProps> } | { error: Error }>();
  useEffect(() => {
    let isWanted = true;
    ENTRIES[props.place.page].load().then(
      (component) => isWanted && setPage({ component }),
      (error: Error) => isWanted && setPage({ error }),
    );
    return () => {
      isWanted = false;
    };
  }, [props.place.page]);
  if (page === undefined) return <Loading />;
  if ("error" in page) {
    return (
      <div class="page-body padded">
        <ErrorNotice error={new Error("This page could not be loaded. Reload it once the console is back.")} />
      </div>
    );
  }
  const { component: Component } = page;
  return <Component {...props} />;
}

function SideFoot({ overview, onKeys }: { readonly overview: Overview | undefined; readonly onKeys: () => void }) {
  const connection = useConnection();
  const [theme, setShown] = useState(currentTheme());
  const other = theme === "dark" ? "light" : "dark";
  return (
    <footer>
      <div class="line">
        <Dot tone={connection === "live" ? "ok" : "warn"} beating={connection !== "live"} />
        {connection === "live" ? "Live" : "Reconnecting"}
        {overview !== undefined && ` · ${overview.version}`}
      </div>
      {overview?.memoryBytes !== undefined && (
        <div title={`The ${overview.host === "broker" ? "broker" : "process"}, pid ${overview.pid}`}>
          {overview.host} {shownBytes(overview.memoryBytes)}
        </div>
      )}
      {overview !== undefined && overview.saved.processes > 0 && (
        <div title="Without sharing, each further client that called a server would run its own process">
          saves {counted(overview.saved.processes, "process").replace("processs", "processes")}
          {overview.saved.memoryBytes !== undefined && `, ${shownBytes(overview.saved.memoryBytes)}`}
        </div>
      )}
      <div class="line">
        <Button
          small
          kind="quiet"
          icon={other === "dark" ? "moon" : "sun"}
          label={`Switch to ${other}`}
          onClick={() => {
            setTheme(other);
            setShown(other);
          }}
        >
          {""}
        </Button>
        <Button small kind="quiet" label="Keyboard shortcuts" onClick={onKeys}>
          <kbd>?</kbd>
        </Button>
      </div>
    </footer>
  );
}

/** `g` and a letter switch pages; `?` shows the keys. */
function useKeys(onHelp: () => void): void {
  useEffect(() => {
    let wasG = 0;
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === "?") onHelp();
      const page = PAGES.find((name) => ENTRIES[name].key === event.key);
      if (page !== undefined && event.timeStamp - wasG < 1_500) goTo(page);
      wasG = event.key === "g" ? event.timeStamp : 0;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["/", "search"],
    ...PAGES.map((name) => [`g ${ENTRIES[name].key}`, ENTRIES[name].title] as const),
    ["↑ ↓", "move in a list"],
    ["Esc", "close details"],
    ["?", "show this"],
  ];
  return (
    <Window title="Keyboard shortcuts" onClose={onClose}>
      <dl class="facts">
        {rows.map(([keys, what]) => [
          <dt key={`${keys}-keys`}>
            {keys.split(" ").map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={keys}>{what}</dd>,
        ])}
      </dl>
    </Window>
  );
}

function Lost() {
  return (
    <div class="banner" role="status">
      <Dot tone="warn" beating />
      <span>
        Trunkline does not answer. This page reconnects when it does. If no window is using Trunkline, start it with{" "}
        <code>trunkline console</code>.
      </span>
      <Button small onClick={() => live.retry()}>
        Try now
      </Button>
    </div>
  );
}

function NoWorkspace() {
  return (
    <Empty icon="folder" title="No folder is open" command="trunkline console">
      <p>A folder appears here as soon as a window or a command uses it. To open one, run this in it:</p>
    </Empty>
  );
}

function SignedOut() {
  return (
    <main>
      <Empty icon="key" title="This tab is not signed in">
        <p>Each link opens the console once. For a new one, run this in a terminal:</p>
        <Code text="trunkline console" copy />
      </Empty>
    </main>
  );
}

function Brand() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path
        d="M6 16h20M11 16l6-7M11 16l6 7"
        fill="none"
        stroke="var(--on-accent)"
        stroke-width="2.5"
        stroke-linecap="round"
      />
      <g fill="var(--on-accent)">
        <circle cx="19" cy="8" r="2.6" />
        <circle cx="19" cy="24" r="2.6" />
        <circle cx="26" cy="16" r="2.6" />
        <circle cx="6" cy="16" r="2.6" />
      </g>
    </svg>
  );
}
