// The rows of the page "Servers": what the hub, the broker, the configuration and the journal know, put together.
import type { LoadedConfig, ServerStatus } from "@trunkline/client";
import type { ServerRow } from "@trunkline/console/contract";
import { diagnosticText } from "../app/config-problems.js";
import { serverProblem, serverTarget } from "../app/server-problem.js";
import { type CallFigures, NO_CALLS } from "./call-figures.js";
import type { RunningServer } from "./console-world.js";

const STDERR_LINES = 40;
const LONGEST_LINE = 2_000;

export interface RowSources {
  readonly status: readonly ServerStatus[];
  readonly config: Pick<LoadedConfig, "rejected" | "diagnostics">;
  /** The processes and sessions that this workspace uses. */
  readonly running: readonly RunningServer[];
  readonly figures: ReadonlyMap<string, CallFigures>;
  /** How many definitions are held, by server. */
  readonly held: ReadonlyMap<string, number>;
  /** Servers that are being connected for the console. */
  readonly connecting: ReadonlySet<string>;
}

/** What is wrong comes first, then by name. */
export function serverRows(sources: RowSources): ServerRow[] {
  const { status, config } = sources;
  const rows = [
    ...status.map((each) => rowOf(each, sources)),
    ...config.rejected.map((each) => rejectedRow(each, sources)),
  ];
  return rows.sort((a, b) => Number(isWell(a)) - Number(isWell(b)) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function isWell({ state, problem, held }: ServerRow): boolean {
  return held === 0 && (problem === undefined || state === "disabled");
}

function rowOf(status: ServerStatus, sources: RowSources): ServerRow {
  const { name, config, serverInfo, signIn } = status;
  const same = sources.running.filter((each) => each.name === name);
  // A server that is not shared can run several times.
  const running = same.find(({ pid }) => pid !== undefined && pid === status.pid) ?? same[0];
  const state = stateOf(status, running, sources.connecting);
  const isTried = status.state !== "pending" || status.error !== undefined;
  return {
    name,
    state,
    problem: isTried ? serverProblem(status) : undefined,
    transport: config.type,
    target: serverTarget(config),
    scope: config.scope,
    file: config.file,
    share: running?.share,
    notShared: running?.notShared,
    revision: status.revision,
    serverInfo: serverInfo === undefined ? undefined : { name: serverInfo.name, version: serverInfo.version },
    tools: status.toolCount,
    resources: status.resourceCount,
    prompts: status.promptCount,
    pid: status.pid ?? running?.pid,
    memoryBytes: running?.memoryBytes,
    connectedAt: status.connectedAt,
    lastCallAt: running?.lastCallAt,
    usedBy: [...new Set(same.flatMap(({ usedBy }) => usedBy.map(({ program, folder }) => `${program} in ${folder}`)))],
    ...(sources.figures.get(name) ?? NO_CALLS),
    stderr: status.stderr.slice(-STDERR_LINES).map(cut),
    signIn: signIn === undefined ? undefined : { signedIn: signIn.signedIn, issuer: signIn.issuer },
    held: sources.held.get(name) ?? 0,
  };
}

function stateOf(
  { name, state, revision, error }: ServerStatus,
  running: RunningServer | undefined,
  connecting: ReadonlySet<string>,
): ServerRow["state"] {
  switch (state) {
    case "connected":
      // A server that rests has no session, and so no revision.
      return running?.state === "idle" || revision === undefined ? "idle" : "connected";
    case "pending":
      // After a crash it is started again by itself.
      return error !== undefined || running?.state === "starting" || connecting.has(name)
        ? "connecting"
        : "not-connected";
    default:
      return connecting.has(name) && (state === "failed" || state === "needs-auth") ? "connecting" : state;
  }
}

function rejectedRow(
  { name, type, scope, file }: LoadedConfig["rejected"][number],
  { config, figures, held }: RowSources,
): ServerRow {
  const about = config.diagnostics.filter(({ server, severity }) => server === name && severity !== "note");
  return {
    name,
    state: "rejected",
    problem: {
      message: about.map(diagnosticText).join("\n") || "its entry cannot be read",
      hint: `Fix its entry in ${file}.`,
    },
    transport: type === "stdio" || type === "http" || type === "sse" ? type : "unknown",
    target: "",
    scope,
    file,
    tools: 0,
    resources: 0,
    prompts: 0,
    usedBy: [],
    ...(figures.get(name) ?? NO_CALLS),
    stderr: [],
    held: held.get(name) ?? 0,
  };
}

function cut(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}… (${line.length} characters)` : line;
}
