// The parts of a content that `get` returns: a range of lines or bytes, as text if that loses nothing.
import { TrunklineError } from "@trunkline/core";
import type { GetParams, GetResult } from "../contract/index.js";
import { parseRange } from "../contract/params.js";
import { type ContentType, decodeText } from "../engine/content/text.js";

type Part = Pick<GetResult, "content" | "encoding" | "lines" | "bytes">;

/** Which bytes of a content a call needs; undefined for none. */
export function neededBytes(
  { includeContent, lines, bytes }: GetParams,
  { type, size }: { readonly type: ContentType; readonly size: number },
): { readonly start: number; readonly end: number } | undefined {
  if (lines !== undefined && bytes !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "lines and bytes cannot be combined.");
  }
  if (bytes !== undefined) {
    const { from, to } = parseRange(bytes, { name: "bytes", first: 0 });
    return { start: from, end: to + 1 };
  }
  if (lines !== undefined && type === "binary") {
    throw new TrunklineError("INVALID_ARGUMENT", "Binary content has no lines.", { hint: "Use `bytes` instead." });
  }
  if (lines !== undefined) parseRange(lines, { name: "lines", first: 1 });
  return lines !== undefined || includeContent ? { start: 0, end: size } : undefined;
}

/** Returns the part that a call asks for, from the {@link neededBytes}. */
export function partOf(part: Uint8Array, { lines, bytes }: GetParams, type: ContentType): Part {
  if (bytes !== undefined) {
    const { from } = parseRange(bytes, { name: "bytes", first: 0 });
    return { ...encoded(part, type), bytes: { from, to: from + part.length - 1 } };
  }
  if (lines === undefined) return encoded(part, type);
  const { from, to } = parseRange(lines, { name: "lines", first: 1 });
  return lineRange(decodeText(part), from, to);
}

/** Throws if only a part was asked for, but the whole content would be written to a file. */
export function requireWhole({ outputPath, lines, bytes }: GetParams): void {
  if (outputPath === undefined || (lines ?? bytes) === undefined) return;
  throw new TrunklineError(
    "INVALID_ARGUMENT",
    "outputPath writes the whole content and cannot be combined with lines, bytes or symbol.",
    { data: { parameter: "outputPath" } },
  );
}

/** Returns a range of lines. Counts lines as editors do: a last line without a newline counts too. */
function lineRange(text: string, from: number, to: number): Pick<GetResult, "content" | "encoding" | "lines"> {
  let line = 1;
  let start = from === 1 ? 0 : -1;
  let end = -1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (line === to) end = at + 1;
    line++;
    if (line === from) start = at + 1;
  }
  const total = text === "" ? 0 : text.endsWith("\n") ? line - 1 : line;
  const part = start === -1 ? "" : text.slice(start, end === -1 ? undefined : end);
  return { content: part, encoding: "utf-8", lines: { from, to: Math.min(to, total), total } };
}

/** Returns text as text if that loses nothing, otherwise as base64. */
function encoded(bytes: Uint8Array, type: ContentType): Pick<GetResult, "content" | "encoding"> {
  if (type === "text") {
    const text = decodeText(bytes);
    if (!text.includes("\ufffd")) return { content: text, encoding: "utf-8" };
  }
  return { content: Buffer.from(bytes).toString("base64"), encoding: "base64" };
}
