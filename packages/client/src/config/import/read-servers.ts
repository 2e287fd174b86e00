// The way from a file's text to servers that all programs share.
import { isRecord, TrunklineError } from "@trunkline/core";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { type InputDefinition, inputsOf, type ServerEntry } from "../written-entry.js";
import { EntryReader, type Fields } from "./entry-reader.js";
import type { ImportedServer, ParsedServers } from "./imported-server.js";

/** An entry, or why there is none. */
export type ReadEntry = (reader: EntryReader, name: string) => ServerEntry | { readonly skipped: string };

/** What reading a table of servers takes. */
interface ReadServersOptions {
  /** A text of the program in our words. */
  readonly translate: (text: string, note: (message: string) => void) => string;
  readonly read: ReadEntry;
  readonly inputs?: readonly InputDefinition[];
}

/** Reads a table of servers; what is not a table has none. */
export function readServers(table: unknown, options: ReadServersOptions): ParsedServers {
  const servers: ImportedServer[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const [name, fields] of Object.entries(isRecord(table) ? table : {})) {
    if (!isRecord(fields)) {
      skipped.push({ name, reason: "its entry is not a table" });
      continue;
    }
    const reader = new EntryReader(fields, options.translate);
    const entry = options.read(reader, name);
    if ("skipped" in entry) {
      skipped.push({ name, reason: entry.skipped });
      continue;
    }
    const used = new Set(inputsOf(entry));
    const inputs = (options.inputs ?? []).filter(({ id }) => used.has(id));
    servers.push({ name, entry, inputs, notes: reader.notes });
  }
  return { servers, skipped };
}

/** The object that a JSON file holds; comments and trailing commas are accepted, since most programs accept them. */
export function parseJsonFile(text: string, path: string): Fields {
  const errors: ParseError[] = [];
  const bare = text.replace(/^\uFEFF/, "");
  const root: unknown = parse(bare, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) {
    const before = bare.slice(0, first.offset);
    const line = before.split("\n").length;
    const column = first.offset - before.lastIndexOf("\n");
    throw unreadable(path, `line ${line}, column ${column}: ${printParseErrorCode(first.error)}`);
  }
  if (root === undefined) return {};
  if (!isRecord(root)) throw unreadable(path, "it does not hold an object");
  return root;
}

/** The error for a file that cannot be read as what it should be. */
export function unreadable(path: string, reason: string, cause?: unknown): TrunklineError {
  return new TrunklineError("CONFIG_INVALID", `${path} cannot be read: ${reason}.`, {
    ...(cause === undefined ? {} : { cause }),
    hint: "Correct the file, or import the other programs by name.",
  });
}
