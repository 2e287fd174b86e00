// SDK servers over Streamable HTTP: both eras on one endpoint, with sessions for the legacy one.

import { randomUUID } from "node:crypto";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import { pathOf, readJson, sendRpcError } from "./network.js";

/**
 * @typedef {import("./sdk-serve.js").Build} Build
 * @typedef {import("./network.js").IncomingMessage} IncomingMessage
 * @typedef {import("./network.js").ServerResponse} ServerResponse
 */

/**
 * @typedef {object} Endpoint
 * @property {Build} build for one modern request
 * @property {Build} buildForConnection for one legacy session
 * @property {boolean} legacy whether legacy clients are served at all
 * @property {boolean} [modern] whether modern clients are served; true by default
 * @property {import("@modelcontextprotocol/server").ServerEventBus} bus feeds subscriptions/listen
 * @property {(request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<boolean>} [admit] can
 * answer
 *   a request itself, for example with 401, and then returns false
 */

/**
 * @param {Endpoint} endpoint
 * @returns {import("./network.js").Handler}
 */
export function streamableHttp({ build, buildForConnection, legacy, modern = true, bus, admit }) {
  const serveModern = toNodeHandler(createMcpHandler(build, { legacy: "reject", bus }));
  const sessions = legacy ? legacySessions(buildForConnection) : undefined;

  return async (request, response) => {
    if (pathOf(request) !== "/mcp") return void response.writeHead(404).end();
    const body = request.method === "POST" ? await readJson(request) : undefined;
    if (request.method === "POST" && body === undefined) {
      return sendRpcError(response, 400, { code: -32700, message: "Parse error" });
    }
    if (admit !== undefined && !(await admit(request, response, body))) return;
    // The adapter's type does not accept Node's `method?: string | undefined`, but at run time they are the same.
    const incoming = /** @type {import("@modelcontextprotocol/node").NodeIncomingMessageLike} */ (request);
    const isLegacy = !modern || (await isLegacyRequest(await toWebRequest(incoming, body), body));
    if (isLegacy && sessions !== undefined) await sessions(request, response, body);
    else await serveModern(incoming, response, body);
  };
}

/**
 * The revisions with sessions (2025-03-26 to 2025-11-25): one server and one transport per Mcp-Session-Id.
 *
 * @param {Build} build
 */
function legacySessions(build) {
  /** @type {Map<string, NodeStreamableHTTPServerTransport>} */
  const transports = new Map();

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {unknown} body
   */
  return async (request, response, body) => {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const transport = transports.get(id);
      if (transport === undefined) return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
      return await transport.handleRequest(request, response, body);
    }
    if (!isInitializeRequest(body)) {
      return sendRpcError(response, 400, { code: -32000, message: "Bad Request: Mcp-Session-Id header is required" });
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => void transports.set(sessionId, transport),
      onsessionclosed: (sessionId) => void transports.delete(sessionId),
    });
    await (await build()).connect(transport);
    await transport.handleRequest(request, response, body);
  };
}
