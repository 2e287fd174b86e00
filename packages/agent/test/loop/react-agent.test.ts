import { echoModel, findAgent, messageText } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, scripted } from "../tools.js";

const agent = findAgent("react");
const turn = (value: object) => ({ text: JSON.stringify(value) });

describe("the agent `react`", () => {
  it("thinks, acts, observes and answers", async () => {
    const read = fakeTool("a.read", ({ path }) => ({ text: `content of ${String(path)}` }));
    const request = scripted(
      [
        turn({ thought: "I should read it.", action: { tool: "a_read", args: { path: "/x" } } }),
        turn({ thought: "Now I know.", answer: "It says so." }),
      ],
      { tools: [read] },
    );
    const result = await agent.run(request);
    expect(result).toMatchObject({ text: "It says so.", turns: 2, ended: "answer" });
    expect(read.calls).toEqual([{ path: "/x" }]);
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(messageText(result.messages[2]!)).toMatch(
      /^Observation:\n<<<tool-output [0-9a-f]{12} from a\.read>>>\ncontent of \/x/,
    );
    // The protocol itself is not shown.
    expect(request.events.filter(({ type }) => type === "text")).toEqual([
      { type: "text", text: "It says so.", depth: 0 },
    ]);
    expect(request.events.filter(({ type }) => type === "reasoning")).toHaveLength(2);
  });

  it.each([
    ["a fence", '```json\n{"thought": "t", "answer": "yes"}\n```'],
    ["prose around it", 'Let me think {about this}. {"thought": "t", "answer": "yes"} That is all.'],
    ["trailing commas", '{"thought": "t", "answer": "yes",}'],
    ["a bare line break in a string", '{"thought": "one\ntwo", "answer": "yes"}'],
    ["a comment", '{"thought": "t", // because\n "answer": "yes"}'],
    ["an observation that it invents", '{"thought": "t", "answer": "yes"}\nObservation: {"answer": "no"}'],
  ])("repairs %s", async (_, text) => {
    expect(await agent.run(scripted([{ text }]))).toMatchObject({ text: "yes", turns: 1 });
  });

  it("re-asks with the problem, without keeping these exchanges", async () => {
    const request = scripted([
      turn({ thought: "hm" }),
      { text: '{"action": {"args": {}}}' },
      turn({ thought: "", answer: "yes" }),
    ]);
    const result = await agent.run(request);
    expect(result).toMatchObject({ text: "yes", turns: 3 });
    expect(result.messages).toHaveLength(2);
    expect(request.events.filter(({ type }) => type === "note")).toHaveLength(2);
  });

  it("gives up after re-asking twice", async () => {
    const error = await errorOf(agent.run(scripted([turn({}), turn({}), turn({}), turn({ answer: "too late" })])));
    expect(error).toMatchObject({ code: "UPSTREAM", hint: expect.stringContaining("tools") });
  });

  it("takes plain text as the answer of a model that writes no JSON at all", async () => {
    const result = await agent.run(scripted([{ text: "Four." }, { text: "I said four." }, { text: "Four!" }]));
    expect(result).toMatchObject({ text: "Four!", ended: "answer" });
  });

  it("accepts the first answer of a model that only repeats its prompt", async () => {
    const result = await agent.run(scripted([], { model: echoModel(), prompt: "hi there" }));
    expect(result).toMatchObject({ text: "hi there", turns: 3 });
  });

  it("validates a JSON answer and asks once more", async () => {
    const format = { type: "json", schema: { type: "object", required: ["n"] } } as const;
    const result = await agent.run(scripted([turn({ answer: { m: 1 } }), turn({ answer: '{"n": 1}' })], { format }));
    expect(result).toMatchObject({ json: { n: 1 }, text: '{"n":1}' });
    const error = await errorOf(agent.run(scripted([turn({ answer: {} }), turn({ answer: {} })], { format })));
    expect(error.code).toBe("UPSTREAM");
  });

  it("gives a last word outside the protocol when the turns run out", async () => {
    const tool = fakeTool("a.b");
    const request = scripted([turn({ action: { tool: "a_b" } }), { text: "That is all I know." }], {
      tools: [tool],
      limits: { maxTurns: 1 },
    });
    expect(await agent.run(request)).toMatchObject({ ended: "budget", text: "That is all I know." });
  });

  it("asks for approval even when a sub-agent makes the call", async () => {
    const write = fakeTool("a.write", undefined, { readOnly: false });
    const request = scripted(
      [
        turn({ action: { tool: "delegate", args: { task: "write" } } }),
        turn({ action: { tool: "a_write", args: {} } }),
        turn({ answer: "not allowed" }),
        turn({ answer: "over" }),
      ],
      { tools: [write], delegate: true, approve: async () => ({ allowed: false, reason: "No." }) },
    );
    expect(await agent.run(request)).toMatchObject({ text: "over", turns: 4 });
    expect(write.calls).toEqual([]);
  });
});
