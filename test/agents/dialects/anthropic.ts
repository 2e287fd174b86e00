// Anthropic Messages, as Claude Code uses it.
import { CALL, type Dialect, events, json, type Move, newId } from "./dialect.js";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string | readonly { readonly type: string }[];
}

interface Request {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages?: readonly Message[];
}

const USAGE = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

function blockOf(move: Move) {
  return typeof move === "string"
    ? { type: "text", text: move }
    : { type: "tool_use", id: newId("toolu"), name: move.tool, input: move.args };
}

export const anthropic: Dialect = {
  serves: (path) => path.endsWith("/messages"),
  read(body) {
    const { tools = [], messages = [] } = body as Request;
    const blocks = messages.flatMap(({ role, content }) =>
      typeof content === "string" ? [] : content.map((block) => ({ role, block })),
    );
    return {
      tools: tools.map(({ name }) => name),
      items: blocks.flatMap(({ role, block }): unknown[] => {
        if (block.type === "tool_use") return [CALL];
        return role === "user" ? [block] : [];
      }),
    };
  },
  reply(move, { body }) {
    const { model, stream } = body as Request;
    const block = blockOf(move);
    const reason = block.type === "text" ? "end_turn" : "tool_use";
    const message = { id: newId("msg"), type: "message", role: "assistant", model, stop_sequence: null, usage: USAGE };
    if (stream !== true) return json({ ...message, content: [block], stop_reason: reason });
    const delta =
      "text" in block
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    const opened = "text" in block ? { ...block, text: "" } : { ...block, input: {} };
    return events([
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: opened },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ]);
  },
};
