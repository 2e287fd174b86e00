// The journal's files: `calls-000001.jsonl`, `calls-000002.jsonl` and so on. Lines are appended to the last one; when
// it is full, the next is started and the oldest is removed. No file is ever renamed or rewritten, so any number of
// processes can write and read concurrently without a lock. A line is one call as JSON, without arguments or results.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, isRecord, parseJson, realPathOf, replaceControls, systemCodeOf } from "@trunkline/core";
import type { CallRecord } from "./journal.js";

const NAME = /^calls-(\d{6,})\.jsonl$/;

export interface Segment {
  readonly number: number;
  readonly path: string;
}

/**
 * The folder of a store's journal. It is in the user's own folder (`home`), whatever the store: a project could plant
 * links in its own.
 */
export function journalFolder(home: string, storeFolder: string): string {
  const digest = createHash("sha256").update(realPathOf(storeFolder)).digest("hex");
  return join(home, "journal", digest.slice(0, 16));
}

/** Identifies a workspace in the journal without naming its folder. */
export function workspaceKey(folder: string): string {
  return createHash("sha256").update(realPathOf(folder)).digest("hex").slice(0, 12);
}

/** Opens a file for appending, creating it readable only by its owner. Throws `ELOOP` if it is a link. */
export async function openForAppending(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
  return await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/**
 * Opens a file of the journal for reading. Undefined if it has been removed meanwhile, or is a link or a pipe: opening
 * one would wait for its writer.
 */
export async function openForReading({ path }: Segment): Promise<{ file: FileHandle; size: number } | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let file: FileHandle;
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ELOOP"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat();
    if (stats.isFile()) return { file, size: stats.size };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

export function segmentOf(folder: string, number: number): Segment {
  return { number, path: join(folder, `calls-${String(number).padStart(6, "0")}.jsonl`) };
}

/** The existing files, oldest first. Empty if the folder does not exist. */
export async function listSegments(folder: string): Promise<Segment[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
  return names
    .flatMap((name) => {
      const [, number] = NAME.exec(name) ?? [];
      return number === undefined ? [] : [{ number: Number(number), path: join(folder, name) }];
    })
    .sort((a, b) => a.number - b.number);
}

/** Client and operation names can be arbitrary; this keeps lines short. */
const MAX_NAME_CHARS = 200;

/**
 * Formats a call as a line, including the line break. Every call pays for it, so only the numbers are formatted each
 * time: the names are those of the call before, and so is the second.
 */
export function lineOf(
  call: CallRecord,
  { workspace = call.workspace, gateway = call.gateway }: Pick<CallRecord, "workspace" | "gateway">,
): string {
  const { atMs, client, operation, durationMs, sizeBytes, outcome, code, principal, request, recording, asked } = call;
  const ms = Math.round(durationMs * 10) / 10;
  let end = code === undefined ? "" : `,"code":${quoted(code)}`;
  if (principal !== undefined) end += `,"principal":${quoted(principal)}`;
  // These differ in every line, so they are not worth remembering.
  if (asked !== undefined) end += `,"asked":${JSON.stringify(cut(asked))}`;
  if (request !== undefined) end += `,"request":${JSON.stringify(cut(request))}`;
  if (recording !== undefined) end += `,"recording":${JSON.stringify(cut(recording))}`;
  if (gateway !== undefined) end += `,"gateway":${quoted(gateway)}`;
  end += workspace === undefined ? "}\n" : `,"workspace":${quoted(workspace)}}\n`;
  return `{"at":"${timeOf(atMs)}","client":${quoted(client)},"op":${quoted(operation)},"ms":${ms},"bytes":${sizeBytes},"outcome":"${outcome}"${end}`;
}

let lastSecond = Number.NaN;
let secondText = "";

/** The time as in `Date.toISOString`. */
function timeOf(atMs: number): string {
  const second = Math.floor(atMs / 1_000);
  if (second !== lastSecond) {
    secondText = new Date(second * 1_000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  return `${secondText}${String(Math.floor(atMs) - second * 1_000).padStart(3, "0")}Z`;
}

/** Maximum number of cached names. */
const MAX_QUOTED = 256;
const quotedNames = new Map<string, string>();

/** A name as JSON. */
function quoted(name: string): string {
  let text = quotedNames.get(name);
  if (text !== undefined) return text;
  text = JSON.stringify(cut(name));
  if (name.length > MAX_NAME_CHARS) return text;
  if (quotedNames.size >= MAX_QUOTED) quotedNames.clear();
  quotedNames.set(name, text);
  return text;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Parses a line; undefined if it is invalid, for example truncated by a full disk. */
export function parseLine(line: string): CallRecord | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { at, client, op, ms, bytes, outcome, code, principal, workspace, gateway, request, recording, asked } = value;
  const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs) || typeof client !== "string" || typeof op !== "string") return undefined;
  if (typeof ms !== "number" || typeof bytes !== "number") return undefined;
  if (outcome !== "ok" && outcome !== "error" && outcome !== "cancelled") return undefined;
  const call: Writable<CallRecord> = { atMs, client, operation: op, durationMs: ms, sizeBytes: bytes, outcome };
  if (typeof code === "string") call.code = code;
  if (typeof principal === "string") call.principal = principal;
  if (typeof workspace === "string") call.workspace = workspace;
  if (typeof gateway === "string") call.gateway = gateway;
  if (typeof request === "string") call.request = request;
  if (typeof recording === "string") call.recording = recording;
  if (typeof asked === "string") call.asked = asked;
  return call;
}

/** Shortens a text and removes characters that could affect the terminal that shows it. */
function cut(text: string): string {
  const shown = replaceControls(text.slice(0, MAX_NAME_CHARS + 1), "\ufffd");
  return shown.length <= MAX_NAME_CHARS ? shown : `${shown.slice(0, MAX_NAME_CHARS - 1)}…`;
}
