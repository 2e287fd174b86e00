import { findAgent, messageText } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, scripted, watchedModel } from "../tools.js";

const agent = findAgent("tools");

describe("an answer in JSON", () => {
  const schema = { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] };
  const format = { type: "json", schema } as const;

  it("is extracted from a code fence and validated", async () => {
    const result = await agent.run(scripted([{ text: 'Sure:\n```json\n{"n": 3,}\n```' }], { format }));
    expect(result.json).toEqual({ n: 3 });
  });

  it("is requested once more with the problem, without keeping that exchange", async () => {
    const model = watchedModel({ text: '{"n": 0}' }, { text: '{"n": 1}' });
    const request = scripted([], { model, format, tools: [fakeTool("a.b")] });
    const result = await agent.run(request);
    expect(result).toMatchObject({ json: { n: 1 }, text: '{"n": 1}', turns: 2 });
    expect(result.messages.map(messageText)).toEqual(["do it", '{"n": 1}']);
    expect(messageText(model.requests[1]!.messages.at(-1)!)).toContain("n must be at least 1");
    // With tools, the format is requested in the prompt; without tools, the provider is told.
    expect(model.requests.map((asked) => asked.format?.type)).toEqual([undefined, "json"]);
    expect(request.events).toContainEqual(expect.objectContaining({ type: "note" }));
  });

  it("is an error if it is wrong twice", async () => {
    const error = await errorOf(agent.run(scripted([{ text: "three" }, { text: "four" }], { format })));
    expect(error).toMatchObject({ code: "UPSTREAM", message: expect.stringContaining("not JSON") });
  });
});
