import { createModel, type ModelTool } from "@trunkline/agent";
import { describe, expect, it } from "vitest";
import { errorOf, eventsOf, textOf, user } from "../collect.js";
import { cut, failure, openAi, sse, stall, startProviderServer } from "../provider-server.js";

const KEY = "sk-very-secret-key-0123456789";
const noWait = { sleep: async () => {}, random: () => 0 };

const lookup: ModelTool = {
  name: "docs_lookup",
  title: "docs.lookup",
  description: "Looks things up",
  inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
};

function modelAt(url: string, options: Partial<Parameters<typeof createModel>[0]> = {}) {
  return createModel({
    provider: "openai",
    model: "gpt-4.1",
    endpoint: `${url}/v1`,
    apiKey: KEY,
    retry: noWait,
    ...options,
  });
}

describe("an OpenAI-compatible provider", () => {
  it("streams text and reports usage", async () => {
    await using server = await startProviderServer(sse(openAi.text("Hello", ", ", "world")));
    const events = await eventsOf(modelAt(server.url));
    expect(events).toEqual([
      { type: "text", text: "Hello" },
      { type: "text", text: ", " },
      { type: "text", text: "world" },
      {
        type: "finish",
        reason: "stop",
        usage: { inputTokens: 19, outputTokens: 10, cachedInputTokens: 8, reasoningTokens: 4 },
      },
    ]);
    const [request] = server.requests;
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.body).toMatchObject({
      model: "gpt-4.1",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    });
  });

  it("joins tool calls that arrive in pieces, and keeps arguments that are not JSON as they are", async () => {
    await using server = await startProviderServer(
      sse(
        openAi.calls(
          { id: "call_a", name: "docs_lookup", pieces: ['{"q', '":"tr', 'unk"}'] },
          { id: "call_b", name: "docs_lookup", pieces: ['{"q": ', "oops"] },
          { id: "call_c", name: "list", pieces: [] },
          { id: "call_d", name: "list", pieces: ["null"] },
        ),
      ),
    );
    const events = await eventsOf(modelAt(server.url), { tools: [lookup] });
    expect(events.slice(0, 4)).toEqual([
      { type: "tool-call", id: "call_a", name: "docs_lookup", args: { q: "trunk" } },
      { type: "tool-call", id: "call_b", name: "docs_lookup", args: {}, raw: '{"q": oops' },
      { type: "tool-call", id: "call_c", name: "list", args: {} },
      { type: "tool-call", id: "call_d", name: "list", args: {} },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
    expect(server.requests[0]?.body.tools).toEqual([
      {
        type: "function",
        function: { name: "docs_lookup", description: "Looks things up", parameters: lookup.inputSchema },
      },
    ]);
  });

  it("sends a conversation with calls, results, images and one system message", async () => {
    await using server = await startProviderServer(sse(openAi.text("ok")));
    await eventsOf(modelAt(server.url), {
      tools: [lookup],
      toolChoice: "none",
      messages: [
        { role: "system", parts: [{ type: "text", text: "Be brief." }] },
        {
          role: "user",
          parts: [
            { type: "text", text: "look" },
            { type: "image", data: "aGk=", mediaType: "image/png" },
          ],
        },
        { role: "system", parts: [{ type: "text", text: "Be kind." }] },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "" },
            { type: "tool-call", id: "c1", name: "docs_lookup", args: { q: "x" } },
          ],
        },
        {
          role: "tool",
          parts: [
            {
              type: "tool-result",
              id: "c1",
              name: "docs_lookup",
              text: "found",
              images: [{ data: "aGk=", mediaType: "image/png" }],
            },
          ],
        },
      ],
    });
    const { body } = server.requests[0]!;
    expect(body.tool_choice).toBe("none");
    expect(body.messages).toEqual([
      { role: "system", content: "Be brief.\n\nBe kind." },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "docs_lookup", arguments: '{"q":"x"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: expect.stringMatching(/^found\n\[An image \(image\/png\)/) },
    ]);
  });

  it("requests JSON with a schema, thinking and a token limit in OpenAI's format", async () => {
    await using server = await startProviderServer(sse(openAi.text("{}")));
    const schema = { type: "object", properties: { a: { type: "number" } } };
    await eventsOf(modelAt(server.url), { format: { type: "json", schema }, think: true, maxOutputTokens: 100 });
    const { body } = server.requests[0]!;
    expect(body.response_format).toMatchObject({ type: "json_schema", json_schema: { schema, strict: false } });
    expect(body.reasoning_effort).toBe("medium");
    expect(body.max_completion_tokens).toBe(100);
    expect(body).not.toHaveProperty("max_tokens");
  });

  it("sends a compatible server's reasoning back while its tool calls are running, but not later", async () => {
    await using server = await startProviderServer(
      sse([
        openAi.chunk({ role: "assistant", reasoning_content: "let me " }),
        openAi.chunk({ reasoning_content: "see" }),
        ...openAi.text("done").slice(1),
      ]),
      sse(openAi.text("ok")),
    );
    const model = createModel({ provider: "openai-compatible", model: "m", endpoint: server.url, retry: false });
    expect((await eventsOf(model)).slice(0, 2)).toEqual([
      { type: "reasoning", text: "let me " },
      { type: "reasoning", text: "see" },
    ]);
    const call = (id: string) => [
      {
        role: "assistant" as const,
        parts: [
          { type: "reasoning" as const, text: `why ${id}` },
          { type: "tool-call" as const, id, name: "t", args: {} },
        ],
      },
      { role: "tool" as const, parts: [{ type: "tool-result" as const, id, name: "t", text: "r" }] },
    ];
    await eventsOf(model, { messages: [user("a"), ...call("old"), user("b"), ...call("new")] });
    const reasonings = server.requests[1]?.body.messages.map(
      (message: Record<string, unknown>) => message.reasoning_content,
    );
    expect(reasonings.filter((text: unknown) => text !== undefined)).toEqual(["why new"]);
    expect(server.requests[1]?.headers.authorization).toBeUndefined();
  });

  it("names the missing key and sends no request", async () => {
    const error = await errorOf(eventsOf(createModel({ provider: "openai", model: "gpt-4.1" })));
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: expect.stringContaining("OPENAI_API_KEY") });
  });

  it("reports a rejected key with the variable to set and without the key", async () => {
    await using server = await startProviderServer(
      failure(401, {
        error: {
          message: `Incorrect API key provided: ${KEY}.`,
          type: "invalid_request_error",
          code: "invalid_api_key",
        },
      }),
    );
    const error = await errorOf(eventsOf(modelAt(server.url)));
    expect(error).toMatchObject({ code: "AUTH_REQUIRED", retryable: false });
    expect(error.hint).toContain("OPENAI_API_KEY");
    expect(JSON.stringify([error, error.message, error.data, String(error.cause)])).not.toContain(KEY);
    expect(server.requests).toHaveLength(1);
  });

  it("reports an unknown model and a bad request as not retryable", async () => {
    await using server = await startProviderServer(
      failure(404, { error: { message: "model 'x' not found" } }),
      failure(400, { error: { message: "context too long" } }),
    );
    const model = createModel({ provider: "ollama", model: "x", endpoint: server.url, retry: noWait });
    const missing = await errorOf(eventsOf(model));
    expect(missing).toMatchObject({ code: "INVALID_ARGUMENT", hint: expect.stringContaining("ollama pull x") });
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "INVALID_ARGUMENT", retryable: false });
    expect(server.requests).toHaveLength(2);
  });

  it("waits as long as a rate limit asks, then continues", async () => {
    await using server = await startProviderServer(
      failure(429, { error: { message: "slow down", type: "rate_limit_error" } }, { "retry-after": "7" }),
      sse(openAi.text("ok")),
    );
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const events = await eventsOf(modelAt(server.url, { retry: { sleep, random: () => 0 } }));
    expect(waits).toEqual([7000]);
    expect(events[0]).toMatchObject({ type: "restart", reason: expect.stringContaining("rate limit") });
    expect(textOf(events)).toBe("ok");
  });

  it("does not wait longer than allowed, and does not retry for an account without credit", async () => {
    await using server = await startProviderServer(
      failure(429, { error: { message: "tomorrow" } }, { "retry-after": "86400" }),
      failure(429, { error: { message: "You exceeded your current quota", code: "insufficient_quota" } }),
    );
    const model = modelAt(server.url);
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "UPSTREAM", data: { retryAfterMs: 86_400_000 } });
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "UPSTREAM", retryable: false });
    expect(server.requests).toHaveLength(2);
  });

  it("backs off further after every server failure, and gives up after the last attempt", async () => {
    await using server = await startProviderServer(
      ...Array.from({ length: 4 }, () => failure(500, { error: { message: "boom" } })),
    );
    const waits: number[] = [];
    const retry = {
      sleep: async (ms: number) => void waits.push(ms),
      random: () => 1,
      maxAttempts: 4,
      maxDelayMs: 1500,
    };
    const error = await errorOf(eventsOf(modelAt(server.url, { retry })));
    expect(error).toMatchObject({ code: "UPSTREAM", data: { status: 500, attempts: 4 } });
    expect(waits).toEqual([500, 1000, 1500]);
    expect(server.requests).toHaveLength(4);
  });

  it.each(["reset", "end"] as const)("restarts a turn whose stream is cut in the middle (%s)", async (how) => {
    await using server = await startProviderServer(
      cut(openAi.text("Half of", " it").slice(0, 3), how),
      sse(openAi.text("All of it")),
    );
    const events = await eventsOf(modelAt(server.url));
    expect(events.findIndex(({ type }) => type === "restart")).toBeGreaterThan(0);
    const restarts = events.filter((event) => event.type === "restart");
    expect(restarts.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(
        how === "reset" ? / closed the connection: \w+\. Trying again in / : / was cut off before /,
      ),
    ]);
    expect(textOf(events)).toBe("All of it");
  });

  it("returns no call from an interrupted stream, even if its arguments look complete", async () => {
    const whole = openAi.calls({ id: "c", name: "docs_lookup", pieces: ['{"q":"x"}'] });
    await using server = await startProviderServer(cut(whole.slice(0, 3), "end"));
    const events: unknown[] = [];
    const model = modelAt(server.url, { retry: false });
    const error = await errorOf(
      (async () => {
        for await (const event of model.stream({ messages: [user("hi")], tools: [lookup] })) events.push(event);
      })(),
    );
    expect(error).toMatchObject({ code: "CONNECTION_FAILED", retryable: true });
    expect(events).toEqual([]);
  });

  it("retries after an error that the provider reports within its stream", async () => {
    await using server = await startProviderServer(
      sse([...openAi.text("par").slice(0, 2), { error: { message: "The server had an error", type: "server_error" } }]),
      sse(openAi.text("whole")),
    );
    expect(textOf(await eventsOf(modelAt(server.url)))).toBe("whole");
  });

  it("names the endpoint that cannot be reached, and says what to start", async () => {
    const server = await startProviderServer();
    await server[Symbol.asyncDispose]();
    const model = createModel({ provider: "ollama", model: "m", endpoint: `${server.url}/v1`, retry: false });
    const error = await errorOf(eventsOf(model));
    expect(error).toMatchObject({ code: "CONNECTION_FAILED", hint: expect.stringContaining("ollama serve") });
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("reports an endpoint that answers with an HTML page", async () => {
    await using server = await startProviderServer((response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>welcome</html>");
    });
    const error = await errorOf(eventsOf(modelAt(server.url)));
    expect(error).toMatchObject({ code: "UPSTREAM", message: expect.stringContaining("text/html") });
  });

  it("stops immediately when cancelled, and releases the connection", async () => {
    await using server = await startProviderServer(stall(openAi.text("Well").slice(0, 2)));
    const controller = new AbortController();
    const running = errorOf(eventsOf(modelAt(server.url), { signal: controller.signal }));
    await server.seen(1);
    controller.abort();
    expect(await running).toMatchObject({ code: "ABORTED" });
    await server.gone;
    expect(server.requests).toHaveLength(1);
  });

  it("stops immediately when cancelled while waiting to retry", async () => {
    await using server = await startProviderServer(
      failure(503, { error: { message: "busy" } }, { "retry-after": "30" }),
    );
    const controller = new AbortController();
    const model = modelAt(server.url, { retry: {} });
    const error = await errorOf(
      (async () => {
        for await (const event of model.stream({ messages: [user("hi")], signal: controller.signal })) {
          if (event.type === "restart") controller.abort();
        }
      })(),
    );
    expect(error).toMatchObject({ code: "ABORTED" });
  });

  it("gives up on a stalled stream", async () => {
    await using server = await startProviderServer(stall(openAi.text("Well").slice(0, 2)));
    const error = await errorOf(eventsOf(modelAt(server.url, { idleTimeoutMs: 200, retry: false })));
    expect(error).toMatchObject({ code: "TIMEOUT", retryable: true });
    await server.gone;
  });
});

describe("createModel", () => {
  it("suggests the closest provider name", () => {
    expect(() => createModel({ provider: "antropic", model: "x" })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", hint: expect.stringContaining("anthropic") }),
    );
  });

  it("requires a model, and an endpoint if there is no default", () => {
    expect(() => createModel({ provider: "openai" })).toThrow(/No model/);
    expect(() => createModel({ provider: "openai-compatible", model: "m" })).toThrow(/endpoint/);
    expect(() => createModel({ provider: "ollama", model: "m", endpoint: "localhost:1" })).toThrow(/http/);
  });

  it("rejects a password in the URL, since it would show up in messages, and does not repeat it", () => {
    const endpoint = "https://user:hunter2-hunter2@example.org/v1";
    const make = () => createModel({ provider: "openai-compatible", model: "m", endpoint });
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(make).not.toThrow(/hunter2/);
  });

  it("keeps header values out of every message, with and without their scheme", async () => {
    await using server = await startProviderServer(failure(400, { error: { message: "Bad token abcdef-abcdef" } }));
    const headers = { authorization: "Bearer abcdef-abcdef" };
    const model = createModel({ provider: "openai-compatible", model: "m", endpoint: server.url, headers });
    const error = await errorOf(eventsOf(model));
    expect(error.message).toContain("Bad token <redacted>");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer abcdef-abcdef");
  });
});

describe("a request option that a model does not support", () => {
  const format = { type: "json" } as const;
  const refused = failure(400, { error: { message: "Unrecognized request argument supplied" } });

  it("is dropped, one at a time, and not sent again", async () => {
    await using server = await startProviderServer(refused, refused, sse(openAi.text("{}")), sse(openAi.text("{}")));
    const model = modelAt(server.url);
    const events = await eventsOf(model, { think: true, format });
    expect(events.filter(({ type }) => type === "restart")).toHaveLength(2);
    expect(textOf(events)).toBe("{}");
    await eventsOf(model, { think: true, format });
    expect(
      server.requests.map(({ body }) => [body.reasoning_effort !== undefined, body.response_format !== undefined]),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
      [false, false],
    ]);
  });

  it("is not blamed for a request that also fails without it", async () => {
    await using server = await startProviderServer(refused, refused, refused, sse(openAi.text("ok")));
    const model = modelAt(server.url);
    expect(await errorOf(eventsOf(model, { think: true }))).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await errorOf(eventsOf(model))).toMatchObject({ code: "INVALID_ARGUMENT" });
    await eventsOf(model, { think: true });
    expect(server.requests[3]?.body.reasoning_effort).toBe("medium");
  });
});
