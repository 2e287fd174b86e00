import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createChannel } from "@trunkline/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { summaryOf } from "../../src/operations/upstream-operation.js";
import { type Bench, contextOf, exchangeOf, openBench, shapes, stdio } from "./support.js";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench({
    servers: [
      shapes({ readOnly: ["get_*"] }),
      stdio("hello"),
      stdio("asking"),
      stdio("slow"),
      stdio("hello", { name: "broken", command: "/nowhere/at-all" } as object),
      stdio("hello", { name: "off", disabled: true }),
    ],
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

async function outcomeOf(name: string, params = {}, exchange = exchangeOf()) {
  const operation = await bench.registry.find(name);
  return await operation.run(operation.validate(params), contextOf(exchange));
}

describe("the value of an upstream operation", () => {
  it.each([
    ["structured", { items: [{ title: "first" }] }, 1],
    ["object", { a: [1, 2] }, 0],
    ["list", [1, 2], 0],
    ["number", { text: "42" }, 0],
    ["broken", { text: "{not json" }, 0],
    ["two", { text: "one\ntwo" }, 1],
    ["picture", {}, 1],
    ["nothing", { text: "" }, 0],
  ])("%s", async (tool, value, blocks) => {
    const outcome = await outcomeOf(`shapes.${tool}`);
    expect(outcome.value).toEqual(value);
    expect(outcome.blocks?.length ?? 0).toBe(blocks);
    expect(outcome.isError).toBeUndefined();
  });

  it("is marked as an error if the tool reports a failure", async () => {
    expect(await outcomeOf("shapes.fails")).toEqual({ value: { text: "It did not work." }, isError: true });
  });
});

describe("finding upstream operations", () => {
  it("treats an operation as a read if the server or the configuration says so", async () => {
    expect(await bench.registry.find("shapes.structured")).toMatchObject({
      kind: "read",
      server: "shapes",
      summary: "Answers with structured content.",
      annotations: { readOnlyHint: true },
    });
    expect(await bench.registry.find("shapes.get_thing")).toMatchObject({ kind: "read" });
    expect(await bench.registry.find("shapes.object")).toMatchObject({ kind: "write" });
  });

  it.each([
    "shapes.get_thing",
    "mcp__shapes__get_thing",
    "shapes-get-thing",
    "mcp://shapes/get-thing",
    "shapes_get_thing",
  ])("accepts the name %s", async (name) => {
    expect(await bench.registry.find(name)).toMatchObject({ name: "shapes.get_thing" });
  });

  it.each([
    "shapes.get-thing",
    "mcp__trunkline__shapes_get_thing",
    "mcp_trunkline_shapes_get-thing",
    "trunkline_shapes_get_thing",
    "trunkline-shapes_get_thing",
  ])("accepts the name %s, as agents show it", async (name) => {
    await using own = await openBench({ servers: [shapes(), stdio("hello")] });
    expect(await own.registry.find(name)).toMatchObject({ name: "shapes.get_thing" });
    const states = (await own.hub()).status().map((status) => [status.name, status.state]);
    expect(states).toEqual([
      ["hello", "pending"],
      ["shapes", "connected"],
    ]);
  });

  it("accepts the names that agents show for our own operations", async () => {
    expect(await bench.registry.find("mcp__trunkline__search")).toMatchObject({ name: "search", kind: "read" });
    expect(await bench.run("describe", { target: "mcp__trunkline__search" })).toMatchObject({ name: "search" });
  });

  it("does not take the name of a server called trunkline for its own", async () => {
    await using own = await openBench({ servers: [shapes({ name: "trunkline" }), stdio("hello")] });
    expect(await own.registry.find("mcp__trunkline__get_thing")).toMatchObject({ name: "trunkline.get_thing" });
    await expect(own.registry.find("trunkline.search")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("connects only to the server that a name can belong to", async () => {
    await using own = await openBench({ servers: [stdio("hello"), stdio("old")] });
    expect(await own.run("hello.hello", { name: "Ada" })).toEqual({ text: "Hello, Ada!" });
    await expect(own.registry.find("nothing.here")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const states = (await own.hub()).status().map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ["hello", "connected"],
      ["old", "pending"],
    ]);
  });

  it("suggests the closest names for an unknown one", async () => {
    await bench.registry.find("hello.hello");
    await expect(bench.registry.find("serch")).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: expect.stringMatching(/Did you mean search\?.*describe/),
    });
    await expect(bench.registry.find("hello.helo")).rejects.toMatchObject({ data: { near: ["hello.hello"] } });
    await expect(bench.registry.find("get_thing")).rejects.toMatchObject({ data: { near: ["shapes.get_thing"] } });
  });

  it("says why a server is unavailable", async () => {
    await expect(bench.registry.find("broken.hello")).rejects.toMatchObject({ code: "SPAWN_FAILED" });
    await expect(bench.registry.find("off.hello")).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
  });

  it("rejects a parameter the server does not accept, and suggests the closest one", async () => {
    await expect(outcomeOf("shapes.strict", { tilte: "x" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: "Did you mean title? Available: title.",
      data: { parameter: "tilte", nearest: "title" },
    });
    expect(await outcomeOf("shapes.get_thing", { anything: 1 })).toMatchObject({ value: { anything: 1 } });
  });
});

describe("running upstream operations", () => {
  it("sends questions to the client that made the call", async () => {
    const channel = (who: string) =>
      createChannel({
        elicit: async () => ({ action: "accept", content: { answer: who, name: who } }),
      });
    const answers = await Promise.all(
      ["ada", "bob"].map(async (who) => {
        const exchange = exchangeOf({ caller: { id: who }, channel: channel(who) });
        return JSON.stringify((await outcomeOf("asking.ask_form", { tag: who }, exchange)).value);
      }),
    );
    expect(answers[0]).toContain("ada");
    expect(answers[0]).not.toContain("bob");
    expect(answers[1]).toContain("bob");
  });

  it("stops a call on abort, and forwards progress", async () => {
    const operation = await bench.registry.find("slow.wait");
    const stop = new AbortController();
    const exchange = exchangeOf();
    const heard: number[] = [];
    const work = operation.run(
      { ms: 60_000, progress_every_ms: 10 },
      {
        exchange,
        signal: stop.signal,
        onProgress: ({ progress }) => {
          heard.push(progress);
          stop.abort();
        },
      },
    );
    await expect(work).rejects.toMatchObject({ code: "ABORTED" });
    expect(heard.length).toBeGreaterThan(0);
  });
});

describe("summaries", () => {
  it.each([
    ["Greets someone. Then leaves.", "Greets someone."],
    ["Reads e.g. files.\nMore", "Reads e.g. files."],
    ["查询余票信息。尚且只支持。", "查询余票信息。"],
    [undefined, ""],
    ["x".repeat(300), `${"x".repeat(159)}…`],
  ])("%j", (description, summary) => {
    expect(summaryOf(description)).toBe(summary);
  });
});

describe("a server that needs a sign-in", () => {
  it("lists an authenticate tool and a note instead of its tools", async () => {
    const guarded = createServer((_, response) => {
      response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
    });
    await once(guarded.listen(0, "127.0.0.1"), "listening");
    const { port } = guarded.address() as AddressInfo;
    try {
      const entry = { name: "guarded", type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: {} } as object;
      await using own = await openBench({ servers: [stdio("hello", entry)] });
      await expect(own.registry.find("guarded.anything")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
      expect(await own.run("describe", { target: "guarded" })).toMatchObject({
        state: "needs-auth",
        tools: [{ name: "guarded.authenticate", kind: "write" }],
        note: "Sign-in required: guarded.authenticate",
      });
      expect(await own.registry.find("guarded.authenticate")).toMatchObject({ kind: "write", server: "guarded" });
      await expect(own.run("guarded.authenticate")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    } finally {
      guarded.close();
      guarded.closeAllConnections();
    }
  });
});
