// A server that lives in the home of an earlier version, and therefore needs nothing but Node.
import { createInterface } from "node:readline";

const text = { type: "string" };
const tools = [
  {
    name: "price",
    description: "Tells the price of an item.",
    inputSchema: { type: "object", properties: { item: text } },
  },
  { name: "order", description: "Orders an item.", inputSchema: { type: "object", properties: { item: text } } },
].map((tool) => ({ ...tool, annotations: { readOnlyHint: tool.name === "price" } }));

/** @param {string} method @param {any} params */
function answer(method, params) {
  if (method === "initialize") {
    const serverInfo = { name: "shop", version: "1.0" };
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method === "tools/call") return { content: [{ type: "text", text: `${params.arguments.item}: 3 coins` }] };
  return method === "ping" ? {} : undefined;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answer(method, params);
  const error = { code: -32601, message: "Method not found" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
}
