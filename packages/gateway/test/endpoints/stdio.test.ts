import { PassThrough } from "node:stream";
import { silentLogger } from "@trunkline/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { type StdioEndpointOptions, serveOnStdio } from "../../src/endpoints/stdio.js";
import { createTestService, until } from "../protocol/test-service.js";
import { envelope, type Message } from "./http-client.js";

function start(options: Partial<StdioEndpointOptions> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const service = createTestService();
  const stop = new AbortController();
  const done = serveOnStdio({
    service,
    logger: silentLogger,
    input,
    output,
    signal: stop.signal,
    graceMs: 200,
    ...options,
  });
  const messages: Message[] = [];
  let rest = "";
  const onData = (chunk: Buffer) => {
    rest += chunk.toString();
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    messages.push(...lines.map((line) => JSON.parse(line)));
  };
  output.on("data", onData);
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  const write = (message: unknown) => void input.write(`${JSON.stringify(message)}\n`);
  const answer = async (id: unknown): Promise<Message> => {
    const isIt = (message: Message) => message.id === id && message.method === undefined;
    await until(() => messages.some(isIt));
    return messages.find(isIt);
  };
  const request = async (id: string | number, method: string, params?: object) => {
    write({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return await answer(id);
  };
  return { input, output, onData, service, done, stop, messages, write, answer, request };
}

const initialize = (revision = "2025-11-25", capabilities: object = {}) => ({
  protocolVersion: revision,
  capabilities,
  clientInfo: { name: "old", version: "1" },
});
const call = (name: string, args: object = {}, more: object = {}) => ({ name, arguments: args, ...more });
const modernCall = (name: string, args: object = {}, capabilities: object = {}, more: object = {}) => ({
  ...call(name, args, more),
  _meta: envelope(capabilities),
});

describe("stdio", () => {
  test("serves a legacy client after its handshake", async () => {
    const { request, service, input, done } = start();
    expect((await request(0, "initialize", initialize("2025-06-18"))).result).toMatchObject({
      protocolVersion: "2025-06-18",
    });
    expect((await request("a", "ping")).result).toEqual({});
    expect((await request(2, "tools/call", call("echo", { text: "ö€😀" }))).result.content[0].text).toBe("ö€😀");
    expect((await request(3, "server/discover")).error).toMatchObject({ code: -32601 });
    input.end();
    await done;
    expect(service.released).toMatchObject([{ name: "old 1", endpoint: "stdio", lasting: true }]);
  });

  test("serves a modern client without a handshake and then rejects handshakes", async () => {
    const { request, service, input, done } = start();
    expect((await request(1, "tools/call", modernCall("echo", { text: "x" }))).result).toMatchObject({
      resultType: "complete",
    });
    expect((await request(2, "initialize", initialize())).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "2025-11-25" },
    });
    expect((await request(3, "tools/list", {})).error).toMatchObject({ code: -32602 });
    expect(service.exchanges[0]?.caller).toMatchObject({ era: "modern", lasting: true });
    input.end();
    await done;
    expect(service.released).toMatchObject([{ id: service.exchanges[0]?.caller.id }]);
  });

  test("leaves the era open after a probe", async () => {
    const { request } = start();
    expect((await request(1, "server/discover", { _meta: envelope() })).result).toMatchObject({
      supportedVersions: ["2026-07-28"],
    });
    expect((await request(2, "initialize", initialize())).result).toMatchObject({ protocolVersion: "2025-11-25" });
    expect((await request(3, "ping")).result).toEqual({});
  });

  test("rejects an invalid envelope and says what is supported", async () => {
    const { request } = start();
    const { "io.modelcontextprotocol/clientCapabilities": _, ...half } = envelope();
    expect((await request(1, "tools/list", { _meta: half })).error).toMatchObject({ code: -32602 });
    const future = { ...envelope(), "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
    expect((await request(2, "tools/list", { _meta: future })).error).toMatchObject({ code: -32022 });
    expect((await request(3, "tools/list", { _meta: envelope() })).result.tools.length).toBeGreaterThan(1);
  });

  test("answers invalid JSON and invalid messages, and continues", async () => {
    const { request, input, messages } = start();
    input.write("nonsense\n\n  \r\n[]\n5\n");
    await until(() => messages.length === 3);
    expect(messages.map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
    ]);
    expect((await request(1, "ping")).result).toEqual({});
  });

  test("skips a line that is too long and reads the next one", async () => {
    const { request, input, messages } = start();
    const part = "x".repeat(1024 * 1024);
    for (let n = 0; n <= 10; n += 1) input.write(part);
    input.write("\n");
    await until(() => messages.length === 1);
    expect(messages[0].error).toMatchObject({ code: -32700 });
    expect((await request(1, "ping")).result).toEqual({});
  });

  test("joins messages that arrive in pieces, even if split inside a character", async () => {
    const { input, answer, request } = start();
    await request(0, "initialize", initialize());
    const line = Buffer.from(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("echo", { text: "😀" }) })}\n`,
    );
    for (const byte of line) input.write(Buffer.from([byte]));
    expect((await answer(1)).result.content[0].text).toBe("😀");
  });

  test("does not answer a cancelled call, in either era", async () => {
    for (const isModern of [false, true]) {
      const { request, write, service, messages } = start();
      if (!isModern) await request(0, "initialize", initialize());
      const params = isModern ? modernCall("hang", { tag: "h" }) : call("hang", { tag: "h" });
      write({ jsonrpc: "2.0", id: 9, method: "tools/call", params });
      await until(() => service.started.includes("h"));
      write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } });
      await until(() => service.aborted.includes("h"));
      await request(10, isModern ? "server/discover" : "ping", isModern ? { _meta: envelope() } : {});
      expect(messages.some(({ id }) => id === 9)).toBe(false);
    }
  });

  test("asks a legacy client with a request, and a modern one in its answer", async () => {
    const legacy = start();
    await legacy.request(0, "initialize", initialize("2025-06-18", { elicitation: {} }));
    legacy.write({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("ask") });
    await until(() => legacy.messages.some(({ method }) => method === "elicitation/create"));
    const question = legacy.messages.find(({ method }) => method === "elicitation/create");
    expect(question.params).not.toHaveProperty("mode");
    legacy.write({ jsonrpc: "2.0", id: question.id, error: { code: -1, message: "no" } });
    expect((await legacy.answer(1)).error).toMatchObject({ message: "no" });

    const modern = start();
    const elicitation = { elicitation: {} };
    const first = (await modern.request(1, "tools/call", modernCall("ask", { key: "k" }, elicitation))).result;
    expect(first).toMatchObject({ resultType: "input_required", inputRequests: { k: {} } });
    const answered = { requestState: first.requestState, inputResponses: { k: { action: "decline" } } };
    const second = await modern.request(2, "tools/call", modernCall("ask", {}, elicitation, answered));
    expect(second.result).toMatchObject({ resultType: "complete" });
  });

  test("listens for a modern client until it cancels", async () => {
    const { request, write, messages, service } = start();
    write({
      jsonrpc: "2.0",
      id: "s",
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged: true }, _meta: envelope() },
    });
    await until(() => messages.length === 1);
    service.announce({ kind: "tools_list_changed" });
    await until(() => messages.length === 2);
    expect(messages.map(({ method }) => method)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tools/list_changed",
    ]);
    write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "s" } });
    await until(() => service.listeners === 0);
    await request(2, "server/discover", { _meta: envelope() });
    expect(messages.some(({ id }) => id === "s")).toBe(false);
  });

  test("accepts batches in the only revision that has them", async () => {
    const { request, write, messages } = start();
    await request(0, "initialize", initialize("2025-03-26"));
    write([
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 2, method: "none" },
    ]);
    await until(() => messages.length === 2);
    expect(messages[1]).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32601 } },
    ]);
  });

  test("finishes running calls when the client closes its end", async () => {
    const { request, write, input, done, messages } = start({ graceMs: 3_000 });
    await request(0, "initialize", initialize());
    write({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("wait", { ms: 100 }) });
    input.end();
    await done;
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "waited " }] } });
  });

  test("ends calls that exceed the grace period and those that have no client left to ask", async () => {
    const { request, write, input, done, service, messages } = start({ graceMs: 100 });
    await request(0, "initialize", initialize("2025-11-25", { elicitation: {} }));
    write({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("hang", { tag: "h" }) });
    write({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call("ask") });
    await until(() => messages.some(({ method }) => method === "elicitation/create"));
    input.end();
    await done;
    expect(service.aborted).toEqual(["h"]);
    expect(messages.find(({ id, method }) => id === 2 && method === undefined)).toMatchObject({ error: {} });
  });

  test("accepts nothing new from a client that does not read", async () => {
    const { request, input, output, onData, service } = start();
    await request(0, "initialize", initialize());
    output.off("data", onData).pause();
    const text = "x".repeat(10_000);
    const line = (id: number) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: call("echo", { text }) })}\n`;
    let id = 1;
    while (!input.isPaused() && id < 2_000) {
      input.write(line(id));
      id += 1;
      await new Promise(setImmediate);
    }
    expect(id).toBeLessThan(100);
    const taken = service.exchanges.length;
    for (let more = 0; more < 50; more += 1) input.write(line(5_000 + more));
    await new Promise(setImmediate);
    expect(service.exchanges.length - taken).toBeLessThan(20);
    output.on("data", onData).resume();
    await until(() => service.exchanges.length === id - 1 + 50);
  });

  test("exits quietly if the reader has disconnected", async () => {
    const { request, write, output, done, service } = start();
    await request(0, "initialize", initialize());
    write({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("hang", { tag: "h" }) });
    await until(() => service.started.includes("h"));
    output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await done;
    expect(service.aborted).toEqual(["h"]);
  });
});
