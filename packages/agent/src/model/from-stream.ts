// The library's stream as events. Tool calls are held back until the turn has ended well: of a stream that was cut nothing
// may run.
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import { isRecord, parseJson } from "@trunkline/core";
import type { FinishReason, ModelEvent, TokenUsage } from "./model.js";

type ToolCallEvent = Extract<ModelEvent, { type: "tool-call" }>;

/** Thrown where a stream ended before its turn did. */
export class CutStreamError extends Error {
  override readonly name = "CutStreamError";
  /** Whether anything at all had come. */
  readonly empty: boolean;

  constructor(empty: boolean) {
    super("The stream ended before the answer did.");
    this.empty = empty;
  }
}

/** Thrown with what a provider reports within its stream. */
export class StreamErrorPart extends Error {
  override readonly name = "StreamErrorPart";
}

/** The events of one turn. Throws `CutStreamError` and `StreamErrorPart`, and whatever the stream throws. */
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
        // Of what comes with a text, only Google's signatures have to go back.
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
        // What the provider runs itself is its own affair.
        if (part.providerExecuted !== true) calls.push(toCall(part));
        break;
      case "error":
        if (isCutReport(part.error)) throw new CutStreamError(empty);
        throw new StreamErrorPart("The provider reported an error within its stream.", { cause: part.error });
      case "finish":
        // Google's reader ends in "other" and Anthropic's never gets here when the connection is closed half-way.
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

/** The reader of compatible endpoints reports a missing end as invalid data, without any data. */
function isCutReport(error: unknown): boolean {
  return isRecord(error) && error.name === "AI_InvalidResponseDataError" && error.data === undefined;
}

function toCall(part: Extract<LanguageModelV3StreamPart, { type: "tool-call" }>): ToolCallEvent {
  const base = { type: "tool-call", id: part.toolCallId, name: part.toolName } as const;
  const providerData = part.providerMetadata === undefined ? {} : { providerData: part.providerMetadata };
  // Nothing at all is how some models call a tool without parameters.
  const args =
    part.input.trim() === "" ? {} : (parseJson(part.input) ?? (part.input.trim() === "null" ? {} : undefined));
  return isRecord(args) ? { ...base, args, ...providerData } : { ...base, args: {}, raw: part.input, ...providerData };
}

function toReason(unified: LanguageModelV3FinishReason["unified"], called: boolean): FinishReason {
  // Some compatible servers say "stop" beside tool calls.
  if (called && (unified === "stop" || unified === "other")) return "tool-calls";
  return unified === "error" ? "other" : unified;
}

function toUsage(usage: LanguageModelV3Usage): TokenUsage | undefined {
  const { inputTokens: input, outputTokens: output } = usage;
  if (input.total === undefined && output.total === undefined) return undefined;
  return {
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    ...(input.cacheRead === undefined ? {} : { cachedInputTokens: input.cacheRead }),
    ...(output.reasoning === undefined ? {} : { reasoningTokens: output.reasoning }),
  };
}
