// Generates a load of modern tools/call requests over keep-alive connections, with node:http only, so that the
// generator costs little compared with what it measures.
import { Agent, request } from "node:http";

const REVISION = "2026-07-28";

/**
 * @typedef {{ name: string, arguments: Record<string, unknown> }} Call
 * @typedef {{ perSecond: number, calls: number, p50Ms: number, p99Ms: number }} Load `calls` includes the warm-up.
 */

/**
 * Calls a tool repeatedly for the given time.
 * @param {string} url
 * @param {Call} call
 * @param {{ seconds: number, inFlight: number }} options
 * @returns {Promise<Load>}
 */
export async function loadHttp(url, call, { seconds, inFlight }) {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      ...call,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": { name: "load", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
    "mcp-method": "tools/call",
    "mcp-name": call.name,
  };
  const one = () =>
    new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path: pathname, method: "POST", headers, agent }, (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });

  const first = /** @type {{ status: number, text: string }} */ (await one());
  if (first.status !== 200 || !first.text.includes('"content"') || first.text.includes('"isError":true')) {
    throw new Error(`The call failed: ${first.status} ${first.text}`);
  }
  const warmUntil = performance.now() + Math.min(1_500, seconds * 500);
  const until = warmUntil + seconds * 1_000;
  /** @type {number[]} */
  const times = [];
  let calls = 1;
  const worker = async () => {
    for (let started = performance.now(); started < until; started = performance.now()) {
      await one();
      calls += 1;
      if (started >= warmUntil) times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  agent.destroy();
  times.sort((left, right) => left - right);
  const at = (/** @type {number} */ share) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { perSecond: times.length / seconds, calls, p50Ms: at(0.5), p99Ms: at(0.99) };
}
