// Measures the client's promises: servers connect in parallel, an expired session costs one reconnect, calls leak nothing,
// and a call of an HTTP server costs little more than undici. Options: --servers 30, --delay-ms 8000, --calls 10000.
import { getEventListeners } from "node:events";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startServer } from "../test/servers/start.js";
import { httpServer, hubOn, stdioServer } from "./in-process.js";
import { report, timeMs } from "./report.js";
import { CHECKOUT } from "./server/product.js";
import { httpCallCosts } from "./speed/http-upstream.js";

const { values } = parseArgs({
  options: {
    servers: { type: "string", default: "30" },
    "delay-ms": { type: "string", default: "8000" },
    calls: { type: "string", default: "10000" },
  },
});
const serverCount = Number(values.servers);
const delayMs = values["delay-ms"];
const callCount = Number(values.calls);

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collectGarbage = runInNewContext("gc");

/** @typedef {import("@trunkline/client").ServerDefinition} ServerDefinition */

/** @param {...ServerDefinition} servers */
const open = (...servers) => hubOn(servers);
const stdio = stdioServer;

/** @type {import("./report.js").Row[]} */
const rows = [];

{
  const slow = (/** @type {number} */ index) => stdio(`slow-${index}`, "old", ["--start-delay-ms", delayMs]);
  const alone = await timeMs(async () => (await open(slow(0))).close());
  const connected = [];
  const together = await timeMs(async () => {
    const hub = await open(...Array.from({ length: serverCount }, (_, index) => slow(index)));
    connected.push(...hub.status().filter(({ state }) => state === "connected"));
    await hub.close();
  });
  if (connected.length !== serverCount) throw new Error(`only ${connected.length} of ${serverCount} servers connected`);
  rows.push({ what: `connect and close 1 server that starts in ${delayMs} ms`, figure: alone, unit: "ms" });
  rows.push({
    what: `connect and close ${serverCount} of them`,
    figure: together,
    unit: "ms",
    beside: "1 of them",
    ratio: together / alone,
    aim: 1.3,
  });
}

{
  const server = await startServer("expiring", ["--after", "200"]);
  const hub = await open(httpServer("expiring", server.url));
  for (let call = 0; call < 200; call++) await hub.call("expiring.count");
  // Each of these calls finds the session expired.
  await Promise.all(Array.from({ length: 100 }, () => hub.call("expiring.count")));
  const sessions = Number((await hub.call("expiring.sessions")).text);
  rows.push({
    what: "reconnects for 100 calls on an expired session",
    figure: sessions - 1,
    unit: "",
    beside: "one",
    ratio: sessions - 1,
    aim: 1,
  });
  await hub.close();
  await server.close();
}

{
  const hub = await open(stdio("hello", "hello"));
  const { signal } = new AbortController();
  /** @param {number} count */
  const calls = async (count) => {
    for (let done = 0; done < count; done += 50) {
      await Promise.all(Array.from({ length: 50 }, () => hub.call("hello.hello", { name: "Ada" }, { signal })));
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const listeners = () =>
    getEventListeners(signal, "abort").length +
    process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const heapBefore = await calls(callCount / 5);
  const listenersBefore = listeners();
  const heapAfter = await calls(callCount);
  rows.push({ what: `heap after ${callCount / 5} calls`, figure: heapBefore / 1e6, unit: "MB" });
  rows.push({
    what: `heap after ${callCount} more`,
    figure: heapAfter / 1e6,
    unit: "MB",
    beside: "before",
    ratio: heapAfter / heapBefore,
    aim: 1.1,
  });
  rows.push({
    what: "leaked listeners",
    figure: listeners() - listenersBefore,
    unit: "",
    beside: "none",
    ratio: listeners() - listenersBefore,
    aim: 0,
  });
  await hub.close();
}

{
  const [limit = Number.NaN, ours = Number.NaN] = await httpCallCosts([CHECKOUT], { rounds: 10, calls: 2_000 });
  rows.push({ what: "CPU time per call of an HTTP server: the limit, undici alone", figure: limit, unit: "µs" });
  rows.push({
    what: "CPU time per call of an HTTP server",
    figure: ours,
    unit: "µs",
    beside: "CPU time per call of an HTTP server: the limit, undici alone",
    ratio: ours / limit,
    aim: 2,
  });
}

report("client", rows, {
  title: "The client",
  workload: `${serverCount} servers at once, a session that expires during 100 calls, ${callCount} calls in groups of 50, and calls of an HTTP server, 16 in flight, the least of 10 rounds.`,
});
