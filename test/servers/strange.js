// strange: answers with content types that no revision defines and with unexpected keys, as a future server might.
// Tools: show. Resources: strange://thing. Prompts: riddle. Options: --legacy-only speaks 2025-11-25 instead of
// 2026-07-28. Transport: stdio. Written without an SDK.

import { readLines, writeLine } from "./line-rpc.js";
import { readOptions } from "./options.js";
import { isMessage } from "./raw-tool-server.js";

const modern = !readOptions({})["legacy-only"];
const block = { type: "hologram", depth: 3, nested: { kept: true } };

/** @type {Record<string, Record<string, unknown>>} */
const results = {
  "tools/list": { tools: [{ name: "show", inputSchema: { type: "object" }, colour: "green" }] },
  "resources/list": { resources: [{ uri: "strange://thing", name: "thing", smell: "pine" }] },
  "prompts/list": { prompts: [{ name: "riddle", mood: "dark" }] },
  "tools/call": {
    content: [{ type: "text", text: "seen", weight: 7 }, block],
    structuredContent: { a: 1 },
    temperature: 21,
    _meta: { "acme/trace": "t-1" },
  },
  "resources/read": { contents: [{ uri: "strange://thing", text: "x", smell: "pine" }] },
  "prompts/get": { messages: [{ role: "user", content: block }], mood: "dark" },
};

const capabilities = { tools: {}, resources: {}, prompts: {} };
const serverInfo = { name: "strange", version: "1.0.0" };
if (modern) {
  results["server/discover"] = {
    supportedVersions: ["2026-07-28"],
    capabilities,
    serverInfo,
    ttlMs: 0,
    cacheScope: "private",
  };
} else {
  results.initialize = { protocolVersion: "2025-11-25", capabilities, serverInfo };
}

await readLines((message) => {
  if (!isMessage(message) || message.method === undefined || message.id === undefined) return;
  const result = results[message.method];
  if (result === undefined) {
    return writeLine({ jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } });
  }
  const cached = /\/(list|read)$/.test(message.method) ? { ttlMs: 0, cacheScope: "private" } : {};
  const own = modern ? { resultType: "complete", ...cached } : {};
  writeLine({ jsonrpc: "2.0", id: message.id, result: { ...own, ...result } });
});
