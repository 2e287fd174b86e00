// Handles a server's request for a model's answer (`sampling/createMessage`), translating between protocol and model
// messages.
import type { Message, MessagePart, Model, ModelTool, TokenUsage } from "@trunkline/agent";
import { isRecord } from "@trunkline/core";

type Raw = Readonly<Record<string, unknown>>;

/** Has the model answer. The tools belong to the server, so tool calls are sent back to it. */
export async function answerSampling(
  model: Model,
  params: Raw,
  { signal, onUsage }: { signal: AbortSignal; onUsage: (usage: TokenUsage) => void },
): Promise<Raw> {
  const tools = toolsOf(params);
  const said: MessagePart[] = [];
  let reason = "stop";
  let usesTools = false;
  for await (const event of model.stream({
    messages: messagesOf(params),
    signal,
    ...(tools.length === 0 ? {} : { tools }),
    ...(typeof params.maxTokens === "number" ? { maxOutputTokens: params.maxTokens } : {}),
  })) {
    if (event.type === "restart") said.length = 0;
    else if (event.type === "finish") {
      reason = event.reason;
      if (event.usage !== undefined) onUsage(event.usage);
    } else if (event.type === "text") appendText(said, event.text);
    else if (event.type === "tool-call") {
      usesTools = true;
      said.push({ type: "tool-call", id: event.id, name: event.name, args: event.args });
    }
  }
  const content = said.flatMap((part): Raw[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "tool-call") return [];
    return [{ type: "tool_use", id: part.id, name: part.name, input: part.args }];
  });
  const only = content[0] ?? { type: "text", text: "" };
  return {
    role: "assistant",
    model: model.id,
    // Older servers accept only one block.
    content: content.length > 1 ? content : only,
    stopReason: usesTools ? "toolUse" : reason === "length" ? "maxTokens" : "endTurn",
  };
}

function appendText(said: MessagePart[], text: string): void {
  const last = said.at(-1);
  if (last?.type === "text") said[said.length - 1] = { type: "text", text: last.text + text };
  else said.push({ type: "text", text });
}

function messagesOf(params: Raw): Message[] {
  const system =
    typeof params.systemPrompt === "string" && params.systemPrompt !== "" ? params.systemPrompt : undefined;
  const names = new Map<string, string>();
  const messages = (Array.isArray(params.messages) ? params.messages : []).filter(isRecord).flatMap((message) => {
    const blocks = (Array.isArray(message.content) ? message.content : [message.content]).filter(isRecord);
    const parts = blocks.map((block) => toPart(block, names));
    const results = parts.filter((part) => part.type === "tool-result");
    const rest = parts.filter((part) => part.type !== "tool-result");
    const role = message.role === "assistant" ? "assistant" : "user";
    return [
      ...(results.length === 0 ? [] : [{ role: "tool", parts: results } as const]),
      ...(rest.length === 0 ? [] : [{ role, parts: rest } as const]),
    ];
  });
  return [
    ...(system === undefined ? [] : [{ role: "system", parts: [{ type: "text", text: system }] } as const]),
    ...messages,
  ];
}

function toPart(block: Record<string, unknown>, names: Map<string, string>): MessagePart {
  switch (block.type) {
    case "text":
      return { type: "text", text: String(block.text) };
    case "image":
      return { type: "image", data: String(block.data), mediaType: String(block.mimeType) };
    case "tool_use":
      names.set(String(block.id), String(block.name));
      return { type: "tool-call", id: String(block.id), name: String(block.name), args: block.input ?? {} };
    case "tool_result": {
      const id = String(block.toolUseId);
      const content = Array.isArray(block.content) ? block.content.filter(isRecord) : [];
      const text = content.map((item) => (item.type === "text" ? String(item.text) : JSON.stringify(item))).join("\n");
      const isError = block.isError === true ? { isError: true } : {};
      return { type: "tool-result", id, name: names.get(id) ?? id, text, ...isError };
    }
    default:
      return { type: "text", text: JSON.stringify(block) };
  }
}

function toolsOf({ tools, toolChoice }: Raw): ModelTool[] {
  if (isRecord(toolChoice) && toolChoice.mode === "none") return [];
  return (Array.isArray(tools) ? tools : []).filter(isRecord).map((tool) => ({
    name: String(tool.name),
    description: typeof tool.description === "string" ? tool.description : "",
    inputSchema: isRecord(tool.inputSchema) ? tool.inputSchema : { type: "object" },
  }));
}
