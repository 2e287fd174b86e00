// flooding: answers with far too much data. Tools: big {bytes?} answers with a text of exactly that many bytes
// (50,000,000); logs {count?} sends that many log notifications (10,000) before its result (to a modern client only if
// the call asked for a log level); stderr {bytes?} writes that many bytes (10,000,000) to stderr before its result, and
// blocks until they are read. Options: only the common ones. Transports: stdio, --http, --sse.

import { readOptions } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { countArgument, text } from "./tool.js";

const line = `${"The quick brown fox jumps over the lazy dog. ".repeat(2).trim()}\n`;

/** @param {number} bytes */
function asciiText(bytes) {
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = [
  {
    name: "big",
    description: "Answers a very long text.",
    inputSchema: {
      type: "object",
      properties: { bytes: { type: "integer", description: "Its length; 50,000,000 by default." } },
    },
    run: (args) => text(asciiText(countArgument(args, "bytes", 50_000_000))),
  },
  {
    name: "logs",
    description: "Sends many log messages before its result.",
    inputSchema: {
      type: "object",
      properties: { count: { type: "integer", description: "How many; 10,000 by default." } },
    },
    run: async (args, context) => {
      const count = countArgument(args, "count", 10_000);
      for (let number = 1; number <= count; number += 1) {
        await context.mcpReq.log("info", `log message ${number} of ${count}`);
      }
      return text(`sent ${count} log messages`);
    },
  },
  {
    name: "stderr",
    description: "Writes much to stderr before its result.",
    inputSchema: {
      type: "object",
      properties: { bytes: { type: "integer", description: "How much; 10,000,000 by default." } },
    },
    run: async (args) => {
      const bytes = countArgument(args, "bytes", 10_000_000);
      await new Promise((resolve) => process.stderr.write(asciiText(bytes), resolve));
      return text(`wrote ${bytes} bytes to stderr`);
    },
  },
];

await serve(() => createToolServer("flooding", tools, { capabilities: { logging: {} } }), readOptions({}));
