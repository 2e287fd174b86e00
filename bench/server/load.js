// Many clients at once: each makes one call every 5 seconds for a minute, half of them with a session, half without.
// First with three healthy upstream servers, then with one of them hanging and one crashing. Options: --clients 500,
// --seconds 60.
import { readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { report } from "../report.js";
import { entry, place, quantile, serveHttp } from "./product.js";

const { values } = parseArgs({
  options: { clients: { type: "string", default: "500" }, seconds: { type: "string", default: "60" } },
});
const clients = Number(values.clients);
const seconds = Number(values.seconds);
const EVERY_MS = 5_000;
/** One in this many clients uses the hanging server, and one the crashing server. */
const FAULTY_SHARE = 25;
const MODERN = "2026-07-28";

const agent = new Agent({ keepAlive: true, maxSockets: clients });

/**
 * @param {string} url
 * @param {{ body: unknown, headers: Record<string, string>, timeoutMs?: number }} options
 * @returns {Promise<{ text: string, session: string | undefined }>}
 */
function post(url, { body, headers, timeoutMs }) {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, {
      agent,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    });
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ text, session: response.headers["mcp-session-id"]?.toString() }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    if (timeoutMs !== undefined) sent.setTimeout(timeoutMs, () => sent.destroy(new Error("given up")));
    sent.end(JSON.stringify(body));
  });
}

/** Opens a client with or without a session. @param {string} url @param {boolean} lasting */
async function open(url, lasting) {
  let id = 0;
  if (!lasting) {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "load", version: "1" },
    };
    return (/** @type {string} */ name, /** @type {object} */ args, /** @type {number} */ timeoutMs) =>
      post(url, {
        timeoutMs,
        headers: { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name },
        body: { jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name, arguments: args, _meta: meta } },
      });
  }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "load", version: "1" } };
  const { session = "" } = await post(url, {
    headers: {},
    body: { jsonrpc: "2.0", id: ++id, method: "initialize", params },
  });
  const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  await post(url, { headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } });
  return (/** @type {string} */ name, /** @type {object} */ args, /** @type {number} */ timeoutMs) =>
    post(url, {
      timeoutMs,
      headers,
      body: { jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name, arguments: args } },
    });
}

/** Returns the process's current memory use in megabytes. @param {number} pid */
function memory(pid) {
  const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

/** @param {boolean} faulty */
async function run(faulty) {
  const where = place({ good: entry("hello"), hanging: entry("slow"), crashing: entry("crashing") });
  const served = await serveHttp(where, ["--surface", "direct"]);
  const callers = await Promise.all(Array.from({ length: clients }, (_, index) => open(served.url, index % 2 === 0)));
  // Start the servers and warm up the code before measuring.
  await callers[0]?.("mcp__hanging__wait", { ms: 1 }, 30_000);
  await callers[1]?.("mcp__crashing__ok", {}, 30_000);
  await Promise.all(callers.map((call) => call("mcp__good__repeat", { text: "warm" }, 30_000)));
  const times = /** @type {number[]} */ ([]);
  let failed = 0;
  const endMs = performance.now() + seconds * 1000;
  const samples = [memory(served.pid)];
  const sampling = setInterval(() => samples.push(memory(served.pid)), 1_000);
  await Promise.all(
    callers.map(async (call, index) => {
      const part = index % FAULTY_SHARE;
      await delay((EVERY_MS * index) / clients);
      while (performance.now() < endMs) {
        const startedMs = performance.now();
        try {
          if (part === 1) await call("mcp__hanging__wait", { ms: faulty ? 600_000 : 1 }, EVERY_MS - 500);
          else if (part === 2) await call(faulty ? "mcp__crashing__crash" : "mcp__crashing__ok", {}, EVERY_MS - 500);
          else {
            const { text } = await call("mcp__good__repeat", { text: "hello" }, 30_000);
            if (!text.includes("hello")) failed++;
            times.push(performance.now() - startedMs);
          }
        } catch (error) {
          if (part !== 1 && part !== 2) throw error;
        }
        await delay(Math.max(0, EVERY_MS - (performance.now() - startedMs)));
      }
    }),
  );
  clearInterval(sampling);
  await served.stop();
  where.remove();
  if (failed > 0) throw new Error(`${failed} calls to the healthy server failed`);
  // Memory used for warming up is not growth, so compare within the second half.
  const half = samples.slice(Math.floor(samples.length / 2));
  return {
    p95: quantile(times, 0.95),
    calls: times.length,
    from: half[0] ?? Number.NaN,
    to: half.at(-1) ?? Number.NaN,
  };
}

const sound = await run(false);
const faulty = await run(true);
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
      aim: 1.1,
    },
  ],
  {
    title: "Many clients, some faulty servers",
    workload: `${clients} clients, half of them with a session, one call each every ${EVERY_MS / 1000} s for ${seconds} s; then the same with one of three servers hanging and one crashing.`,
  },
);
agent.destroy();
