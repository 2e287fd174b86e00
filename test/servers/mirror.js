// mirror: returns what it was sent. Written without an SDK. Tools: show {} returns the parameters of its call as
// structuredContent; refuse {code, message?, data?} fails with that JSON-RPC error. The prompt `show` and the resource
// mirror://show return their parameters as JSON text. Options: --legacy-only speaks 2025-11-25 instead of 2026-07-28.
// Transport: stdio.

import { readLines, writeLine } from "./line-rpc.js";
import { readOptions } from "./options.js";
import { isMessage } from "./raw-tool-server.js";

const modern = !readOptions({})["legacy-only"];
const capabilities = { tools: {}, resources: {}, prompts: {} };
const serverInfo = { name: "mirror", version: "1.0.0" };
const inputSchema = { type: "object" };

/** @type {Record<string, (params: Record<string, unknown>) => Record<string, unknown>>} */
const answers = {
  "tools/list": () => ({
    tools: [
      { name: "show", inputSchema },
      { name: "refuse", inputSchema },
    ],
  }),
  "resources/list": () => ({ resources: [{ uri: "mirror://show", name: "show" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "prompts/list": () => ({ prompts: [{ name: "show" }] }),
  "tools/call": (params) => ({ content: [], structuredContent: params, _meta: { "acme/kept": true } }),
  "resources/read": (params) => ({ contents: [{ uri: params.uri, text: JSON.stringify(params) }] }),
  "prompts/get": (params) => ({
    messages: [{ role: "user", content: { type: "text", text: JSON.stringify(params) } }],
  }),
  ...(modern
    ? {
        "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities, ttlMs: 0, cacheScope: "private" }),
      }
    : { initialize: () => ({ protocolVersion: "2025-11-25", capabilities, serverInfo }) }),
};

await readLines((message) => {
  if (!isMessage(message) || message.method === undefined || message.id === undefined) return;
  const { id, method } = message;
  const params = /** @type {Record<string, unknown>} every request here has them */ (message.params ?? {});
  const refused = method === "tools/call" && params.name === "refuse" ? params.arguments : undefined;
  const answer = answers[method];
  if (refused !== undefined) return writeLine({ jsonrpc: "2.0", id, error: { message: "refused", ...refused } });
  if (answer === undefined) {
    return writeLine({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  }
  const result = answer(params);
  const cached = /\/(list|read)$/.test(method) ? { ttlMs: 0, cacheScope: "private" } : {};
  const meta = {
    .../** @type {object | undefined} */ (result._meta),
    "io.modelcontextprotocol/serverInfo": serverInfo,
  };
  writeLine({
    jsonrpc: "2.0",
    id,
    result: modern ? { resultType: "complete", ...cached, ...result, _meta: meta } : result,
  });
});
