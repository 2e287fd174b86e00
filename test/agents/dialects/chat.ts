// OpenAI Chat Completions, as opencode uses it.
import { CALL, type Dialect, json, newId, type Reply } from "./dialect.js";

interface Request {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly messages?: readonly { readonly role: string; readonly content?: unknown; readonly tool_calls?: unknown[] }[];
}

export const chat: Dialect = {
  serves: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const { tools = [], messages = [] } = body as Request;
    return {
      tools: tools.map((tool) => tool.function.name),
      items: messages.flatMap(({ role, content, tool_calls = [] }): unknown[] =>
        role === "assistant" ? tool_calls.map(() => CALL) : [content],
      ),
    };
  },
  reply(move, { body }): Reply {
    const { model, stream } = body as Request;
    const isText = typeof move === "string";
    const message = {
      role: "assistant",
      content: isText ? move : null,
      ...(isText
        ? {}
        : {
            tool_calls: [
              {
                index: 0,
                id: newId("call"),
                type: "function",
                function: { name: move.tool, arguments: JSON.stringify(move.args) },
              },
            ],
          }),
    };
    const reason = isText ? "stop" : "tool_calls";
    const base = { id: newId("chatcmpl"), created: 1_700_000_000, model };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    if (stream !== true) {
      const choice = { index: 0, message, finish_reason: reason };
      return json({ ...base, object: "chat.completion", choices: [choice], usage });
    }
    const chunk = { ...base, object: "chat.completion.chunk" };
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage },
    ];
    const lines = [...chunks.map((each) => JSON.stringify(each)), "[DONE]"];
    return { type: "text/event-stream", text: lines.map((line) => `data: ${line}\n\n`).join("") };
  },
};
