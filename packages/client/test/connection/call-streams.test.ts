import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startDeadline } from "@trunkline/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { runInCall } from "../../src/channel/in-flight.js";
import { endedWithCalls } from "../../src/connection/call-streams.js";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";
import { Told } from "../hub/told.js";

const EVENTS = { "content-type": "text/event-stream" };

/** A legacy HTTP server whose tool never answers. `begin` starts the response to its call. */
async function silentServer(begin: (response: ServerResponse, id: unknown) => void) {
  const ended = new Told<string>();
  const methods: string[] = [];
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "silent", version: "1" },
    },
    "tools/list": { tools: [{ name: "wait", inputSchema: { type: "object" } }] },
  };
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    for await (const chunk of request) text += chunk;
    const { id, method } = JSON.parse(text);
    methods.push(method);
    if (method === "tools/call") {
      response.on("close", () => ended.tell("closed"));
      return begin(response, id);
    }
    const result = results[method];
    if (result !== undefined) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } }));
  };
  const server = createServer((request, response) => void receive(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    ended,
    methods,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a call that has timed out", () => {
  it.each<[string, (response: ServerResponse, id: unknown) => void]>([
    ["before its response has begun", () => {}],
    ["while its stream is silent", (response) => void response.writeHead(200, EVENTS).flushHeaders()],
    ["on a stream that could be resumed", (response) => void response.writeHead(200, EVENTS).write("id: 1\ndata:\n\n")],
    [
      "in the middle of its answer",
      (response, id) => void response.writeHead(200, EVENTS).write(`data: {"jsonrpc":"2.0","id":${id},`),
    ],
  ])("%s leaves no connection to the server, which is told that it was cancelled", async (_, begin) => {
    await using server = await silentServer(begin);
    await using hub = await openHub(configOf(http("silent", server.url)));
    await expect(hub.call("silent.wait", {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(await server.ended.next()).toBe("closed");
    // The next call comes after the cancellation on the same connection to the server.
    await expect(hub.call("silent.wait", {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(server.methods).toContain("notifications/cancelled");
  });
});

describe("the event stream of a call", () => {
  /** Sends a request in a call and returns its response, and what has become of the request. */
  async function sent(events: readonly string[]) {
    const caller = new AbortController();
    const closing = new AbortController();
    const deadline = startDeadline({ what: "a call", timeoutMs: 60_000, signal: caller.signal });
    onTestFinished(() => deadline[Symbol.dispose]());
    let request: AbortSignal | undefined;
    const server = new TransformStream<Uint8Array, Uint8Array>();
    const writer = server.writable.getWriter();
    for (const event of events) void writer.write(new TextEncoder().encode(event)).catch(() => {});
    const fetch = endedWithCalls(async (_url, init) => {
      request = init?.signal ?? undefined;
      request?.addEventListener("abort", () => void writer.abort().catch(() => {}));
      return new Response(server.readable, { headers: EVENTS });
    });
    const call = { channel: undefined, deadline, questions: 0, open: new Set<string>() };
    const init = { method: "POST", body: '{"jsonrpc":"2.0","id":7,"method":"tools/call"}', signal: closing.signal };
    const response = await runInCall(call, () => fetch("http://127.0.0.1/mcp", init));
    return { response, caller, closing, writer, isAborted: () => request?.aborted };
  }

  it("arrives unchanged if the call is not cancelled", async () => {
    const { response, writer } = await sent(["data: 1\n\n", "data: 2\n\n"]);
    void writer.close();
    expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("ends with an answer when the call is cancelled, so that it is not resumed", async () => {
    const { response, caller, isAborted } = await sent(["id: 1\ndata:\n\n"]);
    const text = response.text();
    caller.abort();
    expect(await text).toMatch(/\n\ndata: \{"jsonrpc":"2.0","id":7,"error":\{.*\}\}\n\n$/);
    expect(isAborted()).toBe(true);
  });

  it("ends with the connection, too", async () => {
    const { response, closing, isAborted } = await sent(["data: 1\n\n"]);
    const text = response.text();
    closing.abort();
    await expect(text).rejects.toThrow();
    expect(isAborted()).toBe(true);
  });
});
