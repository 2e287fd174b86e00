// Calls per second of `trunkline serve --http` with an upstream stdio server, compared with an SDK server over HTTP
// that answers by itself: modern tools/call of a 100-byte echo, 16 in flight. The runs alternate, so that load on the
// machine affects all of them; and because the machine is shared, CPU time per call is reported too. Options: --seconds
// 5, --rounds 3.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startServer } from "../../test/servers/start.js";
import { cpuMs } from "../gateways/processes.js";
import { median, report } from "../report.js";
import { loadHttp } from "./http-load.js";
import { entry, place, serveHttp } from "./product.js";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "5" }, rounds: { type: "string", default: "3" } },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const call = { name: "repeat", arguments: { text: "x".repeat(100) } };
const IN_FLIGHT = 16;

/** @typedef {{ url: string, pid: number, stop: () => Promise<void> }} Started */
/** @type {Record<string, () => Promise<Started>>} */
const stacks = {
  "an SDK server by itself": async () => {
    const server = await startServer("hello");
    return { url: server.url, pid: server.pid, stop: () => server.close() };
  },
  "serve, with an upstream stdio server": async () => {
    const where = place({ hello: entry("hello") });
    const server = await serveHttp(where, ["--surface", "direct", "--names", "plain"]);
    return {
      url: server.url,
      pid: server.pid,
      stop: async () => {
        await server.stop();
        where.remove();
      },
    };
  },
  "its endpoint and hub alone": () => stack("hub"),
  "its endpoint alone": () => stack("echo"),
};

/** @type {Map<string, { perSecond: number[], cpuMs: number[] }>} */
const figures = new Map(Object.keys(stacks).map((name) => [name, { perSecond: [], cpuMs: [] }]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, start] of Object.entries(stacks)) {
    const started = await start();
    try {
      const before = { cpu: cpuMs(started.pid), at: performance.now() };
      const load = await loadHttp(started.url, call, { seconds, inFlight: IN_FLIGHT });
      const spent = cpuMs(started.pid) - before.cpu;
      const figure = figures.get(name);
      figure?.perSecond.push(load.perSecond);
      figure?.cpuMs.push(spent / load.calls);
    } finally {
      await started.stop();
    }
  }
}

const sdk = figures.get("an SDK server by itself");
report(
  "server-http",
  [...figures].flatMap(([name, { perSecond, cpuMs: perCall }]) => {
    const isOurs = name.startsWith("serve");
    const rate = median(perSecond);
    return [
      {
        what: `calls to ${name}`,
        figure: rate,
        unit: "/s",
        ...(sdk === undefined || name.startsWith("an SDK")
          ? {}
          : { beside: "SDK to this", ratio: median(sdk.perSecond) / rate, ...(isOurs ? { aim: 0.5 } : {}) }),
      },
      { what: "   CPU time of its process", figure: median(perCall) * 1_000, unit: "µs a call" },
    ];
  }),
  {
    title: "Calls per second over HTTP",
    workload: `A modern tools/call of a 100-byte echo, ${IN_FLIGHT} in flight, ${seconds} s in each of ${rounds} rounds. The SDK server answers by itself; serve forwards to an upstream server. A ratio of 0.5 means twice the calls of the SDK server.`,
  },
);

/** @param {string} kind @returns {Promise<Started>} */
async function stack(kind) {
  const file = fileURLToPath(new URL("./http-stack.js", import.meta.url));
  const child = spawn(process.execPath, [file, kind], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let said = "";
  const url = await new Promise((/** @type {(url: string) => void} */ resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const found = /listening at (\S+) /.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(said)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
