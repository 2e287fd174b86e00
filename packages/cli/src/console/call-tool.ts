// A call of a server's tool by a page: the protocol's own result, small enough to be shown.
import type { Json, ToolAnswer } from "@trunkline/console/contract";
import { isRecord, toTrunklineError } from "@trunkline/core";
import type { Exchange, Service } from "@trunkline/gateway";
import { JsonBytes } from "@trunkline/protocol";

/** A page shows results up to this size. */
const MAX_BYTES = 8 * 1024 * 1024;

interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

/** Calls a tool. A failure that the tool or a rule reports is an answer with `isError`. */
export async function callTool(service: Service, call: ToolCall, exchange: Exchange): Promise<ToolAnswer> {
  const startedMs = performance.now();
  const { server, tool } = call;
  let result: Readonly<Record<string, unknown>>;
  try {
    result = await service.callTool({ server, tool }, call.arguments, exchange);
  } catch (error) {
    exchange.signal.throwIfAborted();
    // What the server answered instead of a result.
    result = { content: [{ type: "text", text: toTrunklineError(error).message }], isError: true };
  }
  exchange.signal.throwIfAborted();
  const durationMs = performance.now() - startedMs;
  return { ...shown(result), isError: result.isError === true, durationMs };
}

type Shown = Pick<ToolAnswer, "content" | "structured" | "note">;

function shown({ content, structuredContent }: Readonly<Record<string, unknown>>): Shown {
  const blocks = sizeOf(content);
  const structured = sizeOf(structuredContent);
  const left = [
    ...(blocks > MAX_BYTES ? [`its content (${megabytes(blocks)})`] : []),
    ...(structured > MAX_BYTES ? [`its structured content (${megabytes(structured)})`] : []),
  ];
  return {
    content: blocks > MAX_BYTES ? beginningOf(content) : listIn(content),
    ...(structuredContent === undefined || structured > MAX_BYTES ? {} : { structured: plain(structuredContent) }),
    ...(left.length === 0
      ? {}
      : {
          note: `The result is too large for a page: ${left.join(" and ")} is cut. \`trunkline call\` prints all of it.`,
        }),
  };
}

/** How large a part of a result is, as JSON in bytes. */
function sizeOf(value: unknown): number {
  if (value === undefined) return 0;
  return value instanceof JsonBytes ? value.bytes.length : Buffer.byteLength(JSON.stringify(value));
}

function plain(value: unknown): Json {
  return (value instanceof JsonBytes ? value.toJSON() : value) as Json; // It came as JSON.
}

function listIn(content: unknown): readonly Json[] {
  const value = plain(content ?? []);
  return Array.isArray(value) ? value : [];
}

const BEGINNING_CHARS = 1024 * 1024;

/** The beginning of texts, and the blocks that are small. */
function beginningOf(content: unknown): readonly Json[] {
  // A result of hundreds of megabytes is not parsed for its beginning.
  if (sizeOf(content) > 8 * MAX_BYTES) return [];
  let left = BEGINNING_CHARS;
  return listIn(content).flatMap((block): Json[] => {
    if (isRecord(block) && typeof block.text === "string") {
      const text = block.text.slice(0, Math.max(0, left));
      left -= text.length;
      return text === "" ? [] : [{ ...(block as Record<string, Json>), text }];
    }
    left -= sizeOf(block);
    return left > 0 ? [block] : [];
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
