// Turns a file's text into servers; shared by all programs.
import { isRecord } from "@trunkline/core";
import type { ServerEntry } from "../entry-fields.js";
import { parseProgramText } from "../program-text.js";
import { type InputDefinition, inputsOf } from "../written-entry.js";
import { EntryReader, type Fields } from "./entry-reader.js";
import type { ImportedServer, ParsedServers } from "./imported-server.js";

/** Returns an entry, or the reason why there is none. */
export type ReadEntry = (reader: EntryReader, name: string) => ServerEntry | { readonly skipped: string };

interface ReadServersOptions {
  /** Where the table is in the file. */
  readonly at: readonly string[];
  /** Translates a program's string to our syntax. */
  readonly translate: (text: string, note: (message: string) => void) => string;
  readonly read: ReadEntry;
  readonly inputs?: readonly InputDefinition[];
}

/** Reads a table of servers; anything else counts as empty. */
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
    servers.push({ name, at: [...options.at, name], entry, inputs, notes: reader.notes });
  }
  return { servers, skipped };
}

/** Parses a JSON file as an object. */
export function parseJsonFile(text: string, path: string): Fields {
  return parseProgramText(text, "json", path);
}
