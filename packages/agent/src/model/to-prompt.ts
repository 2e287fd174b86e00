// Converts messages to the model library's format.
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { isRecord } from "@trunkline/core";
import type { Message, MessagePart, ModelTool } from "./model.js";
import type { ProviderFormat } from "./providers.js";

type Part<Type extends MessagePart["type"]> = Extract<MessagePart, { type: Type }>;
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
type UserContent = Extract<LanguageModelV3Message, { role: "user" }>["content"];

/** What the conversion needs to know about the target. */
export interface PromptTarget {
  readonly format: ProviderFormat;
  /** Whether reasoning is sent back with the calls it led to, in the field that compatible servers use. */
  readonly returnsReasoning: boolean;
}

/**
 * Builds the prompt. Merges all system messages into one at the front, because most providers accept no other; drops
 * empty texts and messages, because some providers reject them.
 */
export function toPrompt(messages: readonly Message[], target: PromptTarget): LanguageModelV3Prompt {
  const system = messages
    .filter(({ role }) => role === "system")
    .map((message) => textOf(message.parts))
    .filter((text) => text !== "")
    .join("\n\n");
  const prompt: LanguageModelV3Prompt = system === "" ? [] : [{ role: "system", content: system }];
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  messages.forEach((message, index) => {
    const converted = toMessage(message, { ...target, running: index > lastUser });
    if (converted !== undefined) prompt.push(converted);
  });
  return target.format === "anthropic" ? withCachePoints(prompt) : prompt;
}

/**
 * Marks where Anthropic should cache: everything before a mark is cached for five minutes, and reading it back costs a
 * tenth. The rules hardly ever change, and each turn starts with the whole previous one.
 */
function withCachePoints(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
  return prompt.map((message, index) =>
    message.role === "system" || index === prompt.length - 1 ? { ...message, ...mark } : message,
  );
}

export function toFunctionTools(tools: readonly ModelTool[]): NonNullable<LanguageModelV3CallOptions["tools"]> {
  return tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    name,
    ...(description === "" ? {} : { description }),
    // The library's JSON Schema type lists only what it knows; a tool's schema can contain more.
    inputSchema: inputSchema as Extract<
      NonNullable<LanguageModelV3CallOptions["tools"]>[number],
      { type: "function" }
    >["inputSchema"],
  }));
}

/** Fixes invalid tool names: a model can make one up, and providers reject it in the history. */
function wireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "_";
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function toMessage(
  message: Message,
  target: PromptTarget & { readonly running: boolean },
): LanguageModelV3Message | undefined {
  switch (message.role) {
    case "system":
      return undefined;
    case "user": {
      const content = toUserContent(message.parts);
      return content.length === 0 ? undefined : { role: "user", content };
    }
    case "assistant": {
      const content = toAssistantContent(message.parts, target);
      return content.length === 0 ? undefined : { role: "assistant", content };
    }
    case "tool": {
      const results = message.parts.filter((part): part is Part<"tool-result"> => part.type === "tool-result");
      return results.length === 0
        ? undefined
        : { role: "tool", content: results.map((part) => toResult(part, target.format)) };
    }
  }
}

function toUserContent(parts: readonly MessagePart[]): UserContent {
  return parts.flatMap((part): UserContent => {
    if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    if (part.type === "image") return [{ type: "file", data: part.data, mediaType: part.mediaType }];
    return [];
  });
}

function toAssistantContent(
  parts: readonly MessagePart[],
  target: PromptTarget & { readonly running: boolean },
): AssistantContent {
  const hasCalls = parts.some(({ type }) => type === "tool-call");
  // Anthropic and Google verify signed reasoning and drop the rest themselves. Compatible servers reject reasoning from
  // finished turns, or require it while a turn with calls is running.
  const withReasoning = target.format !== "openai" || (target.returnsReasoning && target.running && hasCalls);
  const content: AssistantContent = [];
  for (const part of parts) {
    if (part.type === "text" && part.text !== "") {
      content.push({ type: "text", text: part.text, ...optionsOf(part.providerData, target.format) });
    }
    if (part.type === "reasoning" && withReasoning) {
      content.push({ type: "reasoning", text: part.text, ...optionsOf(part.providerData, target.format) });
    }
    if (part.type === "tool-call") {
      content.push({
        type: "tool-call",
        toolCallId: part.id,
        toolName: wireName(part.name),
        input: part.args ?? {},
        ...optionsOf(part.providerData, target.format),
      });
    }
  }
  return content;
}

function toResult(part: Part<"tool-result">, format: ProviderFormat): LanguageModelV3ToolResultPart {
  const { images = [] } = part;
  const base = { type: "tool-result", toolCallId: part.id, toolName: wireName(part.name) } as const;
  if (images.length > 0 && format !== "openai" && part.isError !== true) {
    return {
      ...base,
      output: {
        type: "content",
        value: [
          ...(part.text === "" ? [] : [{ type: "text" as const, text: part.text }]),
          ...images.map(({ data, mediaType }) => ({ type: "image-data" as const, data, mediaType })),
        ],
      },
    };
  }
  const notes = images.map(
    ({ mediaType }) => `[An image (${mediaType}) came with this result; this provider accepts no images here.]`,
  );
  const value = [part.text, ...notes].filter((text) => text !== "").join("\n");
  return { ...base, output: { type: part.isError === true ? "error-text" : "text", value } };
}

/** Returns data from the provider that must be sent back, keyed by provider name as the library delivered it. */
function optionsOf(providerData: unknown, format: ProviderFormat): { providerOptions?: SharedV3ProviderOptions } {
  if (!isRecord(providerData)) return {};
  if (format === "openai") {
    // The library returns signatures of compatible endpoints under the provider's name and expects them back as
    // Google's.
    const signed = Object.values(providerData).find(
      (value): value is Record<string, unknown> => isRecord(value) && "thoughtSignature" in value,
    );
    if (typeof signed?.thoughtSignature !== "string") return {};
    return { providerOptions: { google: { thoughtSignature: signed.thoughtSignature } } };
  }
  // The data came from the library as JSON, and storing it keeps it JSON.
  return { providerOptions: providerData as SharedV3ProviderOptions };
}
