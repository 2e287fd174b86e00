// Kills each gateway's upstream server with `kill -9` and measures how long it takes until a call succeeds again. The
// client calls every 20 ms, and opens a new session if the gateway answers 404, as the protocol requires.
import { setTimeout as delay } from "node:timers/promises";
import { median, report } from "../report.js";
import { besideTheBest } from "./beside.js";
import { NoAnswer } from "./client.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { only, rounds } from "./options.js";
import { ToolFailed } from "./tool-call.js";

const GIVE_UP_MS = 30_000;
const CALL_TIMEOUT_MS = 2_000;
const PAUSE_MS = 20;
const ROUNDS = Math.min(rounds, 3);

/** @typedef {import("./gateways.js").Running} Running */
/** @typedef {{ ms: number, how: string, said: string }} Outcome `said`: the error before the first success */

/** Asks the upstream server for its process ID through the gateway. @param {Running} running */
async function upstreamPid({ gateway, client }) {
  const text = await gateway.call(client, "pid", {}, CALL_TIMEOUT_MS);
  return Number(text.split(" ")[1]);
}

/** @param {Running} running @returns {Promise<Outcome>} */
async function killAndWait(running) {
  const before = await upstreamPid(running);
  process.kill(before, "SIGKILL");
  const killed = performance.now();
  let how = "in the same session";
  let said = "";
  while (performance.now() - killed < GIVE_UP_MS) {
    const ended = running.started.ended();
    if (ended !== undefined) return { ms: Number.POSITIVE_INFINITY, how: `the gateway exits: ${ended}`, said };
    try {
      if ((await upstreamPid(running)) !== before) return { ms: performance.now() - killed, how, said };
    } catch (error) {
      if (!(error instanceof NoAnswer || error instanceof ToolFailed)) throw error;
      said ||= error.message;
      if (error instanceof NoAnswer && error.code === "session" && (await reconnects(running)))
        how = "in a new session";
    }
    await delay(PAUSE_MS);
  }
  return { ms: Number.POSITIVE_INFINITY, how: `not within ${GIVE_UP_MS / 1_000} s`, said };
}

/** @param {Running} running */
async function reconnects(running) {
  try {
    const client = await running.started.connect();
    running.client.close();
    running.client = client;
    return true;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

const { running, versions, absent, stop } = await startAll({ only });
try {
  /** @type {Map<Running, Outcome[]>} */
  const outcomes = new Map(running.map((each) => [each, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [each, found] of outcomes) {
      // A gateway that failed to recover once is not tried again.
      if (found.every(({ ms }) => Number.isFinite(ms))) found.push(await killAndWait(each));
    }
  }
  const figures = [...outcomes].map(([{ gateway }, found]) => ({
    ...gateway,
    figure: found.some(({ ms }) => !Number.isFinite(ms)) ? Number.POSITIVE_INFINITY : median(found.map(({ ms }) => ms)),
  }));
  report("gateways-recovery", besideTheBest(figures, { what: "until a call succeeds", unit: "ms", best: "least" }), {
    title: "Gateways: recovery after kill -9 of the upstream server",
    workload: `Each gateway's upstream server is killed ${ROUNDS} times; a client calls it every ${PAUSE_MS} ms until a new process answers, for at most ${GIVE_UP_MS / 1_000} s.`,
    versions,
    absent,
    notes: [
      CONFIGURATIONS,
      ...[...outcomes].map(([{ gateway }, found]) => {
        const { how, said } = found.at(-1) ?? { how: "", said: "" };
        return `${gateway.name}: ${how}${said === "" ? "; no call failed" : `; in the meantime it returned "${messageOf(said)}"`}.`;
      }),
    ],
  });
} finally {
  await stop();
}

/** Returns the message of a JSON error, or else the first line. @param {string} text @returns {string} */
function messageOf(text) {
  const quoted = /"message":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return quoted === undefined ? (text.trim().split("\n")[0] ?? "") : JSON.parse(quoted);
}
