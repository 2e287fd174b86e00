// Messages that are too large to parse: which request they answer, and the error that takes their place.
import type { OutgoingMessage, RpcId } from "./messages.js";

/** A longer message from a server is not accepted. */
export const DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The error codes of answers that were not accepted; our own, outside the protocol's range. */
export const REFUSED_CODES = { tooLarge: -32_951, tooDeep: -32_952 } as const;

/** Builds the answer that takes the place of one that was not accepted. */
export function refusedAnswer(id: RpcId, kind: keyof typeof REFUSED_CODES, maxBytes: number): OutgoingMessage {
  const message =
    kind === "tooLarge"
      ? `the server's answer is larger than ${sizeText(maxBytes)}`
      : `the server's answer is nested more than ${MAX_MESSAGE_DEPTH} levels deep`;
  return { jsonrpc: "2.0", id, error: { code: REFUSED_CODES[kind], message } };
}

/** Builds the answer that takes the place of a large one that could not be read. */
export function unreadAnswer(id: RpcId, why: string): OutgoingMessage {
  const message = `the server's answer cannot be read: ${why}`;
  return { jsonrpc: "2.0", id, error: { code: REFUSED_CODES.tooLarge, message } };
}

/** `64 MB`, `500 KB`. */
function sizeText(bytes: number): string {
  const mega = bytes / (1024 * 1024);
  return mega >= 1 ? `${Number(mega.toFixed(1))} MB` : `${Math.max(1, Math.round(bytes / 1024))} KB`;
}

/** How much of the beginning and the end of a message {@link answeredId} needs. */
export const ID_WINDOW_BYTES = 1_024;

const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,20})`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const AT_START = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}\s*,\s*(?:${VERSION}\s*,\s*)?"(\w+)"`);
const AT_END = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/**
 * Finds the request that a message answers, given its beginning and its end. Servers write the id first or last;
 * undefined if it is elsewhere, or if the message is not an answer.
 */
export function answeredId(start: string, end: string): RpcId | undefined {
  const first = AT_START.exec(start);
  if (first !== null) return first[2] === "result" || first[2] === "error" ? idOf(first[1]) : undefined;
  if (!/^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/.test(start)) return undefined;
  return idOf(AT_END.exec(end)?.[1]);
}

function idOf(text: string | undefined): RpcId | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as RpcId);
}

/** Deeper than any meaningful message. The code that walks values is recursive, so the depth has to be limited. */
export const MAX_MESSAGE_DEPTH = 500;

/** Whether a value is nested more than `levels` deep. Looks no deeper than that, so it works at any depth. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (typeof field === "object" && isDeeperThan(field, levels - 1)) return true;
  }
  return false;
}
