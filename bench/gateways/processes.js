// What a gateway costs its machine: the CPU time and memory of its processes, without the upstream server's. Only Linux
// reports them; elsewhere the figures are NaN.
import { readdirSync, readFileSync } from "node:fs";

const isLinux = process.platform === "linux";
const TICK_MS = 10;

/** Returns the text of a file under /proc; empty if the process has ended or the system has none. @param {number} pid @param {string} file */
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Returns a process and everything it started, children first. @param {number} pid @returns {number[]} */
export function processTree(pid) {
  if (!isLinux) return [pid];
  /** @type {string[]} */
  let threads = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const children = threads.flatMap((thread) => read(pid, `task/${thread}/children`).split(" ").filter(Boolean));
  return [...children.flatMap((child) => processTree(Number(child))), pid];
}

/** Returns the processes of a gateway, without the upstream servers. @param {number} pid */
function ownProcesses(pid) {
  return processTree(pid).filter((each) => !read(each, "cmdline").split("\0")[1]?.endsWith("upstream.js"));
}

/** CPU time that a process has used. @param {number} pid */
export function cpuMs(pid) {
  const fields = read(pid, "stat").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** CPU time that a process has used, all threads, to the microsecond. @param {number} pid */
export function cpuUs(pid) {
  /** @type {string[]} */
  let threads = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return Number.NaN;
  }
  return threads.reduce((sum, thread) => sum + Number(read(pid, `task/${thread}/schedstat`).split(" ")[0]) / 1e3, 0);
}

/** CPU time that a gateway has used. @param {number} pid */
export function gatewayCpuMs(pid) {
  return ownProcesses(pid).reduce((sum, each) => sum + cpuMs(each), 0);
}

/** Resident memory of one process. @param {number} pid */
export function residentMB(pid) {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, "status"))?.[1];
  return (Number(kib ?? Number.NaN) * 1024) / 1e6;
}

/** Memory of one process, with its part of what it shares with others. @param {number} pid */
export function proportionalMB(pid) {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(read(pid, "smaps_rollup"))?.[1];
  return (Number(kib ?? Number.NaN) * 1024) / 1e6;
}

/** Resident memory of a gateway. @param {number} pid */
export function gatewayMB(pid) {
  return ownProcesses(pid).reduce((sum, each) => sum + residentMB(each), 0);
}
