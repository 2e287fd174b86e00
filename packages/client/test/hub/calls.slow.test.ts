import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { openHub } from "../../src/index.js";
import { configOf, http, stdio } from "./fixtures.js";

describe("calling a tool", () => {
  it.each(["hello.hello", "mcp__hello__hello", "hello-hello", "mcp://hello/hello", "hello_hello"])(
    "works by the name %s",
    async (name) => {
      await using hub = await openHub(configOf(stdio("hello")));
      expect(await hub.call(name, { name: "Ada" })).toMatchObject({
        server: "hello",
        tool: "hello",
        isError: false,
        text: "Hello, Ada!",
      });
    },
  );

  it("works over Streamable HTTP, over configured HTTP+SSE, and over detected HTTP+SSE", async () => {
    await using modern = await startServer("hello", ["--http"]);
    await using old = await startServer("hello", ["--sse"]);
    await using hub = await openHub(
      configOf(http("modern", modern.url), http("sse", old.url, { type: "sse" }), http("found", old.url)),
    );
    expect(hub.status().map(({ name, state, revision }) => [name, state, revision])).toEqual([
      ["found", "connected", "2025-11-25"],
      ["modern", "connected", "2026-07-28"],
      ["sse", "connected", "2025-11-25"],
    ]);
    for (const name of ["modern", "sse", "found"]) {
      expect((await hub.call({ server: name, tool: "hello" }, { name })).text).toBe(`Hello, ${name}!`);
    }
  });

  it("falls back to Streamable HTTP if an sse entry names such an endpoint", async () => {
    await using server = await startServer("hello", ["--http"]);
    await using hub = await openHub(configOf(http("hello", server.url, { type: "sse" })));
    expect((await hub.call("hello.hello")).text).toBe("Hello, world!");
  });

  it("returns isError as a result, not as a rejection", async () => {
    await using hub = await openHub(configOf(stdio("hello")));
    expect(await hub.callTool("hello", "no-such-tool", {})).toMatchObject({ isError: true });
  });

  it("rejects an unknown tool or server with the nearest name", async () => {
    await using hub = await openHub(configOf(stdio("hello")));
    await expect(hub.call("hello.helo")).rejects.toMatchObject({
      code: "TOOL_NOT_FOUND",
      hint: "Did you mean hello.hello?",
    });
    await expect(hub.callTool("helo", "hello", {})).rejects.toMatchObject({
      code: "SERVER_NOT_FOUND",
      hint: "Did you mean hello?",
    });
  });

  it("hides and refuses tools that the configuration denies", async () => {
    await using hub = await openHub(configOf(stdio("hello", [], { tools: { allow: ["*e*"], deny: ["rep*"] } })));
    expect(hub.tools().map(({ tool }) => tool)).toEqual(["hello"]);
    await expect(hub.callTool("hello", "repeat", {})).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("keeps unknown fields in the results and lists of a %s server", async (_, args) => {
    await using hub = await openHub(configOf(stdio("strange", args)));
    const hologram = { type: "hologram", depth: 3, nested: { kept: true } };
    const { raw, text } = await hub.call("strange.show");
    expect(raw).toMatchObject({
      content: [{ type: "text", text: "seen", weight: 7 }, hologram],
      structuredContent: { a: 1 },
      temperature: 21,
      _meta: { "acme/trace": "t-1" },
    });
    expect(text).toBe(`seen\n${JSON.stringify(hologram)}`);
    expect(hub.tools()[0]?.raw).toMatchObject({ name: "show", colour: "green" });
    expect(await hub.request("strange", "prompts/get", { name: "riddle" })).toMatchObject({
      messages: [{ content: hologram }],
      mood: "dark",
    });
    expect(await hub.request("strange", "resources/read", { uri: "strange://thing" })).toMatchObject({
      contents: [{ smell: "pine" }],
    });
  });
});

describe("any other request", () => {
  it("is passed on, or rejected locally if the server's revision does not define it", async () => {
    await using hub = await openHub(configOf(stdio("modern"), stdio("old")));
    expect(await hub.request("old", "ping")).toEqual({});
    await expect(hub.request("modern", "ping")).rejects.toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining("Revision 2026-07-28 does not define method ping"),
    });
    // No revision defines this method, so the server decides.
    await expect(hub.request("old", "acme/extension")).rejects.toMatchObject({
      code: "UPSTREAM",
      data: { code: -32601 },
    });
  });
});

describe("time", () => {
  it("stops the work of a call that takes too long, and keeps the connection", async () => {
    await using hub = await openHub(configOf(stdio("slow")));
    await expect(
      hub.call("slow.wait", { ms: 60_000, progress_every_ms: 60_000 }, { timeoutMs: 200 }),
    ).rejects.toMatchObject({ code: "TIMEOUT" });
    // The server notices the cancellation at its next step, which may come after this call.
    await expect.poll(async () => (await hub.call("slow.cancelled_count")).text).toBe("1");
  });

  it("is extended by progress, which is passed on", async () => {
    await using hub = await openHub(configOf(stdio("slow")));
    const seen: number[] = [];
    const result = await hub.call(
      "slow.wait",
      { ms: 1_200, progress_every_ms: 100 },
      { timeoutMs: 600, onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(result.isError).toBe(false);
    expect(seen.length).toBeGreaterThan(3);
  });

  it("ends a call when its signal aborts, and tells the server", async () => {
    await using hub = await openHub(configOf(stdio("slow")));
    const controller = new AbortController();
    const call = hub.call(
      "slow.wait",
      { ms: 60_000, progress_every_ms: 20 },
      { signal: controller.signal, onProgress: () => controller.abort("enough") },
    );
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await expect.poll(async () => (await hub.call("slow.cancelled_count")).text).toBe("1");
  });

  it.each(["stdio", "http"])("limits connecting to a server that never answers over %s", async (transport) => {
    await using server = transport === "http" ? await startServer("silent", ["--http"]) : undefined;
    const silent =
      server === undefined
        ? stdio("silent", [], { connectTimeoutMs: 500 })
        : http("silent", server.url, { connectTimeoutMs: 500 });
    await using hub = await openHub(configOf(silent, stdio("hello")));
    expect(hub.status().map(({ name, state, error }) => [name, state, error?.code, error?.data?.cause])).toEqual([
      ["hello", "connected", undefined, undefined],
      ["silent", "failed", "TIMEOUT", "timeout"],
    ]);
    expect((await hub.call("hello.hello")).text).toBe("Hello, world!");
  });
});

describe("lists", () => {
  it.each([
    ["plain", 6],
    ["empty", 6],
    // The same cursor returns the same page again: earlier items are kept, and the list ends.
    ["repeated", 4],
  ])("are read to the end with a %s last cursor", async (cursor, count) => {
    await using hub = await openHub(configOf(stdio("paging", ["--cursor", cursor, "--pages", "3", "--per-page", "2"])));
    const [status] = hub.status();
    expect(status).toMatchObject({ state: "connected", toolCount: count, resourceCount: count, promptCount: count });
  });

  it("are read again when the server says they changed, and listeners are notified", async () => {
    await using hub = await openHub(
      configOf(stdio("modern"), stdio("modern", ["--accept-legacy"], { name: "legacy" })),
    );
    for (const server of ["modern", "legacy"]) {
      const before = hub.tools().filter((tool) => tool.server === server).length;
      const changed = new Promise<void>((resolve) => {
        const stop = hub.onCatalogChanged(() => {
          stop();
          resolve();
        });
      });
      await hub.callTool(server, "grow", {});
      await changed;
      expect(hub.tools().filter((tool) => tool.server === server)).toHaveLength(before + 1);
    }
  });
});

describe("hostile servers", () => {
  it.each([["stdio"], ["http"]])("can write noise over %s", async (transport) => {
    await using server = transport === "http" ? await startServer("garbled", ["--http"]) : undefined;
    await using hub = await openHub(configOf(server === undefined ? stdio("garbled") : http("garbled", server.url)));
    expect(await hub.call("garbled.echo", { text: "plain" })).toMatchObject({ isError: false });
    expect((await hub.call("garbled.unicode")).isError).toBe(false);
  });

  it("can reply with arrays of JSON messages without breaking calls", async () => {
    await using server = await startServer("garbled", ["--http", "--json-array"]);
    await using hub = await openHub(configOf(http("web", server.url), stdio("garbled", ["--json-array"])));
    expect((await hub.call("web.echo", { text: "a" })).text).toContain("a");
    expect((await hub.call("garbled.echo", { text: "b" })).text).toContain("b");
  });

  it.each([["stdio"], ["http"]])("can answer with 50 MB over %s", async (transport) => {
    await using server = transport === "http" ? await startServer("flooding", ["--http"]) : undefined;
    await using hub = await openHub(configOf(server === undefined ? stdio("flooding") : http("flooding", server.url)));
    const { text } = await hub.call("flooding.big", {}, { timeoutMs: 25_000 });
    expect(text.length).toBe(50_000_000);
  });

  it("can flood logs and stderr, of which only the last lines are kept", async () => {
    await using hub = await openHub(configOf(stdio("flooding")));
    expect((await hub.call("flooding.logs")).isError).toBe(false);
    expect((await hub.call("flooding.stderr")).isError).toBe(false);
    expect(hub.status()[0]?.stderr.length).toBeLessThanOrEqual(40);
  });

  it("can support only the oldest or only the newest revision", async () => {
    await using hub = await openHub(configOf(stdio("old"), stdio("modern")));
    expect(hub.status().map(({ revision }) => revision)).toEqual(["2026-07-28", "2024-11-05"]);
  });

  it("can exit on an unknown request", async () => {
    await using hub = await openHub(configOf(stdio("old", ["--exit-on-unknown"])));
    expect((await hub.call("old.hello")).isError).toBe(false);
  });

  it("fail with an error that names their unknown revision", async () => {
    await using hub = await openHub(configOf(stdio("old", ["--version-answer", "1999-01-01"])));
    expect(hub.status()[0]).toMatchObject({
      state: "failed",
      error: { code: "PROTOCOL", data: { cause: "protocol" } },
    });
    expect(hub.status()[0]?.error?.message).toContain("1999-01-01");
  });
});
