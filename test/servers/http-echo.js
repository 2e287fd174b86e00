// http-echo: a plain HTTP server, not an MCP server. It answers every request with the request itself as JSON: method,
// path, headers and body. Shows what a client sends, and what happens if a URL leads to something else.

import { listen } from "./network.js";
import { readOptions } from "./options.js";

await listen(readOptions({}), "/", async (request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method, url: path, headers } = request;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(`${JSON.stringify({ method, path, headers, body: Buffer.concat(chunks).toString("utf8") }, null, 2)}\n`);
});
