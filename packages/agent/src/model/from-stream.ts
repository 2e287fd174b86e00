// Turns the library's stream into events. Holds tool calls back until the turn has ended well: a call from a cut stream
// must not run.
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import { isRecord, parseUniqueJson } from "@trunkline/core";
import type { FinishReason, ModelEvent, TokenUsage } from "./model.js";

type ToolCallEvent = Extract<ModelEvent, { type: "tool-call" }>;

/** Thrown if a stream ends before its turn does. */
export class CutStreamError extends Error {
  override readonly name = "CutStreamError";
  /** Whether the stream was empty. */
  readonly empty: boolean;

  constructor(empty: boolean) {
    super("The stream ended before the answer did.");
    this.empty = empty;
  }
}

/** Thrown for an error that the provider reports inside its stream. */
export class StreamErrorPart extends Error {
  override readonly name = "StreamErrorPart";
}

/** Yields the events of one turn. Throws `CutStreamError`, `StreamErrorPart` and whatever the stream throws. */
export async function* fromStream(parts: AsyncIterable<LanguageModelV3StreamPart>): AsyncGenerator<ModelEvent> {
  const calls: ToolCallEvent[] = [];
  const reasoning = new Map<string, Record<string, unknown>>();
  const texts = new Map<string, Record<string, unknown>>();
  let empty = true;
  for await (const part of parts) {
    if (part.type !== "stream-start" && part.type !== "error" && part.type !== "finish") empty = false;
    switch (part.type) {
      case "text-start":
        texts.set(part.id, { ...part.providerMetadata });
        break;
      case "text-delta":
        Object.assign(entryOf(texts, part.id), part.providerMetadata);
        if (part.delta !== "") yield { type: "text", text: part.delta };
        break;
      case "text-end": {
        const providerData = entryOf(texts, part.id);
        texts.delete(part.id);
        // Of the data attached to text, only Google's signatures must be sent back.
        if (Object.values(providerData).some(isSigned)) yield { type: "text", text: "", providerData };
        break;
      }
      case "reasoning-start":
        reasoning.set(part.id, { ...part.providerMetadata });
        break;
      case "reasoning-delta":
        Object.assign(entryOf(reasoning, part.id), part.providerMetadata);
        if (part.delta !== "") yield { type: "reasoning", text: part.delta };
        break;
      case "reasoning-end": {
        const providerData = Object.assign(entryOf(reasoning, part.id), part.providerMetadata);
        reasoning.delete(part.id);
        if (Object.keys(providerData).length > 0) yield { type: "reasoning", text: "", providerData };
        break;
      }
      case "tool-call":
        // Skip tools that the provider runs itself.
        if (part.providerExecuted !== true) calls.push(toCall(part));
        break;
      case "error":
        if (isCutReport(part.error)) throw new CutStreamError(empty);
        throw new StreamErrorPart("The provider reported an error inside its stream.", { cause: part.error });
      case "finish":
        // When the connection drops midway, Google's reader ends with "other" and Anthropic's never gets here.
        if (part.finishReason.raw === undefined && part.finishReason.unified !== "stop")
          throw new CutStreamError(empty);
        yield* calls;
        yield {
          type: "finish",
          reason: toReason(part.finishReason.unified, calls.length > 0),
          usage: toUsage(part.usage),
        };
        return;
      default:
        break;
    }
  }
  throw new CutStreamError(empty);
}

function entryOf(map: Map<string, Record<string, unknown>>, id: string): Record<string, unknown> {
  const known = map.get(id);
  if (known !== undefined) return known;
  const made: Record<string, unknown> = {};
  map.set(id, made);
  return made;
}

function isSigned(data: unknown): boolean {
  return isRecord(data) && "thoughtSignature" in data;
}

/** Detects a cut stream: the reader for compatible endpoints reports a missing end as invalid data without any data. */
function isCutReport(error: unknown): boolean {
  return isRecord(error) && error.name === "AI_InvalidResponseDataError" && error.data === undefined;
}

function toCall(part: Extract<LanguageModelV3StreamPart, { type: "tool-call" }>): ToolCallEvent {
  const base = { type: "tool-call", id: part.toolCallId, name: part.toolName } as const;
  const providerData = part.providerMetadata === undefined ? {} : { providerData: part.providerMetadata };
  // Some models call a tool without parameters by sending nothing at all.
  const args =
    part.input.trim() === "" ? {} : (parseUniqueJson(part.input) ?? (part.input.trim() === "null" ? {} : undefined));
  return isRecord(args) ? { ...base, args, ...providerData } : { ...base, args: {}, raw: part.input, ...providerData };
}

function toReason(unified: LanguageModelV3FinishReason["unified"], called: boolean): FinishReason {
  // Some compatible servers say "stop" together with tool calls.
  if (called && (unified === "stop" || unified === "other")) return "tool-calls";
  return unified === "error" ? "other" : unified;
}

function toUsage(usage: LanguageModelV3Usage): TokenUsage | undefined {
  const { inputTokens: input, outputTokens: output } = usage;
  if (input.total === undefined && output.total === undefined) return undefined;
  return {
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    cachedInputTokens: input.cacheRead,
    reasoningTokens: output.reasoning,
  };
}
