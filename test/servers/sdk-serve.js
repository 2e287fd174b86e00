// Serves SDK servers over every transport: stdio and Streamable HTTP in both protocol eras, and HTTP+SSE.

import { InMemoryServerEventBus, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { exitOnSignals, exitWhenInputCloses } from "./lifetime.js";
import { listen } from "./network.js";
import { callTool, describeTools } from "./tool.js";

/**
 * @typedef {import("@modelcontextprotocol/server").ServerContext} ServerContext
 * @typedef {import("@modelcontextprotocol/server").CallToolResult} CallToolResult
 * @typedef {import("@modelcontextprotocol/server").InputRequiredResult} InputRequiredResult
 * @typedef {import("./tool.js").Tool<ServerContext, CallToolResult | InputRequiredResult>} SdkTool
 * @typedef {() => Server | Promise<Server>} Build creates one instance: per connection, or per request in modern HTTP
 */

/**
 * @typedef {object} Serving
 * @property {boolean} [legacy] whether revisions before 2026-07-28 are served too; true by default
 * @property {InMemoryServerEventBus} [bus] publish on it to notify clients of a changed list
 */

/**
 * Creates a low-level server with these tools. The array is read on each request, so tools can be added later.
 *
 * @param {string} name
 * @param {readonly SdkTool[]} tools
 * @param {import("@modelcontextprotocol/server").ServerOptions} [options]
 */
export function createToolServer(name, tools, options = {}) {
  const capabilities = { tools: {}, ...options.capabilities };
  const server = new Server({ name, version: "1.0.0" }, { ...options, capabilities });
  server.setRequestHandler("tools/list", () => ({ tools: describeTools(tools) }));
  server.setRequestHandler("tools/call", (request, context) => callTool(tools, request.params, context));
  return server;
}

/**
 * Serves until the process ends, over the transport given in the options.
 *
 * @param {Build} build
 * @param {import("./options.js").NetworkOptions} options
 * @param {Serving} [serving]
 */
export async function serve(build, options, { legacy = true, bus = new InMemoryServerEventBus() } = {}) {
  /** @returns {Promise<Server>} an instance that outlives a request and so sends its own list_changed */
  const buildForConnection = async () => {
    const server = await build();
    server.onclose = bus.subscribe((event) => {
      if (event.kind !== "tools_list_changed") return;
      server.sendToolListChanged().catch((error) => console.error(error));
    });
    return server;
  };

  // Load the network transports on demand: they would add 150 ms to the startup of every stdio server.
  if (options.http) {
    const { streamableHttp } = await import("./sdk-http.js");
    const modern = !options["legacy-only"];
    await listen(options, "/mcp", streamableHttp({ build, buildForConnection, legacy, modern, bus }));
  } else if (options.sse) {
    if (!legacy) throw new Error("HTTP+SSE belongs to the legacy era, which this server does not serve");
    const { sseSessions } = await import("./sdk-sse.js");
    await listen(options, "/sse", sseSessions(buildForConnection));
  } else {
    exitOnSignals();
    exitWhenInputCloses();
    if (options["legacy-only"]) return await (await buildForConnection()).connect(new StdioServerTransport());
    serveStdio(buildForConnection, {
      legacy: legacy ? "serve" : "reject",
      onerror: (error) => console.error(error.message),
    });
  }
}
