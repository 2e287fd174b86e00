// The answer to a program: everything, whatever it costs. Values that are on another thread are passed on as the JSON
// that they are, without being built here.
import { isRecord, isTrunklineError, jsonBytes, LargeValue } from "@trunkline/core";
import { DEFAULT_MAX_MESSAGE_BYTES, JsonBytes } from "@trunkline/protocol";
import type { ContentBlock } from "../interfaces/operation.js";
import type { ToolResult } from "../interfaces/served-tool.js";
import { listWhole } from "./blocks.js";
import { releaseAnswer, type UnfittedAnswer } from "./fit-result.js";

/** The value of an answer is sent twice, as text and as structured content, and has to fit one message. */
const MOST_WHOLE_BYTES = DEFAULT_MAX_MESSAGE_BYTES / 2;

type WholeResult = Pick<ToolResult, "content" | "structuredContent">;

/**
 * Builds the whole answer and releases its large values; undefined if it is too large for a message, or if a large value
 * cannot be read.
 */
export async function wholeResult(answer: UnfittedAnswer): Promise<WholeResult | undefined> {
  const { parts, frame, blocks = [] } = answer;
  const values = parts.map(({ value }) => value);
  const sent = blocks.flat();
  if (sizeOf([...values, ...sent]) > MOST_WHOLE_BYTES) return undefined;
  try {
    const listed = listWhole(blocks);
    const notes = parts.map((_, index) => (listed[index]?.length ? { blocks: listed[index] } : {}));
    const large = new LargeTexts(values);
    const framed = frame(large.standIns, notes);
    const text = await large.jsonOf(framed);
    const value = large.isEmpty ? framed : new JsonBytes(Buffer.from(text));
    // Legacy revisions only allow objects here.
    const isObject = large.isEmpty ? isRecord(framed) : text.startsWith("{");
    const content = contentOf([{ type: "text", text }, ...(await Promise.all(sent.map(blockJson)))]);
    releaseAnswer(answer);
    return { content, ...(isObject ? { structuredContent: value } : {}) };
  } catch (error) {
    if (!isTrunklineError(error, "RESULT_TOO_LARGE")) throw error;
    return undefined;
  }
}

function sizeOf(all: readonly unknown[]): number {
  let bytes = 0;
  for (const one of all) {
    bytes += one instanceof LargeValue ? one.sizeBytes : jsonBytes(one, MOST_WHOLE_BYTES);
    if (bytes > MOST_WHOLE_BYTES) break;
  }
  return bytes;
}

/** A block, or the JSON of one or more. */
async function blockJson(block: ContentBlock | LargeValue): Promise<ContentBlock | string> {
  if (!(block instanceof LargeValue)) return block;
  const json = await block.json();
  // Blocks that were combined are a list.
  return block.about.count === undefined ? json : json.slice(1, -1);
}

function contentOf(blocks: readonly (ContentBlock | string)[]): ToolResult["content"] {
  const isBuilt = (block: ContentBlock | string): block is ContentBlock => typeof block !== "string";
  if (blocks.every(isBuilt)) return blocks;
  const jsons = blocks.map((block) => (isBuilt(block) ? JSON.stringify(block) : block));
  const bytes: unknown = new JsonBytes(Buffer.from(`[${jsons.join(",")}]`));
  return bytes as ToolResult["content"]; // It is written as a list of blocks.
}

/** Builds the fields of a result that are bytes. */
export function builtResult(result: ToolResult): ToolResult {
  const { structuredContent: structured } = result;
  const content: unknown = result.content;
  return {
    ...result,
    ...(content instanceof JsonBytes ? { content: content.toJSON() as ToolResult["content"] } : {}), // From `contentOf`.
    ...(structured instanceof JsonBytes ? { structuredContent: structured.toJSON() } : {}),
  };
}

/** Large values, and what stands for each of them until the JSON of the answer is written. */
class LargeTexts {
  readonly standIns: readonly unknown[];
  readonly #large = new Map<string, LargeValue>();
  /** Cannot be guessed, so no result contains it. */
  readonly #mark = `large value ${crypto.randomUUID()}`;

  constructor(values: readonly unknown[]) {
    this.standIns = values.map((value, index) => {
      if (!(value instanceof LargeValue)) return value;
      const name = `${this.#mark} ${index}`;
      this.#large.set(JSON.stringify(name), value);
      return name;
    });
  }

  get isEmpty(): boolean {
    return this.#large.size === 0;
  }

  /** The JSON of an answer that contains the stand-ins. */
  async jsonOf(framed: unknown): Promise<string> {
    const json = JSON.stringify(framed) ?? "null";
    if (this.isEmpty) return json;
    const parts = json.split(new RegExp(`("${this.#mark} \\d+")`));
    return (await Promise.all(parts.map(async (part) => (await this.#large.get(part)?.json()) ?? part))).join("");
  }
}
