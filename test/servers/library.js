// library: resources, templates, prompts, completions, subscriptions and log messages. Resources test://notes/today
// (its text counts the changes), test://picture (binary) and, unlisted, test://notes/<id> from a template. Prompts
// greet {name, style?} and plain. Completions for both arguments of greet; those for `name` depend on the style. Tools:
// touch {uri?} changes today's note and notifies subscribers; log {level, message}; subscribed lists this connection's
// subscriptions (legacy); crash ends the process. Options: --no-subscribe offers no subscriptions. Transports: stdio,
// --http, --sse; both eras.

import { InMemoryServerEventBus, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { readOptions } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { stringArgument, text } from "./tool.js";

const options = readOptions({ "no-subscribe": { type: "boolean", default: false } });
const subscribe = !options["no-subscribe"];
const bus = new InMemoryServerEventBus();
const TODAY = "test://notes/today";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const STYLES = ["formal", "friendly"];

let changes = 0;

/** @typedef {import("@modelcontextprotocol/server").Server} Server */

/** @type {Map<Server, Set<string>>} */
const subscriptions = new Map();

/** @param {string} uri */
function read(uri) {
  if (uri === "test://picture") return { uri, mimeType: "image/png", blob: PIXEL };
  const id = /^test:\/\/notes\/(\w+)$/.exec(uri)?.[1];
  if (id === "missing" || id === undefined) {
    throw new ProtocolError(ProtocolErrorCode.ResourceNotFound, `Resource not found: ${uri}`, { uri });
  }
  return { uri, mimeType: "text/plain", text: id === "today" ? `changed ${changes} times` : `note ${id}` };
}

/** @param {Record<string, string> | undefined} args */
function greeting(args = {}) {
  const name = args.name ?? "you";
  return args.style === "formal" ? `Good day, ${name}.` : `Hello ${name}!`;
}

/** @param {import("@modelcontextprotocol/server").CompleteRequestParams} params */
function completionsOf({ argument, context }) {
  const names = context?.arguments?.style === "formal" ? ["Dr Ada", "Dr Bob"] : ["Ada", "Alan", "Bob"];
  const all = argument.name === "style" ? STYLES : names;
  return all.filter((value) => value.startsWith(argument.value));
}

/** @returns {Server} */
function build() {
  /** @type {Set<string>} */
  const own = new Set();
  /** @type {import("./sdk-serve.js").SdkTool[]} */
  const tools = [
    {
      name: "touch",
      description: "Changes today's note.",
      inputSchema: { type: "object", properties: { uri: { type: "string" } } },
      run: async (args) => {
        changes += 1;
        const uri = stringArgument(args, "uri", TODAY);
        bus.publish({ kind: "resource_updated", uri });
        return text(`changed ${changes} times`);
      },
    },
    {
      name: "log",
      description: "Logs a message before its result.",
      inputSchema: { type: "object", properties: { level: { type: "string" }, message: { type: "string" } } },
      run: async (args, { mcpReq }) => {
        const level = /** @type {"debug" | "info" | "error"} as the tests use it */ (
          stringArgument(args, "level", "info")
        );
        await mcpReq.log(level, stringArgument(args, "message", "hello"));
        return text("logged");
      },
    },
    {
      name: "subscribed",
      description: "Lists what this connection has subscribed to.",
      inputSchema: { type: "object" },
      run: () => text(JSON.stringify([...own])),
    },
    {
      name: "crash",
      description: "Ends the process in mid-call.",
      inputSchema: { type: "object" },
      run: () => process.exit(1),
    },
  ];
  const server = createToolServer("library", tools, {
    capabilities: { resources: { subscribe, listChanged: true }, prompts: {}, completions: {}, logging: {} },
  });
  subscriptions.set(server, own);
  const stop = bus.subscribe((event) => {
    if (event.kind !== "resource_updated") return;
    // A modern connection tracks its own subscriptions.
    if (own.size > 0 && ![...own].some((uri) => event.uri.startsWith(uri))) return;
    server.sendResourceUpdated({ uri: event.uri }).catch(() => {});
  });
  server.setRequestHandler("resources/list", () => ({
    resources: [
      { uri: TODAY, name: "today", title: "Today's note", mimeType: "text/plain", size: 17 },
      { uri: "test://picture", name: "picture", mimeType: "image/png" },
    ],
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://notes/{id}", name: "note", description: "Any note." }],
  }));
  server.setRequestHandler("resources/read", ({ params }) => ({ contents: [read(params.uri)] }));
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      {
        name: "greet",
        description: "Greets somebody.",
        arguments: [
          { name: "name", description: "Whom to greet.", required: true },
          { name: "style", description: "formal or friendly." },
        ],
      },
      { name: "plain", description: "Takes nothing." },
    ],
  }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    if (params.name !== "greet" && params.name !== "plain") {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
    }
    return {
      description: "A greeting",
      messages: [
        { role: "user", content: { type: "text", text: greeting(params.arguments) } },
        { role: "assistant", content: { type: "resource", resource: { uri: TODAY, text: "embedded" } } },
      ],
    };
  });
  server.setRequestHandler("completion/complete", ({ params }) => {
    const values = completionsOf(params);
    return { completion: { values, total: values.length, hasMore: false } };
  });
  server.setRequestHandler("resources/subscribe", ({ params }) => {
    own.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    own.delete(params.uri);
    return {};
  });
  const { onclose } = server;
  server.onclose = () => {
    stop();
    onclose?.();
  };
  return server;
}

await serve(build, options, { bus });
