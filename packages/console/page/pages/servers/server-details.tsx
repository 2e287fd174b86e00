// Everything about one server, and what can be done with it.
import type { ServerRow } from "@trunkline/console/contract";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../../kit/live.js";
import {
  ActionButton,
  Badge,
  Code,
  CopyButton,
  Details,
  Facts,
  Notice,
  Sparkline,
  showToast,
  toError,
} from "../../kit/parts.js";
import { addressOf, setParams } from "../../kit/places.js";
import { counted, shownAgo, shownBytes, shownCount, shownMs, visible } from "../../kit/wording.js";
import { Definitions } from "./server-definitions.js";
import { actionsIn, STATES } from "./server-states.js";

interface DetailsProps {
  readonly server: ServerRow;
  readonly workspace: string;
  /** The person has asked for it in the list. */
  readonly wantsSignIn: boolean;
  readonly onClose: () => void;
}

export function ServerDetails({ server, workspace, wantsSignIn, onClose }: DetailsProps) {
  const { name, state, problem, stderr, usedBy } = server;
  const look = STATES[state];
  const actions = actionsIn(state);
  return (
    <Details title={name} onClose={onClose} badge={<Badge tone={look.tone}>{look.word}</Badge>}>
      <div class="buttons left server-actions">
        {state === "needs-auth" && (
          <SignIn server={name} workspace={workspace} isWanted={wantsSignIn} problem={problem?.message} />
        )}
        {actions.map(({ action, label, icon }, index) => (
          <ActionButton
            key={action}
            icon={icon}
            kind={index === 0 && state !== "connected" && state !== "needs-auth" ? "primary" : undefined}
            run={() => ask("servers/act", { workspace, server: name, action })}
          >
            {label}
          </ActionButton>
        ))}
      </div>
      {state === "connected" && usedBy.length > 1 && (
        <p class="server-note dim">
          {shownCount(usedBy.length)} programs share it. Restart and Stop affect all of them and end their running
          calls.
        </p>
      )}
      {problem !== undefined && state !== "disabled" && <Problem server={server} />}
      {look.about !== undefined && problem === undefined && <p class="server-note dim">{look.about}</p>}
      <Definitions server={name} workspace={workspace} />
      <section class="section">
        <Facts rows={factsOf(server)} />
      </section>
      {server.calls > 0 && (
        <section class="section">
          <h3>Calls</h3>
          <div class="server-calls">
            <Sparkline values={server.latencies} label={`The last ${counted(server.latencies.length, "call")}`} />
            <span>
              {counted(server.calls, "call")},{" "}
              {server.errors === 0 ? "none failed" : `${shownCount(server.errors)} failed`}
              {server.p50Ms !== undefined && `, half of them within ${shownMs(server.p50Ms)}`}
            </span>
            <a href={addressOf("traffic", { find: name })}>Show calls</a>
          </div>
        </section>
      )}
      <section class="section">
        <h3>Used by</h3>
        {usedBy.length === 0 ? (
          <p class="dim">No connected program has called it.</p>
        ) : (
          <ul>
            {usedBy.map((each) => (
              <li key={each} class="breakable">
                {visible(each)}
              </li>
            ))}
          </ul>
        )}
      </section>
      {server.transport === "stdio" && (
        <section class="section">
          <h3>stderr</h3>
          {stderr.length === 0 ? (
            <p class="dim">It has not written anything.</p>
          ) : (
            <Code class="server-stderr" text={stderr.join("\n")} />
          )}
        </section>
      )}
    </Details>
  );
}

function Problem({ server }: { readonly server: ServerRow }) {
  const { problem, state } = server;
  if (problem === undefined) return null;
  return (
    <div class="server-notice">
      <Notice tone={STATES[state].tone === "warn" ? "warn" : state === "connecting" ? "info" : "bad"}>
        <span class="server-message">{visible(problem.message)}</span>
        {problem.hint !== undefined && <span class="hint">Next: {visible(problem.hint)}</span>}
        {state === "untrusted" && (
          <span class="hint">
            Or review it under <a href={addressOf("questions")}>Questions</a>.
          </span>
        )}
        {state === "rejected" && (
          <span class="hint">
            <a href={addressOf("settings")}>Open Settings</a>
          </span>
        )}
      </Notice>
    </div>
  );
}

/** Asks for the sign-in page, shows where it leads, and leaves opening it to the person. */
function SignIn(props: {
  readonly server: string;
  readonly workspace: string;
  readonly isWanted: boolean;
  /** Changes when a sign-in fails or takes too long. */
  readonly problem: string | undefined;
}) {
  const { server, workspace, isWanted, problem } = props;
  const [page, setPage] = useState<{ readonly url: string; readonly host: string }>();
  const begin = async () => {
    const { url, host } = await ask("servers/sign-in", { workspace, server });
    if (!isWebPage(url))
      throw new Error(`The sign-in page of ${server} has an address that cannot be opened from here.`);
    setPage({ url, host });
  };
  useEffect(() => {
    if (!isWanted) return;
    setParams({ do: undefined });
    begin().catch((error: unknown) => showToast(toError(error)));
  }, [isWanted]);
  // Its link leads nowhere any more.
  useEffect(() => setPage(undefined), [problem]);
  if (page === undefined) {
    return (
      <ActionButton kind="primary" icon="key" run={begin}>
        Sign in
      </ActionButton>
    );
  }
  return (
    <div class="server-sign-in" role="status">
      <Notice tone="info">
        Sign in at <strong>{visible(page.host)}</strong>. Continue only if you know this site. Trunkline waits until you
        are done.
        <div class="buttons left">
          <a class="button primary" href={page.url} target="_blank" rel="noopener noreferrer">
            Open {visible(page.host)}
          </a>
          <CopyButton text={page.url} label="Copy link" />
        </div>
      </Notice>
    </div>
  );
}

/** The server has checked it; a link must never be able to run anything, whatever the server says. */
function isWebPage(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
}

function factsOf(server: ServerRow): (readonly [string, ComponentChildren])[] {
  const { serverInfo, signIn, connectedAt, lastCallAt, memoryBytes, pid, state } = server;
  const isUsed = state === "connected" || state === "idle";
  return [
    [
      server.transport === "stdio" ? "Command" : "URL",
      server.target === "" ? undefined : <span class="mono">{visible(server.target)}</span>,
    ],
    ["Transport", server.transport === "unknown" ? undefined : server.transport],
    ["Configured in", `${visible(server.file)} (${server.scope})`],
    ["Name and version", serverInfo === undefined ? undefined : visible(`${serverInfo.name} ${serverInfo.version}`)],
    ["Revision", server.revision],
    [
      "Offers",
      isUsed ? (
        <>
          <a href={addressOf("tools", { find: server.name })}>{counted(server.tools, "tool")}</a>
          {server.resources > 0 && `, ${counted(server.resources, "resource")}`}
          {server.prompts > 0 && `, ${counted(server.prompts, "prompt")}`}
        </>
      ) : undefined,
    ],
    [
      "Process",
      pid === undefined ? undefined : (
        <span data-pid={pid}>
          {pid}
          {memoryBytes !== undefined && `, ${shownBytes(memoryBytes)}`}
        </span>
      ),
    ],
    ["Connected", connectedAt === undefined ? undefined : <time dateTime={connectedAt}>{shownAgo(connectedAt)}</time>],
    ["Last call", lastCallAt === undefined ? undefined : <time dateTime={lastCallAt}>{shownAgo(lastCallAt)}</time>],
    ["Shared", server.notShared === undefined ? SHARES[server.share ?? ""] : `no: ${visible(server.notShared)}`],
    [
      "Sign-in",
      signIn === undefined
        ? undefined
        : signIn.signedIn
          ? `signed in${signIn.issuer === undefined ? "" : ` at ${visible(signIn.issuer)}`}`
          : "not signed in",
    ],
  ];
}

const SHARES: Readonly<Record<string, string>> = {
  workspace: "by all programs in this folder",
  user: "by all programs with the same configuration of it",
  client: "no: each program has its own",
};
