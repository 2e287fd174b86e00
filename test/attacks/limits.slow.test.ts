// One bad server costs only itself: what it sends is bounded in size, depth, number and rate.

import { type Hub, openHub, type ServerDefinition } from "@trunkline/client";
import { createLogger, type ToolProgress } from "@trunkline/core";
import { answeredId } from "@trunkline/protocol";
import { describe, expect, it, vi } from "vitest";
import { LargeMessages } from "../../packages/client/src/results/large-messages.js";
import { EventReader } from "../../packages/client/src/wire/event-reader.js";
import { configOf, http, stdio } from "../../packages/client/test/hub/fixtures.js";
import { startServer } from "../servers/start.js";

const LIMIT = 256 * 1024;

interface Connected extends AsyncDisposable {
  readonly definition: ServerDefinition;
}

/** The hostile server, behind each transport and each way to send an answer. */
const WAYS: readonly [string, (limit?: number) => Promise<Connected>][] = [
  ["stdio", async (limit) => overStdio([], limit)],
  ["stdio, with the id at the end", async (limit) => overStdio(["--id-last"], limit)],
  ["a JSON body", (limit) => overHttp([], limit)],
  ["a compressed JSON body", (limit) => overHttp(["--gzip"], limit)],
  ["an event stream", (limit) => overHttp(["--stream"], limit)],
  ["a compressed event stream", (limit) => overHttp(["--stream", "--gzip"], limit)],
  ["HTTP+SSE", (limit) => overHttp(["--sse"], limit)],
];

function overStdio(args: readonly string[], maxMessageBytes = LIMIT): Connected {
  const definition = stdio("hostile", args, { maxMessageBytes, connectTimeoutMs: 60_000, callTimeoutMs: 120_000 });
  return { definition, [Symbol.asyncDispose]: async () => {} };
}

async function overHttp(args: readonly string[], maxMessageBytes = LIMIT): Promise<Connected> {
  const server = await startServer("hostile", args);
  const settings = { maxMessageBytes, connectTimeoutMs: 60_000, callTimeoutMs: 120_000 };
  const definition = http("hostile", server.url, settings);
  return {
    definition: args.includes("--sse") ? { ...definition, type: "sse" } : definition,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function echoOf(hub: Hub): Promise<string> {
  return (await hub.call("hostile.echo", { text: "still here" })).text;
}

describe.each(WAYS)("over %s", (way, connect) => {
  it("an answer over the limit fails only its own call", async () => {
    await using server = await connect();
    await using hub = await openHub(configOf(server.definition));
    const { pid } = hub.status()[0] ?? {};
    await expect(hub.call("hostile.big", { bytes: 3 * LIMIT })).rejects.toMatchObject({
      code: "RESULT_TOO_LARGE",
      message: `tools/call on "hostile" failed: the server's answer is larger than 256 KB.`,
      hint: expect.stringContaining("maxMessageBytes"),
    });
    expect(await echoOf(hub)).toBe("still here");
    expect(hub.status()[0]?.pid).toBe(pid);
  });

  it("an answer just under the limit arrives whole", async () => {
    await using server = await connect();
    await using hub = await openHub(configOf(server.definition));
    const { text } = await hub.call("hostile.big", { bytes: LIMIT - 4_096 });
    expect(text.length).toBeGreaterThan(LIMIT - 8_192);
  });

  it("an answer that never ends fails its call, and the server is usable again", async () => {
    await using server = await connect();
    await using hub = await openHub(configOf(server.definition));
    const code = way.includes("id at the end") ? "SERVER_EXITED" : "RESULT_TOO_LARGE";
    await expect(hub.callTool("hostile", "endless", {}, { task: false })).rejects.toMatchObject({ code });
    if (way !== "HTTP+SSE") expect(await echoOf(hub)).toBe("still here");
  });

  it.each(["text", "structured"])("an answer with deep nesting (%s) does not overflow the stack", async (as) => {
    await using server = await connect(4 * 1024 * 1024);
    await using hub = await openHub(configOf(server.definition));
    const called = hub.call("hostile.deep", { levels: 100_000, as });
    if (as === "text") expect((await called).isError).toBe(false);
    else {
      await expect(called).rejects.toMatchObject({
        code: "PROTOCOL",
        message: `tools/call on "hostile" failed: the server's answer is nested more than 500 levels deep.`,
      });
    }
    expect(await echoOf(hub)).toBe("still here");
  });
});

describe("a flood of notifications", () => {
  const FLOODED: typeof WAYS = WAYS.filter(([way]) => ["stdio", "an event stream", "HTTP+SSE"].includes(way));

  it.each(FLOODED)("of progress over %s is thinned out, and the last report arrives", async (_, connect) => {
    await using server = await connect();
    await using hub = await openHub(configOf(server.definition));
    const reports: ToolProgress[] = [];
    const count = 5_000;
    await hub.call("hostile.progress", { count }, { onProgress: (progress) => void reports.push(progress) });
    expect(reports.at(-1)).toMatchObject({ progress: count, total: count });
    expect(reports.length).toBeLessThan(count / 4);
  });

  it.each(FLOODED)("of a few reports over %s arrives in full", async (_, connect) => {
    await using server = await connect();
    await using hub = await openHub(configOf(server.definition));
    const reports: number[] = [];
    await hub.call("hostile.progress", { count: 40 }, { onProgress: ({ progress }) => void reports.push(progress) });
    expect(reports).toEqual(Array.from({ length: 40 }, (_each, index) => index + 1));
  });

  it("of changed lists causes few listings", async () => {
    await using server = overStdio([]);
    await using hub = await openHub(configOf(server.definition));
    for (let round = 0; round < 20; round++) await hub.call("hostile.changes", { count: 200 });
    const [tool] = hub.tools();
    expect(Number(/\d+/.exec(tool?.description ?? "")?.[0])).toBeLessThan(20);
  });
});

describe("a stream of more notifications than anyone could want", () => {
  const events = (count: number) => Buffer.from('data: {"jsonrpc":"2.0","method":"x"}\n\n'.repeat(count));

  it("is read no further until time has passed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const large = new LargeMessages("hostile");
    try {
      const reader = new EventReader({
        maxMessageBytes: 1024 * 1024,
        large,
        onMessage: () => {},
        onNoise: () => {},
        onRefused: () => {},
        onEnd: () => {},
      });
      expect(reader.onData(events(1_000))).toBeUndefined();
      // Nothing more is read until this settles.
      let hasSettled = false;
      const slowed = reader.onData(events(1_000))?.then(() => {
        hasSettled = true;
      });
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(hasSettled).toBe(false);
      vi.advanceTimersByTime(100);
      await slowed;
      expect(hasSettled).toBe(true);
    } finally {
      vi.useRealTimers();
      await large.close();
    }
  });
});

describe("a server that lists far too much", () => {
  async function listed(args: readonly string[]) {
    const log: string[] = [];
    const logger = createLogger({ level: "warn", write: (line) => void log.push(line) });
    await using server = overStdio(args, 64 * 1024 * 1024);
    await using hub = await openHub(configOf(server.definition, stdio("hello")), { logger });
    const tools = hub.tools().filter(({ server: name }) => name === "hostile");
    expect((await hub.call("hello.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
    return { count: tools.length, names: tools.map(({ tool }) => tool), warnings: log.join("") };
  }

  it("keeps its first 10,000 of 50,000 tools, with a warning", async () => {
    const { count, names, warnings } = await listed(["--tools", "50000"]);
    expect(count).toBe(10_000);
    expect(names).toContain("echo");
    expect(warnings).toMatch(/list is too long; using its first 10000 items.*hostile/s);
  });

  it("keeps only 16 MB of definitions", async () => {
    const { names, warnings } = await listed(["--schema-bytes", "20000000"]);
    expect(names).toContain("echo");
    expect(names).not.toContain("wide");
    expect(warnings).toMatch(/list is too long.*hostile/s);
  });

  it("loses its tools, and nothing else, if a schema is nested too deeply", async () => {
    const { count, warnings } = await listed(["--schema-levels", "50000"]);
    expect(count).toBe(0);
    expect(warnings).toMatch(/nested more than 500 levels/);
  });

  it("is cut off if its pages do not end", async () => {
    const { count, warnings } = await listed(["--pages", "endless", "--tools", "3000"]);
    expect(count).toBe(10_000);
    expect(warnings).toMatch(/list is too long/);
  });
});

describe("the id of an answer that is too large to parse", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"x', "", 7],
    ['{ "id" : "a\\"b" , "jsonrpc" : "2.0", "result" : {', "", 'a"b'],
    ['{"id":7,"error":{"message":"', "", 7],
    ['{"result":{"content":[', '"}]},"jsonrpc":"2.0","id":8}', 8],
    ['{"jsonrpc":"2.0","result":{"content":[', '"}]},"id":"8"} ', "8"],
    // Not an answer: a question of the server, and its parameters.
    ['{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{', "", undefined],
    ['{"jsonrpc":"2.0","method":"x","params":{"result":', ',"id":7}}', undefined],
    ['{"method":"x","params":{', '},"jsonrpc":"2.0","id":7}', undefined],
    // The id of something inside the answer.
    ['{"jsonrpc":"2.0","result":{"items":[', '{"name":"x","id":9}]}}', undefined],
  ])("is found at the beginning or the end of %s", (start, end, id) => {
    expect(answeredId(start, end)).toBe(id);
  });
});
