// Reads processes from /proc: which ones exist, what they have open, how much memory they use. Linux only; elsewhere
// `canLook` is false and these checks are skipped.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether the system has /proc. */
export const canLook = process.platform === "linux";

/** Reads something that may disappear during the read. @template T @param {() => T} read @returns {T | undefined} */
function ifThere(read) {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // EACCES: another user's process, or one that is exiting.
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return undefined;
    throw error;
  }
}

/**
 * Finds every process with this variable in its environment. The variable is inherited, so this includes whole process
 * trees and orphans.
 * @param {string} variable NAME=value
 * @returns {{ pid: number, command: string }[]}
 */
export function processesWith(variable) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const environment = ifThere(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
      if (environment === undefined || !environment.split("\0").includes(variable)) return [];
      // A zombie process no longer has a command.
      const command = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
        ?.replaceAll("\0", " ")
        .trim();
      return command === undefined || command === "" ? [] : [{ pid: Number(pid), command }];
    });
}

const LISTENING = "0A";

/**
 * Returns the TCP sockets in a process's network namespace by inode, with their ports and the state as the kernel
 * writes it. @param {number} pid
 */
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

/** Lists what the descriptors of a process point to. @param {number} pid @returns {string[]} */
function targetsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => ifThere(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []);
}

/**
 * Counts open descriptors by kind: connections by the server's port, other sockets and pipes by type, files by path.
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

/** Counts the ports a process listens on. @param {number} pid */
export function listenersOf(pid) {
  const sockets = socketsBy(pid);
  return targetsOf(pid).filter((target) => sockets.get(target)?.state === LISTENING).length;
}

/** Returns a process's memory in megabytes, or undefined once it is gone. @param {number} pid */
export function memoryOf(pid) {
  const status = ifThere(() => readFileSync(`/proc/${pid}/status`, "utf8"));
  const line = /VmRSS:\s+(\d+)/.exec(status ?? "");
  return line === null ? undefined : Number(line[1]) / 1024;
}
