// A 100-byte echo through each gateway with 1, 16 and 64 calls in flight: median time, calls per second and, since
// machines are shared, the CPU time per call of the gateway's own process.
import { readFileSync } from "node:fs";
import { median, report } from "../report.js";
import { besideTheBest } from "./beside.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { rounds, seconds } from "./options.js";

const IN_FLIGHT = [1, 16, 64];
/** Warm-up calls: V8 needs about a thousand to finish optimizing a server. */
const WARM_UP_CALLS = 1_500;
/** Short, so that other load on the machine affects all of them equally. */
const BLOCK_MS = 250;
const turns = Math.ceil((seconds * rounds * 1_000) / BLOCK_MS);
const text = "x".repeat(100);

/** @typedef {import("./gateways.js").Running} Running */
/** @typedef {{ times: number[], tookMs: number, cpuMs: number }} Load of all blocks together */

/** @param {Running} running */
async function echo({ gateway, client }) {
  if ((await gateway.call(client, "echo", { text })) !== text) throw new Error(`${gateway.name} does not echo`);
}

/** @param {Running} running */
async function warmUp(running) {
  let left = WARM_UP_CALLS;
  const worker = async () => {
    while (left-- > 0) await echo(running);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** @param {Running} running @param {number} inFlight @param {Load} load */
async function block(running, inFlight, load) {
  const cpuBefore = cpuMs(running.started.pid);
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
  load.cpuMs += cpuMs(running.started.pid) - cpuBefore;
}

/** CPU time a process has used; NaN if the system does not report it. @param {number} pid */
function cpuMs(pid) {
  if (process.platform !== "linux") return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const { running, versions, absent, stop } = await startAll();
try {
  for (const each of running) await warmUp(each);
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const inFlight of IN_FLIGHT) {
    /** @type {Map<Running, Load>} */
    const loads = new Map(running.map((each) => [each, { times: [], tookMs: 0, cpuMs: 0 }]));
    for (let turn = 0; turn < turns; turn += 1) {
      // Rotates the order, so that no gateway always follows the same one.
      const order = [...loads].slice(turn % loads.size).concat([...loads].slice(0, turn % loads.size));
      for (const [each, load] of order) await block(each, inFlight, load);
    }
    const figures = (/** @type {(load: Load) => number} */ figure) =>
      [...loads].map(([{ gateway }, load]) => ({ ...gateway, figure: figure(load) }));
    const at = `${inFlight} in flight`;
    rows.push(
      ...besideTheBest(
        figures(({ times }) => median(times)),
        { what: `p50 at ${at}`, unit: "ms", best: "least" },
      ),
      ...besideTheBest(
        figures(({ times, tookMs }) => (times.length * 1_000) / tookMs),
        { what: `calls at ${at}`, unit: "/s", best: "most" },
      ),
    );
    if (inFlight === 16 && process.platform === "linux") {
      rows.push(
        ...besideTheBest(
          figures((load) => (load.cpuMs * 1_000) / load.times.length),
          { what: `CPU time per call at ${at}`, unit: "µs", best: "least" },
        ),
      );
    }
  }
  report("gateways-echo", rows, {
    title: "Gateways: echo",
    workload: `A tools/call that echoes 100 bytes, ${seconds * rounds} s with each of 1, 16 and 64 in flight, the gateways alternating every ${BLOCK_MS} ms. Trunkline is ahead if a time ratio is below 1 or a calls-per-second ratio is above 1.`,
    versions,
    absent,
    notes: [
      CONFIGURATIONS,
      '"composite" is Trunkline\'s default surface: `execute` with one operation, a pipeline of one step whose answer is measured in tokens. "direct" passes the tools on as they are.',
    ],
  });
} finally {
  await stop();
}
