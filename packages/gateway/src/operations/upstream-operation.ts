// Turns every tool of every connected server into an operation.
import type { Hub, HubCallOptions, ServerStatus } from "@trunkline/client";
import {
  isRecord,
  type LargeResult,
  LargeValue,
  matchesGlob,
  nearestNames,
  parseJson,
  type SourcedTool,
  signatureOf,
  type ToolCallResult,
  TrunklineError,
} from "@trunkline/core";
import { missingArguments } from "@trunkline/core/schema";
import { isDeeperThan, MAX_MESSAGE_DEPTH } from "@trunkline/protocol";
import {
  type ContentBlock,
  endWith,
  type Operation,
  type OperationKind,
  type OperationOutcome,
  type Params,
} from "../interfaces/operation.js";

const LONGEST_SUMMARY = 160;

/** Creates the operation for a tool. */
export function upstreamOperation(hub: Hub, tool: SourcedTool, config: ServerStatus["config"] | undefined): Operation {
  const name = `${tool.server}.${tool.tool}`;
  return {
    name,
    kind: kindOf(tool, config?.readOnly),
    summary: summaryOf(tool.description),
    schema: tool.inputSchema,
    server: tool.server,
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    validate: (params) => checked(name, tool.inputSchema, params),
    run: async (params, context) => {
      const { exchange, onProgress } = context;
      const { channel, meta } = exchange;
      const options: HubCallOptions = { channel, acceptLarge: true };
      endWith(context, options);
      if (onProgress !== undefined) options.onProgress = onProgress;
      if (Object.keys(meta).length > 0) options.meta = meta;
      return await upstreamOutcome(hub, await hub.callTool(tool.server, tool.tool, params, options));
    },
  };
}

/**
 * Converts the result of a call to a value and blocks. They are as the server sent them, except that an error is
 * redacted: its message can quote the server's configuration.
 */
export async function upstreamOutcome(hub: Hub, { raw, isError, large }: ToolCallResult): Promise<OperationOutcome> {
  if (large !== undefined) return await largeOutcome(hub, large, isError);
  return outcomeOf(isError ? hub.redact(raw) : raw, isError);
}

/**
 * Returns `read` if the server or the configuration says so. Servers that have not been approved are never connected.
 */
export function kindOf(
  tool: Pick<SourcedTool, "tool" | "annotations">,
  readOnly: readonly string[] | undefined,
): OperationKind {
  const isRead = tool.annotations?.readOnlyHint === true || readOnly?.some((glob) => matchesGlob(glob, tool.tool));
  return isRead ? "read" : "write";
}

/** Returns the first sentence of a description, on one line. */
export function summaryOf(description: string | undefined): string {
  const text = (description ?? "").replace(/\s+/g, " ").trim();
  const sentence = /^.*?(?:[.!?](?=\s+[^\p{Ll}])|[。！？]|$)/u.exec(text)?.[0] ?? text;
  if (sentence.length <= LONGEST_SUMMARY) return sentence;
  return `${[...sentence]
    .slice(0, LONGEST_SUMMARY - 1)
    .join("")
    .trimEnd()}…`;
}

/**
 * Rejects only names that the schema rules out, with a suggestion, and missing ones; the server validates the rest
 * itself.
 */
function checked(name: string, schema: SourcedTool["inputSchema"], params: Params): Params {
  refuseUnknown(name, schema, params);
  const missing = missingArguments(params, schema);
  if (missing.length === 0) return params;
  const names = missing.map((each) => `"${each}"`).join(" and ");
  throw new TrunklineError(
    "INVALID_ARGUMENT",
    `${name} needs the ${missing.length === 1 ? "parameter" : "parameters"} ${names}.`,
    {
      hint: `Call it as ${name}${signatureOf(schema)}.`,
      data: { missing },
    },
  );
}

function refuseUnknown(name: string, schema: SourcedTool["inputSchema"], params: Params): void {
  if (schema.additionalProperties !== false || isRecord(schema.patternProperties)) return;
  const known = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  // Names from combined schemas cannot be checked this simply.
  if (["allOf", "anyOf", "oneOf", "$ref", "if"].some((key) => schema[key] !== undefined)) return;
  const unknown = Object.keys(params).find((given) => !known.includes(given));
  if (unknown === undefined) return;
  const [nearest] = nearestNames(unknown, known);
  const listed = known.length === 0 ? "It has no parameters." : `Available: ${known.join(", ")}.`;
  throw new TrunklineError("INVALID_ARGUMENT", `${name} has no parameter "${unknown}".`, {
    hint: nearest === undefined ? listed : `Did you mean ${nearest}? ${listed}`,
    data: { parameter: unknown, ...(nearest === undefined ? {} : { nearest }) },
  });
}

/** A failure is reported in full up to this size. */
const MOST_FAILURE_BYTES = 64 * 1024;

/** Converts a large result, most of which stays on its thread. */
async function largeOutcome(hub: Hub, large: LargeResult, isError: boolean): Promise<OperationOutcome> {
  const { value, blocks } = await large.outcome();
  if (!isError) {
    if (![value, ...blocks].some((one) => one instanceof LargeValue)) large.release();
    return { value, ...(blocks.length === 0 ? {} : { blocks }) };
  }
  const said = value instanceof LargeValue ? (await value.shrink(MOST_FAILURE_BYTES)).value : value;
  large.release();
  return { value: hub.redact(said), isError };
}

/** Converts the result of a tool. */
function outcomeOf(raw: Readonly<Record<string, unknown>>, isError: boolean): OperationOutcome {
  if (Array.isArray(raw.content) && raw.content.length === 1 && isRecord(raw.content[0]) && isText(raw.content[0])) {
    const value = worthOf(raw.structuredContent, [raw.content[0].text], false);
    return isError ? { value, isError } : { value };
  }
  const content = Array.isArray(raw.content) ? raw.content.filter(isRecord) : [];
  const texts = content.filter(isText).map((block) => block.text);
  const blocks: ContentBlock[] = content.filter((block) => !isText(block));
  return {
    value: worthOf(raw.structuredContent, texts, blocks.length > 0),
    ...(blocks.length === 0 ? {} : { blocks }),
    ...(isError ? { isError } : {}),
  };
}

function worthOf(structured: unknown, texts: readonly string[], hasBlocks: boolean): unknown {
  if (structured !== undefined && structured !== null) return structured;
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) {
    const parsed = /^\s*[[{]/.test(only) ? parseJson(only) : undefined;
    const value = isDeeperThan(parsed, MAX_MESSAGE_DEPTH) ? undefined : parsed;
    return isRecord(value) || Array.isArray(value) ? value : { text: only };
  }
  return texts.length === 0 && hasBlocks ? {} : { text: texts.join("\n") };
}

function isText(block: Record<string, unknown>): block is { type: "text"; text: string } {
  return block.type === "text" && typeof block.text === "string";
}
