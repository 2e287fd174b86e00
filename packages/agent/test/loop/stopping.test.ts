import { findAgent, type Message, textMessage } from "@trunkline/agent";
import { TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, resultTexts, scripted, watchedModel } from "../tools.js";

const agent = findAgent("tools");

describe("an agent that has to stop", () => {
  it("stops a model that repeats the same failing call, with a last word", async () => {
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

  it("gives a last word without tools when the turns run out", async () => {
    const tool = fakeTool("a.b");
    const model = watchedModel({ tool: "a.b" }, { tool: "a.b", args: { n: 2 } }, { text: "So far: nothing." });
    const result = await agent.run(scripted([], { model, tools: [tool], limits: { maxTurns: 2 } }));
    expect(result).toMatchObject({ ended: "budget", text: "So far: nothing.", turns: 3 });
    expect(tool.calls).toHaveLength(2);
    expect(model.requests[2]?.toolChoice).toBe("none");
    // The instruction to stop is not part of the conversation that a later run continues.
    expect(result.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("stops when the tokens run out, and does not run a call from the last word", async () => {
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

  it("stops a call that exceeds the time limit, and still gives a last word", async () => {
    let stopped = false;
    const slow = fakeTool("a.slow", async (_, signal) => {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      stopped = true;
      return { text: "" };
    });
    const request = scripted([{ tool: "a.slow" }, { text: "No time." }], { tools: [slow], limits: { maxTimeMs: 500 } });
    const result = await agent.run(request);
    expect(result).toMatchObject({ ended: "budget", text: "No time." });
    expect(stopped).toBe(true);
    expect(resultTexts(result.messages)[0]).toMatch(/The time limit was reached/);
  });

  it("stops a model turn that exceeds the time limit", async () => {
    const result = await agent.run(
      scripted([{ text: "too late", delayMs: 60_000 }, { text: "No time." }], { limits: { maxTimeMs: 500 } }),
    );
    expect(result).toMatchObject({ ended: "budget", text: "No time.", turns: 2 });
  });

  it("keeps the text so far if even the last word fails", async () => {
    const result = await agent.run(
      scripted([{ text: "I found a clue.", tool: "a.b" }, { error: "gone" }], {
        tools: [fakeTool("a.b")],
        limits: { maxTurns: 1 },
      }),
    );
    expect(result).toMatchObject({ ended: "budget", text: expect.stringContaining("I found a clue.") });
  });

  it("stops at once when aborted, and keeps the results so far", async () => {
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

  it("continues after the user cancels a single call", async () => {
    const tool = fakeTool("a.b", () => {
      throw new TrunklineError("ABORTED", "cancelled");
    });
    const result = await agent.run(scripted([{ tool: "a.b" }, { text: "fine" }], { tools: [tool] }));
    expect(result.text).toBe("fine");
    expect(resultTexts(result.messages)[0]).toMatch(/cancelled by the user/);
  });

  it("continues a conversation that was interrupted in the middle of a call", async () => {
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
});
