// Large results are read, measured and stored off the main thread, in time and memory that grow with their size.
import type { LargeValue } from "@trunkline/core";
import { encodeMessage, JsonBytes } from "@trunkline/protocol";
import { describe, expect, it, vi } from "vitest";
import { LargeMessages } from "../../packages/client/src/results/large-messages.js";
import { http, stdio } from "../../packages/client/test/hub/fixtures.js";
import { testExchange, testService } from "../../packages/gateway/test/service/support.js";
import { startServer } from "../servers/start.js";

const SLOW = { connectTimeoutMs: 120_000, callTimeoutMs: 240_000 };
const MB = 1024 * 1024;

type Service = ReturnType<typeof testService>["service"];

async function query(service: Service, steps: readonly object[]): Promise<Record<string, unknown>> {
  const result = await service.handle("tools/call", { name: "query", arguments: { steps } }, testExchange());
  return result.structuredContent as Record<string, unknown>;
}

describe("a large answer", () => {
  it("is overtaken by calls that are answered after it", async () => {
    await using set = testService([stdio("hostile", [], SLOW)], { surface: "direct" });
    const order: string[] = [];
    const call = async (tool: string, params: object) => {
      await set.service.handle("tools/call", { name: `mcp__hostile__${tool}`, arguments: params }, testExchange());
      order.push(tool);
    };
    await (await set.hub()).connect();
    // Both answers arrive together, the large one first.
    await Promise.all([
      call("list", { bytes: 3_000_000, as: "structured", held: true }),
      call("echo", { text: "right behind it" }),
    ]);
    expect(order).toEqual(["echo", "list"]);
  });

  it.each(["composite", "direct"] as const)("is not parsed on the main thread (%s)", async (surface) => {
    await using set = testService([stdio("hostile", [], SLOW)], { surface });
    await (await set.hub()).connect();
    const parse = vi.spyOn(JSON, "parse");
    try {
      const params = { bytes: 3_000_000, as: "structured" };
      if (surface === "composite") await query(set.service, [{ op: "hostile.list", params }]);
      else {
        const call = { name: "mcp__hostile__list", arguments: params };
        await set.service.handle("tools/call", call, testExchange());
      }
      expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(MB);
    } finally {
      parse.mockRestore();
    }
  });

  it("that never ends, beside floods of notifications, leaves a healthy server usable", async () => {
    const floods = ["progress", "logs", "changes"].map((name) => stdio("hostile", [], { ...SLOW, name }));
    const endless = stdio("hostile", [], { ...SLOW, name: "endless", maxMessageBytes: 512_000_000 });
    await using set = testService([...floods, endless, stdio("hello", [], SLOW)]);
    const hub = await set.hub();
    await hub.connect();
    const stop = new AbortController();
    const hostile = [...floods, endless].map(({ name }) =>
      hub.callTool(name, name, { count: 1e9 }, { signal: stop.signal, onProgress: () => {} }).catch(() => "ended"),
    );
    for (let number = 1; number <= 5; number++) {
      expect((await hub.call("hello.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
    }
    stop.abort();
    await Promise.all(hostile);
  });

  it.each(["text", "structured"])("of many small values (%s) is cut, stored whole and readable", async (as) => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const bytes = 3_000_000;
    const answer = await query(set.service, [{ op: "hostile.list", params: { bytes, as } }]);
    expect(answer).toMatchObject({
      truncated: true,
      hint: expect.stringMatching(/of 1000001 items/),
    });
    const store = await set.store();
    const [id] = await store.resolve(String(answer.hash));
    const stored = JSON.parse(Buffer.from(await store.get(id as never)).toString("utf8"));
    expect((as === "text" ? stored : stored.items).length).toBe(bytes / 3 + 1);
  });

  it("can be referred to by later steps", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const answer = await query(set.service, [
      { op: "hostile.list", params: { bytes: 3_000_000, as: "structured" }, as: "big" },
      { op: "hostile.echo", params: { text: "{{$big.items[7]}} {{$big.nothing}} {{$big.items[-1]}}" } },
      { op: "hostile.echo", params: { text: "$hash:$big.hash" } },
    ]);
    const [, echoed, content] = answer.steps as { result: Record<string, unknown> }[];
    expect(echoed?.result).toEqual({ text: "{} null {}" });
    expect(content?.result).toMatchObject({ truncated: true, items: expect.any(Array) });
  });

  it("of one long text is stored as that text", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const answer = await query(set.service, [{ op: "hostile.big", params: { bytes: 5_000_000 } }]);
    expect(answer.text).toMatch(/^The quick brown fox/);
    const store = await set.store();
    const [id] = await store.resolve(String(answer.hash));
    const stored = Buffer.from(await store.get(id as never)).toString("utf8");
    expect(stored.length).toBeGreaterThan(4_999_900);
    expect(stored.startsWith("The quick brown fox jumps over the lazy dog. The")).toBe(true);
  });

  it("with a large image lists the image with a handle to its bytes", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const answer = await query(set.service, [{ op: "hostile.image", params: { bytes: 4 * MB } }]);
    expect(answer).toMatchObject({
      text: "a picture",
      blocks: [{ type: "image", mimeType: "image/png", size: 3 * MB, truncated: true, hash: expect.any(String) }],
    });
    const [image] = answer.blocks as { hash: string }[];
    const store = await set.store();
    const [id] = await store.resolve(String(image?.hash));
    const stored = Buffer.from(await store.get(id as never));
    expect(stored.subarray(0, 12).toString()).toBe("hello!hello!");
    expect(stored.length).toBe(3 * MB);
  });

  const ways: readonly [string, readonly string[]][] = [
    ["stdio", []],
    ["a JSON body", ["--http"]],
    ["an event stream", ["--http", "--stream"]],
    ["HTTP+SSE", ["--sse"]],
  ];
  it.each(ways)("is passed on by the direct surface as it is, over %s", async (_, args) => {
    await using server = args.length === 0 ? undefined : await startServer("hostile", args);
    const definition =
      server === undefined
        ? stdio("hostile", [], SLOW)
        : { ...http("hostile", server.url, SLOW), type: args.includes("--sse") ? ("sse" as const) : ("http" as const) };
    await using set = testService([definition], { surface: "direct" });
    const bytes = 3_000_000;
    const result = await set.service.handle(
      "tools/call",
      { name: "mcp__hostile__list", arguments: { bytes, as: "structured" } },
      testExchange(),
    );
    expect(result.structuredContent).toBeInstanceOf(JsonBytes);
    const sent = JSON.parse(Buffer.from(encodeMessage({ jsonrpc: "2.0", id: 5, result })).toString("utf8"));
    expect(sent).toMatchObject({ jsonrpc: "2.0", id: 5, result: { content: [] } });
    expect(sent.result.structuredContent.items.length).toBe(bytes / 3 + 1);
  });

  it("reaches a program that calls the hub as an ordinary value", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const hub = await set.hub();
    const { raw } = await hub.callTool("hostile", "list", { bytes: 3_000_000, as: "structured" });
    expect((raw.structuredContent as { items: unknown[] }).items.length).toBe(1_000_001);
    expect(raw._meta).toBeUndefined();
  });
});

describe("the thread for large messages", () => {
  const message = (result: unknown) => Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));

  it("answers about one server's messages only, and survives what it cannot read", async () => {
    const messages = new LargeMessages("hostile");
    try {
      const deep = Buffer.from(`{"jsonrpc":"2.0","id":4,"result":{"x":${"[".repeat(1e6)}${"]".repeat(1e6)}}}`);
      expect(await messages.open(deep)).toEqual({ kind: "refused", id: 4, reason: "tooDeep" });
      const broken = Buffer.from(`{"jsonrpc":"2.0","id":4,"result":{"x":[${"1,".repeat(1e6)}]}}`);
      expect(await messages.open(broken)).toMatchObject({ kind: "refused", reason: "invalid" });
      const many = Buffer.from(`{"jsonrpc":"2.0","method":"x","params":{"x":[${"1,".repeat(1e6)}1]}}`);
      expect(await messages.open(many)).toMatchObject({ kind: "refused", reason: "tooLarge" });
      const blocks = Array.from({ length: 100_000 }, () => ({ type: "odd" }));
      const opened = await messages.open(message({ content: blocks, isError: false }));
      if (opened.kind !== "result") throw new Error(opened.kind);
      const outcome = await opened.handle.outcome();
      expect(outcome.blocks.length).toBeLessThan(100);
      const rest = (await (outcome.blocks.at(-1) as LargeValue).whole()) as unknown[];
      expect(rest.length + outcome.blocks.length - 1).toBe(blocks.length);
    } finally {
      await messages.close();
    }
  });

  it("cannot be claimed by a server: what its result says about itself is data", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const hub = await set.hub();
    const forged = { "trunkline/large": "0", "Symbol(large fields)": {} };
    const { raw } = await hub.callTool("hostile", "echo", { text: "mine", forged });
    expect(raw).toEqual({ content: [{ type: "text", text: "mine" }], _meta: forged });
  });
});
