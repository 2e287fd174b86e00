// Errors as a client and the journal see them.
import { Redactor, TrunklineError } from "@trunkline/core";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallRecord } from "../../src/journal/journal.js";
import { answerError } from "../../src/pipeline/answer-error.js";
import { shapes } from "../operations/support.js";
import { callTool, stdio, type TestService, testExchange, testService } from "../service/support.js";
import { type Answer, answerIn, type Office, openOffice, tokensOf } from "./support.js";

let office: Office;
const nested = (depth: number, leaf: unknown = 1) => {
  let value: unknown = leaf;
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? { a: value } : [value];
  return value;
};

beforeAll(async () => {
  office = await openOffice({ servers: [shapes()] });
});

afterAll(() => office[Symbol.asyncDispose]());

describe("a budget that is too small", () => {
  const long = "x".repeat(3_000);

  it.each([12, 20, 30, 60, 150, 600])("leaves the code of an error within %i tokens", async (max_tokens) => {
    const calls: [string, Record<string, unknown>][] = [
      ["query", { steps: [{ op: "get", params: { hash: "nope" } }], max_tokens }],
      ["query", { steps: [{ op: `nothing_${long}` }], max_tokens }],
      ["query", { steps: ["status", { op: "list", params: { [long]: 1 } }], max_tokens }],
      ["query", { steps: [{ op: "shapes.quotes", params: { said: long } }], max_tokens }],
      ["query", { steps: [], max_tokens }],
      ["execute", { operations: [{ op: "shapes.quotes", params: { said: long } }], max_tokens }],
      ["execute", { operations: ["status", `nothing_${long}`], max_tokens }],
      ["execute", { operations: [{ op: "shapes.object" }], atomic: true, max_tokens }],
    ];
    for (const [tool, args] of calls) {
      const result = await office.call(tool, args);
      const answer = answerIn(result);
      expect(result.isError).toBe(true);
      const code = answer.error?.code ?? answer.results?.find(({ error }: Answer) => error !== undefined)?.error.code;
      expect(code).toMatch(/^[A-Z_]+$/);
      expect(tokensOf(result)).toBeLessThanOrEqual(Math.max(12, max_tokens));
    }
  });

  it("keeps the counts of a batch and cuts the message first", async () => {
    const failing = { op: "shapes.quotes", params: { said: long } };
    for (const max_tokens of [60, 100, 200]) {
      const answer = await office.execute({ operations: ["status", failing], max_tokens });
      expect(answer).toMatchObject({ totalOps: 2, succeeded: 1, failed: 1 });
    }
    const { error } = await office.query({ steps: [failing], max_tokens: 100 });
    expect(error).toMatchObject({ code: "UPSTREAM", message: expect.stringMatching(/^failed with x+$/) });
    const many = Array.from({ length: 60 }, () => "status");
    expect(await office.execute({ operations: many, max_tokens: 60 })).toMatchObject({ totalOps: 60, succeeded: 60 });
  });

  it("of a server say how to call it only if it complains about its parameters", async () => {
    const failing = (said: string) => office.query([{ op: "shapes.quotes", params: { said } }]);
    expect((await failing("no such file")).error).not.toHaveProperty("hint");
    const { hint } = (await failing('MCP error -32602: "path" is required')).error;
    expect(hint).toMatch(/^Call it as shapes\.quotes\(.*\)\.$/);
  });

  it("a value with its own error is still stored", async () => {
    const error = { code: "X", message: "y ".repeat(4_000) };
    const { results } = await office.execute({
      operations: [{ op: "shapes.get_thing", params: { error } }],
      max_tokens: 300,
    });
    expect(results[0]).toMatchObject({ success: true, result: { truncated: true, hash: expect.any(String) } });
    expect(countTokens(JSON.stringify(results))).toBeLessThan(300);
  });
});

describe("parameters that are nested too deeply", () => {
  const deep = nested(5_000);
  // JSON.stringify cannot handle this depth either.
  const json = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;

  it.each<[string, string, Record<string, unknown>]>([
    ["query", "query", { steps: [{ op: "search", params: { query: "x", metadata: { deep } } }] }],
    ["query, beside op", "query", { op: "search", query: deep }],
    ["query, as JSON in a text", "query", { steps: `[{"op": "search", "params": {"query": ${json}}}]` }],
    ["params as JSON in a text", "query", { steps: [{ op: "search", params: `{"query": ${json}}` }] }],
    ["a step as JSON in a text", "query", { steps: [`{"op": "search", "params": {"query": ${json}}}`] }],
    ["execute", "execute", { operations: [{ op: "add", params: { name: "a", content: "a", metadata: { deep } } }] }],
    ["an upstream tool", "execute", { operations: [{ op: "shapes.get_thing", params: { deep } }] }],
    ["session", "session", { action: "start", params: { label: deep } }],
    ["session, as JSON in a text", "session", { action: "start", params: `{"label": ${json}}` }],
  ])("%s: are rejected with a clear reason", async (_, tool, args) => {
    const { error } = answerIn(await office.call(tool, args));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("levels deep") });
  });

  it("are rejected if a reference creates them", async () => {
    const half = nested(70);
    const { results } = await office.execute([
      { op: "shapes.get_thing", params: { half } },
      { op: "shapes.get_thing", params: { whole: nested(60, "$prev.half") } },
    ]);
    expect(results[1].error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("levels deep"),
    });
  });

  it("plausible variants are accepted", async () => {
    const { results } = await office.execute([{ op: "shapes.get_thing", params: { half: nested(80) } }]);
    expect(results[0]).toMatchObject({ success: true });
  });
});

describe("hints about mistakes", () => {
  it("suggest the right name for misspelled params", async () => {
    const { error } = await office.query([{ op: "search", parms: { query: "x" } }]);
    expect(error).toMatchObject({ path: "steps[0].parms", hint: expect.stringContaining("Did you mean params?") });
  });

  it("are omitted rather than unrelated", async () => {
    const missing = await office.execute([{ op: "add", params: { path: "not-there.md" } }]);
    const unknown = await office.query([{ op: "get", params: { hash: "0123456789abcdef" } }]);
    for (const { error } of [missing.results[0], unknown]) {
      expect(error.code).toBe("NOT_FOUND");
      expect(error.hint ?? "").not.toMatch(/doctor|status/);
    }
    expect(answerError(new TrunklineError("SPAWN_FAILED", "x")).hint).toContain("doctor");
    expect(answerError(new TrunklineError("IO", "x"))).not.toHaveProperty("hint");
  });
});

describe("secrets of the configuration", () => {
  it.each(["composite", "direct"] as const)("do not appear in a failed tool's message: %s", async (surface) => {
    const redactor = new Redactor().add("sk-very-secret-1");
    await using under = testService([shapes() as never], { surface, hub: { redactor } });
    const said = { said: "the key sk-very-secret-1" };
    const results =
      surface === "direct"
        ? [await callTool(under, "mcp__shapes__quotes", said)]
        : [
            await callTool(under, "query", { steps: [{ op: "shapes.quotes", params: said }] }),
            await callTool(under, "execute", { operations: [{ op: "shapes.quotes", params: said }] }),
          ];
    for (const result of results) {
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result)).toContain("the key <redacted>");
      expect(JSON.stringify(result)).not.toContain("very-secret");
    }
  });
});

describe("the journal has one line for", () => {
  const noted: string[] = [];
  const journal = {
    record: ({ operation, outcome, code }: CallRecord) =>
      void noted.push([operation, outcome, ...(code === undefined ? [] : [code])].join(" ")),
  };
  let composite: TestService;
  let direct: TestService;

  beforeAll(() => {
    const hanging = stdio("silent", [], { connectTimeoutMs: 60_000 });
    composite = testService([shapes() as never, hanging], { journal });
    direct = testService([shapes() as never], { journal, surface: "direct" });
  });
  afterAll(() => Promise.all([composite[Symbol.asyncDispose](), direct[Symbol.asyncDispose]()]));

  const tool = (name: string, args: unknown) => ["tools/call", { name, arguments: args }] as const;
  const query = (...steps: unknown[]) => tool("query", { steps });
  it.each<[string, readonly [string, Record<string, unknown>], string[]]>([
    ["an echo", tool("mcp.echo", { message: "hi" }), ["mcp.echo ok"]],
    ["an echo of nothing", tool("mcp.echo", {}), ["mcp.echo error INVALID_ARGUMENT"]],
    ["an operation", query({ op: "list" }), ["list ok"]],
    ["an unknown operation", query({ op: "lisst" }), ["unknown error NOT_FOUND"]],
    ["an operation of the other tool", query({ op: "add" }), ["add error INVALID_ARGUMENT"]],
    ["an action in execute", tool("execute", { operations: ["start"] }), ["unknown error INVALID_ARGUMENT"]],
    ["arguments that say nothing", query(7), ["query error INVALID_ARGUMENT"]],
    ["a batch that says nothing", tool("execute", {}), ["execute error INVALID_ARGUMENT"]],
    ["a session that says nothing", tool("session", {}), ["session error INVALID_ARGUMENT"]],
    ["an unknown action", tool("session", { action: "stat" }), ["session error NOT_FOUND"]],
    [
      "content that is not there",
      query({ op: "search", params: { query: "$hash:0123456789" } }),
      ["search error NOT_FOUND"],
    ],
    ["for_each over nothing", query({ op: "list", for_each: "$prev.x" }), ["list error REFERENCE_UNRESOLVED"]],
    ["a dry run", tool("execute", { dry_run: true, operations: [{ op: "shapes.object" }] }), ["shapes.object ok"]],
    [
      "a batch that is refused",
      tool("execute", { atomic: true, operations: [{ op: "shapes.object" }] }),
      ["execute error INVALID_ARGUMENT"],
    ],
    ["an unknown tool", tool("querry", {}), ["unknown error TOOL_NOT_FOUND"]],
    ["arguments that are none", tool("query", 7), ["query error -32602"]],
    ["a prompt", ["prompts/get", { name: "onboard_repository" }], ["prompts/get ok"]],
    ["an unknown prompt", ["prompts/get", { name: "nope" }], ["prompts/get error -32602"]],
    ["a resource", ["resources/read", { uri: "trunkline://status" }], ["resources/read ok"]],
    ["an unknown resource", ["resources/read", { uri: "test://nope" }], ["resources/read error -32002"]],
  ])("%s", async (_, [method, params], lines) => {
    noted.length = 0;
    await composite.service.handle(method, params, testExchange()).catch(() => {});
    expect(noted).toEqual(lines);
  });

  it("a call cancelled while its server is connecting", async () => {
    noted.length = 0;
    const controller = new AbortController();
    const calling = callTool(composite, "query", { steps: ["silent.anything"] }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await calling.catch(() => {});
    expect(noted).toEqual(["unknown cancelled ABORTED"]);
  });

  it("an operation called as a tool, with a hint on how to run it", async () => {
    const calling = callTool(composite, "search", { query: "x" });
    await expect(calling).rejects.toThrow(/Available: query, .*steps of query: \{"steps"/);
  });

  it("an unknown tool of the direct surface, and an echo", async () => {
    noted.length = 0;
    await callTool(direct, "mcp__shapes__nope").catch(() => {});
    await callTool(direct, "mcp__shapes__object");
    await callTool(direct, "mcp.echo", { message: "x" });
    expect(noted).toEqual(["unknown error TOOL_NOT_FOUND", "shapes.object ok", "mcp.echo ok"]);
  });

  it("a batch that is answered from its first run", async () => {
    const batch = { operations: [{ op: "shapes.object" }], idempotency_key: "once" };
    await callTool(composite, "execute", batch);
    noted.length = 0;
    await callTool(composite, "execute", batch);
    expect(noted).toEqual(["execute ok"]);
  });
});

it("looking up a resource does not wait long for a server that hangs", async () => {
  await using under = testService([shapes() as never, stdio("silent", [], { connectTimeoutMs: 60_000 })]);
  const looking = [
    under.service.handle("resources/read", { uri: "test://nope" }, testExchange()),
    under.service.handle("prompts/get", { name: "nope" }, testExchange()),
  ];
  for (const { status } of await Promise.allSettled(looking)) expect(status).toBe("rejected");
});
