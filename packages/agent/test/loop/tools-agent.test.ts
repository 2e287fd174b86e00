import { findAgent, type Message, type Model } from "@trunkline/agent";
import { TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, resultTexts, scripted, watchedModel } from "../tools.js";

const agent = findAgent("tools");

describe("the agent `tools`", () => {
  it("runs 30 turns with tools and adds up their cost", async () => {
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

  it("runs read-only tools in parallel, within a limit, and keeps their order", async () => {
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

  it("runs a tool that changes things alone, after the calls before it", async () => {
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

  it("tells the model about unknown tools, with the nearest names, and about wrong arguments", async () => {
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
    expect(wrong).toMatch(/q must be string, not number; x is unknown/);
  });

  it("turns a tool failure into a framed result in the tool's own words", async () => {
    const broken = fakeTool("a.b", () => {
      throw new TrunklineError("TIMEOUT", "It took too long.", { hint: "Ask for less." });
    });
    const result = await agent.run(scripted([{ tool: "a.b" }, { text: "sorry" }], { tools: [broken] }));
    expect(resultTexts(result.messages)[0]).toMatch(/<<<tool-output .*\nIt took too long. Ask for less.\n<<<end/);
    expect(result.text).toBe("sorry");
  });

  it("truncates a long result and says how much is missing", async () => {
    const long = fakeTool("a.b", () => ({ text: `12345678😀${"x".repeat(90)}` }));
    const request = scripted([{ tool: "a.b" }, { text: "ok" }], { tools: [long], maxResultChars: 9 });
    const result = await agent.run(request);
    expect(resultTexts(result.messages)[0]).toMatch(/\n12345678\n\[92 of 100 characters left out/);
    expect(request.events).toContainEqual(
      expect.objectContaining({ type: "tool-result", text: expect.stringContaining("xxx") }),
    );
  });

  it("rejects two tools with the same name", async () => {
    const error = await errorOf(agent.run(scripted([], { tools: [fakeTool("a.b"), fakeTool("a_b")] })));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("a_b") });
  });

  it("reports complete messages as they arrive: never a call without its result", async () => {
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

  it("discards what was shown of a restarted turn, and only notes a retry if nothing was shown", async () => {
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

describe("tools that become available during a run", () => {
  it.each(["tools", "react"])("can be called by the agent `%s` in its next turn", async (name) => {
    const more: ReturnType<typeof fakeTool>[] = [];
    const signIn = fakeTool("sec.authenticate", () => {
      more.push(fakeTool("sec.look"));
      return { text: "Signed in." };
    });
    const lines = ["sec_authenticate", "sec_look"].map((tool) =>
      name === "tools" ? { tool } : { text: JSON.stringify({ thought: "", action: { tool, args: {} } }) },
    );
    const end = name === "tools" ? { text: "done" } : { text: '{"thought": "", "answer": "done"}' };
    const model = watchedModel(...lines, end);
    const request = scripted([], { model, tools: [signIn], moreTools: () => [signIn, ...more] });
    expect(await findAgent(name).run(request)).toMatchObject({ text: "done", turns: 3 });
    expect(more[0]?.calls).toHaveLength(1);
    const offered = model.requests.map(({ tools = [], messages }) =>
      name === "tools"
        ? tools.map((tool) => tool.name).join()
        : messages[0]?.parts.map((part) => "text" in part && part.text.match(/sec_\w+(?=:)/g)?.join()).join(),
    );
    expect(offered).toEqual(["sec_authenticate", "sec_authenticate,sec_look", "sec_authenticate,sec_look"]);
  });

  it("are given to a sub-agent that is started later", async () => {
    const look = fakeTool("sec.look");
    const model = watchedModel(
      { tool: "delegate", args: { task: "look", tools: ["sec.look"] } },
      { tool: "sec.look" },
      { text: "seen" },
      { text: "done" },
    );
    await agent.run(scripted([], { model, tools: [], moreTools: () => [look], delegate: true }));
    expect(look.calls).toHaveLength(1);
  });
});
