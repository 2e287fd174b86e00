// Models do not always write a tool's wire name.
import { findAgent, type Model } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { fakeTool, resultTexts, scripted, watchedModel } from "../tools.js";

/** Writes one tool call with exactly this name, then answers. */
function calling(name: string): Model {
  let turn = 0;
  return {
    provider: "test",
    id: "test",
    async *stream() {
      const usage = { inputTokens: 1, outputTokens: 1 };
      if (turn++ > 0) {
        yield { type: "text", text: "done" };
        yield { type: "finish", reason: "stop", usage };
        return;
      }
      yield { type: "tool-call", id: "1", name, args: { q: "x" } };
      yield { type: "finish", reason: "tool-calls", usage };
    },
  };
}

const spellings = [
  "docs_lookup",
  "docs.lookup",
  "docs:lookup",
  "docs/lookup",
  "docs__lookup",
  "docs-lookup",
  "Docs.Lookup",
  "mcp__docs__lookup",
  "mcp://docs/lookup",
  "functions.docs_lookup",
];

describe("a tool that the model names in another way", () => {
  it.each(spellings)("is found by a native call of %s, and kept under its wire name", async (name) => {
    const lookup = fakeTool("docs.lookup");
    const request = scripted([], { model: calling(name), tools: [lookup, fakeTool("docs.other")] });
    const { messages } = await findAgent("tools").run(request);
    expect(lookup.calls).toEqual([{ q: "x" }]);
    const calls = messages.flatMap(({ parts }) => parts).filter(({ type }) => type.startsWith("tool-"));
    expect(calls).toMatchObject([
      { type: "tool-call", name: "docs_lookup" },
      { type: "tool-result", name: "docs_lookup" },
    ]);
  });

  it.each(spellings)("is found by the action %s of the agent `react`", async (name) => {
    const lookup = fakeTool("docs.lookup");
    const action = { thought: "", action: { tool: name, args: { q: "x" } } };
    const lines = [{ text: JSON.stringify(action) }, { text: '{"thought": "", "answer": "done"}' }];
    const result = await findAgent("react").run(scripted(lines, { tools: [lookup, fakeTool("docs.other")] }));
    expect(result.text).toBe("done");
    expect(lookup.calls).toEqual([{ q: "x" }]);
  });

  it("can be given to a sub-agent by that name", async () => {
    const lookup = fakeTool("docs.lookup");
    const model = watchedModel(
      { tool: "delegate", args: { task: "look", tools: ["mcp__docs__lookup"] } },
      { tool: "docs.lookup" },
      { text: "found" },
      { text: "done" },
    );
    await findAgent("tools").run(scripted([], { model, tools: [lookup, fakeTool("a.b")], delegate: true }));
    expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(["docs_lookup", "delegate"]);
    expect(lookup.calls).toHaveLength(1);
  });

  it.each([
    ["docs.look-up", ["docs.look_up", "docs.look-up"], "docs.look-up"],
    ["docs.look_up", ["docs.look_up", "docs.look-up"], "docs.look_up"],
    ["a_b.c", ["a.b_c", "a_b.c"], "a_b.c"],
  ])("is %s if several are similar and one is spelled exactly so", async (name, titles, expected) => {
    const tools = titles.map((title, index) => fakeTool(title, undefined, { name: `tool_${index}` }));
    await findAgent("tools").run(scripted([], { model: calling(name), tools }));
    expect(tools.filter(({ calls }) => calls.length > 0).map(({ title }) => title)).toEqual([expected]);
  });

  it("is not guessed if the name fits two tools", async () => {
    const tools = ["a.b_c", "a_b.c"].map((title, index) => fakeTool(title, undefined, { name: `tool_${index}` }));
    const { messages } = await findAgent("tools").run(scripted([], { model: calling("a_b_c"), tools }));
    expect(resultTexts(messages)[0]).toContain('There is no tool "a_b_c".');
    expect(tools.flatMap(({ calls }) => calls)).toEqual([]);
  });
});
