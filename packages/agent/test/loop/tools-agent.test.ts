import {
  Budget,
  echoModel,
  findAgent,
  type Message,
  type Model,
  type ModelRequest,
  messageText,
  registerAgent,
  startAgent,
  textMessage,
} from "@trunkline/agent";
import { TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, script, scripted } from "../tools.js";

const agent = findAgent("tools");

/** A model that also shows what it was asked. */
function watchedModel(...lines: object[]): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const echo = echoModel({ script: script(...lines) });
  return {
    provider: echo.provider,
    id: echo.id,
    requests,
    stream(request) {
      requests.push(request);
      return echo.stream(request);
    },
  };
}

function resultTexts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [part.text] : [])));
}

describe("the agent `tools`", () => {
  it("goes through 30 turns with tools, and sums what they cost", async () => {
    const add = fakeTool("math.add", ({ a, b }) => ({ text: String(Number(a) + Number(b)) }));
    const lines = Array.from({ length: 29 }, (_, index) => ({
      text: `Step ${index + 1}. `,
      tool: "math.add",
      args: { a: index === 0 ? 0 : "$last.text", b: 1 },
      usage: { inputTokens: 10, outputTokens: 2 },
    }));
    const request = scripted([...lines, { text: "It is 29.", usage: { inputTokens: 10, outputTokens: 2 } }], {
      tools: [add],
    });
    const result = await agent.run(request);
    expect(result).toMatchObject({
      text: "It is 29.",
      turns: 30,
      ended: "answer",
      usage: { inputTokens: 300, outputTokens: 60 },
    });
    expect(add.calls).toHaveLength(29);
    expect(add.calls.at(-1)).toEqual({ a: "28", b: 1 });
    expect(result.messages).toHaveLength(1 + 29 * 2 + 1);
    expect(request.events.filter(({ type }) => type === "tool-result")).toHaveLength(29);
    expect(request.events.filter(({ type }) => type === "turn")).toHaveLength(30);
  });

  it("runs tools that only read beside one another, within a limit, and keeps their order", async () => {
    let running = 0;
    let most = 0;
    const slow = fakeTool("a.read", async ({ n }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 30 - Number(n) * 4));
      running--;
      return { text: `r${String(n)}` };
    });
    const calls = [0, 1, 2, 3, 4].map((n) => ({ tool: "a.read", args: { n } }));
    const result = await agent.run(scripted([{ calls }, { text: "done" }], { tools: [slow], maxParallelCalls: 3 }));
    expect(most).toBe(3);
    expect(resultTexts(result.messages).map((text) => text.split("\n")[1])).toEqual(["r0", "r1", "r2", "r3", "r4"]);
  });

  it("runs a tool that changes things alone, after what stands before it", async () => {
    const order: string[] = [];
    const read = fakeTool("a.read", async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push(`read ${String(n)}`);
      return { text: "" };
    });
    const write = fakeTool(
      "a.write",
      () => {
        order.push("write");
        return { text: "" };
      },
      { readOnly: false },
    );
    const calls = [
      { tool: "a.read", args: { n: 1 } },
      { tool: "a.write", args: {} },
      { tool: "a.read", args: { n: 2 } },
    ];
    await agent.run(scripted([{ calls }, { text: "done" }], { tools: [read, write] }));
    expect(order).toEqual(["read 1", "write", "read 2"]);
  });

  it("tells the model of an unknown tool with the nearest names, and of arguments that are wrong", async () => {
    const lookup = fakeTool("docs.lookup", undefined, {
      inputSchema: {
        type: "object",
        properties: { q: { type: "string" } },
        required: ["q"],
        additionalProperties: false,
      },
    });
    const result = await agent.run(
      scripted(
        [
          { tool: "docs_lokup", args: {} },
          { tool: "docs_lookup", args: "{oops" },
          { tool: "docs_lookup", args: { q: 1, x: 2 } },
          { text: "sorry" },
        ],
        { tools: [lookup] },
      ),
    );
    expect(lookup.calls).toEqual([]);
    const [unknown, broken, wrong] = resultTexts(result.messages);
    expect(unknown).toMatch(/no tool "docs_lokup". Did you mean docs_lookup/);
    expect(broken).toMatch(/not a JSON object/);
    expect(wrong).toMatch(/q must be string, not number; x is not known/);
  });

  it("makes a result of a tool that fails, in its own words and within the frame", async () => {
    const broken = fakeTool("a.b", () => {
      throw new TrunklineError("TIMEOUT", "It took too long.", { hint: "Ask for less." });
    });
    const result = await agent.run(scripted([{ tool: "a.b" }, { text: "sorry" }], { tools: [broken] }));
    expect(resultTexts(result.messages)[0]).toMatch(/<<<tool-output .*\nIt took too long. Ask for less.\n<<<end/);
    expect(result.text).toBe("sorry");
  });

  it("gives the model the beginning of a result that is too long, and says how much is missing", async () => {
    const long = fakeTool("a.b", () => ({ text: `12345678😀${"x".repeat(90)}` }));
    const request = scripted([{ tool: "a.b" }, { text: "ok" }], { tools: [long], maxResultChars: 9 });
    const result = await agent.run(request);
    expect(resultTexts(result.messages)[0]).toMatch(/\n12345678\n\[92 of 100 characters left out/);
    expect(request.events).toContainEqual(
      expect.objectContaining({ type: "tool-result", text: expect.stringContaining("xxx") }),
    );
  });

  it("refuses two tools of one name", async () => {
    const error = await errorOf(agent.run(scripted([], { tools: [fakeTool("a.b"), fakeTool("a_b")] })));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("a_b") });
  });

  it("asks about one call at a time, even if sub-agents work beside one another", async () => {
    let open = 0;
    let most = 0;
    const write = fakeTool("a.write", undefined, { readOnly: false });
    await agent.run(
      scripted(
        [
          {
            calls: [
              { tool: "delegate", args: { task: "1" } },
              { tool: "delegate", args: { task: "2" } },
            ],
          },
          { tool: "a.write" },
          { tool: "a.write" },
          { text: "done" },
          { text: "done" },
          { text: "over" },
        ],
        {
          tools: [write],
          delegate: true,
          approve: async () => {
            most = Math.max(most, ++open);
            await new Promise((resolve) => setTimeout(resolve, 10));
            open--;
            return { allowed: true };
          },
        },
      ),
    );
    expect(most).toBe(1);
    expect(write.calls).toHaveLength(2);
  });

  it("stops a model that makes the same failing call again and again, with a last word", async () => {
    const broken = fakeTool("a.b", () => ({ text: "no such file", isError: true }));
    const call = { tool: "a.b", args: { path: "/x" } };
    const request = scripted([call, call, call, { text: "I could not read it." }], { tools: [broken] });
    const result = await agent.run(request);
    expect(result).toMatchObject({ ended: "stuck", text: "I could not read it.", turns: 4 });
    expect(broken.calls).toHaveLength(3);
    expect(request.events).toContainEqual(
      expect.objectContaining({ type: "note", message: expect.stringContaining("a_b failed 3 times") }),
    );
  });

  it("says a last word without tools when the turns are used up", async () => {
    const tool = fakeTool("a.b");
    const model = watchedModel({ tool: "a.b" }, { tool: "a.b", args: { n: 2 } }, { text: "So far: nothing." });
    const result = await agent.run(scripted([], { model, tools: [tool], limits: { maxTurns: 2 } }));
    expect(result).toMatchObject({ ended: "budget", text: "So far: nothing.", turns: 3 });
    expect(tool.calls).toHaveLength(2);
    expect(model.requests[2]?.toolChoice).toBe("none");
    // The order to stop is not part of the conversation that a later run goes on from.
    expect(result.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("stops when the tokens are used up, and does not run a call that the last word makes", async () => {
    const tool = fakeTool("a.b");
    const result = await agent.run(
      scripted(
        [
          { tool: "a.b", usage: { inputTokens: 90, outputTokens: 20 } },
          { text: "Last.", tool: "a.b" },
        ],
        { tools: [tool], limits: { maxTokens: 100 } },
      ),
    );
    expect(result).toMatchObject({ ended: "budget", text: "Last." });
    expect(tool.calls).toHaveLength(1);
    expect(result.messages.at(-1)?.parts).toEqual([{ type: "text", text: "Last." }]);
  });

  it("stops a call that outlives the time, and still says a last word", async () => {
    let stopped = false;
    const slow = fakeTool("a.slow", async (_, signal) => {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      stopped = true;
      return { text: "" };
    });
    const request = scripted([{ tool: "a.slow" }, { text: "No time." }], { tools: [slow], limits: { maxTimeMs: 150 } });
    const result = await agent.run(request);
    expect(result).toMatchObject({ ended: "budget", text: "No time." });
    expect(stopped).toBe(true);
    expect(resultTexts(result.messages)[0]).toMatch(/The time is over/);
  });

  it("stops a turn of the model that outlives the time", async () => {
    const result = await agent.run(
      scripted([{ text: "too late", delayMs: 60_000 }, { text: "No time." }], { limits: { maxTimeMs: 50 } }),
    );
    expect(result).toMatchObject({ ended: "budget", text: "No time.", turns: 2 });
  });

  it("keeps what it said when even the last word fails", async () => {
    const result = await agent.run(
      scripted([{ text: "I found a clue.", tool: "a.b" }, { error: "gone" }], {
        tools: [fakeTool("a.b")],
        limits: { maxTurns: 1 },
      }),
    );
    expect(result).toMatchObject({ ended: "budget", text: expect.stringContaining("I found a clue.") });
  });

  it("reports whole messages as they come: a call never without its result", async () => {
    const messages: Message[] = [];
    const error = await errorOf(
      agent.run(
        scripted([{ tool: "a.b" }, { error: "gone" }], {
          tools: [fakeTool("a.b")],
          onMessage: (message) => messages.push(message),
        }),
      ),
    );
    expect(error.code).toBe("UPSTREAM");
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
  });

  it("stops at once when it is cancelled, and keeps what had run", async () => {
    const controller = new AbortController();
    const messages: Message[] = [];
    const done = fakeTool("a.done", () => ({ text: "written" }), { readOnly: false });
    const hangs = fakeTool("a.hangs", () => {
      controller.abort();
      return new Promise(() => {});
    });
    const error = await errorOf(
      agent.run(
        scripted([{ calls: [{ tool: "a.done" }, { tool: "a.hangs" }] }], {
          tools: [done, hangs],
          signal: controller.signal,
          onMessage: (message) => messages.push(message),
        }),
      ),
    );
    expect(error.code).toBe("ABORTED");
    expect(resultTexts(messages)).toEqual([
      expect.stringContaining("written"),
      expect.stringContaining("user stopped"),
    ]);
  });

  it("goes on after a call that the user cancelled by itself", async () => {
    const tool = fakeTool("a.b", () => {
      throw new TrunklineError("ABORTED", "cancelled");
    });
    const result = await agent.run(scripted([{ tool: "a.b" }, { text: "fine" }], { tools: [tool] }));
    expect(result.text).toBe("fine");
    expect(resultTexts(result.messages)[0]).toMatch(/cancelled by the user/);
  });

  it("goes on from a conversation that was interrupted in the middle of a call", async () => {
    const model = watchedModel({ text: "ok" });
    await agent.run(
      scripted([], {
        model,
        messages: [
          textMessage("user", "a"),
          { role: "assistant", parts: [{ type: "tool-call", id: "1", name: "t", args: {} }] },
          textMessage("user", "b"),
        ],
      }),
    );
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  it("voids what was shown of a turn that begins anew, and only notes a retry of which nothing was shown", async () => {
    const model: Model = {
      provider: "p",
      id: "m",
      async *stream() {
        yield { type: "restart", reason: "busy" };
        yield { type: "text", text: "half" };
        yield { type: "restart", reason: "cut" };
        yield { type: "text", text: "whole" };
        yield { type: "finish", reason: "stop" };
      },
    };
    const request = scripted([], { model });
    const result = await agent.run(request);
    expect(result.text).toBe("whole");
    expect(request.events.map(({ type }) => type)).toEqual(["turn", "note", "text", "restart", "text"]);
  });
});

describe("an answer in JSON", () => {
  const schema = { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] };
  const format = { type: "json", schema } as const;

  it("is taken out of a fence and checked", async () => {
    const result = await agent.run(scripted([{ text: 'Sure:\n```json\n{"n": 3,}\n```' }], { format }));
    expect(result.json).toEqual({ n: 3 });
  });

  it("is asked for once more with what is wrong, and that exchange does not stay", async () => {
    const model = watchedModel({ text: '{"n": 0}' }, { text: '{"n": 1}' });
    const request = scripted([], { model, format, tools: [fakeTool("a.b")] });
    const result = await agent.run(request);
    expect(result).toMatchObject({ json: { n: 1 }, text: '{"n": 1}', turns: 2 });
    expect(result.messages.map(messageText)).toEqual(["do it", '{"n": 1}']);
    expect(messageText(model.requests[1]!.messages.at(-1)!)).toContain("n must be at least 1");
    // Beside tools the form is asked for in words; without them the provider is told.
    expect(model.requests.map((asked) => asked.format?.type)).toEqual([undefined, "json"]);
    expect(request.events).toContainEqual(expect.objectContaining({ type: "note" }));
  });

  it("that is wrong twice is an error", async () => {
    const error = await errorOf(agent.run(scripted([{ text: "three" }, { text: "four" }], { format })));
    expect(error).toMatchObject({ code: "UPSTREAM", message: expect.stringContaining("not JSON") });
  });
});

describe("sub-agents", () => {
  it("have a conversation of their own, and share tools, approval, budget and cost", async () => {
    const read = fakeTool("a.read", () => ({ text: "42" }));
    const asked: string[] = [];
    const write = fakeTool("a.write", undefined, { readOnly: false });
    const request = scripted(
      [
        { tool: "delegate", args: { task: "read it" } },
        { calls: [{ tool: "a.read" }, { tool: "a.write" }] },
        { text: "It is 42." },
        { text: "The answer is 42." },
      ],
      {
        tools: [read, write],
        delegate: true,
        limits: { maxTurns: 10 },
        approve: async ({ tool }) => {
          asked.push(tool.title);
          return { allowed: false, reason: "No." };
        },
      },
    );
    const result = await agent.run(request);
    expect(result).toMatchObject({ text: "The answer is 42.", turns: 4, ended: "answer" });
    expect(read.calls).toHaveLength(1);
    expect(asked).toEqual(["a.write"]);
    expect(write.calls).toHaveLength(0);
    expect(resultTexts(result.messages)[0]).toContain("It is 42.");
    expect(request.events.filter((event) => event.type === "turn").map(({ depth }) => depth)).toEqual([0, 1, 1, 0]);
  });

  it("stop together when the shared budget ends, and only the topmost says a last word", async () => {
    const result = await agent.run(
      scripted(
        [
          { tool: "delegate", args: { task: "work" } },
          { text: "Working. ", tool: "a.b" },
          { text: "We ran out of turns." },
        ],
        { tools: [fakeTool("a.b")], delegate: true, limits: { maxTurns: 2 } },
      ),
    );
    expect(result).toMatchObject({ ended: "budget", text: "We ran out of turns.", turns: 3 });
    expect(resultTexts(result.messages)[0]).toContain("Stopped without an answer");
  });

  it("cannot be started deeper than allowed", async () => {
    const request = scripted(
      [
        { tool: "delegate", args: { task: "one" } },
        { tool: "delegate", args: { task: "two" } },
        { text: "gave up" },
        { text: "done" },
      ],
      { delegate: true, maxDepth: 1 },
    );
    const result = await agent.run(request);
    expect(result.text).toBe("done");
    expect(request.events).toContainEqual(
      expect.objectContaining({ type: "tool-result", depth: 1, text: expect.stringContaining('no tool "delegate"') }),
    );
    const error = await errorOf(startAgent({ ...request, depth: 1 }, { prompt: "x", agent: "tools" }));
    expect(error.code).toBe("INVALID_ARGUMENT");
  });

  it("can be started by a program on a budget that it shares", async () => {
    const budget = new Budget({ maxTurns: 5 });
    const request = scripted([{ text: "one" }, { text: "two" }], { budget });
    await startAgent(request, { prompt: "a", agent: "tools" });
    await startAgent(request, { prompt: "b", agent: "tools" });
    expect(budget.turns).toBe(2);
  });
});

describe("agents by name", () => {
  it("suggests the nearest", () => {
    expect(() => findAgent("raect")).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringContaining("react") }),
    );
  });

  it("takes new ones, but no second one of a name", async () => {
    const mine = { name: "mine", summary: "", run: agent.run };
    registerAgent(mine);
    expect(findAgent("mine")).toBe(mine);
    expect(() => registerAgent({ ...mine })).toThrow(/already/);
  });
});
