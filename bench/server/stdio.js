// Echo through `trunkline serve --surface direct`, stdio to stdio, compared with the same client connected directly to
// the same server. Options: --calls 4000.
import { parseArgs } from "node:util";
import { report } from "../report.js";
import { BLOCK, stdioTimes, WARM_UP } from "./stdio-times.js";

const { values } = parseArgs({ options: { calls: { type: "string", default: "4000" } } });
const calls = Number(values.calls);

const { aloneMs, throughMs } = await stdioTimes({ calls });
report(
  "server-stdio",
  [
    { what: `echo, p50 of ${calls} calls, direct`, figure: aloneMs * 1000, unit: "µs" },
    {
      what: "the same through serve --surface direct",
      figure: throughMs * 1000,
      unit: "µs",
      beside: "direct",
      ratio: throughMs / aloneMs,
      aim: 1.7,
    },
  ],
  {
    title: "A call through the gateway over stdio",
    workload: `The same client, tool and text of 100 letters, directly and through serve, alternating every ${BLOCK} calls after ${WARM_UP} warm-up calls.`,
  },
);
