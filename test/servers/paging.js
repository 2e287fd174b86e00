// paging: lists its tools, resources, resource templates and prompts in pages. Tools tool_1, tool_2 … answer with their
// name; resources test://item/1 …; prompts prompt_1 …. Options: --pages N (3), --per-page N (2), --cursor
// plain|empty|repeated: `empty` gives the last page the nextCursor "", which means no more pages; `repeated` gives
// every page the same nextCursor, so the list never ends. Transports: stdio, --http, --sse.

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { readOptions, wholeNumber } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { describeTools, text } from "./tool.js";

const options = readOptions({
  pages: { type: "string", default: "3" },
  "per-page": { type: "string", default: "2" },
  cursor: { type: "string", default: "plain" },
});
const pages = wholeNumber(options.pages, "--pages");
const perPage = wholeNumber(options["per-page"], "--per-page");
if (!["plain", "empty", "repeated"].includes(options.cursor))
  throw new Error("--cursor takes plain, empty or repeated");

const numbers = Array.from({ length: pages * perPage }, (_, index) => index + 1);

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = numbers.map((number) => ({
  name: `tool_${number}`,
  description: `Tool number ${number}.`,
  inputSchema: { type: "object" },
  run: () => text(`tool_${number}`),
}));
const resources = numbers.map((number) => ({
  uri: `test://item/${number}`,
  name: `item ${number}`,
  mimeType: "text/plain",
}));
const templates = numbers.map((number) => ({
  uriTemplate: `test://template/${number}/{id}`,
  name: `template ${number}`,
}));
const prompts = numbers.map((number) => ({ name: `prompt_${number}`, description: `Prompt number ${number}.` }));

/**
 * Finds the page for a cursor. With repeated cursors, the only cursor means the second page.
 *
 * @param {string | undefined} cursor
 */
function pageOf(cursor) {
  if (cursor === undefined) return 1;
  if (options.cursor === "repeated") return 2;
  const page = Number(/^page-(\d+)$/.exec(cursor)?.[1]);
  if (page >= 2 && page <= pages) return page;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown cursor: ${cursor}`);
}

/** @param {number} page */
function nextCursorOf(page) {
  if (options.cursor === "repeated") return { nextCursor: "again" };
  if (page < pages) return { nextCursor: `page-${page + 1}` };
  return options.cursor === "empty" ? { nextCursor: "" } : {};
}

/**
 * @template Item
 * @param {Item[]} items
 * @param {{ params?: { cursor?: string | undefined } | undefined }} request
 */
function pageFrom(items, request) {
  const page = pageOf(request.params?.cursor);
  return { items: items.slice((page - 1) * perPage, page * perPage), next: nextCursorOf(page) };
}

await serve(() => {
  const server = createToolServer("paging", tools, { capabilities: { resources: {}, prompts: {} } });
  server.setRequestHandler("tools/list", (request) => {
    const { items, next } = pageFrom(tools, request);
    return { tools: describeTools(items), ...next };
  });
  server.setRequestHandler("resources/list", (request) => {
    const { items, next } = pageFrom(resources, request);
    return { resources: items, ...next };
  });
  server.setRequestHandler("resources/templates/list", (request) => {
    const { items, next } = pageFrom(templates, request);
    return { resourceTemplates: items, ...next };
  });
  server.setRequestHandler("prompts/list", (request) => {
    const { items, next } = pageFrom(prompts, request);
    return { prompts: items, ...next };
  });
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    if (resources.some((resource) => resource.uri === uri))
      return { contents: [{ uri, mimeType: "text/plain", text: uri }] };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource: ${uri}`);
  });
  server.setRequestHandler("prompts/get", ({ params: { name } }) => {
    if (!prompts.some((prompt) => prompt.name === name)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    }
    return { messages: [{ role: "user", content: { type: "text", text: name } }] };
  });
  return server;
}, options);
