// The official suite's fixtures as a service that the endpoints of @trunkline/gateway can serve: tools, prompts,
// resources.
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import { fixtureTools, PNG } from "./fixture-tools.js";

/** @import { Exchange, McpService, ServiceEvent } from "@trunkline/gateway" */
/** @typedef {Readonly<Record<string, any>>} Params */

const SERVER = "fixture";

const prompts = [
  { name: "test_simple_prompt", description: "A simple prompt" },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with arguments",
    arguments: [
      { name: "arg1", description: "First test argument", required: true },
      { name: "arg2", description: "Second test argument", required: true },
    ],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with an embedded resource",
    arguments: [{ name: "resourceUri", description: "The resource to embed", required: true }],
  },
  { name: "test_prompt_with_image", description: "A prompt with an image" },
  { name: "test_input_required_result_prompt", description: "A prompt that asks" },
];

const resources = [
  { uri: "test://static-text", name: "Static text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "Static binary", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "Watched", mimeType: "text/plain" },
];

const templates = [{ uriTemplate: "test://template/{id}/data", name: "Template", mimeType: "application/json" }];

/**
 * @param {string} message
 * @param {unknown} [data]
 */
const badParams = (message, data) => new RpcError(RPC_CODES.invalidParams, message, { data });

/** @param {Record<string, unknown>} content */
const fromUser = (content) => ({ role: "user", content });

/** @param {string} text */
const textFromUser = (text) => fromUser({ type: "text", text });

/**
 * @param {Exchange} exchange
 * @param {(event: ServiceEvent) => void} announce
 * @returns {import("./fixture-tools.js").FixtureContext}
 */
function contextOf({ caller, channel, signal, onProgress }, announce) {
  const question = { server: SERVER, signal };
  /** @type {(method: string, params: Record<string, unknown>, named?: { key?: string }) => Promise<Record<string, any>>} */
  const ask = async (method, params, named = {}) => {
    if (channel.ask === undefined) throw new Error(`The client does not support ${method}.`);
    return await channel.ask({ method, params }, { ...question, ...named });
  };
  return {
    signal,
    capabilities: caller.capabilities,
    elicit: (message, requestedSchema, key) =>
      ask("elicitation/create", { mode: "form", message, requestedSchema }, key === undefined ? {} : { key }),
    sample: (params) => ask("sampling/createMessage", params),
    roots: async () => (await ask("roots/list", {})).roots,
    log: (level, data) => channel.log?.({ server: SERVER, level, data }),
    progress: (progress, total) => onProgress?.({ progress, total }),
    announce: (kind) => announce({ kind }),
    missingCapability: (requiredCapabilities) =>
      new RpcError(RPC_CODES.missingCapability, "Missing required client capability", {
        data: { requiredCapabilities },
      }),
    protocolError: (message) => new RpcError(RPC_CODES.internalError, message),
  };
}

/**
 * @param {Params} params
 * @param {import("./fixture-tools.js").FixtureContext} context
 */
async function callTool({ name, arguments: args = {} }, context) {
  const tool = fixtureTools.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw badParams(`Unknown tool: ${name}`);
  try {
    return await tool.run(args, context);
  } catch (error) {
    if (error instanceof RpcError || context.signal.aborted) throw error;
    return { content: [{ type: "text", text: String(error) }], isError: true };
  }
}

/**
 * @param {Params} params
 * @param {import("./fixture-tools.js").FixtureContext} context
 */
async function getPrompt({ name, arguments: args = {} }, context) {
  switch (name) {
    case "test_simple_prompt":
      return { messages: [textFromUser("This is a simple prompt for testing.")] };
    case "test_prompt_with_arguments":
      return { messages: [textFromUser(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)] };
    case "test_prompt_with_embedded_resource":
      return {
        messages: [
          fromUser({
            type: "resource",
            resource: {
              uri: args.resourceUri,
              mimeType: "text/plain",
              text: "Embedded resource content for testing.",
            },
          }),
          textFromUser("Please process the embedded resource above."),
        ],
      };
    case "test_prompt_with_image":
      return {
        messages: [
          fromUser({ type: "image", data: PNG, mimeType: "image/png" }),
          textFromUser("Please analyze the image above."),
        ],
      };
    case "test_input_required_result_prompt": {
      const { content } = await context.elicit("What context should the prompt use?", {
        type: "object",
        properties: { context: { type: "string" } },
        required: ["context"],
      });
      return { messages: [textFromUser(`Use this context: ${content?.context}`)] };
    }
    default:
      throw badParams(`Unknown prompt: ${name}`);
  }
}

/**
 * @param {Params} params
 * @param {Exchange} exchange
 */
function readResource({ uri }, { caller }) {
  if (uri === "test://static-text" || uri === "test://watched-resource") {
    const text = "This is the content of the static text resource.";
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  }
  if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri))?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: "application/json", text }] };
  }
  const code = caller.era === "modern" ? RPC_CODES.invalidParams : RPC_CODES.resourceNotFound;
  throw new RpcError(code, "Resource not found", { data: { uri } });
}

/** @param {string} name */
const definitionOf = (name) => fixtureTools.find(({ definition }) => definition.name === name)?.definition;

/** @returns {McpService} */
export function createFixtureService() {
  /** @type {Set<(event: ServiceEvent) => void>} */
  const listeners = new Set();
  // Each announcement is true: an item is added or removed every time.
  const extra = { tools_list_changed: false, prompts_list_changed: false, resources_list_changed: false };
  const announce = (/** @type {ServiceEvent} */ event) => {
    extra[event.kind] = !extra[event.kind];
    for (const listener of listeners) listener(event);
  };
  const extraTool = { name: "test_extra", description: "Comes and goes", inputSchema: { type: "object" } };
  const extraPrompt = { name: "test_extra", description: "Comes and goes" };
  return {
    info: { name: "conformance-fixture", version: "1.0.0" },
    capabilities: (revision) => ({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      ...(revision < "2026-07-28" ? { logging: {} } : {}),
    }),
    handle: async (method, params, exchange) => {
      const context = contextOf(exchange, announce);
      switch (method) {
        case "tools/list":
          return {
            tools: [
              ...fixtureTools.map(({ definition }) => definition),
              ...(extra.tools_list_changed ? [extraTool] : []),
            ],
          };
        case "tools/call":
          return await callTool(params, context);
        case "prompts/list":
          return { prompts: [...prompts, ...(extra.prompts_list_changed ? [extraPrompt] : [])] };
        case "prompts/get":
          return await getPrompt(params, context);
        case "resources/list":
          return { resources };
        case "resources/templates/list":
          return { resourceTemplates: templates };
        case "resources/read":
          return readResource(params, exchange);
        case "completion/complete":
          return { completion: { values: [], total: 0, hasMore: false } };
        default:
          throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
      }
    },
    taskSupport: (name) => definitionOf(name)?.execution?.taskSupport,
    inputSchema: (name) => definitionOf(name)?.inputSchema,
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    subscribe: async () => async () => {},
    setLogLevel: async () => {},
    release: async () => {},
  };
}
