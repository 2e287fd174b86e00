// How close Trunkline is to the wire: every figure is a ratio of two figures of the same run. Options: --quick for a
// shorter run, --before <folder> to measure another, built checkout beside this one, --parts <names> for some of the
// parts, separated by commas, --only <names> for the gateways whose names start with one of these.
import { parseArgs } from "node:util";
import { bestPeer } from "../gateways/beside.js";
import { callsPerSecond, cpuPerCallUs, echoLoads, WARM_UP_CALLS, warmUp } from "../gateways/echo-load.js";
import { CONFIGURATIONS, startAll } from "../gateways/gateways.js";
import { IDLE_MS, idleMemory } from "../gateways/idle-memory.js";
import { aimText, meetsAim, report } from "../report.js";
import { manyClients } from "../server/many-clients.js";
import { CHECKOUT, commandOf } from "../server/product.js";
import { stdioTimes } from "../server/stdio-times.js";
import { coldCall } from "./cold-call.js";
import { httpCallCosts } from "./http-upstream.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    before: { type: "string" },
    parts: { type: "string" },
    only: { type: "string" },
  },
});
const { quick, before } = values;
const SIZE = quick
  ? { echoSeconds: 2, stdioCalls: 2_000, httpRounds: 5, httpCalls: 1_000, clients: 200, seconds: 30, coldRounds: 7 }
  : { echoSeconds: 5, stdioCalls: 6_000, httpRounds: 10, httpCalls: 2_000, clients: 500, seconds: 60, coldRounds: 15 };

/** @typedef {import("../report.js").Row} Row */
/** @typedef {{ what: string, unit: string, beside: string, aim: number, isAtLeast?: boolean }} Wanted */

/**
 * Builds a row from our figure and the figure it is compared with; `earlier` are those of the other checkout. @param
 * {Wanted} wanted @param {readonly [number, number]} now @param {readonly [number, number]} [earlier] @returns {Row}
 */
function row(wanted, [figure, other], earlier) {
  const past = earlier === undefined ? {} : { before: earlier[0] / earlier[1] };
  return { ...wanted, figure, ratio: figure / other, ...past };
}

/** Runs a measurement here and, if there is one, in the other checkout. @template T @param {(checkout: string) => Promise<T>} measure @returns {Promise<[T, T | undefined]>} */
async function both(measure) {
  const earlier = before === undefined ? undefined : await measure(before);
  return [await measure(CHECKOUT), earlier];
}

/** The gateways, side by side. */
async function gatewayRows() {
  const { running, versions, absent, stop } = await startAll({ before, only: values.only?.split(",") });
  try {
    const memory = await idleMemory(running);
    for (const each of running) await warmUp(each);
    const one = [...(await echoLoads(running, 1, SIZE.echoSeconds))];
    const sixteen = [...(await echoLoads(running, 16, SIZE.echoSeconds))];
    const named = (/** @type {typeof one} */ loads, /** @type {typeof cpuPerCallUs} */ figure) =>
      loads.map(([{ gateway }, load]) => ({ ...gateway, figure: figure(load) }));
    const cpu = named(sixteen, cpuPerCallUs);
    const at = (/** @type {typeof cpu} */ figures, /** @type {string} */ name) =>
      figures.find((each) => each.name === name)?.figure ?? Number.NaN;
    const limit = cpu.find(({ role }) => role === "limit")?.figure ?? Number.NaN;
    /** @param {Wanted} wanted @param {typeof cpu} figures @param {string} surface @param {number} other */
    const compared = (wanted, figures, surface, other) =>
      row(
        wanted,
        [at(figures, `trunkline, ${surface}`), other],
        before === undefined ? undefined : [at(figures, `trunkline before, ${surface}`), other],
      );
    const ofLimit = { unit: "µs", beside: `the raw gateway's ${limit.toFixed(0)} µs` };
    /** @param {typeof one} loads @param {{ aim: number, inFlight: number, runtime: "any" | "node24" }} options */
    const rates = (loads, { aim, inFlight, runtime }) => {
      const figures = named(loads, callsPerSecond);
      const best = bestPeer(
        figures.filter((each) => each.runtime === runtime),
        "most",
      );
      const what = `calls a second at ${inFlight}, direct`;
      const common = { unit: "/s", beside: `${best?.name}, the best of the others`, aim, isAtLeast: true };
      const other = best?.figure ?? Number.NaN;
      return runtime === "any"
        ? compared({ what, ...common }, figures, "direct", other)
        : row({ what: `${what}, all on Node 24`, ...common }, [at(figures, "trunkline on Node 24, direct"), other]);
    };
    const hub = { unit: "MB", beside: "mcp-hub", aim: 1 };
    return {
      versions,
      absent,
      rows: [
        compared({ what: "CPU time per call at 16, direct", ...ofLimit, aim: 2 }, cpu, "direct", limit),
        compared({ what: "CPU time per call at 16, composite", ...ofLimit, aim: 3 }, cpu, "composite", limit),
        rates(sixteen, { aim: 3, inFlight: 16, runtime: "any" }),
        rates(sixteen, { aim: 3, inFlight: 16, runtime: "node24" }),
        rates(one, { aim: 1.3, inFlight: 1, runtime: "any" }),
        rates(one, { aim: 1.3, inFlight: 1, runtime: "node24" }),
        compared({ what: "idle memory of serve", ...hub }, memory, "composite", at(memory, "mcp-hub")),
      ],
    };
  } finally {
    await stop();
  }
}

async function stdioRow() {
  const [now, earlier] = await both((checkout) => stdioTimes({ calls: SIZE.stdioCalls, command: commandOf(checkout) }));
  const pair = (/** @type {typeof now} */ { throughMs, aloneMs }) =>
    /** @type {const} */ ([throughMs * 1_000, aloneMs * 1_000]);
  const wanted = { what: "p50 of a call over stdio, direct", unit: "µs", beside: "the server itself", aim: 1.7 };
  return row(wanted, pair(now), earlier && pair(earlier));
}

async function httpRow() {
  const [undici = Number.NaN, now = Number.NaN, earlier] = await httpCallCosts(
    before === undefined ? [CHECKOUT] : [CHECKOUT, before],
    { rounds: SIZE.httpRounds, calls: SIZE.httpCalls },
  );
  const beside = `undici alone, ${undici.toFixed(0)} µs`;
  const wanted = { what: "client's CPU time per call of an HTTP server", unit: "µs", beside, aim: 2 };
  return row(wanted, [now, undici], earlier === undefined ? undefined : [earlier, undici]);
}

async function faultsRow() {
  const { clients, seconds } = SIZE;
  const [now, earlier] = await both((checkout) =>
    manyClients({ faulty: true, clients, seconds, command: commandOf(checkout) }),
  );
  const pair = (/** @type {typeof now} */ { from, to }) => /** @type {const} */ ([to, from]);
  return row(
    { what: "memory at the end of a run with faults", unit: "MB", beside: "half-way", aim: 1.05 },
    pair(now),
    earlier && pair(earlier),
  );
}

async function coldRow() {
  const [now, earlier] = await both((checkout) => coldCall({ rounds: SIZE.coldRounds, command: commandOf(checkout) }));
  const pair = (/** @type {typeof now} */ { callMs, emptyMs }) => /** @type {const} */ ([callMs, emptyMs]);
  const wanted = { what: "cold call of a stdio server", unit: "ms", beside: "node -e 0", aim: 3 };
  return row(wanted, pair(now), earlier && pair(earlier));
}

const PARTS = ["gateways", "stdio", "http", "cold", "faults"];
const parts = values.parts?.split(",") ?? PARTS;
const unknown = parts.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`Unknown part: ${unknown.join(", ")}. Available: ${PARTS.join(", ")}.`);
const has = (/** @type {string} */ part) => parts.includes(part);

/** @type {Awaited<ReturnType<typeof gatewayRows>>} */
const gateways = has("gateways") ? await gatewayRows() : { rows: [], versions: {}, absent: [] };
const all = [
  ...gateways.rows,
  ...(has("stdio") ? [await stdioRow()] : []),
  ...(has("http") ? [await httpRow()] : []),
  ...(has("cold") ? [await coldRow()] : []),
  ...(has("faults") ? [await faultsRow()] : []),
];
// Without the program or the system file that a figure is compared with, there is no row.
const rows = all.filter(({ ratio }) => !Number.isNaN(ratio));
report("speed", rows, {
  title: "Speed: close to the wire",
  workload: `Ratios of one run. Gateways: a 100-byte echo, ${SIZE.echoSeconds} s with 16 and with 1 in flight, after ${WARM_UP_CALLS.toLocaleString("en")} calls to each; memory ${IDLE_MS / 1_000} s after the start. Over stdio: ${SIZE.stdioCalls} calls. HTTP server: ${SIZE.httpRounds} rounds of ${SIZE.httpCalls} calls, 16 in flight, the least of the rounds. Cold call: ${SIZE.coldRounds} rounds. Faults: ${SIZE.clients} clients for ${SIZE.seconds} s, one of three servers hanging and one crashing.`,
  ...gateways,
  notes: [CONFIGURATIONS],
});
console.table(
  rows.map((each) => ({
    figure: `${each.what} / ${each.beside}`,
    ...(each.before === undefined ? {} : { before: each.before.toFixed(2) }),
    reach: aimText(each),
    measured: `${each.ratio?.toFixed(2)}${meetsAim(each) ? "" : " (missed)"}`,
  })),
);
