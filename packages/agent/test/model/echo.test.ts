import { costOf, createModel, echoModel, retryModel } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf, eventsOf, textOf, user } from "../collect.js";

const script = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join("\n");

describe("the echo provider", () => {
  it("repeats the prompt in pieces, with the same output and cost for the same input", async () => {
    const model = createModel({ provider: "echo" });
    const first = await eventsOf(model, { prompt: "one two  three" });
    expect(first.filter(({ type }) => type === "text")).toHaveLength(3);
    expect(textOf(first)).toBe("one two  three");
    expect(first.at(-1)).toEqual({ type: "finish", reason: "stop", usage: { inputTokens: 4, outputTokens: 4 } });
    expect(await eventsOf(model, { prompt: "one two  three" })).toEqual(first);
  });

  it("answers with JSON when JSON is requested", async () => {
    const model = echoModel();
    expect(JSON.parse(textOf(await eventsOf(model, { format: { type: "json" } })))).toEqual({ echo: "hi" });
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, count: { type: "integer" }, kind: { enum: ["a", "b"] } },
    };
    const text = textOf(await eventsOf(model, { format: { type: "json", schema } }));
    expect(JSON.parse(text)).toEqual({ name: "hi", count: 0, kind: "a" });
  });

  it("plays one turn per line: thoughts, text, calls by title or wire name, arguments that are not JSON", async () => {
    const model = echoModel({
      script: `// a comment\n${script(
        {
          reasoning: "hm",
          text: "Let me see",
          calls: [{ tool: "docs.lookup", args: { q: 1 } }, { tool: "docs_lookup" }],
        },
        { tool: "nobody.knows", args: "{broken" },
      )}\n\n`,
    });
    const tools = [{ name: "docs_lookup", title: "docs.lookup", description: "", inputSchema: {} }];
    const first = await eventsOf(model, { tools });
    expect(first.filter(({ type }) => type === "tool-call")).toEqual([
      { type: "tool-call", id: "call-1-1", name: "docs_lookup", args: { q: 1 } },
      { type: "tool-call", id: "call-1-2", name: "docs_lookup", args: {} },
    ]);
    expect(first.at(-1)).toMatchObject({ reason: "tool-calls" });
    expect((await eventsOf(model, { tools }))[0]).toMatchObject({ name: "nobody.knows", args: {}, raw: "{broken" });
    expect(await errorOf(eventsOf(model))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("turn 3"),
    });
  });

  it("takes arguments from earlier results", async () => {
    const model = echoModel({
      script: script(
        {
          tool: "t",
          args: { all: "$last.text", one: ["$last.json.a[1].b"], first: "$results[0].text", plain: "$last" },
        },
        { tool: "t", args: { x: "$last.json.nowhere" } },
      ),
    });
    const result = (text: string) => ({ type: "tool-result" as const, id: "1", name: "t", text });
    const messages = [user("hi"), { role: "tool" as const, parts: [result("zero"), result('{"a":[0,{"b":"deep"}]}')] }];
    expect((await eventsOf(model, { messages }))[0]).toMatchObject({
      args: { all: '{"a":[0,{"b":"deep"}]}', one: ["deep"], first: "zero", plain: "$last" },
    });
    expect(await errorOf(eventsOf(model, { messages }))).toMatchObject({
      message: expect.stringContaining("$last.json.nowhere"),
    });
  });

  it("fails as scripted, even after saying something, and can be retried", async () => {
    const lines = script(
      { text: "half of", error: { message: "cut", retryable: true } },
      { error: { message: "slow down", retryable: true, retryAfterMs: 5 } },
      { text: "whole" },
      { error: "no" },
    );
    const waits: number[] = [];
    const model = retryModel(echoModel({ script: lines }), {
      sleep: async (ms) => void waits.push(ms),
      random: () => 0,
    });
    expect(textOf(await eventsOf(model))).toBe("whole");
    expect(waits).toEqual([250, 5]);
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "UPSTREAM", message: "no", retryable: false });
  });

  it("names the bad line of a script", () => {
    expect(() => echoModel({ script: '{"text":"a"}\nnonsense' })).toThrow(/Line 2.*not JSON/);
    expect(() => echoModel({ script: '{"txt":"a"}' })).toThrow(/Line 1/);
  });

  it("stops at once when aborted during a delay", async () => {
    const controller = new AbortController();
    const running = errorOf(
      eventsOf(echoModel({ script: '{"text":"a","delayMs":60000}' }), { signal: controller.signal }),
    );
    controller.abort();
    expect(await running).toMatchObject({ code: "ABORTED" });
  });
});

describe("retryModel", () => {
  it("never retries after a call has been handed out", async () => {
    let streams = 0;
    const model = retryModel(
      {
        provider: "p",
        id: "m",
        async *stream() {
          streams++;
          yield { type: "tool-call", id: "1", name: "write", args: {} };
          const { TrunklineError } = await import("@trunkline/core");
          throw new TrunklineError("CONNECTION_FAILED", "cut");
        },
      },
      { sleep: async () => {} },
    );
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "CONNECTION_FAILED" });
    expect(streams).toBe(1);
  });
});

describe("costOf", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cachedInputTokens: 400_000 };

  it("counts cached input at its own price", () => {
    const prices = { "p/m*": { input: 10, output: 20, cachedInput: 1 }, "p/m-small": { input: 1, output: 1 } };
    expect(costOf(usage, { provider: "p", id: "m-large" }, prices)).toBeCloseTo(6 + 0.4 + 2);
    expect(costOf(usage, { provider: "p", id: "m-small" }, prices)).toBeCloseTo(1.1);
  });

  it("returns nothing for a model without a price", () => {
    expect(costOf(usage, { provider: "ollama", id: "x" })).toBeUndefined();
    expect(costOf(usage, { provider: "anthropic", id: "claude-sonnet-4-5-20250929" })).toBeGreaterThan(0);
  });
});
