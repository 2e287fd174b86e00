// Many clients at once: each makes one call every 5 seconds for a minute, half of them with a session, half without.
// First with three healthy upstream servers, then with one of them hanging and one crashing. Options: --clients 500,
// --seconds 60.
import { parseArgs } from "node:util";
import { report } from "../report.js";
import { EVERY_MS, manyClients } from "./many-clients.js";

const { values } = parseArgs({
  options: { clients: { type: "string", default: "500" }, seconds: { type: "string", default: "60" } },
});
const clients = Number(values.clients);
const seconds = Number(values.seconds);

const sound = await manyClients({ faulty: false, clients, seconds });
const faulty = await manyClients({ faulty: true, clients, seconds });
report(
  "server-load",
  [
    { what: `p95 of ${sound.calls} calls by ${clients} clients, no faults`, figure: sound.p95, unit: "ms" },
    {
      what: `p95 of ${faulty.calls} calls, with a hanging and a crashing server`,
      figure: faulty.p95,
      unit: "ms",
      beside: "no faults",
      ratio: faulty.p95 / sound.p95,
      aim: 2,
    },
    {
      what: "memory at the end, with faults",
      figure: faulty.to,
      unit: "MB",
      beside: "half-way",
      ratio: faulty.to / faulty.from,
      aim: 1.05,
    },
  ],
  {
    title: "Many clients, some faulty servers",
    workload: `${clients} clients, half of them with a session, one call each every ${EVERY_MS / 1000} s for ${seconds} s; then the same with one of three servers hanging and one crashing.`,
  },
);
