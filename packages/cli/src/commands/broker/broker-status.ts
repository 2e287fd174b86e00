// The facts that `trunkline broker` shows: who uses the broker, which servers it runs for them, and what that saves.

import type { PooledServerStatus } from "@trunkline/client";
import type { ConnectedClient } from "@trunkline/daemon";
import type { ProcessMemory } from "./process-memory.js";

/** Programs choose their own names. */
const MAX_NAME_CHARS = 100;

/** As printed by `trunkline broker --json`. */
export interface BrokerStatus {
  readonly running: true;
  readonly version: string;
  readonly pid: number;
  readonly started_at: string;
  /** Missing on systems that do not say. */
  readonly memory_bytes?: number;
  readonly socket: string;
  readonly log: string;
  readonly clients: readonly ClientRow[];
  readonly servers: readonly ServerRow[];
  /** The folders of open stores, or the addresses of their databases without passwords. */
  readonly stores: readonly string[];
  readonly saved: Saved;
}

/**
 * What would run in addition if each client started its own servers: for each running server, one process for every
 * client after the first that has called it, with the memory that the running one has for itself alone.
 */
export interface Saved {
  readonly processes: number;
  readonly memory_bytes?: number;
}

export interface ClientRow {
  readonly kind: ConnectedClient["kind"];
  readonly pid: number;
  readonly program?: string;
  readonly command?: string;
  readonly folder?: string;
  readonly since: string;
}

export interface ServerRow extends Pick<PooledServerStatus, "name" | "state" | "share"> {
  readonly pid?: number;
  readonly memory_bytes?: number;
  /** The connected clients that have called it. */
  readonly clients: readonly { readonly program?: string; readonly folder: string }[];
  /** The folders of the workspaces that have it in their configuration. */
  readonly folders: readonly string[];
  /** Why it is not shared, or not with another server of the same name. */
  readonly not_shared?: string;
  /** What is different from the other server: `workspace`, `command`, a variable such as `$PATH` … */
  readonly differs?: readonly string[];
  readonly last_call_at?: string;
}

interface StatusFacts {
  readonly version: string;
  readonly pid: number;
  readonly place: { readonly socket: string; readonly log: string };
  readonly startedMs: number;
  readonly clients: readonly ConnectedClient[];
  readonly servers: readonly PooledServerStatus[];
  readonly stores: readonly string[];
  /** The broker's own. */
  readonly memory: ProcessMemory | undefined;
  /** By the process id of a server. */
  readonly serverMemory: ReadonlyMap<number, ProcessMemory>;
}

export function brokerStatus(facts: StatusFacts): BrokerStatus {
  const { version, pid, place, memory, serverMemory, servers, stores } = facts;
  const { socket, log } = place;
  return {
    running: true,
    ...{ version, pid },
    started_at: new Date(facts.startedMs).toISOString(),
    ...(memory === undefined ? {} : { memory_bytes: memory.bytes }),
    ...{ socket, log },
    clients: facts.clients.map(clientRow),
    servers: servers.map((server) => serverRow(server, facts)),
    stores,
    saved: savedBy(servers, serverMemory),
  };
}

function clientRow({ kind, pid, program, command, folder, sinceMs }: ConnectedClient): ClientRow {
  return {
    ...{ kind, pid },
    program,
    command,
    folder,
    since: new Date(sinceMs).toISOString(),
  };
}

function serverRow(server: PooledServerStatus, { serverMemory: memory, clients: connected }: StatusFacts): ServerRow {
  const { name, state, share, pid, hubs, clients, differs, lastCallAt } = server;
  const bytes = pid === undefined ? undefined : memory.get(pid)?.bytes;
  const why = whyNotShared(server);
  return {
    ...{ name, state, share },
    pid,
    memory_bytes: bytes,
    clients: clients.map(({ hub, name: channel }) => {
      const program = programOf(channel, connected);
      return { program, folder: hub };
    }),
    folders: [...new Set(hubs)].sort(),
    not_shared: why,
    differs,
    last_call_at: lastCallAt,
  };
}

/** The name of a client's channel is that of the program and its version. */
function programOf(channel: string | undefined, connected: readonly ConnectedClient[]): string | undefined {
  const known = connected
    .flatMap(({ program }) => program ?? [])
    .filter((program) => channel?.startsWith(`${program} `));
  const [longest] = known.sort((a, b) => b.length - a.length);
  return longest ?? channel?.slice(0, MAX_NAME_CHARS);
}

/** Said of a server that differs from another one only in its workspace. */
export const ONE_PER_WORKSPACE = "other workspaces have their own";

function whyNotShared({ name, notShared, differs }: PooledServerStatus): string | undefined {
  if (notShared !== undefined || differs === undefined) return notShared;
  if (differs.length === 1 && differs[0] === "workspace") return ONE_PER_WORKSPACE;
  const others = differs.filter((part) => part !== "workspace");
  return `another "${name}" has a different ${others.join(" and ")}`;
}

function savedBy(servers: readonly PooledServerStatus[], memory: StatusFacts["serverMemory"]): Saved {
  const shared = servers.flatMap(({ pid, clients }) =>
    pid === undefined || clients.length < 2 ? [] : [{ more: clients.length - 1, memory: memory.get(pid) }],
  );
  const processes = shared.reduce((sum, { more }) => sum + more, 0);
  // A sum without some of them would be a wrong figure.
  if (shared.some((server) => server.memory === undefined)) return { processes };
  const bytes = shared.reduce((sum, server) => sum + server.more * (server.memory?.ownBytes ?? 0), 0);
  return { processes, memory_bytes: bytes };
}
