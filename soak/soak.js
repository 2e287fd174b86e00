// The whole soak: starts everything, runs it concurrently for the given time, stops it cleanly and checks the result.
import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entry } from "../bench/server/product.js";
import { CLIENT_CHECKS, pause, runClients, warmUp } from "./clients.js";
import { Gateway, HEAP_MS } from "./gateway.js";
import { runKilledGateways, STDIO_CHECK } from "./killed-gateway.js";
import { Ledger } from "./ledger.js";
import { runStore, STORE_CHECKS } from "./store.js";
import { Tally } from "./tally.js";
import { StartedUpstreams, upstreams } from "./upstreams.js";
import { runVanishing } from "./vanishing.js";
import { verifyHoldings, verifyMemory, verifyProcesses } from "./verify-gateway.js";
import { verifyStore } from "./verify-store.js";

const PROGRESS_MS = 15_000;
/** How long it can take to release the resources of vanished clients. */
const SETTLE_MS = 20_000;
/** How long processes can take to exit. */
const ENDING_MS = 20_000;

/** Anything that has not started by then never will. */
const START_MS = 60_000;

/** Numbers of concurrent clients, and the kill interval. */
const FULL = { sound: 20, faulty: 8, vanishing: 6, killEveryMs: /** @type {[number, number]} */ ([2_000, 6_000]) };
const SMALL = { sound: 4, faulty: 3, vanishing: 2, killEveryMs: /** @type {[number, number]} */ ([800, 1_600]) };

/**
 * @typedef {{ seconds: number, seed: number, small: boolean, signal: AbortSignal }} SoakOptions
 * @typedef {{ tally: Tally, checks: import("./checks.js").Check[], memory: import("./verify-gateway.js").Memory, soakedSeconds: number }} SoakResult
 */

/** @param {SoakOptions} options @returns {Promise<SoakResult>} */
export async function soak({ seconds, seed, small, signal }) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-soak-"));
  // Every process we start gets this HOME and passes it on, so leftover processes can be found at the end.
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home };
  const tally = new Tally();
  const ledger = new Ledger();
  const size = small ? SMALL : FULL;
  const all = upstreams(small);
  const storePath = join(folder, "store");
  const started = new StartedUpstreams({ env, tally });
  try {
    const config = join(folder, "mcp.json");
    writeFileSync(config, JSON.stringify(await started.start(all)));
    const stdioConfig = join(folder, "stdio.json");
    writeFileSync(stdioConfig, JSON.stringify({ mcpServers: { hello: entry("hello"), slow: entry("slow") } }));
    const gateway = await Gateway.start({
      folder,
      config,
      env: { ...env, TRUNKLINE_STORE: join(folder, "own-store") },
    });
    try {
      console.log(`${all.length} upstreams, ${all.filter(({ echo }) => echo !== undefined).length} of them sound.`);
      const scene = { url: gateway.url, seed, tally, signal, upstreams: all };
      await warmUp(scene);
      await pause(small ? 500 : 8_000, signal);
      const before = await gateway.holdings();

      const startedMs = performance.now();
      const { until, done } = untilTime(seconds, {
        signal,
        hasBegun: () => ledger.acknowledged > 0 && tally.of("calls over stdio") > 0,
      });
      const progress = setInterval(() => console.log(progressLine({ tally, ledger, gateway, startedMs })), PROGRESS_MS);
      const running = { ...scene, signal: until };
      const { killEveryMs } = size;
      const liveHeapAt = async (/** @type {number} */ ms) => {
        await pause(ms, until);
        return until.aborted ? undefined : await gateway.liveHeap();
      };
      const liveHeaps = Promise.all([liveHeapAt(seconds * 500), liveHeapAt(seconds * 1_000 - HEAP_MS)]);
      await Promise.all([
        runClients(running, size),
        runVanishing(running, size.vanishing),
        runKilledGateways({ ...running, folder, config: stdioConfig, env, lifeMs: killEveryMs }),
        runStore({ path: storePath, env, seed, tally, signal: until, ledger, killEveryMs }),
      ]).finally(() => {
        clearInterval(progress);
        done();
      });
      const soakedSeconds = (performance.now() - startedMs) / 1_000;
      gateway.stopSampling();
      const [halfway, end] = await liveHeaps;
      const heap = (await gateway.holdings())?.heap ?? [];
      const memory = { total: gateway.memory, heap, live: { halfway, end } };
      tally.count("document changes acknowledged", ledger.acknowledged);

      console.log(`Verifying: ${ledger.names.length} documents, then leftovers.`);
      const storeChecks = await verifyStore(storePath, ledger);
      const held = await verifyHoldings(gateway, { before, settleMs: SETTLE_MS });
      const wasRunning = gateway.isRunning;
      const code = await gateway.stop();
      await started.close();
      const left = await verifyProcesses(`HOME=${home}`, ENDING_MS);
      const during = [...Object.values(CLIENT_CHECKS), STDIO_CHECK, ...Object.values(STORE_CHECKS)];
      return {
        tally,
        memory,
        soakedSeconds,
        checks: [
          ...during.map((name) => ({ name, problems: tally.problems(name) })),
          ...storeChecks,
          ...held,
          ...verifyMemory(memory),
          { name: "serve prints no warnings", problems: gateway.complaints },
          {
            name: "serve runs to the end and stops cleanly",
            problems: wasRunning && code === 0 ? [] : [`it exited ${wasRunning ? "" : "early "}with ${code}`],
          },
          left,
        ],
      };
    } finally {
      await gateway.stop();
    }
  } finally {
    await started.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns a signal that aborts when the time is up, or earlier. On a busy machine, a short run continues until
 * everything has started.
 * @param {number} seconds
 * @param {{ signal: AbortSignal, hasBegun: () => boolean }} options
 */
function untilTime(seconds, { signal, hasBegun }) {
  const controller = new AbortController();
  // Every actor listens to this signal.
  setMaxListeners(0, controller.signal);
  const end = () => controller.abort();
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const overMs = performance.now() - startedMs - seconds * 1_000;
    if (overMs > START_MS || (overMs >= 0 && hasBegun())) end();
  }, 100);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  return { until: controller.signal, done: () => clearInterval(timer) };
}

/** @param {{ tally: Tally, ledger: Ledger, gateway: Gateway, startedMs: number }} state */
function progressLine({ tally, ledger, gateway, startedMs }) {
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const sum = (/** @type {RegExp} */ pattern) =>
    tally.counts().reduce((total, [what, count]) => total + (pattern.test(what) ? count : 0), 0);
  return [
    `${seconds} s`,
    `${sum(/^calls of sound/)} calls of sound servers`,
    `${tally.of("calls of faulty servers")} of faulty ones`,
    `${tally.of("clients that vanished")} clients vanished`,
    `${sum(/^kill -9/)} kills`,
    `${ledger.acknowledged} changes acknowledged`,
    `${gateway.memory.at(-1)?.toFixed(0) ?? "?"} MB`,
    `${tally.problemCount} problems${tally.latest === undefined ? "" : ` (${tally.latest})`}`,
  ].join(", ");
}
