// The servers built on the SDK, driven by the SDK's client in both eras.

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseTransportV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { describe, expect, test } from "vitest";
import { startServer } from "../servers/start.js";
import { type Era, initialize, type Over, open, openLines, post, textOf } from "./clients.js";

const everywhere: { over: Over; era: Era }[] = [
  { over: "stdio", era: "legacy" },
  { over: "stdio", era: "modern" },
  { over: "http", era: "legacy" },
  { over: "http", era: "modern" },
  { over: "sse", era: "legacy" },
];
const crossed = everywhere.filter(({ over, era }) => (over === "stdio") === (era === "legacy") && over !== "sse");
const bothEras = everywhere.filter(({ over }) => over !== "sse");

describe("hello", () => {
  test.each(everywhere)("greets and repeats over $over in the $era era", async ({ over, era }) => {
    await using opened = await open("hello", { over, era });
    const { client } = opened;
    expect(client.getProtocolEra()).toBe(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["hello", "repeat"]);

    const call = async (name: string, args = {}) => textOf(await client.callTool({ name, arguments: args }));
    expect(await call("hello")).toBe("Hello, world!");
    expect(await call("hello", { name: "Ada" })).toBe("Hello, Ada!");
    expect(await call("repeat", { text: "ho" })).toBe("ho ho");
    expect(await call("repeat", { text: "ho", count: 0 })).toBe("ho");
    expect(await call("repeat", { text: "ho", count: 9 })).toBe("ho ho ho ho ho");
  });

  test("answers an unknown tool and a bad argument with isError results", async () => {
    await using opened = await open("hello");
    const { client } = opened;
    expect(await client.callTool({ name: "nothing" })).toMatchObject({ isError: true });
    expect(await client.callTool({ name: "repeat", arguments: { text: 1 } })).toMatchObject({ isError: true });
  });

  test("says Hi when GREETING=short is in its environment", async () => {
    await using opened = await open("hello", { env: { GREETING: "short" } });
    expect(textOf(await opened.client.callTool({ name: "hello" }))).toBe("Hi, world!");
  });

  test("gives legacy HTTP clients a session, a GET stream and a way to end the session", async () => {
    await using server = await startServer("hello");
    const started = await post(server.url, initialize);
    const session = { "mcp-session-id": started.headers.get("mcp-session-id") ?? "" };
    expect(session["mcp-session-id"]).not.toBe("");

    const stop = new AbortController();
    const headers = { ...session, accept: "text/event-stream" };
    const stream = await fetch(server.url, { headers, signal: stop.signal });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    stop.abort();

    expect((await fetch(server.url, { method: "DELETE", headers: session })).status).toBe(200);
    expect((await post(server.url, { ...initialize, method: "tools/list" }, session)).status).toBe(404);
    expect((await post(server.url, { ...initialize, method: "tools/list" })).status).toBe(400);
  });

  test("understands the v1 SDK's client over HTTP+SSE", async () => {
    await using server = await startServer("hello", ["--sse"]);
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(new SseTransportV1(new URL(server.url)));
    expect(textOf(await client.callTool({ name: "hello" }))).toBe("Hello, world!");
    await client.close();
  });

  test("exits with 0 on SIGTERM, on SIGINT and when its input closes", async () => {
    const codes = await Promise.all(
      (["SIGTERM", "SIGINT", "input"] as const).map(async (how) => {
        await using lines = openLines("hello");
        lines.send(initialize);
        await lines.next();
        if (how === "input") lines.child.stdin?.end();
        else lines.child.kill(how);
        return await lines.exited;
      }),
    );
    expect(codes).toEqual([0, 0, 0]);
  });
});

describe("slow", () => {
  test.each(bothEras)("stops a cancelled wait and counts it over $over in the $era era", async ({ over, era }) => {
    await using opened = await open("slow", { over, era });
    const { client } = opened;
    const stop = new AbortController();
    const progressed = new Promise<void>((resolve) => {
      const call = client.callTool(
        { name: "wait", arguments: { ms: 60_000, progress_every_ms: 10 } },
        { signal: stop.signal, onprogress: () => resolve() },
      );
      call.catch(() => {});
    });
    await progressed;
    stop.abort();
    await opened.stderrContains("cancelled ");
    expect(textOf(await client.callTool({ name: "cancelled_count" }))).toBe("1");
  });

  test("waits as long as it is told and reports progress", async () => {
    await using opened = await open("slow");
    const progress: number[] = [];
    const result = await opened.client.callTool(
      { name: "wait", arguments: { ms: 60, progress_every_ms: 20 } },
      { onprogress: (update) => void progress.push(update.progress) },
    );
    expect(textOf(result)).toBe("waited 60 ms");
    expect(progress.slice(0, 2)).toEqual([20, 40]);
  });

  test("answers nothing until its start delay is over", async () => {
    await using lines = openLines("slow", ["--start-delay-ms", "300"]);
    const sentAt = performance.now();
    lines.send(initialize);
    await lines.next();
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(299);
  });
});

describe("crashing", () => {
  test("answers with its pid, then dies mid-call with the given exit code", async () => {
    await using lines = openLines("crashing");
    const call = (id: number, name: string, args = {}) =>
      lines.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
    lines.send(initialize);
    await lines.next();
    call(2, "ok");
    expect(await lines.next()).toContain(`ok ${lines.child.pid}`);
    call(3, "crash", { code: 7 });
    expect(await lines.exited).toBe(7);
    expect(lines.stderr()).toContain("crashing in mid-call");
  });

  test("prints an error and exits with 3 when told to crash on start", async () => {
    await using lines = openLines("crashing", ["--crash-on-start"]);
    expect(await lines.exited).toBe(3);
    expect(lines.stderr()).toContain("crashing on start");
    await expect(startServer("crashing", ["--crash-on-start"])).rejects.toThrow("crashing on start");
  });

  test.each(["stdio", "http"] as const)("dies on the first call over its limit over %s", async (over) => {
    await using opened = await open("crashing", { over, args: ["--crash-after", "2"] });
    const { client } = opened;
    expect(textOf(await client.callTool({ name: "ok" }))).toMatch(/^ok \d+$/);
    expect(textOf(await client.callTool({ name: "ok" }))).toMatch(/^ok \d+$/);
    if (over === "stdio") await expect(client.callTool({ name: "ok" })).rejects.toThrow();
    else client.callTool({ name: "ok" }).catch(() => {});
    await opened.stderrContains("crashing in mid-call");
  });
});

describe("flooding", () => {
  test.each(["stdio", "http"] as const)("answers with the requested number of bytes over %s", async (over) => {
    await using opened = await open("flooding", { over });
    const result = await opened.client.callTool({ name: "big", arguments: { bytes: 2_000_000 } });
    expect(textOf(result)).toHaveLength(2_000_000);
  });

  test("answers with 50 MB by default", async () => {
    await using server = await startServer("flooding");
    const started = await post(server.url, initialize);
    const session = { "mcp-session-id": started.headers.get("mcp-session-id") ?? "" };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "big" } };
    const body = await (await post(server.url, call, session)).arrayBuffer();
    expect(body.byteLength).toBeGreaterThan(50_000_000);
  });

  test("sends 10,000 log messages before its result", async () => {
    let logs = 0;
    await using opened = await open("flooding", {
      prepare: (client) =>
        client.setNotificationHandler("notifications/message", () => {
          logs += 1;
        }),
    });
    expect(textOf(await opened.client.callTool({ name: "logs" }))).toBe("sent 10000 log messages");
    expect(logs).toBe(10_000);
  });

  test("floods stderr before its result", async () => {
    await using opened = await open("flooding");
    const result = await opened.client.callTool({ name: "stderr", arguments: { bytes: 300_000 } });
    expect(textOf(result)).toBe("wrote 300000 bytes to stderr");
  });
});

describe("paging", () => {
  test.each(crossed)("lists everything in pages over $over in the $era era", async ({ over, era }) => {
    await using opened = await open("paging", { over, era, args: ["--pages", "2", "--per-page", "3"] });
    const { client } = opened;
    const first = await client.request({ method: "tools/list" });
    expect(first.tools.map(({ name }) => name)).toEqual(["tool_1", "tool_2", "tool_3"]);
    const last = await client.request({ method: "tools/list", params: { cursor: first.nextCursor } });
    expect(last.tools.map(({ name }) => name)).toEqual(["tool_4", "tool_5", "tool_6"]);
    expect(last).not.toHaveProperty("nextCursor");

    expect((await client.listResources()).resources).toHaveLength(6);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(6);
    expect((await client.listPrompts()).prompts).toHaveLength(6);
    expect(textOf(await client.callTool({ name: "tool_6" }))).toBe("tool_6");
    expect((await client.readResource({ uri: "test://item/6" })).contents).toMatchObject([{ text: "test://item/6" }]);
    expect((await client.getPrompt({ name: "prompt_6" })).messages).toMatchObject([{ content: { text: "prompt_6" } }]);
    await expect(client.request({ method: "tools/list", params: { cursor: "nonsense" } })).rejects.toThrow("cursor");
  });

  test("ends with an empty cursor or never ends, when told to", async () => {
    await using empty = await open("paging", { args: ["--pages", "1", "--cursor", "empty"] });
    expect(await empty.client.request({ method: "tools/list" })).toMatchObject({ nextCursor: "" });

    await using repeated = await open("paging", { args: ["--pages", "2", "--cursor", "repeated"] });
    const pages = [];
    for (const params of [{}, { cursor: "again" }, { cursor: "again" }]) {
      pages.push(await repeated.client.request({ method: "prompts/list", params }));
    }
    expect(pages.map(({ nextCursor }) => nextCursor)).toEqual(["again", "again", "again"]);
    expect(pages.map(({ prompts }) => prompts[0]?.name)).toEqual(["prompt_1", "prompt_3", "prompt_3"]);
  });
});
