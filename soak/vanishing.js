// Clients that vanish: mid-call, mid-request, without reading, or for good after opening a session or a stream. They
// expect no answers; at the end, the gateway is checked for anything they left behind.
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { CLIENT_CHECKS, pause } from "./clients.js";
import { McpClient, startPost } from "./mcp-client.js";
import { Random } from "./random.js";

/**
 * @typedef {import("./clients.js").Scene} Scene
 * @typedef {(scene: Scene, random: Random) => Promise<void>} Vanishing
 */

/** @param {Scene} scene @param {number} count how many at a time */
export async function runVanishing(scene, count) {
  const loops = Array.from({ length: count }, async (_, index) => {
    const random = new Random(scene.seed, `vanishing ${index}`);
    while (!scene.signal.aborted) {
      const vanish = random.pick(WAYS);
      try {
        await vanish(scene, random);
        scene.tally.count("clients that vanished");
      } catch (error) {
        scene.tally.problem(CLIENT_CHECKS.sound, `a client that was going to vanish was not served: ${error}`);
      }
      await pause(random.between(100, 900), scene.signal);
    }
  });
  await Promise.all(loops);
}

/** Leaves while its call runs. @type {Vanishing} */
async function inMidCall(scene, random) {
  const client = new McpClient(scene.url, { modern: random.next() < 0.5 });
  await client.open();
  const upstream = random.pick(scene.upstreams);
  const { tool, args } = upstream.echo?.("gone") ?? upstream.call?.(random) ?? { tool: "none", args: {} };
  const sent = startPost(client.request("tools/call", { name: `mcp__${upstream.name}__${tool}`, arguments: args }));
  sent.on("error", () => {});
  await pause(random.between(0, 300), scene.signal);
  sent.destroy();
}

/** Requests a lot and reads none of it. @type {Vanishing} */
async function withoutReading(scene, random) {
  const client = new McpClient(scene.url, { modern: random.next() < 0.5 });
  await client.open();
  const flood = scene.upstreams.filter(({ server }) => server === "flooding");
  const name = `mcp__${random.pick(flood).name}__big`;
  const sent = startPost(client.request("tools/call", { name, arguments: { bytes: 3_000_000 } }));
  sent.on("error", () => {});
  sent.on("response", (response) => response.on("error", () => {}).pause());
  await pause(random.between(1_000, 4_000), scene.signal);
  sent.destroy();
}

/** Opens a session, sometimes with its stream, and never comes back. @type {Vanishing} */
async function afterOpening(scene, random) {
  const client = new McpClient(scene.url, { modern: false });
  await client.open();
  if (random.next() < 0.5) return;
  const stream = httpRequest(scene.url, { headers: client.sessionHeaders });
  stream.on("error", () => {}).on("response", (response) => response.on("error", () => {}).resume());
  stream.end();
  await pause(random.between(0, 2_000), scene.signal);
  stream.destroy();
}

/** Listens for changes and disappears without closing. @type {Vanishing} */
async function whileListening(scene, random) {
  const client = new McpClient(scene.url, { modern: true });
  const wish = { notifications: { toolsListChanged: true, resourcesListChanged: true } };
  const sent = startPost(client.request("subscriptions/listen", wish));
  sent.on("error", () => {}).on("response", (response) => response.on("error", () => {}).resume());
  await pause(random.between(0, 2_000), scene.signal);
  sent.destroy();
}

/** Announces more bytes than it sends. @type {Vanishing} */
async function inMidRequest(scene, random) {
  const { hostname, port, pathname } = new URL(scene.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}accept: application/json, text/event-stream\r\ncontent-length: 5000\r\n\r\n{"jsonrpc":`);
  await pause(random.between(0, 2_000), scene.signal);
  socket.destroy();
}

const WAYS = [inMidCall, inMidCall, withoutReading, afterOpening, whileListening, inMidRequest];
