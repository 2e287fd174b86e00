// The blocks of a tool's result as a person reads them: text as it is, images and audio by type and size.
import { renderText } from "@trunkline/client";
import { decodeBase64 } from "@trunkline/client/internal";
import { isRecord, printable } from "@trunkline/core";
import { shownBytes } from "./output.js";

export interface ReadableResult {
  /** One line or more for each block. */
  readonly text: string;
  /** The images, audio and other binaries, in order. */
  readonly binaries: readonly Buffer[];
}

/** Reads a result. Blocks that are neither text nor binary are shown as JSON. */
export function readableResult(raw: Readonly<Record<string, unknown>>): ReadableResult {
  const blocks = Array.isArray(raw.content) ? raw.content : [];
  if (blocks.length === 0) return { text: renderText(raw), binaries: [] };
  const binaries: Buffer[] = [];
  const lines = blocks.map((block: unknown) => {
    const embedded =
      isRecord(block) && block.type === "resource" && isRecord(block.resource) ? block.resource : undefined;
    if (typeof embedded?.text === "string") return embedded.text;
    const binary = embedded === undefined ? mediaOf(block) : { data: embedded.blob, mimeType: embedded.mimeType };
    const bytes = decodeBase64(binary?.data);
    if (binary === undefined || bytes === undefined) return renderText({ content: [block] });
    binaries.push(bytes);
    const type = typeof binary.mimeType === "string" && binary.mimeType !== "" ? binary.mimeType : "unknown type";
    return printable(`${type}, ${shownBytes(bytes.length).replace(".0 ", " ")}`);
  });
  return { text: lines.join("\n"), binaries };
}

function mediaOf(block: unknown): { data: unknown; mimeType: unknown } | undefined {
  if (!isRecord(block) || (block.type !== "image" && block.type !== "audio")) return undefined;
  return { data: block.data, mimeType: block.mimeType };
}
