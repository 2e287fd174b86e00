// A 100-byte echo through each gateway with 1, 16 and 64 calls in flight: median time, calls per second and, since
// machines are shared, the CPU time per call of the gateway's own processes. And their memory, before the first call and
// after the warm-up.
import { median, report } from "../report.js";
import { besideTheBest } from "./beside.js";
import { BLOCK_MS, callsPerSecond, cpuPerCallUs, echoLoads, RAMP_CALLS, WARM_UP_CALLS, warmUp } from "./echo-load.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { IDLE_MS, idleMemory } from "./idle-memory.js";
import { only, rounds, seconds } from "./options.js";

const IN_FLIGHT = [1, 16, 64];

const { running, versions, absent, stop } = await startAll({ only });
try {
  const idle = await idleMemory(running);
  for (const each of running) await warmUp(each);
  const used = await idleMemory(running);
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const inFlight of IN_FLIGHT) {
    const loads = await echoLoads(running, inFlight, seconds * rounds);
    const figures = (/** @type {(load: import("./echo-load.js").Load) => number} */ figure) =>
      [...loads].map(([{ gateway }, load]) => ({ ...gateway, figure: figure(load) }));
    const at = `${inFlight} in flight`;
    rows.push(
      ...besideTheBest(
        figures(({ times }) => median(times)),
        { what: `p50 at ${at}`, unit: "ms", best: "least" },
      ),
      ...besideTheBest(figures(callsPerSecond), { what: `calls at ${at}`, unit: "/s", best: "most" }),
    );
    if (inFlight === 16 && process.platform === "linux") {
      rows.push(
        ...besideTheBest(figures(cpuPerCallUs), { what: `CPU time per call at ${at}`, unit: "µs", best: "least" }),
      );
    }
  }
  report("gateways-echo", rows, {
    title: "Gateways: echo",
    workload: `A tools/call that echoes 100 bytes, ${seconds * rounds} s with each of 1, 16 and 64 in flight, the gateways alternating every ${BLOCK_MS} ms, after ${WARM_UP_CALLS.toLocaleString("en")} warm-up calls to each and ${RAMP_CALLS} before each turn. Trunkline is ahead if a time ratio is below 1 or a calls-per-second ratio is above 1.`,
    versions,
    absent,
    notes: [
      CONFIGURATIONS,
      '"composite" is Trunkline\'s default surface: `execute` with one operation, a pipeline of one step whose answer is measured in tokens. "direct" passes the tools on as they are.',
    ],
  });
  if (process.platform === "linux") {
    report(
      "gateways-memory",
      [
        ...besideTheBest(idle, { what: "idle, before the first call", unit: "MB", best: "least" }),
        ...besideTheBest(used, { what: "idle, after the warm-up", unit: "MB", best: "least" }),
      ],
      {
        title: "Gateways: memory",
        workload: `Resident memory of each gateway's own processes, without the upstream server: ${IDLE_MS / 1_000} s after it has listed its tools, and ${IDLE_MS / 1_000} s after ${WARM_UP_CALLS.toLocaleString("en")} calls of the echo, 16 in flight.`,
        versions,
        absent,
        notes: [CONFIGURATIONS],
      },
    );
  }
} finally {
  await stop();
}
