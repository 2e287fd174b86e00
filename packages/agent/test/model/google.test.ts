import { createModel, findAgent } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf, eventsOf, textOf, user } from "../collect.js";
import { cut, failure, google, sse, startProviderServer } from "../provider-server.js";
import { scripted } from "../tools.js";

const KEY = "AIza-very-secret-0123456789";
const noWait = { sleep: async () => {}, random: () => 0 };

function modelAt(url: string) {
  return createModel({
    provider: "google",
    model: "gemini-2.5-flash",
    endpoint: `${url}/v1beta`,
    apiKey: KEY,
    retry: noWait,
  });
}

const tool = {
  name: "read",
  description: "Reads",
  inputSchema: { type: "object", properties: { p: { type: "string" } } },
};

describe("the Google provider", () => {
  it("streams thoughts, text and calls, and sends signatures back unchanged", async () => {
    await using server = await startProviderServer(
      sse([
        google.chunk([{ text: "Thinking…", thought: true }]),
        google.chunk([{ text: "I will " }]),
        google.chunk([{ text: "look." }]),
        google.chunk([{ functionCall: { name: "read", args: { p: "/a" } }, thoughtSignature: "CikB0e2Kb" }], "STOP"),
      ]),
      sse([google.chunk([{ text: "Done." }], "STOP")]),
    );
    const model = modelAt(server.url);
    const events = await eventsOf(model, { tools: [tool], think: true });
    expect(events.slice(0, 3)).toEqual([
      { type: "reasoning", text: "Thinking…" },
      { type: "text", text: "I will " },
      { type: "text", text: "look." },
    ]);
    const call = events.find((event) => event.type === "tool-call");
    expect(call).toMatchObject({
      name: "read",
      args: { p: "/a" },
      providerData: { google: { thoughtSignature: "CikB0e2Kb" } },
    });
    expect(events.at(-1)).toEqual({
      type: "finish",
      reason: "tool-calls",
      usage: { inputTokens: 50, outputTokens: 19, cachedInputTokens: 5, reasoningTokens: 7 },
    });
    const [first] = server.requests;
    expect(first?.path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(first?.headers["x-goog-api-key"]).toBe(KEY);
    expect(first?.body.generationConfig.thinkingConfig).toEqual({ includeThoughts: true });

    if (call?.type !== "tool-call") throw new Error("no call");
    await eventsOf(model, {
      tools: [tool],
      messages: [
        { role: "system", parts: [{ type: "text", text: "Be brief." }] },
        user("hi"),
        { role: "assistant", parts: [call] },
        { role: "tool", parts: [{ type: "tool-result", id: call.id, name: "read", text: "content" }] },
        // Google rejects a system message here, so it has to move.
        { role: "system", parts: [{ type: "text", text: "Be kind." }] },
      ],
    });
    const { body } = server.requests[1]!;
    expect(body.systemInstruction).toEqual({ parts: [{ text: "Be brief.\n\nBe kind." }] });
    expect(body.contents[1]).toMatchObject({
      role: "model",
      parts: [{ functionCall: { name: "read", args: { p: "/a" } }, thoughtSignature: "CikB0e2Kb" }],
    });
    expect(body.contents[2].parts[0].functionResponse).toMatchObject({
      name: "read",
      response: { content: "content" },
    });
  });

  it("sends a text's signature back with that text only", async () => {
    await using server = await startProviderServer(
      sse([
        google.chunk([{ text: "Signed " }]),
        google.chunk([{ text: "text." }]),
        google.chunk([{ text: "", thoughtSignature: "c2lnbmVk" }], "STOP"),
      ]),
      sse([google.chunk([{ text: "More." }], "STOP")]),
    );
    const request = scripted([], { model: modelAt(server.url) });
    const { messages } = await findAgent("tools").run(request);
    expect(request.events.filter(({ type }) => type === "text")).toHaveLength(2);
    await findAgent("tools").run({ ...request, messages: [...messages, user("go on")] });
    expect(server.requests[1]?.body.contents).toMatchObject([
      { role: "user", parts: [{ text: "do it" }] },
      { role: "model", parts: [{ text: "Signed text.", thoughtSignature: "c2lnbmVk" }] },
      { role: "user", parts: [{ text: "go on" }] },
    ]);
  });

  it.each(["reset", "end"] as const)("restarts a turn whose stream is cut in the middle (%s)", async (how) => {
    await using server = await startProviderServer(
      cut([google.chunk([{ text: "Half" }])], how),
      sse([google.chunk([{ text: "Whole" }], "STOP")]),
    );
    const events = await eventsOf(modelAt(server.url));
    expect(events.some(({ type }) => type === "restart")).toBe(true);
    expect(textOf(events)).toBe("Whole");
  });

  it("recognises a rejected key even though it comes as a bad request", async () => {
    await using server = await startProviderServer(
      failure(400, {
        error: {
          code: 400,
          message: "API key not valid. Please pass a valid API key.",
          status: "INVALID_ARGUMENT",
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
        },
      }),
    );
    const error = await errorOf(eventsOf(modelAt(server.url)));
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: expect.stringContaining("GEMINI_API_KEY") });
  });

  it("waits as long as the body of a rate-limit response asks", async () => {
    await using server = await startProviderServer(
      failure(429, {
        error: {
          code: 429,
          message: "Resource exhausted",
          status: "RESOURCE_EXHAUSTED",
          details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" }],
        },
      }),
      sse([google.chunk([{ text: "ok" }], "STOP")]),
    );
    const waits: number[] = [];
    const model = createModel({
      provider: "google",
      model: "gemini-2.5-flash",
      endpoint: `${server.url}/v1beta`,
      apiKey: KEY,
      retry: { sleep: async (ms) => void waits.push(ms), random: () => 0 },
    });
    expect(textOf(await eventsOf(model))).toBe("ok");
    expect(waits).toEqual([3000]);
  });

  it("reports when a filter stopped the answer", async () => {
    await using server = await startProviderServer(sse([google.chunk([{ text: "No" }], "SAFETY")]));
    expect((await eventsOf(modelAt(server.url))).at(-1)).toMatchObject({ type: "finish", reason: "content-filter" });
  });
});
