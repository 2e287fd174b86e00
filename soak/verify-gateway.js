// Checks that the gateway has returned to its state after the warm-up: descriptors, ports, timers, listeners and
// memory.
import { setTimeout as delay } from "node:timers/promises";
import { median } from "../bench/report.js";
import { HEAP_MS } from "./gateway.js";
import { canLook, processesWith } from "./processes.js";

const NO_PROC = "needs Linux";
/** A leak per call or client would show up as hundreds; a server that is restarting adds only a few. */
const SPARE = 8;
/** Maximum factors by which memory can grow from the second third to the last, and from half-way to the end. */
const THIRDS_AIM = 1.25;
export const HEAP_AIM = 1.05;
export const MEMORY_AIM = 1.15;
/** Shorter runs say little about growth: the process is still warming up. */
const THIRDS_SECONDS = 90;
const HALVES_SECONDS = 300;

/**
 * @typedef {import("./checks.js").Check} Check
 * @typedef {import("./gateway.js").Holdings} Holdings
 */

/**
 * Lists kinds that have grown by more than SPARE. @param {ReadonlyMap<string, number>} before @param
 * {ReadonlyMap<string, number>} now
 */
export function grown(before, now) {
  return [...now].flatMap(([kind, count]) => {
    const was = before.get(kind) ?? 0;
    return count > was + SPARE ? [`${kind}: ${was} after the warm-up, ${count} at the end`] : [];
  });
}

/**
 * Compares the gateway with its state after the warm-up. All clients have left, and their resources get some time to be
 * released.
 * @param {import("./gateway.js").Gateway} gateway
 * @param {{ before: Holdings | undefined, settleMs: number }} options
 * @returns {Promise<Check[]>}
 */
export async function verifyHoldings(gateway, { before, settleMs }) {
  const names = {
    descriptors: "no descriptor is left over",
    ports: "no port is left over",
    busy: "no timer, handle or listener is left over",
  };
  if (!canLook) return Object.values(names).map((name) => ({ name, problems: [], skipped: NO_PROC }));
  if (before === undefined || !gateway.isRunning) {
    return Object.values(names).map((name) => ({ name, problems: ["the gateway has exited"] }));
  }
  const deadline = performance.now() + settleMs;
  for (;;) {
    const now = await gateway.holdings();
    if (now === undefined) throw new Error("the gateway exited during the check");
    const sum = (/** @type {ReadonlyMap<string, number>} */ counts) => [...counts.values()].reduce((a, b) => a + b, 0);
    const total = [sum(before.descriptors), sum(now.descriptors)];
    const busy = [before, now].map((held) => new Map(Object.entries(held.busy)));
    /** @type {Check[]} */
    const checks = [
      {
        name: names.descriptors,
        problems: grown(before.descriptors, now.descriptors),
        detail: `${total[0]} after the warm-up, ${total[1]} at the end`,
      },
      {
        name: names.ports,
        problems: now.ports > before.ports ? [`${before.ports} before, ${now.ports} now`] : [],
        detail: `${now.ports} listening`,
      },
      { name: names.busy, problems: grown(busy[0] ?? new Map(), busy[1] ?? new Map()) },
    ];
    if (checks.every(({ problems }) => problems.length === 0) || performance.now() > deadline) return checks;
    await delay(1_000);
  }
}

/**
 * The memory of a run in megabytes: in total and on the heap, one sample per second, and on the heap after forced
 * garbage collections.
 * @typedef {{ total: readonly number[], heap: readonly number[], live: { halfway: number | undefined, end: number | undefined } }} Memory
 */

/** Checks that memory is flat. @param {Memory} memory @returns {Check[]} */
export function verifyMemory({ total, heap, live }) {
  const seconds = total.length;
  const least = (/** @type {readonly number[]} */ part) => Math.min(...part);
  return [
    flat("memory is flat from third to third", {
      ...thirds(total, median),
      aim: THIRDS_AIM,
      seconds,
      needed: THIRDS_SECONDS,
    }),
    flat("the heap after garbage collections is flat from third to third", {
      ...thirds(heap, least),
      aim: THIRDS_AIM,
      seconds,
      needed: THIRDS_SECONDS,
    }),
    flat("memory is flat from half-way to the end", {
      ...halves(total),
      aim: MEMORY_AIM,
      seconds,
      needed: HALVES_SECONDS,
    }),
    flat("the heap after forced garbage collections is flat from half-way to the end", {
      before: ["half-way", live.halfway ?? Number.NaN],
      after: ["at the end", live.end ?? Number.NaN],
      aim: HEAP_AIM,
      seconds,
      needed: HALVES_SECONDS,
    }),
  ];
}

/** @typedef {[when: string, megabytes: number]} Level */

/**
 * Measures the second and the last third of a run.
 * @param {readonly number[]} samples
 * @param {(part: readonly number[]) => number} measure
 * @returns {{ before: Level, after: Level }}
 */
function thirds(samples, measure) {
  const third = Math.floor(samples.length / 3);
  return {
    before: ["in the second third", measure(samples.slice(third, 2 * third))],
    after: ["in the last", measure(samples.slice(2 * third))],
  };
}

/**
 * Measures the tenth of a run before half-time and the last tenth, each up to the garbage collections that are forced
 * then: memory is lower after them for a while.
 * @param {readonly number[]} samples one per second
 * @returns {{ before: Level, after: Level }}
 */
export function halves(samples) {
  const tenth = Math.floor(samples.length / 10);
  const half = Math.floor(samples.length / 2);
  const end = samples.length - Math.ceil(HEAP_MS / 1_000);
  return {
    before: ["half-way", median(samples.slice(half - tenth, half))],
    after: ["at the end", median(samples.slice(end - tenth, end))],
  };
}

/**
 * @param {string} name
 * @param {{ before: Level, after: Level, aim: number, seconds: number, needed: number }} levels
 * @returns {Check}
 */
function flat(name, { before, after, aim, seconds, needed }) {
  if (!canLook) return { name, problems: [], skipped: NO_PROC };
  if (seconds < needed) return { name, problems: [], skipped: `the run was shorter than ${needed} seconds` };
  const [was, is] = [before[1], after[1]];
  const detail = `${was.toFixed(1)} MB ${before[0]}, ${is.toFixed(1)} MB ${after[0]}`;
  // Not `>`: a figure that could not be measured is a failure, too.
  return { name, problems: is <= was * aim ? [] : [`more than ${aim} times as much`], detail };
}

/**
 * Checks that no process with this variable in its environment is left. Some need a moment to exit.
 * @param {string} variable NAME=value
 * @param {number} settleMs
 * @returns {Promise<Check>}
 */
export async function verifyProcesses(variable, settleMs) {
  const name = "no process is left over";
  if (!canLook) return { name, problems: [], skipped: NO_PROC };
  const deadline = performance.now() + settleMs;
  for (;;) {
    const left = processesWith(variable);
    if (left.length === 0 || performance.now() > deadline) {
      return { name, problems: left.map(({ pid, command }) => `${pid} ${command}`) };
    }
    await delay(200);
  }
}
