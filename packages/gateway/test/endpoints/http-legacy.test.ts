import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createTestService, until } from "../protocol/test-service.js";
import { type Message, post, read, Session, StreamReader, startHttp, textOf } from "./http-client.js";

const form = { elicitation: {} };
const related = (taskId: string) => ({ "io.modelcontextprotocol/related-task": { taskId } });

describe("a legacy session over HTTP", () => {
  test("starts with the revision the client asks for, or the newest one", async () => {
    const { url } = await startHttp();
    for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const session = await Session.open(url, { revision });
      expect(session.initialized).toMatchObject({
        protocolVersion: revision,
        serverInfo: { name: "test-service", version: "1.2.3" },
        instructions: "Be kind.",
      });
      expect("tasks" in session.initialized.capabilities).toBe(revision === "2025-11-25");
      expect(textOf(await session.call("echo", { text: revision }))).toBe(revision);
    }
    for (const revision of ["2030-01-01", "2026-07-28"]) {
      expect((await Session.open(url, { revision })).revision).toBe("2025-11-25");
    }
  });

  test("answers with JSON if nothing precedes the answer, and with a stream otherwise", async () => {
    const { url } = await startHttp();
    const session = await Session.open(url);
    expect(await session.call("echo", { text: "x" })).toMatchObject({ isStream: false, status: 200 });
    const reply = await session.call("progress", { steps: 2 }, { _meta: { progressToken: 9 } });
    expect(reply.isStream).toBe(true);
    expect(reply.messages.map(({ method, params }) => [method, params?.progress])).toEqual([
      ["notifications/progress", 1],
      ["notifications/progress", 2],
      [undefined, undefined],
    ]);
  });

  test("identifies its client and frees its resources when it is deleted", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url, { capabilities: form });
    const { caller, can } = JSON.parse(textOf(await session.call("whoami")));
    expect(caller).toMatchObject({ name: "old 0.1", era: "legacy", revision: "2025-11-25", lasting: true });
    expect(can).toEqual(["abilities", "ask", "log", "logLevel", "name", "party", "visited"]);
    expect((await session.delete()).status).toBe(200);
    expect(service.released).toMatchObject([{ id: caller.id }]);
    expect(await session.request("ping")).toMatchObject({ status: 404, last: { error: { code: -32001 } } });
    expect((await session.delete()).status).toBe(404);
  });

  test("gives all its calls the same party", async () => {
    const { url, service } = await startHttp();
    const [one, two] = [await Session.open(url), await Session.open(url)];
    for (const session of [one, one, two]) await session.call("echo");
    const [first, second, other] = service.exchanges.map(({ channel }) => channel.party);
    expect(first).toBe(second);
    expect(first).not.toBe(other);
  });

  test("asks on the call's stream and accepts the answer", async () => {
    const { url } = await startHttp();
    const session = await Session.open(url, { capabilities: form });
    const body = { jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "ask", arguments: {} } };
    const stream = new StreamReader(await session.send(body));
    const question = await stream.next();
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Your name?" } });
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await session.send({ jsonrpc: "2.0", id: question.id, result })).status).toBe(202);
    expect(await stream.next()).toMatchObject({ id: "c", result: { content: [{ text: JSON.stringify(result) }] } });
    expect(await stream.next()).toBeUndefined();
  });

  test("cancels its question when the call is cancelled, and answers neither", async () => {
    const { url } = await startHttp();
    const session = await Session.open(url, { capabilities: form });
    const body = { jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "ask", arguments: {} } };
    const stream = new StreamReader(await session.send(body));
    const question = await stream.next();
    await session.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c" } });
    expect(await stream.next()).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: question.id },
    });
    expect(await stream.next()).toBeUndefined();
  });

  test("does not treat a lost connection as a cancellation and sends the rest to a client that reconnects", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    const params = { name: "wait", arguments: { ms: 150, tag: "w" }, _meta: { progressToken: 1 } };
    // A call that sends something first, so that its stream has an id to resume from.
    const body = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { ...params, name: "ask_then_wait" } };
    const asking = await Session.open(url, { capabilities: form });
    const stream = new StreamReader(await asking.send(body));
    const question = await stream.next();
    const lastId = stream.events.at(-1)?.id;
    await stream.cancel();
    await asking.send({ jsonrpc: "2.0", id: question.id, result: { action: "decline" } });
    await sleep(20);
    const rest = await read(await asking.get(lastId));
    expect(rest.last).toMatchObject({ id: 5, result: { content: [{ text: '{"action":"decline"}' }] } });
    const again = await read(await asking.get(lastId));
    expect(again.last).toEqual(rest.last);
    expect((await asking.get("nonsense-1")).status).toBe(400);
    expect(service.aborted).toEqual([]);
    await session.delete();
  });

  test("starts a stream with a resumable event, from 2025-11-25 on", async () => {
    const { url } = await startHttp();
    for (const [revision, primed] of [
      ["2025-11-25", true],
      ["2025-06-18", false],
    ] as const) {
      const session = await Session.open(url, { revision });
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "log", arguments: {} } };
      const text = await (await session.send(body)).text();
      expect(/id: \S+\nretry: \d+\ndata: \n\n/.test(text.slice(0, 80)), revision).toBe(primed);
      expect(text).toMatch(/id: \S+-1\ndata: \{/);
    }
  });

  test("receives changes on the standalone stream, and only those it subscribed to", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    const stream = new StreamReader(await session.get());
    expect((await session.request("resources/subscribe", { uri: "test://a" })).last.result).toEqual({});
    expect((await session.request("resources/subscribe", { uri: "test://missing" })).last.error).toMatchObject({
      code: -32602,
    });
    service.announce({ kind: "tools_list_changed" });
    service.announce({ kind: "prompts_list_changed" });
    service.touch("test://a");
    expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    expect(await stream.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "test://a" },
    });
    await session.request("resources/unsubscribe", { uri: "test://a" });
    expect(service.watched.size).toBe(0);
    await session.delete();
    expect(await stream.next()).toBeUndefined();
    await until(() => service.listeners === 0);
  });

  test("receives what was sent while its stream was disconnected", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    const stream = new StreamReader(await session.get());
    service.announce({ kind: "tools_list_changed" });
    await stream.next();
    const lastId = stream.events.at(-1)?.id;
    await stream.cancel();
    service.announce({ kind: "tools_list_changed" });
    const resumed = new StreamReader(await session.get(lastId));
    expect(await resumed.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    await resumed.cancel();
  });

  test("sets the log level", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    expect((await session.call("log", { level: "debug" })).messages).toHaveLength(1);
    expect((await session.request("logging/setLevel", { level: "debug" })).last.result).toEqual({});
    expect((await session.call("log", { level: "debug" })).messages).toHaveLength(2);
    expect((await session.request("logging/setLevel", { level: "loud" })).last.error).toMatchObject({ code: -32602 });
    expect(service.levels).toEqual(["debug"]);
  });

  test("accepts batches in the only revision that has them", async () => {
    const { url } = await startHttp();
    const batch = [
      { jsonrpc: "2.0", id: 10, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/nothing" },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "echo", arguments: { text: "in a batch" } } },
      { jsonrpc: "2.0", id: 11, method: 5 },
    ];
    const session = await Session.open(url, { revision: "2025-03-26" });
    const [answers] = (await read(await session.send(batch))).messages;
    const byId = new Map(answers.map((answer: Message) => [answer.id, answer]));
    expect(byId.get(10)).toMatchObject({ result: {} });
    expect(byId.get("b")).toMatchObject({ result: { content: [{ text: "in a batch" }] } });
    expect(byId.get(11)).toMatchObject({ error: { code: -32600 } });
    expect((await read(await session.send([]))).last).toMatchObject({ error: { code: -32600 } });
    const newer = await Session.open(url, { revision: "2025-06-18" });
    expect(await read(await newer.send(batch))).toMatchObject({ status: 400, last: { error: { code: -32600 } } });
  });

  test("rejects ids in use and invalid messages", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    const body = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "hang", arguments: { tag: "h" } } };
    const hanging = session.send(body);
    await until(() => service.started.includes("h"));
    expect((await read(await session.send(body))).last).toMatchObject({ id: 5, error: { code: -32600 } });
    for (const bad of [
      { id: 1, method: "ping" },
      { jsonrpc: "2.0", id: null, method: "ping" },
      5,
      { jsonrpc: "2.0" },
    ]) {
      expect(await read(await session.send(bad)), JSON.stringify(bad)).toMatchObject({
        status: 400,
        last: { error: { code: -32600 } },
      });
    }
    expect((await read(await session.send({ jsonrpc: "2.0", id: 6, method: "ping", params: [] }))).last).toMatchObject({
      id: 6,
      error: { code: -32602 },
    });
    await session.delete();
    expect((await read(await hanging)).last).toMatchObject({ id: 5, error: { code: -32603 } });
    expect(service.aborted).toEqual(["h"]);
  });

  test("has to exist and use a supported revision", async () => {
    const { url } = await startHttp();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect(await read(await post(url, ping))).toMatchObject({ status: 400, last: { id: 1 } });
    expect(await read(await post(url, ping, { "mcp-session-id": "nobody" }))).toMatchObject({ status: 404 });
    const session = await Session.open(url);
    const wrong = { "mcp-session-id": session.id, "mcp-protocol-version": "2019-01-01" };
    expect(await read(await post(url, ping, wrong))).toMatchObject({ status: 400 });
  });

  test("ends after a long idle time unless its client keeps a stream open", async () => {
    const { url, service } = await startHttp({ keepAliveMs: 10, sessions: { idleMs: 2_000 } });
    const held = await Session.open(url);
    const stream = new StreamReader(await held.get());
    const left = await Session.open(url);
    await until(() => service.released.length === 1, 20_000);
    expect((await left.request("ping")).status).toBe(404);
    expect((await held.request("ping")).last.result).toEqual({});
    await stream.cancel();
  });

  test("makes room for a new session if it is idle", async () => {
    const { url } = await startHttp({ sessions: { max: 2 } });
    const [unused, held] = [await Session.open(url), await Session.open(url)];
    const stream = new StreamReader(await held.get());
    const third = await Session.open(url);
    expect((await unused.request("ping")).status).toBe(404);
    const thirdStream = new StreamReader(await third.get());
    // Both remaining sessions are in use now.
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    expect((await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params })).status).toBe(429);
    await Promise.all([stream.cancel(), thirdStream.cancel()]);
  });
});

describe("a task of a legacy session", () => {
  test("starts with the call, can be polled, and returns its result", async () => {
    const { url, service } = await startHttp();
    const session = await Session.open(url);
    const { task } = (await session.call("gate", {}, { task: { ttl: 60_000 } })).last.result;
    expect(task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 500 });
    const { taskId } = task;
    expect((await session.request("tasks/get", { taskId })).last.result).toMatchObject({ taskId, status: "working" });
    expect((await session.request("tasks/list")).last.result.tasks).toHaveLength(1);
    service.openGate();
    const { last } = await session.request("tasks/result", { taskId });
    expect(last.result).toMatchObject({ content: [{ text: "through the gate" }], _meta: related(taskId) });
    expect((await session.request("tasks/get", { taskId })).last.result).toMatchObject({ status: "completed" });
    expect((await session.request("tasks/cancel", { taskId })).last.error).toMatchObject({ code: -32602 });
  });

  test("asks on the stream of tasks/result", async () => {
    const { url } = await startHttp();
    const session = await Session.open(url, { capabilities: form });
    const { taskId } = (await session.call("ask", {}, { task: {} })).last.result.task;
    const status = async () => (await session.request("tasks/get", { taskId })).last.result.status;
    expect(await status()).toBe("input_required");
    const stream = new StreamReader(
      await session.send({ jsonrpc: "2.0", id: "r", method: "tasks/result", params: { taskId } }),
    );
    const question = await stream.next();
    expect(question).toMatchObject({ method: "elicitation/create", params: { _meta: related(taskId) } });
    await session.send({ jsonrpc: "2.0", id: question.id, result: { action: "accept", content: { name: "Ada" } } });
    expect(await stream.next()).toMatchObject({ id: "r", result: { _meta: related(taskId) } });
    expect(await status()).toBe("completed");
  });

  test("belongs only to its session and ends with it", async () => {
    const { url, service } = await startHttp();
    const [owner, other] = [await Session.open(url), await Session.open(url)];
    const { taskId } = (await owner.call("hang", { tag: "t" }, { task: {} })).last.result.task;
    expect((await other.request("tasks/get", { taskId })).last.error).toMatchObject({ code: -32602 });
    expect((await other.request("tasks/list")).last.result.tasks).toEqual([]);
    await owner.delete();
    await until(() => service.aborted.includes("t"));
  });

  test("can be cancelled, and fails with its call's error", async () => {
    const { url, service } = await startHttp({ service: createTestService({ echo: "forbidden" }) });
    const session = await Session.open(url);
    const { taskId } = (await session.call("hang", { tag: "t" }, { task: {} })).last.result.task;
    expect((await session.request("tasks/cancel", { taskId })).last.result).toMatchObject({ status: "cancelled" });
    await until(() => service.aborted.includes("t"));
    const failed = (await session.call("broken", {}, { task: {} })).last.result.task;
    const { last } = await session.request("tasks/result", { taskId: failed.taskId });
    expect(last.error).toMatchObject({ code: -32603, message: "Internal error." });
    expect((await session.call("echo", {}, { task: {} })).last.error).toMatchObject({ code: -32601 });
  });

  test("is unknown in older revisions", async () => {
    const { url } = await startHttp();
    const session = await Session.open(url, { revision: "2025-06-18" });
    expect((await session.request("tasks/list")).last.error).toMatchObject({ code: -32601 });
    expect(textOf(await session.call("echo", { text: "plain" }, { task: {} }))).toBe("plain");
  });
});
