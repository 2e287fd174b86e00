// Shortens the result of a direct tool. It keeps the form that the server gave it: a text stays text, structured content
// stays structured, and images and links stay blocks.
import { type ContentStore, isRecord, jsonBytes } from "@trunkline/core";
import type { ContentBlock, OperationOutcome } from "../interfaces/operation.js";
import type { ToolResult } from "../interfaces/served-tool.js";
import type { AnswerPart } from "./cut-part.js";
import { type BlockNotes, fitResult } from "./fit-result.js";
import { stepBudget, WHOLE_BYTES } from "./step-budget.js";
import { textOf } from "./stored-value.js";

type Raw = Readonly<Record<string, unknown>>;

/** Whether a model would have to read more of this result than is sent whole. Pictures and sounds do not count. */
export function isLongResult({ content, structuredContent }: Raw): boolean {
  if (structuredContent !== undefined && jsonBytes(structuredContent, WHOLE_BYTES) > WHOLE_BYTES) return true;
  if (!Array.isArray(content)) return false;
  let bytes = 0;
  for (const block of content) {
    bytes += blockBytes(block, WHOLE_BYTES - bytes);
    if (bytes > WHOLE_BYTES) return true;
  }
  return false;
}

function blockBytes(block: unknown, limit: number): number {
  if (!isRecord(block)) return 0;
  const { type, text, resource } = block;
  if (type === "text" && typeof text === "string") return textBytes(text, limit);
  if (type === "image" || type === "audio") return 0;
  if (type !== "resource" || !isRecord(resource)) return jsonBytes(block, limit);
  return typeof resource.text === "string" ? textBytes(resource.text, limit) : 0;
}

function textBytes(text: string, limit: number): number {
  return text.length > limit ? text.length : Buffer.byteLength(text);
}

interface FitDirectOptions {
  /** The tool's name, for the stored document. */
  readonly op: string;
  /** Opens the store as the caller sees it. */
  readonly store: () => Promise<ContentStore>;
  readonly signal: AbortSignal;
}

/**
 * Stores a long result and returns what is shown of it. `raw` is the server's result, `outcome` its value and blocks.
 */
export async function fitDirect(raw: Raw, outcome: OperationOutcome, options: FitDirectOptions): Promise<ToolResult> {
  const { op, store, signal } = options;
  const { value, blocks = [], isError } = outcome;
  const part: AnswerPart = {
    op,
    value,
    isStorable: true,
    budget: stepBudget(value, "server", false),
    digest: true,
    through: "query",
  };
  const fitted = await fitResult(
    { parts: [part], frame: ([only], [notes]) => withCutBlocks(only, notes), blocks: [blocks] },
    { maxTokens: undefined, store, signal },
  );
  const { content: _, structuredContent: wasStructured, isError: __, ...more } = raw;
  const first: ContentBlock = { type: "text", text: plainText(fitted.value) ?? fitted.text };
  return {
    ...more,
    content: [first, ...(fitted.beside?.sent ?? [])],
    ...(wasStructured !== undefined && isRecord(fitted.value) ? { structuredContent: fitted.value } : {}),
    ...(isError === true ? { isError } : {}),
  };
}

/** Blocks that are sent need no list; the others have their handles in it. */
function withCutBlocks(value: unknown, notes: BlockNotes | undefined): unknown {
  const cut = notes?.blocks?.filter(({ truncated }) => truncated === true) ?? [];
  if (cut.length === 0) return value;
  return isRecord(value) ? { ...value, contentBlocks: cut } : { result: value, contentBlocks: cut };
}

/** A text, with the hint below if it is shortened, which costs less than JSON; undefined if there is more to show. */
function plainText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { hint, truncated, size: _, hash: __, ...shown } = value;
  if (truncated !== true) return textOf(value);
  const text = textOf(shown);
  return text !== undefined && typeof hint === "string" ? `${text}\n\n[truncated. ${hint}]` : undefined;
}
