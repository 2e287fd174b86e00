// The files of the journal: `calls-000001.jsonl`, `calls-000002.jsonl` and so on. Lines go to the end of the last one; when
// it is full, the next is begun and the oldest is removed. No file is ever renamed or rewritten, so that any number of
// processes can write and read at the same time without a lock. A line is one call as JSON, with no arguments and no results.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson, replaceControls, systemCodeOf } from "@trunkline/core";
import type { CallRecord } from "./journal.js";

const NAME = /^calls-(\d{6,})\.jsonl$/;

/** One file of the journal. */
export interface Segment {
  readonly number: number;
  readonly path: string;
}

/** The folder of the journal in a store's folder. */
export function journalFolder(storeFolder: string): string {
  return join(storeFolder, "journal");
}

/** The file with this number. */
export function segmentOf(folder: string, number: number): Segment {
  return { number, path: join(folder, `calls-${String(number).padStart(6, "0")}.jsonl`) };
}

/** The files that are there, the oldest first. None where there is no folder. */
export async function listSegments(folder: string): Promise<Segment[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return [];
    throw error;
  }
  return names
    .flatMap((name) => {
      const [, number] = NAME.exec(name) ?? [];
      return number === undefined ? [] : [{ number: Number(number), path: join(folder, name) }];
    })
    .sort((a, b) => a.number - b.number);
}

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
