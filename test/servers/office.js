// office: the servers used in examples, with the same tool names. --as github: search_issues {q} (read-only,
// structured), create_issue {title}, issues_text (a JSON list as text). --as slack: upload {content} reports the number
// of bytes and their SHA-256; uploads counts them. --as filesystem: read_text_file {path, bytes?} (read-only; big.log
// is as large as requested), picture (an image block). All of them: fail {message}, wait {ms} (read-only). Transports:
// stdio, --http, --sse; both eras.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { readOptions } from "./options.js";
import { serve } from "./sdk-serve.js";
import { callTool, countArgument, failure, stringArgument, text } from "./tool.js";

/** @typedef {import("./sdk-serve.js").SdkTool & { annotations?: import("@modelcontextprotocol/server").ToolAnnotations }} OfficeTool */

const options = readOptions({ as: { type: "string", default: "github" } });
const readOnly = { readOnlyHint: true };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const LINE = "2026-11-15T06:00:00Z INFO request served in 12 ms – grüße 🙂\n";

let uploads = 0;

/** @param {Record<string, unknown>} value @returns {import("@modelcontextprotocol/server").CallToolResult} */
function structured(value) {
  return { ...text(JSON.stringify(value)), structuredContent: value };
}

/** @type {Record<string, OfficeTool[]>} */
const tools = {
  github: [
    {
      name: "search_issues",
      description: "Searches issues.",
      inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
      annotations: readOnly,
      run: (args) => {
        const q = stringArgument(args, "q");
        const items = [1, 2, 3].map((number) => ({
          number,
          title: `${q} number ${number}`,
          labels: [{ name: "bug" }],
        }));
        return structured({ items, total_count: items.length });
      },
    },
    {
      name: "create_issue",
      description: "Opens an issue.",
      inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      run: (args) => structured({ number: 7, title: stringArgument(args, "title"), hash: "not a content id" }),
    },
    {
      name: "issues_text",
      description: "Lists issues as JSON in a text.",
      inputSchema: { type: "object" },
      annotations: readOnly,
      run: () => text(JSON.stringify([{ number: 1 }, { number: 2 }])),
    },
  ],
  slack: [
    {
      name: "upload",
      description: "Uploads a text.",
      inputSchema: { type: "object", properties: { content: { type: "string" } }, required: ["content"] },
      run: (args) => {
        uploads++;
        const bytes = Buffer.from(stringArgument(args, "content"));
        return structured({ ok: true, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
      },
    },
    {
      name: "uploads",
      description: "How many uploads there were.",
      inputSchema: { type: "object" },
      annotations: readOnly,
      run: () => structured({ uploads }),
    },
  ],
  filesystem: [
    {
      name: "read_text_file",
      description: "Reads a text file.",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, bytes: { type: "integer" } },
        required: ["path"],
      },
      annotations: readOnly,
      run: (args) => {
        stringArgument(args, "path");
        const size = countArgument(args, "bytes", 200_000);
        return text(LINE.repeat(Math.ceil(size / Buffer.byteLength(LINE))));
      },
    },
    {
      name: "picture",
      description: "A picture.",
      inputSchema: { type: "object" },
      annotations: readOnly,
      run: () => ({
        content: [
          { type: "text", text: "one pixel" },
          { type: "image", data: PIXEL, mimeType: "image/png" },
        ],
      }),
    },
  ],
};

/** @type {OfficeTool[]} */
const common = [
  {
    name: "fail",
    description: "Fails.",
    inputSchema: { type: "object", properties: { message: { type: "string" } } },
    annotations: readOnly,
    run: (args) => failure(stringArgument(args, "message", "it failed")),
  },
  {
    name: "wait",
    description: "Answers after a while.",
    inputSchema: { type: "object", properties: { ms: { type: "integer" } } },
    annotations: readOnly,
    run: async (args) => {
      const ms = countArgument(args, "ms", 0);
      await sleep(ms);
      return structured({ waited: ms });
    },
  },
];

const own = [...(tools[options.as] ?? []), ...common];

await serve(() => {
  const server = new Server({ name: options.as, version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: own.map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      inputSchema,
      ...(annotations === undefined ? {} : { annotations }),
    })),
  }));
  server.setRequestHandler("tools/call", (request, context) => callTool(own, request.params, context));
  return server;
}, options);
