// witness: a server of the given revision, written without an SDK. It accepts every request, and its tool `seen`
// returns which messages have arrived. The tool `ask` {method, params} sends its client a request and returns whether
// it was answered. `tell` {method, params} sends a notification and only returns when `seen` is called, because a
// result sent right after progress would overtake it. Transport: stdio.
import { createInterface } from "node:readline";

const revision = process.argv[2] ?? "2025-11-25";
const isModern = revision === "2026-07-28";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
/** @type {Set<string>} */
const seen = new Set();
/** @type {Map<number, (answer: any) => void>} */
const asked = new Map();
/** @type {Map<string | number, string[]>} a modern client's streams, and what each is for */
const streams = new Map();
let release = () => {};
let lastId = 1_000;

const listChanged = { listChanged: true };
const capabilities = {
  ...{ tools: listChanged, prompts: listChanged, resources: { ...listChanged, subscribe: true } },
  ...{ completions: {}, logging: {} },
  ...(revision === "2025-11-25" ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
};
const serverInfo = { name: "witness", version: "1.0.0" };
const task = {
  ...{ taskId: "task-1", status: "completed", createdAt: "2026-01-01T00:00:00Z", ttl: null, pollInterval: 1 },
  lastUpdatedAt: "2026-01-01T00:00:00Z",
};
const inputSchema = { type: "object", properties: { method: { type: "string" }, params: { type: "object" } } };

/** @type {Record<string, Record<string, unknown>>} */
const RESULTS = {
  initialize: { protocolVersion: revision, capabilities, serverInfo },
  "server/discover": { supportedVersions: [revision], capabilities, serverInfo },
  "tools/list": { tools: ["ask", "tell", "seen"].map((name) => ({ name, description: name, inputSchema })) },
  "prompts/list": { prompts: [{ name: "greet", arguments: [{ name: "name" }] }] },
  "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "from the witness" } }] },
  "resources/list": { resources: [{ uri: "witness://note", name: "note" }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "witness://{id}", name: "any" }] },
  "resources/read": { contents: [{ uri: "witness://note", text: "from the witness" }] },
  "completion/complete": { completion: { values: ["from the witness"] } },
  "tasks/get": task,
  "tasks/cancel": task,
  "tasks/list": { tasks: [task] },
  "tasks/result": { content: [{ type: "text", text: "from the witness" }] },
};

/** Adds an item to the list that is reported as changed. @param {string} method */
function grow(method) {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1];
  if (list === undefined) return;
  const items = /** @type {unknown[]} as above */ (RESULTS[`${list}/list`]?.[list]);
  items.push({ name: "grown", uri: "witness://grown", inputSchema });
}

/** @type {Record<string, string>} */
const WISHES = {
  toolsListChanged: "notifications/tools/list_changed",
  promptsListChanged: "notifications/prompts/list_changed",
  resourcesListChanged: "notifications/resources/list_changed",
  resourceSubscriptions: "notifications/resources/updated",
};

/** @param {Record<string, unknown>} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** @param {string} text */
const text = (text) => ({ content: [{ type: "text", text }] });

/** @param {string} method @param {Record<string, unknown>} params @returns {Promise<any>} */
async function ask(method, params) {
  lastId += 1;
  const own = lastId;
  return await new Promise((resolve) => {
    asked.set(own, resolve);
    send({ id: own, method, params });
  });
}

/** @param {string | number} id @param {any} params */
async function call(id, { name, arguments: args = {}, _meta = {}, inputResponses }) {
  if (name === "seen") {
    release();
    return text(JSON.stringify([...seen]));
  }
  const { method, params = {} } = args;
  if (name === "tell") {
    grow(method);
    const progress = method === "notifications/progress" ? { progressToken: _meta.progressToken } : {};
    const stream = [...streams].find(([, wishes]) => wishes.includes(method))?.[0];
    const tag = stream === undefined ? {} : { _meta: { [SUBSCRIPTION]: stream } };
    send({ method, params: { ...params, ...progress, ...tag } });
    await new Promise((resolve) => {
      release = () => resolve(undefined);
    });
    return text("told");
  }
  if (isModern) {
    if (inputResponses !== undefined) return text(`answered ${JSON.stringify(inputResponses.it)}`);
    return { resultType: "input_required", inputRequests: { it: { method, params } }, requestState: String(id) };
  }
  const answer = await ask(method, params);
  return text(
    answer.error === undefined ? `answered ${JSON.stringify(answer.result)}` : `refused ${answer.error.code}`,
  );
}

/** @param {any} message */
async function take({ id, method, params = {}, ...answer }) {
  if (method === undefined) {
    asked.get(id)?.(answer);
    return;
  }
  seen.add(method);
  if (method === "notifications/cancelled") streams.delete(params.requestId);
  if (id === undefined) return;
  const isOfOtherEra = method === (isModern ? "initialize" : "server/discover");
  if (isOfOtherEra) return send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  if (method === "subscriptions/listen") {
    streams.set(
      id,
      Object.keys(params.notifications).flatMap((wish) => WISHES[wish] ?? []),
    );
    const _meta = { [SUBSCRIPTION]: id };
    send({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: params.notifications, _meta },
    });
    return;
  }
  const result = method === "tools/call" ? await call(id, params) : (RESULTS[method] ?? {});
  const kept = /list|read|discover/.test(method) ? { ttlMs: 0, cacheScope: "private" } : {};
  send({ id, result: isModern ? { ...kept, resultType: "complete", ...result } : result });
}

for await (const line of createInterface({ input: process.stdin })) void take(JSON.parse(line));
