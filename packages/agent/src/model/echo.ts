// A provider without a model: repeats the prompt or plays a script. Deterministic, so tests, examples and first steps
// need no network and no key.
import { abortError, isRecord, sleep, TrunklineError } from "@trunkline/core";
import { type EchoTurn, parseEchoScript, resolveReferences } from "./echo-script.js";
import type { Message, MessagePart, Model, ModelEvent, ModelRequest, ModelTool, TokenUsage } from "./model.js";

export interface EchoOptions {
  /** The model's id. Default `echo`. */
  model?: string | undefined;
  /** JSONL, one turn per line; see the top of echo-script.ts for the format. Without it, the prompt is repeated. */
  script?: string | undefined;
  /** Delay before each piece of text. Default 0. */
  pieceDelayMs?: number | undefined;
}

/** Creates a deterministic model. A script is played once, across all streams of this model. */
export function echoModel(options: EchoOptions = {}): Model {
  const script = options.script === undefined ? undefined : parseEchoScript(options.script);
  let turn = 0;
  const id = options.model ?? "echo";
  return {
    provider: "echo",
    id,
    async *stream(request) {
      const index = turn++;
      const next = script === undefined ? repeat(request) : script[index];
      if (next === undefined) {
        throw new TrunklineError("INVALID_ARGUMENT", `The script has no line for turn ${index + 1}.`, {
          hint: `It has ${script?.length ?? 0} turns: add lines, or ask for fewer turns.`,
        });
      }
      try {
        request.signal?.throwIfAborted();
        yield* play(next, { request, index, pieceDelayMs: options.pieceDelayMs ?? 0 });
      } catch (error) {
        if (request.signal?.aborted) throw abortError(request.signal, "Asking echo");
        throw error;
      }
    },
  };
}

/** Counts tokens the way echo does: one per four characters, rounded up. */
function countEchoTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

async function* play(
  turn: EchoTurn,
  { request, index, pieceDelayMs }: { request: ModelRequest; index: number; pieceDelayMs: number },
): AsyncGenerator<ModelEvent> {
  const { signal } = request;
  let said = "";
  if (turn.delayMs !== undefined) await sleep(turn.delayMs, signal);
  const kinds = [
    ["reasoning", turn.reasoning ?? ""],
    ["text", turn.text ?? ""],
  ] as const;
  for (const [type, text] of kinds) {
    for (const piece of piecesOf(text)) {
      if (pieceDelayMs > 0) await sleep(pieceDelayMs, signal);
      signal?.throwIfAborted();
      said += piece;
      yield { type, text: piece };
    }
  }
  if (turn.error !== undefined) throw turn.error;
  // Resolve all references first: a single bad reference fails the whole turn.
  const calls = turn.calls.map(({ tool, args }, number): Extract<ModelEvent, { type: "tool-call" }> => {
    const base = {
      type: "tool-call",
      id: `call-${index + 1}-${number + 1}`,
      name: wireName(tool, request.tools),
    } as const;
    if (typeof args === "string") return { ...base, args: {}, raw: args };
    return { ...base, args: resolveReferences(args, request.messages) };
  });
  for (const call of calls) {
    said += call.name + (call.raw ?? JSON.stringify(call.args));
    yield call;
  }
  yield {
    type: "finish",
    reason: turn.finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
    usage: turn.usage ?? usageOf(request.messages, said),
  };
}

/** Splits a text into words with the white space after them, so that joining the pieces gives the text. */
function piecesOf(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? [];
}

function usageOf(messages: readonly Message[], said: string): TokenUsage {
  const input = messages.flatMap(({ parts }) => parts.map(charactersOf)).reduce((sum, count) => sum + count, 0);
  return { inputTokens: Math.ceil(input / 4), outputTokens: countEchoTokens(said) };
}

function charactersOf(part: MessagePart): number {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "tool-result":
      return part.text.length;
    case "tool-call":
      return part.name.length + JSON.stringify(part.args ?? {}).length;
    case "image":
      return 0;
  }
}

/**
 * Returns a scripted name as the model would write it. Unknown names stay unchanged: a script can use one on purpose.
 */
function wireName(name: string, tools: readonly ModelTool[] = []): string {
  return tools.find((tool) => tool.name === name)?.name ?? tools.find((tool) => tool.title === name)?.name ?? name;
}

function repeat(request: ModelRequest): EchoTurn {
  const prompt = request.messages.findLast(({ role }) => role === "user");
  const text = (prompt?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
  const { format } = request;
  if (format === undefined) return { text, calls: [], error: undefined };
  const value = format.schema === undefined ? { echo: text } : sampleOf(format.schema, text);
  return { text: JSON.stringify(value), calls: [], error: undefined };
}

/** Builds a sample value for a hand-written schema; the text goes wherever a string is allowed. */
function sampleOf(schema: unknown, text: string, depth = 0): unknown {
  if (!isRecord(schema) || depth > 8) return text;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  for (const key of ["anyOf", "oneOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices)) return sampleOf(choices[0], text, depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type ?? ("properties" in schema ? "object" : "string")) {
    case "object": {
      const properties = isRecord(schema.properties) ? schema.properties : {};
      return Object.fromEntries(
        Object.entries(properties).map(([key, item]) => [key, sampleOf(item, text, depth + 1)]),
      );
    }
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 1) }, () => sampleOf(schema.items, text, depth + 1));
    case "number":
    case "integer":
      return Number(schema.minimum ?? 0);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return text;
  }
}
