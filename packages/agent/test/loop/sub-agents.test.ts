import { Budget, findAgent, startAgent } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, resultTexts, scripted } from "../tools.js";

const agent = findAgent("tools");

describe("sub-agents", () => {
  it("have their own conversation but share tools, approval, budget and cost", async () => {
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

  it("stop together when the shared budget runs out, and only the top agent gives a last word", async () => {
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

  it("cannot be nested deeper than allowed", async () => {
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

  it("can be started by a program on a shared budget", async () => {
    const budget = new Budget({ maxTurns: 5 });
    const request = scripted([{ text: "one" }, { text: "two" }], { budget });
    await startAgent(request, { prompt: "a", agent: "tools" });
    await startAgent(request, { prompt: "b", agent: "tools" });
    expect(budget.turns).toBe(2);
  });

  it("ask about one call at a time, even when they run in parallel", async () => {
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
});
