// Reads, adds and removes one entry in another program's configuration file. Everything else in the file stays the
// same, character by character. Each change is verified by parsing the new text before anything is written.
import { isDeepStrictEqual } from "node:util";
import { fileReason, isAbsent, isRecord, readRegularFile, systemCodeOf, TrunklineError } from "@trunkline/core";
import { stringify as stringifyToml } from "smol-toml";
import { removeJson, setJson } from "./edit-json.js";
import { parseProgramText } from "./program-text.js";
import { tomlKeys } from "./toml-tokens.js";

/** The location of an entry in a file. */
export interface EntryPlace {
  readonly format: "json" | "toml";
  /** The servers table and the entry's name: `["mcpServers", "trunkline"]`. */
  readonly path: readonly string[];
  /** Named in the error if the entry cannot be changed. */
  readonly file?: string;
}

export interface ProgramFile {
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  /** The entry's value; undefined if there is none. */
  readonly entry: unknown;
}

const HINTS: Readonly<Record<string, string>> = {
  EISDIR: "Move the folder away: the program expects a file there.",
  EFTYPE: "Move it away: the program expects a file there.",
  EFBIG: "Remove what does not belong in it.",
};

/** Reads a file. Throws `IO` if it cannot be read or parsed. */
export async function readProgramFile(
  file: string,
  place: EntryPlace,
  options: { signal?: AbortSignal } = {},
): Promise<ProgramFile> {
  let bytes: Buffer;
  try {
    bytes = await readRegularFile(file, { signal: options.signal });
  } catch (error) {
    if (isAbsent(error)) return { text: undefined, entry: undefined };
    const code = systemCodeOf(error);
    if (code === undefined || options.signal?.aborted) throw error;
    throw new TrunklineError("IO", `${file} cannot be read: ${fileReason(error) ?? code}.`, {
      cause: error,
      hint: HINTS[code] ?? "Check its permissions.",
    });
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) throw wrongEncoding(file, "encoded as UTF-16");
  const text = bytes.toString("utf8");
  // Leave a file alone if it could not be written back exactly.
  if (!Buffer.from(text).equals(bytes)) throw wrongEncoding(file, "not UTF-8");
  return { text, entry: entryIn(text, place, file) };
}

/** Returns the entry in a text; undefined if there is none. Throws `IO` if the text cannot be parsed. */
export function entryIn(text: string, place: EntryPlace, file: string): unknown {
  const root = parseProgramText(text, place.format, file);
  for (const length of place.path.keys()) {
    const holder = at(root, place.path.slice(0, length));
    if (length > 0 && holder !== undefined && !isRecord(holder))
      throw notTable(file, place.path.slice(0, length), holder);
  }
  return at(root, place.path);
}

/** A file that has something else where the servers belong. */
function notTable(file: string, path: readonly string[], value: unknown): TrunklineError {
  const what = Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
  return new TrunklineError(
    "CONFIG_INVALID",
    `${file} cannot be used: "${path.join(".")}" is ${what} instead of a table of servers.`,
    {
      hint: "Remove it from the file, and try again.",
    },
  );
}

/** Adds the entry to the text, which may be empty. Throws `CONFIG_INVALID` if that cannot be done safely. */
export function withEntry(text: string, place: EntryPlace, entry: Readonly<Record<string, unknown>>): string {
  const [mark, bare] = apart(text);
  const changed =
    mark + (place.format === "json" ? setJson(bare, place.path, entry) : setToml(bare, place.path, entry));
  verify(text, changed, place, entry);
  return changed;
}

/** Removes the entry. A table that held nothing else stays as an empty table. */
export function withoutEntry(text: string, place: EntryPlace): string {
  const [mark, bare] = apart(text);
  const changed = mark + (place.format === "json" ? removeJson(bare, place.path) : removeToml(bare, place.path));
  verify(text, changed, place, undefined);
  return changed;
}

/** Formats the entry as it would be written, for display. */
export function entryText(place: EntryPlace, entry: unknown): string {
  const value = place.path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), entry);
  if (place.format === "json")
    return JSON.stringify(value, null, 2).split("\n").slice(1, -1).join("\n").replace(/^ {2}/gm, "");
  return sectionOf(place.path, isRecord(entry) ? entry : {}).trimEnd();
}

/** Splits off a byte order mark. */
function apart(text: string): [mark: string, bare: string] {
  return text.startsWith("\uFEFF") ? ["\uFEFF", text.slice(1)] : ["", text];
}

function at(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

/** Checks that the new text has the same content as the old one, except for the entry. */
function verify(before: string, after: string, place: EntryPlace, entry: unknown): void {
  const file = "The changed text";
  const wanted = structuredClone(parseProgramText(before, place.format, file));
  const result = parsedOrUndefined(after, place.format);
  const [name = "", ...tables] = [...place.path].reverse();
  let table: Record<string, unknown> = wanted;
  for (const key of tables.reverse()) {
    const next = Object.hasOwn(table, key) ? table[key] : undefined;
    if (next !== undefined && !isRecord(next)) throw unsafe(place, entry);
    if (next === undefined && entry === undefined) break;
    const inner = next ?? {};
    table[key] = inner;
    table = inner;
  }
  if (entry === undefined) delete table[name];
  else table[name] = entry;
  // A TOML table disappears with its last entry; a JSON object stays.
  if (!isDeepStrictEqual(withoutEmpty(plain(result)), withoutEmpty(plain(wanted)))) throw unsafe(place, entry);
}

function parsedOrUndefined(text: string, format: EntryPlace["format"]): unknown {
  try {
    return parseProgramText(text, format, "");
  } catch (error) {
    if (error instanceof TrunklineError) return undefined;
    throw error;
  }
}

/** Converts TOML dates, which are class instances, to text; that is enough for comparing. */
function plain(value: unknown): unknown {
  return value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? String(item) : item)));
}

function withoutEmpty(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutEmpty(item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => !(isRecord(item) && Object.keys(item).length === 0)));
}

/** Adds a section at the end, or replaces the existing one. */
function setToml(text: string, path: readonly string[], entry: Readonly<Record<string, unknown>>): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section = sectionOf(path, entry).replaceAll("\n", eol);
  // A multi-line string can contain text that looks like our header.
  const isThere = at(parseProgramText(text, "toml", ""), path) !== undefined;
  const found = isThere ? findSection(text, path) : undefined;
  if (found !== undefined) return text.slice(0, found.start) + section + text.slice(found.end);
  if (text.trim() === "") return text.trim() === text ? section : `${text.trimEnd()}${section}`;
  const head = text.endsWith("\n") ? text : `${text}${eol}`;
  return `${head}${eol}${section}`;
}

function removeToml(text: string, path: readonly string[]): string {
  const found = findSection(text, path);
  if (found === undefined) return text;
  const head = text.slice(0, found.start);
  const tail = text.slice(found.end);
  // Also remove the empty line that was added before the section.
  return (tail.trim() === "" || /^\s*\n/.test(tail) ? head.replace(/(\r?\n)\r?\n$/, "$1") : head) + tail;
}

function sectionOf(path: readonly string[], entry: Readonly<Record<string, unknown>>): string {
  const value = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), entry);
  // An empty outer table would be written as its own header.
  return `${stringifyToml(value as Record<string, unknown>).trim()}\n`;
}

/**
 * Finds a section, from its header to the end of its last line, including subsections. Comments and empty lines before
 * the next header belong to what follows.
 */
function findSection(text: string, path: readonly string[]): { start: number; end: number } | undefined {
  let start: number | undefined;
  let end = 0;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const header = headerOf(line);
    if (header !== undefined) {
      const isOurs = path.every((key, index) => header[index] === key);
      if (isOurs && start === undefined) start = offset;
      else if (!isOurs && start !== undefined) break;
    }
    offset += line.length;
    const bare = line.trim();
    if (start !== undefined && bare !== "" && !bare.startsWith("#")) end = offset;
  }
  return start === undefined ? undefined : { start, end };
}

/** Parses the keys of a header such as `[mcp_servers."my server".env]`; returns undefined for any other line. */
function headerOf(line: string): string[] | undefined {
  const [, inner] = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:#.*)?$/.exec(line.trimEnd()) ?? [];
  if (inner === undefined) return undefined;
  return tomlKeys(inner);
}

function wrongEncoding(file: string, encoding: string): TrunklineError {
  return new TrunklineError("IO", `${file} cannot be read: it is ${encoding}.`, { hint: "Save it as UTF-8." });
}

function unsafe(place: EntryPlace, entry: unknown): TrunklineError {
  const name = `${place.file === undefined ? "" : `${place.file}: `}"${place.path.join(".")}"`;
  return entry === undefined
    ? new TrunklineError("CONFIG_INVALID", `${name} cannot be removed without touching something else.`, {
        hint: "Remove it by hand; nothing was written.",
      })
    : new TrunklineError("CONFIG_INVALID", `${name} cannot be added without touching something else.`, {
        hint: `Add it by hand; nothing was written:\n${entryText(place, entry)}`,
      });
}
