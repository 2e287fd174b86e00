import { describe, expect, test } from "vitest";
import { createTestService, until } from "../protocol/test-service.js";
import {
  callModern,
  envelope,
  modern,
  modernHeaders,
  post,
  read,
  StreamReader,
  startHttp,
  textOf,
} from "./http-client.js";

const form = { elicitation: { form: {} } };

describe("a modern request over HTTP", () => {
  test("gets one JSON body that names the server and keeps unknown fields", async () => {
    const { url } = await startHttp();
    const reply = await callModern(url, "echo", { text: "hello" });
    expect(reply).toMatchObject({ status: 200, isStream: false });
    expect(reply.last).toEqual({
      jsonrpc: "2.0",
      id: 7,
      result: {
        content: [{ type: "text", text: "hello" }],
        unknownField: { kept: true },
        resultType: "complete",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "test-service", version: "1.2.3" } },
      },
    });
  });

  test("discovers revisions, capabilities and instructions, with their time to live", async () => {
    const { url } = await startHttp();
    const { last } = await modern(url, "server/discover");
    expect(last.result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true }, extensions: { "io.modelcontextprotocol/tasks": {} } },
      instructions: "Be kind.",
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
    });
  });

  test("keeps a time to live set by the service", async () => {
    const { url } = await startHttp();
    const { last } = await modern(url, "resources/read", { uri: "test://x" });
    expect(last.result).toMatchObject({ ttlMs: 1_000, cacheScope: "private" });
  });

  test("passes the caller, its capabilities and other metadata to the service, without protocol fields", async () => {
    const { url } = await startHttp();
    const meta = { traceparent: "00-1-2-03", progressToken: 1 };
    const reply = await callModern(url, "whoami", {}, { capabilities: { ...form, roots: {} }, meta });
    const { caller, meta: seen, can } = JSON.parse(textOf(reply));
    expect(caller).toMatchObject({ name: "test 1.0.0", era: "modern", endpoint: "http", lasting: false });
    expect(seen).toEqual({ traceparent: "00-1-2-03" });
    expect(can).toEqual(["abilities", "ask", "log", "name", "progress"]);
  });

  test("does not have the methods of older revisions", async () => {
    const { url } = await startHttp();
    for (const method of ["ping", "initialize", "logging/setLevel", "resources/subscribe", "tasks/list", "no/such"]) {
      const reply = await modern(url, method);
      expect(reply, method).toMatchObject({ status: 404, last: { id: 7, error: { code: -32601 } } });
    }
  });

  test("is rejected for an unsupported revision, listing the supported ones", async () => {
    const { url } = await startHttp();
    const meta = { ...envelope(), "io.modelcontextprotocol/protocolVersion": "2030-01-01" };
    const body = { jsonrpc: "2.0", id: 3, method: "tools/list", params: { _meta: meta } };
    const reply = await read(
      await post(url, body, { "mcp-protocol-version": "2030-01-01", "mcp-method": "tools/list" }),
    );
    expect(reply).toMatchObject({
      status: 400,
      last: { id: 3, error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2030-01-01" } } },
    });
  });

  test("is rejected if the headers do not repeat it", async () => {
    const { url } = await startHttp();
    const params = { name: "echo", arguments: { text: "x" }, _meta: envelope() };
    const body = { jsonrpc: "2.0", id: 3, method: "tools/call", params };
    const good = modernHeaders("tools/call", params);
    const cases: Record<string, string>[] = [
      { ...good, "mcp-method": "tools/list" },
      { ...good, "mcp-name": "other" },
      { ...good, "mcp-name": "=?base64?!!!?=" },
      { "mcp-protocol-version": "2026-07-28", "mcp-name": "echo" },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" },
      { "mcp-method": "tools/call", "mcp-name": "echo" },
      { ...good, "mcp-protocol-version": "2025-11-25" },
    ];
    for (const headers of cases) {
      const reply = await read(await post(url, body, headers));
      expect(reply, JSON.stringify(headers)).toMatchObject({ status: 400, last: { id: 3, error: { code: -32020 } } });
    }
    const encoded = `=?base64?${Buffer.from("echo").toString("base64")}?=`;
    for (const name of [encoded, "  echo  "]) {
      const reply = await read(await post(url, body, { ...good, "mcp-name": name }));
      expect(reply, name).toMatchObject({ status: 200, last: { result: { resultType: "complete" } } });
    }
  });

  test("reports internal errors to the log only", async () => {
    const { url } = await startHttp();
    const { last } = await callModern(url, "broken");
    expect(last.error).toEqual({ code: -32603, message: "Internal error." });
  });

  test("is a bad request if the client lacks a capability the call needs", async () => {
    const { url } = await startHttp();
    const reply = await callModern(url, "refused");
    expect(reply).toMatchObject({
      status: 400,
      last: { error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } },
    });
  });

  test("streams progress, each value once and all before the result", async () => {
    const { url } = await startHttp();
    const reply = await callModern(url, "progress", { steps: 20 }, { meta: { progressToken: "t" } });
    expect(reply.isStream).toBe(true);
    expect(reply.messages.slice(0, -1).map(({ params }) => params.progress)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(reply.messages[0]).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "t", total: 20 },
    });
    expect(textOf(reply)).toBe("done");
  });

  test("gets log messages only on request, from the requested level on", async () => {
    const { url } = await startHttp();
    expect((await callModern(url, "log")).messages).toHaveLength(1);
    const level = { "io.modelcontextprotocol/logLevel": "warning" };
    expect((await callModern(url, "log", { level: "info" }, { meta: level })).messages).toHaveLength(1);
    const reply = await callModern(url, "log", { level: "error" }, { meta: level });
    expect(reply.messages[0]).toMatchObject({
      method: "notifications/message",
      params: { level: "error", logger: "s", data: "logged" },
    });
  });

  test("ends its call when the client disconnects", async () => {
    const { url, service } = await startHttp();
    const away = new AbortController();
    const call = callModern(url, "hang", { tag: "gone" }, { signal: away.signal });
    await until(() => service.started.includes("gone"));
    away.abort();
    await expect(call).rejects.toThrow();
    await until(() => service.aborted.includes("gone"));
  });

  test("becomes a stream with heartbeats if the answer takes long", async () => {
    const { url, service } = await startHttp({ keepAliveMs: 20 });
    const params = { name: "gate", arguments: {}, _meta: envelope() };
    const response = await post(
      url,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      modernHeaders("tools/call", params),
    );
    // The response started without an answer: with a heartbeat.
    service.openGate();
    const text = await response.text();
    expect(text).toContain(": keep-alive");
    expect(text).toContain("through the gate");
  });
});

describe("subscriptions/listen over HTTP", () => {
  const wish = {
    notifications: {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["test://a", "test://missing"],
    },
  };

  async function listen(url: string, params: object = wish): Promise<StreamReader> {
    const body = {
      jsonrpc: "2.0",
      id: "sub",
      method: "subscriptions/listen",
      params: { ...params, _meta: envelope() },
    };
    return new StreamReader(await post(url, body, modernHeaders("subscriptions/listen", {})));
  }

  test("grants what the server has and notifies until the client disconnects", async () => {
    const { url, service } = await startHttp();
    const stream = await listen(url);
    const tagged = { "io.modelcontextprotocol/subscriptionId": "sub" };
    expect(await stream.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["test://a"] }, _meta: tagged },
    });
    service.announce({ kind: "prompts_list_changed" });
    service.announce({ kind: "tools_list_changed" });
    service.touch("test://a");
    expect(await stream.next()).toMatchObject({
      method: "notifications/tools/list_changed",
      params: { _meta: tagged },
    });
    expect(await stream.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "test://a", _meta: tagged },
    });
    await stream.cancel();
    await until(() => service.listeners === 0 && service.watched.size === 0);
  });

  test("ends immediately if nothing is granted", async () => {
    const { url } = await startHttp();
    const stream = await listen(url, { notifications: { promptsListChanged: true } });
    expect(await stream.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    expect(await stream.next()).toMatchObject({ id: "sub", result: { resultType: "complete" } });
    expect(await stream.next()).toBeUndefined();
  });

  test("has to say what to listen for", async () => {
    const { url } = await startHttp();
    expect((await modern(url, "subscriptions/listen", {})).last).toMatchObject({ error: { code: -32602 } });
  });

  test("ends properly when the endpoint closes", async () => {
    const { url, close, service } = await startHttp();
    const stream = await listen(url);
    await stream.next();
    const closed = close();
    expect(await stream.next()).toMatchObject({ id: "sub", result: { resultType: "complete" } });
    expect(await stream.next()).toBeUndefined();
    await closed;
    expect(service.listeners).toBe(0);
  });

  test("rejects subscriptions over the limit", async () => {
    const { url } = await startHttp({ limits: { maxSubscriptions: 1 } });
    const stream = await listen(url);
    await stream.next();
    expect((await modern(url, "subscriptions/listen", wish)).last).toMatchObject({ error: { code: -32603 } });
    await stream.cancel();
  });
});

describe("a slow tool", () => {
  const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const soon = { taskAfterMs: 20 };
  const support = { wait: "optional", ask: "required", ask_then_wait: "optional", hang: "required" } as const;

  test("becomes a task for a client that supports tasks, and tasks/get returns its result", async () => {
    const { url, service } = await startHttp({ service: createTestService({ gate: "optional" }), limits: soon });
    const { last } = await callModern(url, "gate", {}, { capabilities: tasks });
    expect(last.result).toMatchObject({ resultType: "task", status: "working", ttlMs: 3_600_000 });
    const { taskId } = last.result;
    expect(last.result).not.toHaveProperty("requestState");
    const get = async () => (await modern(url, "tasks/get", { taskId }, { capabilities: tasks })).last.result;
    expect(await get()).toMatchObject({ status: "working", resultType: "complete" });
    service.openGate();
    await expect.poll(get).toMatchObject({
      status: "completed",
      result: { resultType: "complete", content: [{ text: "through the gate" }] },
    });
  });

  test("is an ordinary call if the client does not support tasks or the tool is quick", async () => {
    const { url } = await startHttp({ service: createTestService(support), limits: soon });
    expect(textOf(await callModern(url, "wait", { ms: 60 }))).toBe("waited ");
    expect(textOf(await callModern(url, "wait", { ms: 0 }, { capabilities: tasks }))).toBe("waited ");
  });

  test("asks through the task and accepts answers one by one", async () => {
    const { url } = await startHttp({ service: createTestService(support) });
    const capabilities = { ...tasks, ...form };
    const { taskId } = (await callModern(url, "ask", {}, { capabilities })).last.result;
    const get = async () => (await modern(url, "tasks/get", { taskId }, { capabilities })).last.result;
    await until(() => true);
    let task = await get();
    expect(task).toMatchObject({ status: "input_required" });
    const [key] = Object.keys(task.inputRequests) as [string];
    const update = (inputResponses: object) =>
      modern(url, "tasks/update", { taskId, inputResponses }, { capabilities });
    expect((await update({ wrong: { action: "accept", content: { name: "Eve" } } })).last.result).toMatchObject({
      resultType: "complete",
    });
    expect(await get()).toMatchObject({ status: "input_required" });
    await update({ [key]: { action: "accept", content: { name: "Ada" } } });
    task = await get();
    expect(task).toMatchObject({ status: "completed" });
    expect(task.result.content[0].text).toContain("Ada");
  });

  test("asks first and becomes a task afterwards", async () => {
    const { url } = await startHttp({ service: createTestService(support), limits: soon });
    const capabilities = { ...tasks, ...form };
    const first = (await callModern(url, "ask_then_wait", { ms: 100 }, { capabilities })).last.result;
    expect(first).toMatchObject({ resultType: "input_required" });
    const [key] = Object.keys(first.inputRequests) as [string];
    const answers = { requestState: first.requestState, inputResponses: { [key]: { action: "decline" } } };
    const second = (await callModern(url, "ask_then_wait", { ms: 100 }, { capabilities, more: answers })).last.result;
    expect(second).toMatchObject({ resultType: "task" });
    expect(second).not.toHaveProperty("requestState");
  });

  test("ends when its task is cancelled, even if cancelled twice", async () => {
    const { url, service } = await startHttp({ service: createTestService(support) });
    const { taskId } = (await callModern(url, "hang", { tag: "t" }, { capabilities: tasks })).last.result;
    for (const _ of [1, 2]) {
      const { last } = await modern(url, "tasks/cancel", { taskId }, { capabilities: tasks });
      expect(Object.keys(last.result).sort()).toEqual(["_meta", "resultType"]);
    }
    const { last } = await modern(url, "tasks/get", { taskId }, { capabilities: tasks });
    expect(last.result).toMatchObject({ status: "cancelled" });
    await until(() => service.aborted.includes("t"));
  });

  test("is rejected if it must be a task and the client does not support tasks", async () => {
    const { url } = await startHttp({ service: createTestService(support) });
    const missing = { code: -32021, data: { requiredCapabilities: tasks } };
    expect(await callModern(url, "hang")).toMatchObject({ status: 400, last: { error: missing } });
    expect((await modern(url, "tasks/get", { taskId: "x" })).last).toMatchObject({ error: missing });
    const unknown = await modern(url, "tasks/get", { taskId: "x" }, { capabilities: tasks });
    expect(unknown.last).toMatchObject({ error: { code: -32602 } });
  });

  test("becomes a task right away if preferred, and an ordinary call for clients without tasks", async () => {
    const { url } = await startHttp({ service: createTestService({ wait: "preferred" }) });
    const task = (await callModern(url, "wait", { ms: 10 }, { capabilities: tasks })).last.result;
    expect(task).toMatchObject({ resultType: "task" });
    expect(textOf(await callModern(url, "wait", { ms: 10 }))).toBe("waited ");
  });

  test("ends when its task expires, which frees its slot", async () => {
    const limits = { tasks: { ttlMs: 50, maxTtlMs: 50, max: 1, pollIntervalMs: 10 } };
    const { url, service } = await startHttp({ service: createTestService(support), limits });
    const { taskId } = (await callModern(url, "hang", { tag: "old" }, { capabilities: tasks })).last.result;
    await until(() => service.aborted.includes("old"));
    expect((await modern(url, "tasks/get", { taskId }, { capabilities: tasks })).last).toMatchObject({
      error: { code: -32602 },
    });
    expect((await callModern(url, "hang", {}, { capabilities: tasks })).last.result).toMatchObject({
      resultType: "task",
    });
  });
});
