import { createModel } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf, eventsOf, textOf, user } from "../collect.js";
import { anthropic, cut, failure, sse, startProviderServer } from "../provider-server.js";

const KEY = "sk-ant-very-secret-0123456789";
const noWait = { sleep: async () => {}, random: () => 0 };
const named = { named: true };

function modelAt(url: string, model = "claude-sonnet-4-5") {
  return createModel({ provider: "anthropic", model, endpoint: `${url}/v1`, apiKey: KEY, retry: noWait });
}

const tool = { name: "read", description: "Reads", inputSchema: { type: "object", properties: {} } };

describe("the Anthropic provider", () => {
  it("streams thinking, text and calls, and sends signed thinking back unchanged", async () => {
    await using server = await startProviderServer(
      sse(
        anthropic.answer(
          [
            anthropic.thinkingBlock(0, "I should read.", "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk"),
            anthropic.textBlock(1, "Let me", " look."),
            anthropic.toolBlock(2, { id: "toolu_01T1x", name: "read", pieces: ['{"path"', ': "/a', '"}'] }),
          ],
          "tool_use",
        ),
        named,
      ),
      sse(anthropic.answer([anthropic.textBlock(0, "Done.")], "end_turn"), named),
    );
    const model = modelAt(server.url);
    const events = await eventsOf(model, { tools: [tool], think: true });
    const providerData = { anthropic: { signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk" } };
    expect(events).toEqual([
      { type: "reasoning", text: "I should read." },
      { type: "reasoning", text: "", providerData },
      { type: "text", text: "Let me" },
      { type: "text", text: " look." },
      expect.objectContaining({ type: "tool-call", id: "toolu_01T1x", name: "read", args: { path: "/a" } }),
      {
        type: "finish",
        reason: "tool-calls",
        usage: expect.objectContaining({ inputTokens: 572, outputTokens: 89, cachedInputTokens: 100 }),
      },
    ]);
    const [first] = server.requests;
    expect(first?.path).toBe("/v1/messages");
    expect(first?.headers["x-api-key"]).toBe(KEY);
    expect(first?.body.thinking).toEqual({ type: "enabled", budget_tokens: 4096 });

    await eventsOf(model, {
      tools: [tool],
      think: true,
      messages: [
        { role: "system", parts: [{ type: "text", text: "Be brief." }] },
        user("hi"),
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "I should read.", providerData },
            { type: "tool-call", id: "toolu_01T1x", name: "read", args: { path: "/a" } },
          ],
        },
        {
          role: "tool",
          parts: [
            {
              type: "tool-result",
              id: "toolu_01T1x",
              name: "read",
              text: "a picture",
              images: [{ data: "aGk=", mediaType: "image/png" }],
            },
          ],
        },
      ],
    });
    const { body } = server.requests[1]!;
    expect(body.system).toMatchObject([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
    expect(body.messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I should read.", signature: providerData.anthropic.signature },
          { type: "tool_use", id: "toolu_01T1x", name: "read", input: { path: "/a" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_01T1x",
            content: [
              { type: "text", text: "a picture" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
            ],
          },
        ],
      },
    ]);
  });

  it("lets newer models decide how much to think, and keeps the tools listed when calling them is forbidden", async () => {
    await using server = await startProviderServer(
      sse(anthropic.answer([anthropic.textBlock(0, "ok")], "end_turn"), named),
    );
    await eventsOf(modelAt(server.url, "claude-opus-4-6"), { think: true, tools: [tool], toolChoice: "none" });
    const { body } = server.requests[0]!;
    expect(body.thinking).toEqual({ type: "adaptive" });
    expect(body.tools).toHaveLength(1);
    expect(body.tool_choice).toEqual({ type: "none" });
  });

  it.each(["reset", "end"] as const)("restarts a turn whose stream is cut in the middle (%s)", async (how) => {
    await using server = await startProviderServer(
      cut([anthropic.start, ...anthropic.textBlock(0, "Half").slice(0, 3)], how),
      sse(anthropic.answer([anthropic.textBlock(0, "Whole")], "end_turn"), named),
    );
    const events = await eventsOf(modelAt(server.url));
    expect(events.some(({ type }) => type === "restart")).toBe(true);
    expect(textOf(events)).toBe("Whole");
  });

  it("retries when the provider is overloaded, whether reported as a status or inside the stream", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    await using server = await startProviderServer(
      failure(529, overloaded),
      sse([overloaded], named),
      sse([anthropic.start, ...anthropic.textBlock(0, "Half").slice(0, 3), overloaded], named),
      sse(anthropic.answer([anthropic.textBlock(0, "Whole")], "end_turn"), named),
    );
    expect(textOf(await eventsOf(modelAt(server.url)))).toBe("Whole");
    expect(server.requests).toHaveLength(4);
  });

  it("reports a rejected key with the variable to set and without the key", async () => {
    await using server = await startProviderServer(
      failure(401, { type: "error", error: { type: "authentication_error", message: `invalid x-api-key ${KEY}` } }),
    );
    const error = await errorOf(eventsOf(modelAt(server.url)));
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect(error.message).not.toContain(KEY);
  });

  it("never reads a key from the environment by itself", async () => {
    process.env.ANTHROPIC_API_KEY = "from-the-environment";
    try {
      const error = await errorOf(eventsOf(createModel({ provider: "anthropic", model: "claude-x" })));
      expect(error).toMatchObject({ code: "AUTH_REQUIRED" });
    } finally {
      delete process.env.ANTHROPIC_API_KEY;
    }
  });
});
