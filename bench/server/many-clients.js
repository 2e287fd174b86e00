// The load of many clients at once: each makes one call every 5 seconds, half of them with a session, half without, to
// three upstream servers. With faults, one of these hangs and one crashes.
import { Agent, request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { residentMB } from "../gateways/processes.js";
import { median } from "../report.js";
import { entry, place, quantile, serveHttp } from "./product.js";

export const EVERY_MS = 5_000;
/** One in this many clients uses the hanging server, and one the crashing server. */
const FAULTY_SHARE = 25;
const MODERN = "2026-07-28";

/** @typedef {{ url: string, agent: Agent }} Target */

/**
 * @param {Target} target
 * @param {{ body: unknown, headers: Record<string, string>, timeoutMs?: number }} options
 * @returns {Promise<{ text: string, session: string | undefined }>}
 */
function post({ url, agent }, { body, headers, timeoutMs }) {
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

/** Opens a client with or without a session. @param {Target} target @param {boolean} lasting */
async function open(target, lasting) {
  let id = 0;
  if (!lasting) {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "load", version: "1" },
    };
    return (/** @type {string} */ name, /** @type {object} */ args, /** @type {number} */ timeoutMs) =>
      post(target, {
        timeoutMs,
        headers: { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name },
        body: { jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name, arguments: args, _meta: meta } },
      });
  }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "load", version: "1" } };
  const { session = "" } = await post(target, {
    headers: {},
    body: { jsonrpc: "2.0", id: ++id, method: "initialize", params },
  });
  const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  await post(target, { headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } });
  return (/** @type {string} */ name, /** @type {object} */ args, /** @type {number} */ timeoutMs) =>
    post(target, {
      timeoutMs,
      headers,
      body: { jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name, arguments: args } },
    });
}

/**
 * Runs the load, with or without faults. @param {{ faulty: boolean, clients: number, seconds: number, command?: string
 * }} options
 */
export async function manyClients({ faulty, clients, seconds, command }) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const where = place({ good: entry("hello"), hanging: entry("slow"), crashing: entry("crashing") });
  const served = await serveHttp(where, ["--surface", "direct"], command);
  const callers = await Promise.all(
    Array.from({ length: clients }, (_, index) => open({ url: served.url, agent }, index % 2 === 0)),
  );
  // Start the servers and warm up the code before measuring.
  await callers[0]?.("mcp__hanging__wait", { ms: 1 }, 30_000);
  await callers[1]?.("mcp__crashing__ok", {}, 30_000);
  await Promise.all(callers.map((call) => call("mcp__good__repeat", { text: "warm" }, 30_000)));
  const times = /** @type {number[]} */ ([]);
  let failed = 0;
  const endMs = performance.now() + seconds * 1000;
  const samples = [residentMB(served.pid)];
  const sampling = setInterval(() => samples.push(residentMB(served.pid)), 1_000);
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
  agent.destroy();
  where.remove();
  if (failed > 0) throw new Error(`${failed} calls to the healthy server failed`);
  // Memory used for warming up is not growth, so compare within the second half. A single sample depends on when
  // garbage was last collected.
  const half = samples.slice(Math.floor(samples.length / 2));
  const few = Math.ceil(half.length / 6);
  return {
    p95: quantile(times, 0.95),
    calls: times.length,
    from: median(half.slice(0, few)),
    to: median(half.slice(-few)),
  };
}
