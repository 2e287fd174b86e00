// The broker: what windows and commands cost with it, beside `--no-broker` and mcporter's daemon. Every figure is a ratio
// of two figures of the same run. Options: --quick leaves out what needs 50 servers or 50,000 files; --parts <names> runs
// some of the parts, separated by commas; --kept <folder> keeps the files and the store for grep, and uses them again.
import { parseArgs } from "node:util";
import { isAbsent, npmPeer, systemPeer } from "../peers/peers.js";
import { median, report } from "../report.js";
import { besideHanging, firstAnswers } from "./answers.js";
import { calls, greps } from "./commands.js";
import { answerAfterKill, killsUnderLoad } from "./kills.js";
import { memoryOfMcporter, memoryOfWindows, SERVERS, serversOfProjects, WINDOWS } from "./many-windows.js";
import { relayCost } from "./relay-cost.js";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, parts: { type: "string" }, kept: { type: "string" } },
});
const { quick } = values;
const SIZE = quick
  ? { starts: 9, messages: 10_000, blocks: 5, blockCalls: 100, restarts: 3, kills: 5, clients: 5 }
  : { starts: 21, messages: 10_000, blocks: 20, blockCalls: 100, restarts: 9, kills: 100, clients: 10 };
const FILES = 50_000;
const GREP_ROUNDS = 7;
const RELAY_US = 60;
const RESTART_MS = 1_000;

/** @typedef {import("../report.js").Row} Row */

const oldest = npmPeer("mcporter");
const newest = npmPeer("mcporter", "node24");
const ripgrep = systemPeer("rg");
const peers = [oldest, newest, ripgrep].filter((peer) => peer !== undefined);
const found = (/** @type {typeof oldest} */ peer) => (peer === undefined || isAbsent(peer) ? undefined : peer);

const EMPTY = "node -e 0";
const ALONE = "the same with --no-broker";

/** @type {Record<string, { isQuick: boolean, rows: () => Promise<Row[]> }>} */
const PARTS = {
  windows: {
    isQuick: false,
    rows: async () => {
      const shared = await memoryOfWindows({ isAlone: false });
      const alone = await memoryOfWindows({ isAlone: true });
      const peer = found(newest);
      const theirs = peer === undefined ? undefined : await memoryOfMcporter(peer);
      const what = `${WINDOWS} windows of one project with ${SERVERS} servers`;
      /** @param {"residentMB" | "proportionalMB"} field @param {string} kind @returns {Row[]} */
      const memory = (field, kind) => [
        {
          what: `${what}: ${kind}`,
          figure: shared[field],
          unit: "MB",
          beside: `--no-broker, ${alone[field].toFixed(0)} MB`,
          ratio: shared[field] / alone[field],
          aim: 0.25,
        },
        ...(theirs === undefined ? [] : [besideMcporter(shared[field], theirs[field], `${what}: ${kind}`)]),
      ];
      return [
        {
          what: `${what}: server processes`,
          figure: shared.servers,
          unit: "",
          beside: `one of each; --no-broker has ${alone.servers}`,
          ratio: shared.servers / SERVERS,
          aim: 1,
        },
        ...memory("residentMB", "resident memory of all processes"),
        ...memory("proportionalMB", "memory, with what processes share counted once"),
      ];
    },
  },
  projects: {
    isQuick: false,
    rows: async () => {
      const { shared, own, idle } = await serversOfProjects();
      const what = `${WINDOWS} projects with the same ${SERVERS} servers`;
      const besides = { unit: "", beside: "one of each", ratio: shared / SERVERS, aim: 1 };
      return [
        { what: `${what}, share "user": server processes`, figure: shared, ...besides },
        { what: `${what}, not shared: server processes`, figure: own, unit: "" },
        { what: "   of these, left when idle", figure: idle, unit: "", beside: "none", ratio: idle, aim: 0 },
      ];
    },
  },
  relay: {
    isQuick: true,
    rows: async () => {
      const { relay, bare, oneUs, manyUs, passingUs } = await relayCost({ messages: SIZE.messages });
      const what = "a relay after 10,000 messages";
      const beside = "a bare Node process with a socket";
      const limit = { unit: "µs", beside: `${RELAY_US} µs`, aim: 1 };
      return [
        {
          what: `${what}: resident memory`,
          figure: relay.residentMB,
          unit: "MB",
          beside: `${beside}, ${bare.residentMB.toFixed(1)} MB`,
          ratio: relay.residentMB / bare.residentMB,
          aim: 1.15,
        },
        {
          what: `${what}: memory, with what processes share counted once`,
          figure: relay.proportionalMB,
          unit: "MB",
          beside: `${beside}, ${bare.proportionalMB.toFixed(1)} MB`,
          ratio: relay.proportionalMB / bare.proportionalMB,
        },
        { what: "CPU time of a relay per call, 16 in flight", figure: manyUs, ...limit, ratio: manyUs / RELAY_US },
        { what: "CPU time of a relay per call, 1 in flight", figure: oneUs, ...limit, ratio: oneUs / RELAY_US },
        {
          what: "   the same",
          figure: oneUs,
          unit: "µs",
          beside: `a Node process that only passes bytes on, ${passingUs.toFixed(0)} µs`,
          ratio: oneUs / passingUs,
        },
      ];
    },
  },
  first: {
    isQuick: true,
    rows: async () => {
      const { emptyMs, brokerMs, aloneMs } = await firstAnswers({ rounds: SIZE.starts });
      const what = "from starting serve to the answer to a call";
      return [
        { what, figure: brokerMs, unit: "ms", beside: besideEmpty(emptyMs), ratio: brokerMs / emptyMs, aim: 2 },
        { what, figure: brokerMs, unit: "ms", beside: `${ALONE}, ${aloneMs.toFixed(0)} ms`, ratio: brokerMs / aloneMs },
      ];
    },
  },
  call: {
    isQuick: true,
    rows: async () => {
      const { emptyMs, brokerMs, aloneMs, mcporterMs } = await calls({ rounds: SIZE.starts, mcporter: found(oldest) });
      const what = "trunkline call of a stdio server";
      return [
        { what, figure: brokerMs, unit: "ms", beside: besideEmpty(emptyMs), ratio: brokerMs / emptyMs, aim: 1.3 },
        { what, figure: brokerMs, unit: "ms", beside: `${ALONE}, ${aloneMs.toFixed(0)} ms`, ratio: brokerMs / aloneMs },
        ...(mcporterMs === undefined ? [] : [besideMcporter(brokerMs, mcporterMs, what, "ms")]),
      ];
    },
  },
  hanging: {
    isQuick: true,
    rows: async () => {
      const { besideMs, withoutMs } = await besideHanging({ blocks: SIZE.blocks, calls: SIZE.blockCalls });
      const beside = `without it, ${withoutMs.toFixed(2)} ms`;
      const what = "p95 of a client's calls while another client's call of the same server hangs";
      return [{ what, figure: besideMs, unit: "ms", beside, ratio: besideMs / withoutMs, aim: 1.2 }];
    },
  },
  grep: {
    isQuick: false,
    rows: async () => {
      if (isAbsent(ripgrep)) return [];
      const all = await greps({ rounds: GREP_ROUNDS, files: FILES, kept: values.kept });
      const rows = all.map(({ pattern, rgMs, brokerMs, aloneMs }) => ({
        what: `trunkline store grep ${pattern}, ${FILES.toLocaleString("en")} files (--no-broker: ${aloneMs.toFixed(0)} ms)`,
        figure: brokerMs,
        unit: "ms",
        beside: `rg -j2, ${rgMs.toFixed(0)} ms`,
        ratio: brokerMs / rgMs,
        aim: 1,
      }));
      const ratios = rows.map(({ ratio }) => ratio);
      return [...rows, { what: "   median of these ratios", figure: median(ratios), unit: "×" }];
    },
  },
  restart: {
    isQuick: true,
    rows: async () => {
      const { answerMs, serverMs } = await answerAfterKill({ rounds: SIZE.restarts });
      const ownMs = answerMs - serverMs;
      return [
        {
          what: `next answer after kill -9 of the broker, without the server's own start of ${serverMs.toFixed(0)} ms`,
          figure: ownMs,
          unit: "ms",
          beside: "1 s",
          ratio: ownMs / RESTART_MS,
          aim: 1,
        },
      ];
    },
  },
  kills: {
    isQuick: true,
    rows: async () => {
      const { kills, clients } = SIZE;
      const { right, lost, wrong, lostSessions, orphans } = await killsUnderLoad({ kills, clients });
      const none = (/** @type {string} */ what, /** @type {number} */ figure) => ({
        what: `   ${what}`,
        figure,
        unit: "",
        beside: "none",
        ratio: figure,
        aim: 0,
      });
      return [
        { what: `${kills} kills of the broker, ${clients} clients calling: right answers`, figure: right, unit: "" },
        { what: "   errors that say a call was lost", figure: lost, unit: "" },
        none("wrong answers", wrong),
        none("lost sessions", lostSessions),
        none("orphans", orphans),
      ];
    },
  },
};

/** @param {number} emptyMs */
function besideEmpty(emptyMs) {
  return `${EMPTY}, ${emptyMs.toFixed(0)} ms`;
}

/** @param {number} ours @param {number} theirs @param {string} what @param {string} unit @returns {Row} */
function besideMcporter(ours, theirs, what, unit = "MB") {
  const beside = `mcporter's daemon, ${theirs.toFixed(0)} ${unit}`;
  return { what, figure: ours, unit, beside, ratio: ours / theirs, isBehind: ours > theirs };
}

const parts = values.parts?.split(",") ?? Object.keys(PARTS).filter((name) => !quick || PARTS[name]?.isQuick);
/** @type {Row[]} */
const rows = [];
for (const name of parts) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`Unknown part: ${name}. Available: ${Object.keys(PARTS).join(", ")}.`);
  console.error(`${name} …`);
  rows.push(...(await part.rows()));
}
report("broker", rows, {
  title: "The broker",
  workload: `Ratios of one run; times are medians of alternating processes. Memory: ${WINDOWS} windows, each of which has called a tool of ${SERVERS} SDK servers. CPU times of a relay: the least of 5 rounds. First answers and calls: ${SIZE.starts} rounds, with another window open. A hanging call: ${SIZE.blocks} blocks of ${SIZE.blockCalls} calls with and without it. grep: both count the lines of ${FILES.toLocaleString("en")} text files, ${GREP_ROUNDS} rounds, and must agree.`,
  versions: Object.fromEntries(peers.flatMap((peer) => (isAbsent(peer) ? [] : [[peer.name, peer.version]]))),
  absent: peers.filter(isAbsent),
  notes: [
    "With one call in flight, every message wakes up a process, which costs CPU time, and more of it on a busy machine: in four runs at loads of 4 to 22, a process that only passes bytes on needed 53 to 128 µs, and a relay 144 to 207 µs.",
    "In four runs at loads of 4 to 20, the first answer after starting serve took 1.38 to 2.04 × `node -e 0`, so that aim is not met reliably.",
    "mcporter's daemon keeps servers with `lifecycle: keep-alive`. Its calls are those of the version for this Node; its windows are `mcporter serve --stdio` on Node 24, because the older version cannot serve.",
    "Calls that were running when the broker was killed fail with an error that allows calling again, because the echo tool does not say that it only reads.",
  ],
});
