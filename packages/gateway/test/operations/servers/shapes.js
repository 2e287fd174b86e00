// shapes: a legacy stdio server without an SDK, whose tools return results of every shape. With --tools <file> it lists
// the tools in the file and answers every call with the arguments it received.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const anything = { type: "object", properties: {} };
const file = process.argv[process.argv.indexOf("--tools") + 1];

/** @type {Record<string, { tool: Record<string, unknown>, answer: (args: Record<string, unknown>) => unknown }>} */
const shapes = {
  structured: {
    tool: { description: "Answers with structured content. And more.", annotations: { readOnlyHint: true } },
    answer: () => ({
      structuredContent: { items: [{ title: "first" }] },
      content: [
        { type: "text", text: "{}" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
    }),
  },
  object: { tool: {}, answer: () => ({ content: [{ type: "text", text: '{"a": [1, 2]}' }] }) },
  list: { tool: {}, answer: () => ({ content: [{ type: "text", text: " [1, 2]" }] }) },
  number: { tool: {}, answer: () => ({ content: [{ type: "text", text: "42" }] }) },
  broken: { tool: {}, answer: () => ({ content: [{ type: "text", text: "{not json" }] }) },
  two: {
    tool: {},
    answer: () => ({
      content: [
        { type: "text", text: "one" },
        { type: "resource", resource: { uri: "test://x", text: "x" } },
        { type: "text", text: "two" },
      ],
    }),
  },
  picture: { tool: {}, answer: () => ({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }) },
  gallery: {
    tool: { annotations: { readOnlyHint: true } },
    answer: ({ blocks }) => ({ content: /** @type {Record<string, any>[]} */ (blocks).map(blown) }),
  },
  post_gallery: {
    tool: {},
    answer: ({ blocks }) => ({ content: /** @type {Record<string, any>[]} */ (blocks).map(blown) }),
  },
  quotes: {
    tool: { annotations: { readOnlyHint: true } },
    answer: ({ said }) => ({
      content: [{ type: "text", text: `failed with ${said}` }],
      isError: true,
    }),
  },
  nothing: { tool: {}, answer: () => ({ content: [] }) },
  fails: { tool: {}, answer: () => ({ content: [{ type: "text", text: "It did not work." }], isError: true }) },
  strict: {
    tool: {
      outputSchema: { type: "object" },
      inputSchema: { type: "object", properties: { title: { type: "string" } }, additionalProperties: false },
    },
    answer: (args) => ({ structuredContent: args, content: [] }),
  },
  get_thing: { tool: {}, answer: (args) => ({ structuredContent: args, content: [] }) },
};

/** Repeats the block's data, blob or text this many times. @param {Record<string, any>} block */
function blown({ times = 1, ...block }) {
  for (const part of [block, block.resource ?? {}])
    for (const key of ["data", "blob", "text"]) if (typeof part[key] === "string") part[key] = part[key].repeat(times);
  return block;
}

const listed =
  file === undefined || !process.argv.includes("--tools")
    ? Object.entries(shapes).map(([name, { tool }]) => ({ name, inputSchema: anything, ...tool }))
    : JSON.parse(readFileSync(file, "utf8"));

/** @param {string} method @param {Record<string, any>} params */
function answer(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "shapes", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: listed };
    case "tools/call": {
      const args = params.arguments ?? {};
      return shapes[params.name]?.answer(args) ?? { content: [{ type: "text", text: JSON.stringify(args) }] };
    }
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const result = answer(method, params ?? {});
  const outcome = result === undefined ? { error: { code: -32601, message: "Unknown method" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
});
