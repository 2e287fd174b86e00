// The load of the gateway benchmarks: a 100-byte echo with a number of calls in flight, through all gateways in turn.
import { gatewayCpuMs } from "./processes.js";

/**
 * Calls before anything is measured, the same number for every gateway: with fewer, a gateway with more code is still
 * being optimized when the first row is taken.
 */
export const WARM_UP_CALLS = 12_000;
/** Calls at the start of each block that are not measured. */
export const RAMP_CALLS = 50;
/** Short, so that other load on the machine affects all of them equally. */
export const BLOCK_MS = 250;
const text = "x".repeat(100);

/** @typedef {import("./gateways.js").Running} Running */
/** @typedef {{ times: number[], tookMs: number, cpuMs: number }} Load of all blocks together */

/** @param {Running} running */
async function echo({ gateway, client }) {
  if ((await gateway.call(client, "echo", { text })) !== text) throw new Error(`${gateway.name} does not echo`);
}

/** @param {Running} running */
export async function warmUp(running) {
  await make(running, 16, WARM_UP_CALLS);
}

/** Makes this many calls. @param {Running} running @param {number} inFlight @param {number} calls */
async function make(running, inFlight, calls) {
  let left = calls;
  const worker = async () => {
    while (left-- > 0) await echo(running);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** @param {Running} running @param {number} inFlight @param {Load} load */
async function block(running, inFlight, load) {
  // It was idle while the others were measured: its connections may be closed, its code and data out of the caches.
  await make(running, inFlight, RAMP_CALLS);
  const cpuBefore = gatewayCpuMs(running.started.pid);
  const begun = performance.now();
  const until = begun + BLOCK_MS;
  const worker = async () => {
    for (let started = performance.now(); started < until; started = performance.now()) {
      await echo(running);
      load.times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  load.tookMs += performance.now() - begun;
  load.cpuMs += gatewayCpuMs(running.started.pid) - cpuBefore;
}

/**
 * Loads each gateway for this long. @param {readonly Running[]} running @param {number} inFlight @param {number}
 * seconds
 */
export async function echoLoads(running, inFlight, seconds) {
  /** @type {Map<Running, Load>} */
  const loads = new Map(running.map((each) => [each, { times: [], tookMs: 0, cpuMs: 0 }]));
  const turns = Math.ceil((seconds * 1_000) / BLOCK_MS);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [each, load] of shuffled([...loads])) await block(each, inFlight, load);
  }
  return loads;
}

/**
 * Orders them at random, so that no gateway always follows the same one. @template T @param {readonly T[]} all @returns
 * {T[]}
 */
function shuffled(all) {
  return all
    .map((each) => ({ each, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/** @param {Load} load */
export function callsPerSecond({ times, tookMs }) {
  return (times.length * 1_000) / tookMs;
}

/** @param {Load} load */
export function cpuPerCallUs(load) {
  return (load.cpuMs * 1_000) / load.times.length;
}
