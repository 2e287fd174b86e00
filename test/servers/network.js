// Shared by all servers that listen on a port: --host, --port, --ready-file, --end-with-stdin, and reading and writing
// JSON bodies.

import { once } from "node:events";
import { createServer } from "node:http";
import { writeAtomically } from "./atomic-file.js";
import { exitOnSignals, exitWhenInputCloses } from "./lifetime.js";
import { wholeNumber } from "./options.js";

/**
 * @typedef {import("node:http").IncomingMessage} IncomingMessage
 * @typedef {import("node:http").ServerResponse} ServerResponse
 * @typedef {(request: IncomingMessage, response: ServerResponse) => Promise<void> | void} Handler
 */

/**
 * Starts listening, then writes the ready file: {"url", "port", "pid"}. If a handler throws, the response is a 500.
 *
 * @param {import("./options.js").NetworkOptions} options
 * @param {string} path the path a client connects to, for the URL in the ready file
 * @param {Handler} handle
 */
export async function listen(options, path, handle) {
  exitOnSignals();
  if (options["end-with-stdin"]) {
    exitWhenInputCloses();
    process.stdin.resume();
  }
  const server = createServer(async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      console.error(error);
      if (!response.headersSent) sendJson(response, 500, { error: "the test server failed, see its stderr" });
      else response.destroy();
    }
  });
  // Node closes an idle connection after 5 seconds, and on a busy machine a client may reuse it at just that moment.
  server.keepAliveTimeout = 120_000;
  server.listen(wholeNumber(options.port, "--port"), options.host);
  await once(server, "listening");

  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening, but not on a TCP port");
  const url = `http://${options.host}:${address.port}${path}`;
  console.error(`listening on ${url}`);
  if (options["ready-file"] !== undefined) {
    writeAtomically(options["ready-file"], JSON.stringify({ url, port: address.port, pid: process.pid }));
  }
}

/**
 * Returns the path of a request, without its query.
 *
 * @param {IncomingMessage} request
 */
export function pathOf(request) {
  return new URL(request.url ?? "/", "http://localhost").pathname;
}

/**
 * Parses the body; returns undefined if it is missing (GET, DELETE) or not JSON.
 *
 * @param {IncomingMessage} request
 * @returns {Promise<unknown>}
 */
export async function readJson(request) {
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 * @param {Record<string, string>} [headers]
 */
export function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/**
 * Sends an HTTP error in the form MCP clients expect: a JSON-RPC error without a request id.
 *
 * @param {ServerResponse} response
 * @param {number} status
 * @param {{ code: number, message: string }} error
 */
export function sendRpcError(response, status, error) {
  sendJson(response, status, { jsonrpc: "2.0", error, id: null });
}
