// Stands in for servers whose tool lists are all we have: each is an MCP server with its own URL, all in one process.
import { createServer } from "node:http";

/** @typedef {import("../catalogue.js").Listed} Listed */

/** Serves the tool lists of these servers; no tool can be called. @param {readonly Listed[]} listed */
export async function serveCatalogue(listed) {
  const server = createServer(async (request, response) => {
    const tools = listed[Number(request.url?.slice(1))]?.tools;
    if (request.method !== "POST" || tools === undefined) {
      response.writeHead(405).end();
      return;
    }
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, { params, tools }) }));
  });
  await new Promise((/** @type {(value?: unknown) => void} */ resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    /** Configuration entries, by name. */
    entries: Object.fromEntries(
      listed.map(({ server: name }, index) => [name, { type: "http", url: `http://127.0.0.1:${port}/${index}` }]),
    ),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {string} method @param {{ params: { protocolVersion?: string } | undefined, tools: Listed["tools"] }} about */
function answer(method, { params, tools }) {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "catalogue", version: "0" };
      return { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools } };
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}
