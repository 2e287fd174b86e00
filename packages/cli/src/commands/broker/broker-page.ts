// `trunkline broker` for people.
import { counted, shownBytes } from "../../terminal/output.js";
import type { Page } from "../../terminal/report-page.js";
import { unbroken, widthOf } from "../../terminal/text-width.js";
import { type BrokerStatus, type ClientRow, ONE_PER_WORKSPACE, type Saved, type ServerRow } from "./broker-status.js";

interface Reader {
  readonly userHome: string;
  readonly nowMs: number;
}

const STATES: Readonly<Record<ServerRow["state"], string>> = {
  connected: "connected",
  starting: "starting",
  idle: "stopped until its next call",
  pending: "not started",
  failed: "failed; see `trunkline doctor`",
  "needs-auth": "needs a sign-in",
  untrusted: "not approved",
  disabled: "disabled",
};

export function showStatus(page: Page, status: BrokerStatus, reader: Reader): void {
  page.text(`trunkline broker ${summaryOf(status, reader)}, pid ${status.pid}`);
  section(page, "Clients", clientRows(status.clients, reader));
  section(page, "Servers", serverRows(status.servers, reader));
  section(
    page,
    "Stores",
    status.stores.map((folder) => [inHome(folder, reader)]),
  );
  const alike = status.servers.filter(({ pid, not_shared: why }) => pid !== undefined && why === ONE_PER_WORKSPACE);
  const names = [...new Set(alike.map(({ name }) => name))];
  const saved = savedText(status.saved);
  const variables = variablesThatDiffer(status.servers);
  if (names.length > 0 || variables.length > 0 || saved !== undefined) page.gap();
  if (saved !== undefined) page.text(saved);
  if (names.length > 0)
    page.text(`To share a server among workspaces, set "share": "user" in its entry: ${names.join(", ")}`);
  for (const { name, server } of variables)
    page.text(
      `To share "${server}" among windows with a different $${name}, set one value for all of them in its entry: "env": { "${name}": "…" }`,
    );
}

/** The variables that keep servers apart, each with the first server of its name. */
function variablesThatDiffer(servers: readonly ServerRow[]): { name: string; server: string }[] {
  const found = new Map<string, { name: string; server: string }>();
  for (const { name: server, differs = [] } of servers) {
    // Another workspace, command or setting keeps them apart anyway.
    if (!differs.every((part) => part.startsWith("$"))) continue;
    for (const part of differs) found.set(`${server}${part}`, { name: part.slice(1), server });
  }
  return [...found.values()];
}

/** Version, uptime and memory in one line. */
export function summaryOf(
  { version, started_at: started, memory_bytes: memory }: BrokerStatus,
  { nowMs }: Reader,
): string {
  const up = shownSpan(nowMs - Date.parse(started));
  return [version, `up ${up}`, ...(memory === undefined ? [] : [shownBytes(memory)])].map(unbroken).join(", ");
}

/** Says what sharing saves; undefined if no server is shared. */
export function savedText({ processes, memory_bytes: bytes }: Saved): string | undefined {
  if (processes === 0) return undefined;
  const more = counted(processes, "server process", "server processes");
  const memory = bytes === undefined ? "" : ` and ${unbroken(shownBytes(bytes))}`;
  return `Sharing saves ${more}${memory}: without it, every further client of a server would start its own.`;
}

/** Prints rows of a head and what follows it. */
function section(page: Page, title: string, rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  const width = Math.max(...rows.map(([head = ""]) => widthOf(head)));
  page.gap();
  page.text(title, { colour: page.palette.heading });
  for (const [head = "", ...texts] of rows) {
    const gap = " ".repeat(width - widthOf(head) + 2);
    for (const [at, text] of (texts.length === 0 ? [""] : texts).entries()) {
      if (at === 0) page.text(`${head}${gap}${text}`.trimEnd(), { indent: 2, hang: width + 6 });
      else page.text(text, { indent: width + 4, hang: width + 6 });
    }
  }
}

function clientRows(clients: readonly ClientRow[], reader: Reader): string[][] {
  const sorted = [...clients].sort((a, b) => (a.folder ?? "").localeCompare(b.folder ?? ""));
  return sorted.map(({ program, command = "", folder, since, pid }) => {
    const place = folder === undefined ? [] : [inHome(folder, reader)];
    const span = shownSpan(reader.nowMs - Date.parse(since));
    return [program ?? `trunkline ${command}`, [...place, `for ${span}`, `pid ${pid}`].map(unbroken).join(", ")];
  });
}

function serverRows(servers: readonly ServerRow[], reader: Reader): string[][] {
  return servers
    .filter(({ state }) => state !== "disabled")
    .map((server) => [server.name, factsOf(server, reader), usersOf(server, reader)]);
}

function factsOf({ state, memory_bytes: memory, pid, last_call_at: called }: ServerRow, { nowMs }: Reader): string {
  const facts = [
    STATES[state],
    ...(memory === undefined ? [] : [shownBytes(memory)]),
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(called === undefined ? [] : [`last call ${shownSpan(nowMs - Date.parse(called), "just now", " ago")}`]),
  ];
  return facts.map(unbroken).join(", ");
}

function usersOf(server: ServerRow, reader: Reader): string {
  const { clients, folders, share, not_shared: why, last_call_at: called } = server;
  const places = clients.length === 0 ? folders : [...new Set(clients.map(({ folder }) => folder))];
  const where = places.length === 0 ? "" : ` in ${places.map((folder) => inHome(folder, reader)).join(", ")}`;
  // Those who called it may have left.
  const unused = called === undefined ? "not used yet" : "used earlier";
  const who = clients.length === 0 ? unused : `${clients.length === 1 ? "used" : "shared"} by ${programsOf(clients)}`;
  const isAlone = share === "client" || clients.length < 2;
  return `${who}${where}${why === undefined ? "" : isAlone ? `; not shared: ${why}` : `; ${why}`}`;
}

/** `cursor (2), zed`: programs, with the number of their windows. */
function programsOf(clients: ServerRow["clients"]): string {
  const counts = new Map<string, number>();
  for (const { program = "trunkline" } of clients) counts.set(program, (counts.get(program) ?? 0) + 1);
  return [...counts].map(([program, count]) => (count === 1 ? program : `${program} (${count})`)).join(", ");
}

/** Shows a path as shells do: `~/src/app`. */
function inHome(path: string, { userHome }: Reader): string {
  return path === userHome || path.startsWith(`${userHome}/`) ? `~${path.slice(userHome.length)}` : path;
}

/** Formats a time span for people: `12 s`, `5 min`, `3 h 20 min`, `2 days`. */
export function shownSpan(ms: number, none = "0 s", ending = ""): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return none;
  return `${spanText(seconds)}${ending}`;
}

function spanText(seconds: number): string {
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return counted(days, "day");
  if (hours > 0) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}
