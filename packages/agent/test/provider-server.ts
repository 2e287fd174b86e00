// A server on localhost that speaks the providers' wire formats, based on recorded responses. Each request gets the
// next response from a queue.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a body is looked into by tests that know its shape
  readonly body: Record<string, any>;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Resolves when the n-th request has arrived (from 1). */
  seen(count: number): Promise<void>;
  /** Resolves when a client disconnects before its response ends. */
  readonly gone: Promise<void>;
}

export async function startProviderServer(...answers: Answer[]): Promise<ProviderServer> {
  const requests: SeenRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let onGone: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    onGone = resolve;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
      const seen = { path: request.url ?? "", headers: request.headers, body };
      requests.push(seen);
      for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve();
      response.on("close", () => {
        if (!response.writableFinished) onGone();
      });
      const answer = answers.shift();
      if (answer === undefined) {
        response.writeHead(418).end("no answer left");
        return;
      }
      void answer(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    gone,
    seen: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Builds a response of server-sent events; a string is sent as it is, an object as JSON. */
export function sse(events: readonly (object | string)[], options: { named?: boolean } = {}): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) writeEvent(response, event, options);
    response.end();
  };
}

function writeEvent(response: ServerResponse, event: object | string, { named = false }: { named?: boolean }): void {
  const name = named && typeof event === "object" ? `event: ${(event as { type: string }).type}\n` : "";
  response.write(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
}

/** Sends the first events of a response, then breaks the connection (`reset`) or ends it as if complete (`end`). */
export function cut(events: readonly (object | string)[], how: "reset" | "end" = "reset"): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) writeEvent(response, event, { named: true });
    if (how === "end") response.end();
    else setTimeout(() => response.socket?.destroy(), 20);
  };
}

/** Sends the first events of a response, then nothing more. */
export function stall(events: readonly (object | string)[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (const event of events) writeEvent(response, event, { named: true });
  };
}

export function failure(status: number, body: object | string, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

// OpenAI: chat completions

function openAiChunk(delta: object, rest: { finish_reason?: string | null; usage?: object } = {}): object {
  const { finish_reason = null, usage } = rest;
  return {
    id: "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
    object: "chat.completion.chunk",
    created: 1741570283,
    model: "gpt-4.1-2025-04-14",
    service_tier: "default",
    system_fingerprint: "fp_fc9f1d7035",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(usage === undefined ? {} : { usage }),
  };
}

const OPENAI_USAGE = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 4, audio_tokens: 0 },
};

export const openAi = {
  chunk: openAiChunk,
  text: (...pieces: string[]): (object | string)[] => [
    openAiChunk({ role: "assistant", content: "", refusal: null }),
    ...pieces.map((content) => openAiChunk({ content })),
    openAiChunk({}, { finish_reason: "stop" }),
    { ...openAiChunk({}), choices: [], usage: OPENAI_USAGE },
    "[DONE]",
  ],
  /** Tool calls, with their arguments split at arbitrary places. */
  calls: (...calls: { id: string; name: string; pieces: string[] }[]): (object | string)[] => [
    openAiChunk({ role: "assistant", content: null }),
    ...calls.flatMap(({ id, name, pieces }, index) => [
      openAiChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces.map((piece) => openAiChunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    openAiChunk({}, { finish_reason: "tool_calls" }),
    { ...openAiChunk({}), choices: [], usage: OPENAI_USAGE },
    "[DONE]",
  ],
};

// Anthropic: messages

const anthropicStart = {
  type: "message_start",
  message: {
    id: "msg_014p7gG3wDgGV9EUtLvnow3U",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    stop_sequence: null,
    usage: { input_tokens: 472, output_tokens: 2, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 },
    content: [],
    stop_reason: null,
  },
};

function anthropicEnd(stop_reason: string): object[] {
  return [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 89 } },
    { type: "message_stop" },
  ];
}

export const anthropic = {
  start: anthropicStart,
  textBlock: (index: number, ...pieces: string[]): object[] => [
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...pieces.map((text) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index },
  ],
  thinkingBlock: (index: number, thinking: string, signature: string): object[] => [
    { type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking } },
    { type: "content_block_delta", index, delta: { type: "signature_delta", signature } },
    { type: "content_block_stop", index },
  ],
  toolBlock: (index: number, call: { id: string; name: string; pieces: string[] }): object[] => [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: call.id, name: call.name, input: {} },
    },
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "" } },
    ...call.pieces.map((partial_json) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index },
  ],
  answer: (blocks: object[][], stop_reason: string): object[] => [
    anthropicStart,
    ...blocks.flat(),
    ...anthropicEnd(stop_reason),
  ],
};

// Google: streamGenerateContent

const GOOGLE_USAGE = {
  promptTokenCount: 50,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 7,
  totalTokenCount: 69,
  cachedContentTokenCount: 5,
};

export const google = {
  chunk: (parts: object[], finishReason?: string): object => ({
    candidates: [
      { content: { parts, role: "model" }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
    ],
    usageMetadata: GOOGLE_USAGE,
    modelVersion: "gemini-2.5-flash",
    responseId: "dKjsaK2nA5-SvdIPnbG20Ak",
  }),
};
