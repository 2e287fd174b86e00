// Renders a tool's result; the raw result always stays available. Servers send all kinds of things as content, so
// nothing here trusts its shape, and nothing received is dropped silently.
import { resolve } from "node:path";
import { isRecord, type Logger, messageOf, silentLogger, systemCodeOf, TrunklineError } from "@trunkline/core";
import { decodeBase64 } from "./base64.js";
import { cutText, leftOutNote } from "./cap-text.js";
import { saveBinary } from "./save-binary.js";

/** The blocks of a rendered result. */
export type ResultBlock =
  | { readonly type: "text"; readonly text: string }
  /** `data` is standard base64, whatever variant the server sent. */
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  /** As the server sent it. */
  | { readonly type: "resource_link"; readonly uri: string; readonly [field: string]: unknown };

/** A result as {@link ResultBlock}s, with the raw result. */
export interface RenderedResult {
  readonly isError: boolean;
  readonly blocks: readonly ResultBlock[];
  readonly raw: Readonly<Record<string, unknown>>;
  /** The number of characters that the cap omitted; 0 without a cap. */
  readonly leftOutChars: number;
}

interface RenderBlocksOptions {
  /** Trunkline's home folder; binary resources are saved under it. Default: they are not saved. */
  home?: string;
  /**
   * Maximum number of characters of text in all blocks together. Notes in square brackets do not count. Default: no
   * limit.
   */
  maxChars?: number;
  /** How a reader gets the omitted text, as the end of a sentence. Default: refers to the raw result. */
  howToGet?: string;
  /** Logs binaries that could not be saved. Default: silent. */
  logger?: Logger;
  signal?: AbortSignal;
}

/**
 * Renders a result as text: text blocks unchanged, every other block as JSON; without any blocks, `structuredContent`.
 */
export function renderText(raw: Readonly<Record<string, unknown>>): string {
  const blocks = blocksOf(raw);
  if (blocks.length === 0) return structuredText(raw) ?? "";
  return blocks.map((block) => textOf(block) ?? jsonOf(block)).join("\n");
}

/**
 * Renders a result as blocks for a model or a page. Malformed content or a binary that cannot be saved never makes it
 * throw: the call has already been made, and the rest of its result is still useful.
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

/** A block, and whether the cap may cut it: notes about omitted content are never cut. */
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
      return await renderAudio(block, options);
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
  // A single image that it cannot read makes a model's endpoint reject the whole conversation.
  if (bytes === undefined || bytes.length === 0) {
    return note(`image not shown: ${mimeType ?? "no type"}, its data is ${bytes ? "empty" : "not base64"}`);
  }
  if (mimeType === undefined) return note(`image not shown: it has no type, ${sizeOf(bytes)}`);
  return { block: { type: "image", data: bytes.toString("base64"), mimeType }, isNote: true };
}

async function renderAudio(block: Record<string, unknown>, options: RenderBlocksOptions): Promise<Piece> {
  const mimeType = mimeTypeOf(block);
  const bytes = decodeBase64(block.data);
  const what = `audio: ${mimeType ?? "no type"}, ${bytes ? sizeOf(bytes) : "its data is not base64"}`;
  if (bytes === undefined || bytes.length === 0 || options.home === undefined) return note(what);
  return note(`${what}; ${await savedAt(bytes, mimeType, options)}`);
}

async function renderBinary(blob: string, mimeType: string | undefined, options: RenderBlocksOptions): Promise<Piece> {
  const bytes = decodeBase64(blob);
  if (bytes !== undefined) return note(await savedAt(bytes, mimeType, options));
  return note(`binary received and not saved: ${mimeType ?? "no type"}, its data is not base64`);
}

/** Saves a binary and says where it is, or why it was not saved. */
async function savedAt(bytes: Buffer, mimeType: string | undefined, options: RenderBlocksOptions): Promise<string> {
  const { home, logger = silentLogger, signal } = options;
  const failed = (why: string) => `binary received and not saved: ${mimeType ?? "no type"}, ${sizeOf(bytes)}, ${why}`;
  if (home === undefined) return failed("there is no home folder to save it in");
  try {
    return `binary saved at ${await saveBinary(bytes, { home: resolve(home), mimeType, signal })}`;
  } catch (error) {
    // Only file system errors; aborts and bugs propagate to the caller.
    const code = error instanceof TrunklineError ? undefined : systemCodeOf(error);
    if (code === undefined || signal?.aborted) throw error;
    logger.warn("binary not saved", { code, error: messageOf(error) });
    return failed(`saving it failed with ${code}`);
  }
}

/** Keeps text up to the cap, in order. At the cap, one note says how much is missing. */
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
    // Nothing is shown after the first omission: a text with a gap would look complete.
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

/** Returns the blocks of a result. A value that is not a list counts as its only block, so nothing is lost. */
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

/** Renders any value as JSON. Values from the wire always have a JSON form; those of an in-process server may not. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (error) {
    if (error instanceof TypeError) return `[not shown: ${error.message.split("\n", 1)[0]}]`;
    throw error;
  }
}

/** Returns the MIME type if it is valid. It is quoted in notes, where a server must not be able to inject text. */
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
