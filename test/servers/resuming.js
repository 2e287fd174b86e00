// resuming: Streamable HTTP that drops its event streams and lets clients resume them with Last-Event-ID, as in the
// revisions with sessions. Written without an SDK. Legacy era only. Tools: interrupted {text} drops the stream of its
// own response after a first event and delivers the response when the stream is resumed; announce {count} sends that
// many log messages on the GET stream and drops it after each one, so the rest arrives only after resuming; cut drops
// the stream of its response without an id, for good; resumptions lists the Last-Event-ID of every GET so far; forget
// ends the session: every request gets a 404 until a new initialize. Options: --batches puts the messages of an event
// stream into JSON arrays (2025-03-26). Transports: HTTP.

import { randomUUID } from "node:crypto";
import { listen, pathOf, readJson, sendJson, sendRpcError } from "./network.js";
import { readOptions } from "./options.js";
import { text } from "./tool.js";

const options = readOptions({ batches: { type: "boolean", default: false } });
const RETRY_MS = 20;

/** @typedef {import("node:http").ServerResponse} Response */
/** @typedef {{ id: string, stream: string, message: unknown }} StoredEvent */

/** @type {string | undefined} */
let session;
let eventCount = 0;
/** @type {StoredEvent[]} every event sent on a resumable stream */
const events = [];
/** @type {string[]} */
const resumptions = [];
/** @type {Response | undefined} the GET stream, which is not a response to a request */
let standing;
/** @type {Set<string>} subscriptions of this session */
const subscribed = new Set();

const names = ["interrupted", "announce", "cut", "resumptions", "forget", "touch", "batch"];
const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));

/**
 * @param {string} stream
 * @param {unknown} message
 * @returns {StoredEvent}
 */
function store(stream, message) {
  eventCount += 1;
  const event = { id: `${stream}:${eventCount}`, stream, message };
  events.push(event);
  return event;
}

/**
 * @param {Response} response
 * @param {{ id?: string, message?: unknown }} event
 */
function write(response, { id, message }) {
  const data =
    message === undefined ? "" : JSON.stringify(options.batches && !Array.isArray(message) ? [message] : message);
  response.write(`${id === undefined ? "" : `id: ${id}\n`}retry: ${RETRY_MS}\ndata: ${data}\n\n`);
}

/** @param {Response} response */
function openStream(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

/** @param {string} data */
function log(data) {
  return { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } };
}

/**
 * @param {Response} response
 * @param {string | number} id
 * @param {{ name?: string, arguments?: Record<string, unknown> }} call
 */
function callTool(response, id, { name, arguments: args = {} }) {
  const answer = (/** @type {string} */ value) => ({ jsonrpc: "2.0", id, result: text(value) });
  switch (name) {
    case "interrupted": {
      const stream = randomUUID();
      openStream(response);
      write(response, { id: store(stream, undefined).id });
      store(stream, log("while you were away"));
      store(stream, answer(String(args.text)));
      // The event has to be sent before the stream is cut.
      return void setImmediate(() => response.end());
    }
    case "announce": {
      for (let number = 1; number <= Number(args.count); number += 1) store("standing", log(`announcement ${number}`));
      standing?.end();
      standing = undefined;
      return sendJson(response, 200, answer("announced"));
    }
    case "cut":
      openStream(response);
      response.write(": nothing to resume\n\n");
      return void setImmediate(() => response.end());
    case "batch":
      openStream(response);
      write(response, { message: [log("first"), log("second"), answer("third")] });
      return void response.end();
    case "touch": {
      for (const uri of subscribed) {
        const message = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
        const event = store("standing", message);
        if (standing !== undefined) write(standing, event);
      }
      return sendJson(response, 200, answer(String(subscribed.size)));
    }
    case "forget":
      sendJson(response, 200, answer("forgotten"));
      session = undefined;
      subscribed.clear();
      events.splice(0);
      standing?.end();
      standing = undefined;
      return undefined;
    default:
      return sendJson(response, 200, answer(JSON.stringify(resumptions)));
  }
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {Response} response
 */
function resume(request, response) {
  const last = request.headers["last-event-id"];
  openStream(response);
  if (typeof last !== "string") {
    standing = response;
    // The first event gives the stream an id to resume from.
    return write(response, { id: store("standing", undefined).id });
  }
  resumptions.push(last);
  const stream = last.slice(0, last.lastIndexOf(":"));
  const missed = events.slice(events.findIndex(({ id }) => id === last) + 1).filter((event) => event.stream === stream);
  if (stream !== "standing") {
    for (const event of missed) write(response, event);
    return void response.end();
  }
  const [next, ...others] = missed.filter(({ message }) => message !== undefined);
  if (next !== undefined) write(response, next);
  // Send one event at a time: the stream is cut after each one until none are left.
  if (others.length > 0) return void setImmediate(() => response.end());
  standing = response;
  return undefined;
}

/** @type {import("./network.js").Handler} */
async function handle(request, response) {
  if (pathOf(request) !== "/mcp") return void response.writeHead(404).end();
  const body = request.method === "POST" ? await readJson(request) : undefined;
  const { id, method, params = {} } = /** @type {any} the test's own client sends nothing else */ (body ?? {});
  if (method === "initialize") {
    session = randomUUID();
    const result = {
      protocolVersion: options.batches ? "2025-03-26" : "2025-11-25",
      capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
      serverInfo: { name: "resuming", version: "1.0.0" },
    };
    return sendJson(response, 200, { jsonrpc: "2.0", id, result }, { "mcp-session-id": session });
  }
  if (method === "server/discover") return sendRpcError(response, 400, { code: -32000, message: "no session" });
  if (request.headers["mcp-session-id"] !== session || session === undefined) {
    return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
  }
  if (request.method === "GET") return resume(request, response);
  if (request.method !== "POST") return void response.writeHead(200).end();
  if (id === undefined) return void response.writeHead(202).end();
  const answer = (/** @type {unknown} */ result) => sendJson(response, 200, { jsonrpc: "2.0", id, result });
  switch (method) {
    case "tools/list":
      return answer({ tools });
    case "resources/list":
      return answer({ resources: [{ uri: "test://watched", name: "watched" }] });
    case "resources/subscribe":
      subscribed.add(params.uri);
      return answer({});
    case "resources/unsubscribe":
      subscribed.delete(params.uri);
      return answer({});
    case "tools/call":
      return callTool(response, id, params);
    default:
      return answer({});
  }
}

await listen(options, "/mcp", handle);
