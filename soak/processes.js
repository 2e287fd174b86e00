// What /proc tells about processes: who is there, what they have open, how much memory they take. Linux only; elsewhere
// `canLook` is false and nothing of this is checked.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether there is a /proc to look into. */
export const canLook = process.platform === "linux";

/** Reads what may go away while it is read. @template T @param {() => T} read @returns {T | undefined} */
function ifThere(read) {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // EACCES: a process of somebody else, or one that is ending.
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return undefined;
    throw error;
  }
}

/**
 * Every process that was started with this variable in its environment: it is inherited, so that it finds whole trees, also
 * those whose parents are gone.
 * @param {string} variable NAME=value
 * @returns {{ pid: number, command: string }[]}
 */
export function processesWith(variable) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const environment = ifThere(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
      if (environment === undefined || !environment.split("\0").includes(variable)) return [];
      // A process that has ended and was not waited for yet has no command any more.
      const command = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
        ?.replaceAll("\0", " ")
        .trim();
      return command === undefined || command === "" ? [] : [{ pid: Number(pid), command }];
    });
}

const LISTENING = "0A";

/** The TCP sockets of a process's network by inode: ports, and the state as the system writes it. @param {number} pid */
function socketsBy(pid) {
  const rows = ["tcp", "tcp6"].flatMap((table) =>
    (ifThere(() => readFileSync(`/proc/${pid}/net/${table}`, "utf8")) ?? "").split("\n").slice(1),
  );
  const portOf = (/** @type {string | undefined} */ address) => Number.parseInt(address?.split(":")[1] ?? "", 16);
  return new Map(
    rows.map((row) => {
      const [, local, remote, state, , , , , , inode] = row.trim().split(/\s+/);
      return [`socket:[${inode}]`, { local: portOf(local), remote: portOf(remote), state }];
    }),
  );
}

/** What the descriptors of a process lead to. @param {number} pid @returns {string[]} */
function targetsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => ifThere(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []);
}

/**
 * What a process has open, counted by kind: connections by the port of the server, other sockets and pipes as such, files by
 * their path.
 * @param {number} pid
 * @returns {Map<string, number>}
 */
export function descriptorsOf(pid) {
  const sockets = socketsBy(pid);
  const own = new Set([...sockets.values()].filter(({ state }) => state === LISTENING).map(({ local }) => local));
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const target of targetsOf(pid)) {
    const socket = sockets.get(target);
    const kind =
      socket === undefined
        ? (/^(socket|pipe):/.exec(target)?.[1] ?? target.replace(/ \(deleted\)$/, ""))
        : own.has(socket.local)
          ? `connection to port ${socket.local}`
          : `connection to port ${socket.remote}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** On how many ports a process listens. @param {number} pid */
export function listenersOf(pid) {
  const sockets = socketsBy(pid);
  return targetsOf(pid).filter((target) => sockets.get(target)?.state === LISTENING).length;
}

/** Megabytes of memory that a process has now; undefined once it is gone. @param {number} pid */
export function memoryOf(pid) {
  const status = ifThere(() => readFileSync(`/proc/${pid}/status`, "utf8"));
  const line = /VmRSS:\s+(\d+)/.exec(status ?? "");
  return line === null ? undefined : Number(line[1]) / 1024;
}
