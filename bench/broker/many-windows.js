// Memory and processes of many windows, with the broker, without it, and with mcporter's daemon; and of many projects.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { upstream } from "../gateways/gateways.js";
import { processTree, proportionalMB, residentMB } from "../gateways/processes.js";
import { entry } from "../server/product.js";
import { ended, isRunning, Place } from "./place.js";

export const WINDOWS = 10;
export const SERVERS = 5;
/** After their first calls, processes give back some of the memory that starting took. */
const SETTLE_MS = 3_000;
const IDLE_STOP_SECONDS = 2;

const NAMES = Array.from({ length: SERVERS }, (_, at) => `server${at}`);

/** @param {object} [more] */
function sameServers(more = {}) {
  return Object.fromEntries(NAMES.map((name) => [name, { ...entry("hello"), ...more }]));
}

/** Has a window call every server once. @param {import("./window.js").Window} window @param {string} prefix */
async function callAll(window, prefix) {
  for (const name of NAMES) await window.call(`${prefix}${name}__repeat`, { text: "x", count: 1 });
}

/** @param {readonly number[]} roots */
function memoryOf(roots) {
  const all = [...new Set(roots.flatMap((pid) => processTree(pid)))];
  const sum = (/** @type {(pid: number) => number} */ figure) => all.reduce((total, pid) => total + figure(pid), 0);
  return { processes: all.length, residentMB: sum(residentMB), proportionalMB: sum(proportionalMB) };
}

/** Windows of one project. @param {{ isAlone: boolean }} options */
export async function memoryOfWindows({ isAlone }) {
  const place = new Place(sameServers());
  try {
    const windows = [];
    for (let at = 0; at < WINDOWS; at += 1) {
      const window = await place.open({ isAlone });
      await callAll(window, "mcp__");
      windows.push(window);
    }
    await delay(SETTLE_MS);
    const { broker } = place.recorded();
    const memory = memoryOf([...windows.map(({ pid }) => pid), ...(broker === undefined ? [] : [broker])]);
    const own = isAlone ? windows.map(({ pid }) => pid) : windows.map(({ pid }) => pid).concat(broker ?? []);
    return { ...memory, servers: memory.processes - own.length };
  } finally {
    await place.remove();
  }
}

/** Windows of mcporter, which share its daemon. @param {import("../peers/peers.js").Peer} peer */
export async function memoryOfMcporter({ command, args }) {
  const place = new Place({});
  const config = join(place.folder, "mcporter.json");
  const servers = sameServers({ lifecycle: "keep-alive" });
  writeFileSync(config, JSON.stringify({ mcpServers: servers, imports: [] }));
  const all = [...args, "--config", config];
  try {
    const windows = [];
    for (let at = 0; at < WINDOWS; at += 1) {
      const window = place.startProgram(command, [...all, "serve", "--stdio"]);
      await window.initialize();
      await callAll(window, "");
      windows.push(window);
    }
    await delay(SETTLE_MS);
    const daemon = Number(/pid (\d+)/.exec(await place.run([...all, "daemon", "status"], command))?.[1]);
    const memory = memoryOf([...windows.map(({ pid }) => pid), daemon]);
    return { ...memory, servers: memory.processes - WINDOWS - 1 };
  } finally {
    await place.closeWindows();
    await place.run([...all, "daemon", "stop"], command);
    await place.remove();
  }
}

/** How many server processes the windows of different projects start, and how many are left when they are idle. */
export async function serversOfProjects() {
  const place = new Place(small({ share: "user" }));
  const startedBy = async () => {
    /** @type {Set<number>} */
    const started = new Set();
    for (let at = 0; at < WINDOWS; at += 1) {
      const window = await place.open({ project: `project${at}` });
      for (const name of NAMES) await window.call(`mcp__${name}__pid`, {});
      for (const pid of place.recorded().servers) started.add(pid);
    }
    return [...started];
  };
  try {
    const shared = await startedBy();
    await place.stopBroker();
    place.configure(small({ idleStop: IDLE_STOP_SECONDS }));
    const own = await startedBy();
    await ended(own);
    return { shared: shared.length, own: own.length, idle: own.filter(isRunning).length };
  } finally {
    await place.remove();
  }
}

/** Servers that start fast. @param {object} more */
function small(more) {
  return Object.fromEntries(NAMES.map((name) => [name, { ...upstream(), ...more }]));
}
