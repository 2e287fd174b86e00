// SDK servers over HTTP+SSE, the transport of 2024-11-05. Only the v1 SDK still has this transport; here it carries v2
// servers.

import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { pathOf, sendRpcError } from "./network.js";

/** @typedef {import("./sdk-serve.js").Build} Build */

/**
 * Handles GET /sse, which opens the stream, and POST /messages, which carries the client's messages.
 *
 * @param {Build} build
 * @returns {import("./network.js").Handler}
 */
export function sseSessions(build) {
  /** @type {Map<string, SSEServerTransport>} */
  const transports = new Map();

  return async (request, response) => {
    const path = pathOf(request);
    if (request.method === "GET" && path === "/sse") {
      const server = await build();
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      response.on("close", () => transports.delete(transport.sessionId));
      return await server.connect(transport);
    }
    if (request.method === "POST" && path === "/messages") {
      const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
      const transport = transports.get(id);
      if (transport === undefined) return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
      return await transport.handlePostMessage(request, response);
    }
    response.writeHead(404).end();
  };
}
