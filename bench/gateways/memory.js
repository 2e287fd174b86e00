// Memory of each gateway's own processes: idle before the first call, and after the load of the echo benchmark's warm-up.
import { report } from "../report.js";
import { besideTheBest } from "./beside.js";
import { WARM_UP_CALLS, warmUp } from "./echo-load.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { IDLE_MS, idleMemory } from "./idle-memory.js";
import { only } from "./options.js";

const { running, versions, absent, stop } = await startAll({ only });
try {
  const idle = await idleMemory(running);
  for (const each of running) await warmUp(each);
  const used = await idleMemory(running);
  report(
    "gateways-memory",
    [
      ...besideTheBest(idle, { what: "idle, before the first call", unit: "MB", best: "least" }),
      ...besideTheBest(used, { what: `after ${WARM_UP_CALLS} calls`, unit: "MB", best: "least" }),
    ],
    {
      title: "Gateways: memory",
      workload: `Resident memory of each gateway's own processes, without the upstream server: ${IDLE_MS / 1_000} s after it has listed its tools, and ${IDLE_MS / 1_000} s after ${WARM_UP_CALLS.toLocaleString("en")} calls of a 100-byte echo, 16 in flight.`,
      versions,
      absent,
      notes: [CONFIGURATIONS],
    },
  );
} finally {
  await stop();
}
