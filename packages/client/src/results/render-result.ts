// Renderings of a tool's result. The raw result is always kept beside them. Servers send all kinds of things under the name
// of content, so nothing here trusts its shape, and nothing that was received is lost without a word.
import { resolve } from "node:path";
import { isRecord, type Logger, messageOf, silentLogger, systemCodeOf, TrunklineError } from "@trunkline/core";
import { decodeBase64 } from "./base64.js";
import { cutText, leftOutNote } from "./cap-text.js";
import { saveBinary } from "./save-binary.js";

/** What a rendered result is made of. */
export type ResultBlock =
  | { readonly type: "text"; readonly text: string }
  /** `data` is base64 in its standard form, whatever form the server chose. */
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  /** As the server sent it. */
  | { readonly type: "resource_link"; readonly uri: string; readonly [field: string]: unknown };

/** A result as {@link ResultBlock}s, with the raw result beside them. */
export interface RenderedResult {
  readonly isError: boolean;
  readonly blocks: readonly ResultBlock[];
  readonly raw: Readonly<Record<string, unknown>>;
  /** How many characters of text the cap left out; 0 without one. */
  readonly leftOutChars: number;
}

/** How {@link renderBlocks} renders. */
interface RenderBlocksOptions {
  /** Trunkline's home folder; binary resources are saved under it. Absent: they are not saved. */
  home?: string | undefined;
  /** How many characters of text to keep, all blocks together. Notes in square brackets do not count. Absent: all. */
  maxChars?: number | undefined;
  /** How a reader gets at what the cap left out, as the end of a sentence. Default: that the raw result has it. */
  howToGet?: string | undefined;
  /** Hears of binaries that could not be saved. Default: silent. */
  logger?: Logger | undefined;
  signal?: AbortSignal | undefined;
}

/** The text of a result: text blocks as they are, every other block as its JSON; with no blocks at all, `structuredContent`. */
export function renderText(raw: Readonly<Record<string, unknown>>): string {
  const blocks = blocksOf(raw);
  if (blocks.length === 0) return structuredText(raw) ?? "";
  return blocks.map((block) => textOf(block) ?? jsonOf(block)).join("\n");
}

/**
 * The result as blocks for a model or a page. Malformed content never makes it throw, and neither does a binary that cannot
 * be saved: the call behind the result has been made, and the rest of its answer is worth having.
 */
export async function renderBlocks(
  raw: Readonly<Record<string, unknown>>,
  options: RenderBlocksOptions = {},
): Promise<RenderedResult> {
  const pieces: Piece[] = [];
  for (const block of blocksOf(raw)) pieces.push(await renderBlock(block, options));
  if (pieces.length === 0) {
    const structured = structuredText(raw);
    if (structured !== undefined) pieces.push(text(structured));
  }
  return { isError: isRecord(raw) && raw.isError === true, raw, ...capped(pieces, options) };
}

/** A block and whether the cap may cut it: notes about what is not shown are never cut. */
interface Piece {
  readonly block: ResultBlock;
  readonly isNote: boolean;
}

async function renderBlock(block: unknown, options: RenderBlocksOptions): Promise<Piece> {
  const own = textOf(block);
  if (own !== undefined) return text(own);
  if (!isRecord(block)) return text(jsonOf(block));
  switch (block.type) {
    case "image":
      return renderImage(block);
    case "audio":
      return renderAudio(block);
    case "resource_link":
      if (typeof block.uri !== "string") break;
      return { block: { ...block, type: "resource_link", uri: block.uri }, isNote: true };
    case "resource": {
      if (!isRecord(block.resource)) break;
      const { text: inline, blob } = block.resource;
      if (typeof inline === "string") return text(inline);
      if (typeof blob === "string") return await renderBinary(blob, mimeTypeOf(block.resource), options);
    }
  }
  return text(jsonOf(block));
}

function renderImage(block: Record<string, unknown>): Piece {
  const mimeType = mimeTypeOf(block);
  const bytes = decodeBase64(block.data);
  // One image that a model's endpoint cannot read makes it refuse the whole conversation.
  if (bytes === undefined || bytes.length === 0) {
    return note(`image not shown: ${mimeType ?? "no type"}, its data is ${bytes ? "empty" : "not base64"}`);
  }
  if (mimeType === undefined) return note(`image not shown: it has no type, ${sizeOf(bytes)}`);
  return { block: { type: "image", data: bytes.toString("base64"), mimeType }, isNote: true };
}

function renderAudio(block: Record<string, unknown>): Piece {
  const bytes = decodeBase64(block.data);
  return note(`audio: ${mimeTypeOf(block) ?? "no type"}, ${bytes ? sizeOf(bytes) : "its data is not base64"}`);
}

async function renderBinary(blob: string, mimeType: string | undefined, options: RenderBlocksOptions): Promise<Piece> {
  const { home, logger = silentLogger, signal } = options;
  const bytes = decodeBase64(blob);
  const type = mimeType ?? "no type";
  if (bytes === undefined) return note(`binary received and not saved: ${type}, its data is not base64`);
  const what = `${type}, ${sizeOf(bytes)}`;
  if (home === undefined) return note(`binary received and not saved: ${what}, there is no home folder to save it in`);
  try {
    return note(`binary saved at ${await saveBinary(bytes, { home: resolve(home), mimeType, signal })}`);
  } catch (error) {
    // Only what the file system says; an abort and a defect go on to the caller.
    const code = error instanceof TrunklineError ? undefined : systemCodeOf(error);
    if (code === undefined || signal?.aborted) throw error;
    logger.warn("binary not saved", { code, error: messageOf(error) });
    return note(`binary received and not saved: ${what}, saving it failed with ${code}`);
  }
}

/** Keeps text up to the cap, in order. Where the cap falls, one note says how much is missing from there on. */
function capped(
  pieces: readonly Piece[],
  options: RenderBlocksOptions,
): Pick<RenderedResult, "blocks" | "leftOutChars"> {
  const { maxChars, howToGet } = options;
  if (maxChars === undefined) return { blocks: pieces.map(({ block }) => block), leftOutChars: 0 };
  const blocks: ResultBlock[] = [];
  let left = maxChars;
  let total = 0;
  let leftOutChars = 0;
  let cutAt: number | undefined;
  for (const { block, isNote } of pieces) {
    if (block.type !== "text" || isNote) {
      blocks.push(block);
      continue;
    }
    // Once something was left out, nothing after it is shown: a text with a gap reads as if it were whole.
    const cut = cutText(block.text, cutAt === undefined ? left : 0);
    total += cut.keptChars + cut.leftOutChars;
    leftOutChars += cut.leftOutChars;
    left -= cut.keptChars;
    if (cutAt !== undefined) continue;
    if (cut.leftOutChars === 0) blocks.push(block);
    else cutAt = blocks.push({ type: "text", text: cut.text }) - 1;
  }
  if (cutAt !== undefined) {
    const kept = blocks[cutAt];
    const head = kept?.type === "text" && kept.text !== "" ? `${kept.text}\n` : "";
    blocks[cutAt] = { type: "text", text: head + leftOutNote({ leftOutChars, totalChars: total, howToGet }) };
  }
  return { blocks, leftOutChars };
}

/** The blocks of a result. What stands in place of a list counts as its only block; nothing is thrown away. */
function blocksOf(raw: unknown): readonly unknown[] {
  if (!isRecord(raw) || raw.content === undefined || raw.content === null) return [];
  return Array.isArray(raw.content) ? raw.content : [raw.content];
}

function structuredText(raw: unknown): string | undefined {
  return isRecord(raw) && raw.structuredContent !== undefined ? jsonOf(raw.structuredContent) : undefined;
}

function textOf(block: unknown): string | undefined {
  if (typeof block === "string") return block;
  return isRecord(block) && block.type === "text" && typeof block.text === "string" ? block.text : undefined;
}

/** JSON of anything. Values from the wire always have one; those of a server within the same process may not. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (error) {
    if (error instanceof TypeError) return `[not shown: ${error.message.split("\n", 1)[0]}]`;
    throw error;
  }
}

/** The type, if it is one: it is quoted in notes, where a server must not be able to write what it likes. */
function mimeTypeOf(block: Record<string, unknown>): string | undefined {
  const type = typeof block.mimeType === "string" ? block.mimeType.trim() : "";
  return type.length <= 255 && /^[\w.+-]+\/[\w.+-]+(?:\s*;[^[\]\r\n]*)?$/.test(type) ? type : undefined;
}

function sizeOf(bytes: Uint8Array): string {
  return `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"}`;
}

function text(content: string): Piece {
  return { block: { type: "text", text: content }, isNote: false };
}

function note(content: string): Piece {
  return { block: { type: "text", text: `[${content}]` }, isNote: true };
}
