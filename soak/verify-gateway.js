// Checks that the gateway has returned to its state after the warm-up: descriptors, ports, timers, listeners and
// memory.
import { setTimeout as delay } from "node:timers/promises";
import { median } from "../bench/report.js";
import { canLook, processesWith } from "./processes.js";

const NO_PROC = "needs Linux";
/** A leak per call or client would show up as hundreds; a server that is restarting adds only a few. */
const SPARE = 8;
/** Maximum factor by which memory can grow from the second third to the last. */
export const MEMORY_AIM = 1.25;
/** Data held for returning clients is limited, but a run can end before it reaches the limit. */
const KEPT_MB = 32;
/** Before this time, the process is still warming up. */
const MEMORY_SECONDS = 90;

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
 * Measures the second and the last third of a run. @param {readonly number[]} samples @param {(part: readonly number[])
 * => number} measure
 */
function thirds(samples, measure) {
  const third = Math.floor(samples.length / 3);
  return { second: measure(samples.slice(third, 2 * third)), last: measure(samples.slice(2 * third)) };
}

/** Returns the memory in the second and the last third. @param {readonly number[]} samples */
export function memoryThirds(samples) {
  return thirds(samples, median);
}

/**
 * Checks that the heap is flat, by comparing the minimum of each third: what remains after garbage collection.
 * @param {readonly number[]} samples megabytes, one per second
 */
export function verifyHeap(samples) {
  return flat("the heap after garbage collection is flat", samples, {
    measure: (part) => Math.min(...part),
    spare: KEPT_MB,
  });
}

/**
 * Checks that the memory reported by the system is flat. @param {readonly number[]} samples megabytes, one per second
 */
export function verifyMemory(samples) {
  return flat("memory is flat", samples, { measure: median, spare: 0 });
}

/**
 * @param {string} name
 * @param {readonly number[]} samples
 * @param {{ measure: (part: readonly number[]) => number, spare: number }} options `spare`: extra megabytes allowed
 * @returns {Check}
 */
function flat(name, samples, { measure, spare }) {
  if (!canLook) return { name, problems: [], skipped: NO_PROC };
  if (samples.length < MEMORY_SECONDS) {
    return { name, problems: [], skipped: `the run was shorter than ${MEMORY_SECONDS} seconds` };
  }
  const { second, last } = thirds(samples, measure);
  const detail = `${second.toFixed(0)} MB in the second third, ${last.toFixed(0)} MB in the last`;
  return {
    name,
    problems: last > second * MEMORY_AIM + spare ? [`more than ${MEMORY_AIM} times as much`] : [],
    detail,
  };
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
