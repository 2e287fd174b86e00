// Calls a tool of an HTTP server, in a separate process: through undici alone (`http-caller.js <url>`) or through the hub
// of a checkout (`http-caller.js <url> <checkout>`). For each number on stdin it makes that many calls, 16 in flight, and
// prints the CPU time in microseconds per call.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { httpServer, hubConfig } from "../in-process.js";

const IN_FLIGHT = 16;
const text = "x".repeat(100);
const [url = "", checkout] = process.argv.slice(2);
const call = checkout === undefined ? await throughUndici() : await throughHub(checkout);

for await (const line of createInterface({ input: process.stdin })) {
  const count = Number(line);
  let left = count;
  const before = process.cpuUsage();
  const worker = async () => {
    while (left-- > 0) if ((await call()) !== text) throw new Error("not an echo");
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const { user, system } = process.cpuUsage(before);
  console.log(String((user + system) / count));
}
process.exit(0);

/** The least that a client of JSON-RPC over HTTP can do. @returns {Promise<() => Promise<string>>} */
async function throughUndici() {
  const { Pool } = await import("../undici.js");
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let id = 0;
  return async () => {
    const params = { name: "echo", arguments: { text } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: id++, method: "tools/call", params });
    const response = await pool.request({ path, method: "POST", headers, body });
    const { result } = JSON.parse(await response.body.text());
    return result.content[0].text;
  };
}

/** @param {string} folder @returns {Promise<() => Promise<string>>} */
async function throughHub(folder) {
  /** @type {typeof import("@trunkline/client")} */
  const { openHub } = await import(pathToFileURL(`${folder}/packages/client/dist/index.js`).href);
  const hub = await openHub(hubConfig([httpServer("upstream", url)]), { env: process.env });
  return async () => {
    const { raw } = await hub.callTool("upstream", "echo", { text });
    return /** @type {{ content: { text: string }[] }} */ (raw).content[0]?.text ?? "";
  };
}
