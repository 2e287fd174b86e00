// One call as one line of JSON, and back. The line has only what the record has: no arguments, no results.
import { isRecord, parseJson, replaceControls } from "@trunkline/core";
import type { CallRecord } from "./journal.js";

/** A client may call itself and an operation anything; a line stays a line. */
const MAX_NAME_CHARS = 200;

/** The line of a call, with its line break. */
export function lineOf(call: CallRecord): string {
  const { atMs, client, operation, durationMs, sizeBytes, outcome, code } = call;
  const line = {
    at: new Date(atMs).toISOString(),
    client: cut(client),
    op: cut(operation),
    ms: Math.round(durationMs * 10) / 10,
    bytes: sizeBytes,
    outcome,
    ...(code === undefined ? {} : { code: cut(code) }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** The call that a line stands for; undefined for what is no such line, such as one that was cut off by a full disk. */
export function parseLine(line: string): CallRecord | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { at, client, op, ms, bytes, outcome, code } = value;
  const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs) || typeof client !== "string" || typeof op !== "string") return undefined;
  if (typeof ms !== "number" || typeof bytes !== "number") return undefined;
  if (outcome !== "ok" && outcome !== "error" && outcome !== "cancelled") return undefined;
  const call = { atMs, client, operation: op, durationMs: ms, sizeBytes: bytes, outcome } as const;
  return typeof code === "string" ? { ...call, code } : call;
}

/** Short, and without what would do something to the terminal that shows it. */
function cut(text: string): string {
  const shown = replaceControls(text.slice(0, MAX_NAME_CHARS + 1), "\ufffd");
  return shown.length <= MAX_NAME_CHARS ? shown : `${shown.slice(0, MAX_NAME_CHARS - 1)}…`;
}
