// tasking: calls that are tasks. Written without an SDK, in all three variants: the tasks of 2025-11-25 (params.task,
// tasks/get, tasks/result, tasks/cancel), the extension io.modelcontextprotocol/tasks of 2026-07-28 (resultType "task",
// tasks/get, tasks/update, tasks/cancel), and plain results for clients without tasks. Tools: work {steps?} advances by
// one step on each poll, with a status message and, given a progress token, progress; ask (asks for a name with an
// elicitation and greets it); fail (the task fails); broken (completes with an isError result); forever (never ends);
// plain (answers at once, never as a task). work and the others require a task (execution.taskSupport "required");
// optional {} runs as one if requested. state returns the state of every task so far, as JSON. Options: --legacy-only,
// --era modern|legacy (both). Transports: stdio, --http (without sessions).

import { randomUUID } from "node:crypto";
import { readLines, writeLine } from "./line-rpc.js";
import { listen, pathOf, readJson, sendJson } from "./network.js";
import { readOptions } from "./options.js";

const options = readOptions({ era: { type: "string", default: "both" } });
const hasModern = !options["legacy-only"] && options.era !== "legacy";
const hasLegacy = options.era !== "modern";

const MODERN = "2026-07-28";
const EXTENSION = "io.modelcontextprotocol/tasks";
const POLL_MS = 10;

/**
 * @typedef {Record<string, unknown>} Params
 * @typedef {{ jsonrpc: "2.0", id?: string | number, method?: string, params?: Params, result?: Params }} Message
 * @typedef {(message: unknown) => void} Send
 * @typedef {object} Task
 * @property {string} id
 * @property {string} tool
 * @property {boolean} modern
 * @property {string} status
 * @property {string} message
 * @property {number} step
 * @property {number} steps
 * @property {unknown} token
 * @property {unknown} answer the answer to its question
 * @property {boolean} asked
 * @property {(() => void)[]} ended called when it has ended
 * @property {string[]} seen the methods that polled it
 */

/** @type {Map<string, Task>} */
const tasks = new Map();
/** @type {Map<string | number, (result: Params) => void>} open questions to the client */
const questions = new Map();

/** @typedef {{ name: string, inputSchema: Params, execution?: { taskSupport: string } }} Definition */

const required = { execution: { taskSupport: "required" } };
/** @type {Definition[]} */
const tools = [
  { name: "work", inputSchema: { type: "object", properties: { steps: { type: "integer" } } }, ...required },
  { name: "ask", inputSchema: { type: "object" }, ...required },
  { name: "fail", inputSchema: { type: "object" }, ...required },
  { name: "broken", inputSchema: { type: "object" }, ...required },
  { name: "forever", inputSchema: { type: "object" }, ...required },
  { name: "optional", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
  { name: "plain", inputSchema: { type: "object" } },
  { name: "state", inputSchema: { type: "object" } },
];

const question = {
  mode: "form",
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

class RpcError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @param {string} value */
function text(value) {
  return { content: [{ type: "text", text: value }] };
}

/** @param {Task} task */
function resultOf(task) {
  if (task.tool === "broken") return { ...text("it broke"), isError: true };
  if (task.tool === "ask") return text(`Hello, ${JSON.stringify(task.answer)}`);
  return text(`${task.tool} done in ${task.step} steps`);
}

/**
 * @param {Task} task
 * @param {string} status
 * @param {string} message
 */
function enter(task, status, message) {
  task.status = status;
  task.message = message;
  if (["completed", "failed", "cancelled"].includes(status)) for (const end of task.ended.splice(0)) end();
}

/**
 * Advances a task by one step. This happens only when it is polled, so tests do not depend on a clock.
 *
 * @param {Task} task
 * @param {Send} send
 */
function step(task, send) {
  if (task.status !== "working" || task.tool === "forever") return;
  if (task.tool === "fail") return enter(task, "failed", "it went wrong");
  if (task.tool === "ask" && task.answer === undefined) return enter(task, "input_required", "a name is needed");
  task.step += 1;
  if (task.token !== undefined) {
    const params = { progressToken: task.token, progress: task.step, total: task.steps };
    send({ jsonrpc: "2.0", method: "notifications/progress", params });
  }
  if (task.step >= task.steps) enter(task, "completed", "done");
  else task.message = `step ${task.step} of ${task.steps}`;
}

/**
 * @param {Task} task
 * @returns {Params}
 */
function describe({ id, status, message, modern }) {
  const now = new Date().toISOString();
  const times = { createdAt: now, lastUpdatedAt: now };
  const own = modern ? { ttlMs: 60_000, pollIntervalMs: POLL_MS } : { ttl: 60_000, pollInterval: POLL_MS };
  return { taskId: id, status, statusMessage: message, ...times, ...own };
}

/**
 * @param {Params} params
 * @param {boolean} modern
 * @returns {Task}
 */
function create(params, modern) {
  const args = /** @type {Params} */ (params.arguments ?? {});
  const meta = /** @type {Params} */ (params._meta ?? {});
  const task = {
    id: randomUUID(),
    tool: String(params.name),
    modern,
    status: "working",
    message: "started",
    step: 0,
    steps: typeof args.steps === "number" ? args.steps : 2,
    token: meta.progressToken,
    answer: undefined,
    asked: false,
    ended: [],
    seen: [],
  };
  tasks.set(task.id, task);
  return task;
}

/** @param {Params} params */
function taskOf(params) {
  const task = tasks.get(String(params.taskId));
  if (task === undefined) throw new RpcError(-32602, "there is no such task");
  return task;
}

/** @param {Params} params */
function hasExtension(params) {
  const meta = /** @type {Params} */ (params._meta ?? {});
  const abilities = /** @type {{ extensions?: Params }} */ (meta["io.modelcontextprotocol/clientCapabilities"] ?? {});
  return abilities.extensions?.[EXTENSION] !== undefined;
}

/**
 * @param {Params} params
 * @param {boolean} modern
 * @returns {Params}
 */
function call(params, modern) {
  const name = String(params.name);
  if (name === "state") {
    return text(JSON.stringify([...tasks.values()].map(({ tool, status, seen }) => ({ tool, status, seen }))));
  }
  const definition = tools.find((tool) => tool.name === name);
  if (definition === undefined) throw new RpcError(-32602, `Unknown tool: ${name}`);
  const support = definition.execution?.taskSupport;
  const wished = modern ? hasExtension(params) && support !== undefined : params.task !== undefined;
  if (!wished) {
    if (support === "required") throw new RpcError(modern ? -32021 : -32601, `${name} has to be called as a task`);
    return text(`${name} done at once`);
  }
  if (support === undefined) throw new RpcError(-32601, `${name} cannot be called as a task`);
  const task = create(params, modern);
  return modern ? { resultType: "task", ...describe(task) } : { task: describe(task) };
}

/**
 * @param {Task} task
 * @returns {Params}
 */
function detailed(task) {
  return {
    ...describe(task),
    ...(task.status === "input_required"
      ? { inputRequests: { name: { method: "elicitation/create", params: question } } }
      : {}),
    ...(task.status === "completed" ? { result: { resultType: "complete", ...resultOf(task) } } : {}),
    ...(task.status === "failed" ? { error: { code: -32603, message: task.message } } : {}),
  };
}

/**
 * Returns the result of a legacy task, which asks its questions while the client waits.
 *
 * @param {Task} task
 * @param {Send} send
 */
async function legacyResult(task, send) {
  if (task.status === "input_required" && !task.asked) {
    task.asked = true;
    const id = `question-${task.id}`;
    const params = { ...question, _meta: { "io.modelcontextprotocol/related-task": { taskId: task.id } } };
    questions.set(id, (result) => {
      task.answer = result;
      enter(task, "working", "going on");
    });
    send({ jsonrpc: "2.0", id, method: "elicitation/create", params });
  }
  if (!["completed", "failed", "cancelled"].includes(task.status)) {
    await new Promise((resolve) => task.ended.push(() => resolve(undefined)));
  }
  if (task.status === "failed") throw new RpcError(-32603, task.message);
  if (task.status === "cancelled") throw new RpcError(-32602, "the task was cancelled");
  return { ...resultOf(task), _meta: { "io.modelcontextprotocol/related-task": { taskId: task.id } } };
}

/**
 * @param {string} method
 * @param {Params} params
 * @param {Send} send
 * @returns {Promise<Params>}
 */
async function answer(method, params, send) {
  const meta = /** @type {Params} */ (params._meta ?? {});
  const modern = meta["io.modelcontextprotocol/protocolVersion"] === MODERN;
  if (modern && !hasModern) throw new RpcError(-32601, "Method not found");
  const complete = modern ? { resultType: "complete" } : {};
  switch (method) {
    case "server/discover":
      if (!hasModern) throw new RpcError(-32601, "Method not found");
      return {
        ...complete,
        supportedVersions: [MODERN],
        capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
        serverInfo: { name: "tasking", version: "1.0.0" },
        ttlMs: 0,
        cacheScope: "private",
      };
    case "initialize":
      if (!hasLegacy) throw new RpcError(-32022, "2026-07-28 only");
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: "tasking", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { ...complete, tools, ...(modern ? { ttlMs: 0, cacheScope: "private" } : {}) };
    case "tools/call":
      return { ...complete, ...call(params, modern) };
    case "tasks/get": {
      const task = taskOf(params);
      task.seen.push(method);
      step(task, send);
      return { ...complete, ...(task.modern ? detailed(task) : describe(task)) };
    }
    case "tasks/result": {
      const task = taskOf(params);
      task.seen.push(method);
      return await legacyResult(task, send);
    }
    case "tasks/update": {
      const task = taskOf(params);
      task.seen.push(method);
      task.answer = /** @type {Params} */ (params.inputResponses).name;
      enter(task, "working", "going on");
      return complete;
    }
    case "tasks/cancel": {
      const task = taskOf(params);
      task.seen.push(method);
      enter(task, "cancelled", "cancelled");
      return task.modern ? complete : describe(task);
    }
    default:
      throw new RpcError(-32601, `Method not found: ${method}`);
  }
}

/**
 * @param {Message} message
 * @param {Send} send
 */
async function handle(message, send) {
  const { id, method, params = {} } = message;
  if (method === undefined) {
    if (id !== undefined) questions.get(id)?.(message.result ?? {});
    return;
  }
  if (id === undefined) return;
  try {
    send({ jsonrpc: "2.0", id, result: await answer(method, params, send) });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    send({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
  }
}

/** @type {import("./network.js").Handler} */
async function serveHttp(request, response) {
  if (pathOf(request) !== "/mcp") return void response.writeHead(404).end();
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  const message = /** @type {Message} a test's client sends nothing else */ (await readJson(request));
  if (message.method === undefined || message.id === undefined) {
    await handle(message, () => {});
    return void response.writeHead(202).end();
  }
  if (message.method !== "tasks/result" && message.method !== "tasks/get") {
    return await handle(message, (answered) => sendJson(response, 200, answered));
  }
  // These two can send messages before they answer.
  response.writeHead(200, { "content-type": "text/event-stream" });
  await handle(message, (sent) => response.write(`data: ${JSON.stringify(sent)}\n\n`));
  response.end();
}

if (options.http) await listen(options, "/mcp", serveHttp);
else {
  await readLines((message) => {
    // Not awaited, because a task's result depends on messages read in the meantime.
    void handle(/** @type {Message} */ (message), writeLine);
  });
}
