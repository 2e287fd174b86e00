// Edits the entries of a configuration file. Everything else in the file stays, including comments and order. An
// unreadable file is never touched.
import { basename } from "node:path";
import { isAbsent, readRegularFile, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { decodeConfigText } from "./config-files.js";
import { findSections } from "./dialects.js";
import { removeJson, setJson } from "./edit-json.js";
import type { ServerEntry } from "./entry-fields.js";
import type { Dialect } from "./loaded-config.js";
import { parseConfigText } from "./parse-file.js";
import { parseJson } from "./parse-json.js";
import { type ConfigNode, memberOf, textOf } from "./tree.js";
import { type InputDefinition, inputsOf, toDialect, variableName } from "./written-entry.js";

export type ConfigEdit =
  | {
      readonly op: "set";
      readonly name: string;
      /** The entry in the `mcpServers` dialect; it is converted to the file's own. */
      readonly entry: ServerEntry;
      /** Definitions for the entry's `${input:id}`; existing ones stay as they are. */
      readonly inputs?: readonly InputDefinition[];
    }
  | { readonly op: "remove"; readonly name: string }
  | { readonly op: "enable" | "disable"; readonly name: string };

interface EditOptions {
  /** The mode of a new file; an existing file keeps its own. Default: 0o644. */
  mode?: number;
  signal?: AbortSignal;
}

export interface EditOutcome {
  readonly path: string;
  /** Whether the file is new. */
  readonly created: boolean;
  /** Whether the text changed. */
  readonly changed: boolean;
  /** Anything that could not be written exactly. */
  readonly notes: readonly string[];
}

export interface EditableConfig {
  readonly path: string;
  readonly exists: boolean;
  /** The file's dialect, or the one it will get with its first entry. */
  readonly dialect: Dialect;
  /** The names of all entries, valid or not, in order. */
  readonly names: readonly string[];
  /** The entries as they are written, by name. */
  readonly entries: ReadonlyMap<string, unknown>;
}

/** Reads the file; a missing file has no entries. Throws `CONFIG_INVALID` if it is unreadable. */
export async function readEditableConfig(path: string, options: EditOptions = {}): Promise<EditableConfig> {
  const { text, dialect, dialects, entries } = await readDocument(path, options);
  return { path, exists: text !== undefined, dialect, names: [...dialects.keys()], entries };
}

/** Lists what an entry cannot express in this dialect, worded for the user. */
export function dialectNotes(name: string, entry: ServerEntry, dialect: Dialect): string[] {
  if (dialect === "servers") return [];
  return inputsOf(entry).map(
    (id) => `"${name}" asked for "${id}"; here it uses the environment variable ${variableName(id)}`,
  );
}

/**
 * Applies the edits and writes the file once, atomically. If an entry to be removed, enabled or disabled does not
 * exist, throws `SERVER_NOT_FOUND` and writes nothing.
 */
export async function editConfigFile(
  path: string,
  edits: readonly ConfigEdit[],
  options: EditOptions = {},
): Promise<EditOutcome> {
  const { text, ...outcome } = await editedConfig(path, edits, options);
  options.signal?.throwIfAborted();
  if (outcome.changed)
    await writeFileAtomically(path, text, {
      mode: options.mode ?? 0o644,
      ...(options.mode === 0o600 ? { folderMode: 0o700 } : {}),
    });
  return outcome;
}

/** Returns the text that {@link editConfigFile} would write. */
export async function editedConfig(
  path: string,
  edits: readonly ConfigEdit[],
  options: EditOptions = {},
): Promise<EditOutcome & { readonly text: string }> {
  const document = await readDocument(path, options);
  const notes: string[] = [];
  const dialects = new Map(document.dialects);
  let text = document.text ?? "";
  for (const edit of edits) {
    const known = dialects.get(edit.name);
    if (edit.op !== "set" && known === undefined) {
      throw new TrunklineError("SERVER_NOT_FOUND", `${path} has no server "${edit.name}".`);
    }
    const dialect = known ?? document.dialect;
    const at = [...KEY_PATHS[dialect], edit.name];
    switch (edit.op) {
      case "set": {
        notes.push(...dialectNotes(edit.name, edit.entry, dialect));
        text = document.set(text, at, toDialect(edit.entry, dialect));
        if (dialect === "servers") text = await addInputs(text, path, document, edit);
        dialects.set(edit.name, dialect);
        break;
      }
      case "remove":
        text = document.remove(text, at);
        dialects.delete(edit.name);
        break;
      case "enable":
        text = document.remove(text, [...at, "disabled"]);
        break;
      case "disable":
        text = document.set(text, [...at, "disabled"], true);
        break;
    }
  }
  const changed = text !== (document.text ?? "");
  return { path, created: document.text === undefined, changed, notes, text: document.mark + text };
}

/**
 * Adds texts to a list in a settings file, such as `["paths", "read"]`; texts that it already has are not repeated.
 * Throws `CONFIG_INVALID` if the file is unreadable or the setting is not a list.
 */
export async function addToSettings(
  path: string,
  key: readonly string[],
  texts: readonly string[],
  options: EditOptions = {},
): Promise<void> {
  const document = await readDocument(path, options);
  const text = document.text ?? "";
  const parsed = text.trim() === "" ? undefined : await parseConfigText(text, path);
  let found: ConfigNode | undefined = parsed?.ok ? parsed.root : undefined;
  for (const name of key) found = memberOf(found, name);
  if (found !== undefined && found.kind !== "list")
    throw invalid(path, `cannot be edited: ${key.join(".")} is not a list`);
  const items = found === undefined ? [] : found.items.map(plainValue);
  const missing = texts.filter((each) => !items.includes(each));
  if (missing.length === 0) return;
  const { mode = 0o644 } = options;
  await writeFileAtomically(path, document.mark + document.set(text, key, [...items, ...missing]), {
    mode,
    ...(mode === 0o600 ? { folderMode: 0o700 } : {}),
  });
}

interface OpenDocument {
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  /** The byte order mark, if any. */
  readonly mark: string;
  /** The dialect for new entries. */
  readonly dialect: Dialect;
  /** The dialect of each entry: a file can have several keys. */
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly entries: ReadonlyMap<string, unknown>;
  readonly set: (text: string, path: readonly string[], value: unknown) => string;
  readonly remove: (text: string, path: readonly string[]) => string;
}

const KEY_PATHS: Readonly<Record<Dialect, readonly string[]>> = {
  servers: ["servers"],
  mcpServers: ["mcpServers"],
  "metadata.mcp": ["metadata", "mcp"],
};

const JSON_EDITS = { set: setJson, remove: removeJson };

/** Loaded on demand: most files are JSON. */
async function yamlEdits(): Promise<typeof JSON_EDITS> {
  const { setYaml, removeYaml } = await import("./edit-yaml.js");
  return { set: setYaml, remove: removeYaml };
}

async function readDocument(path: string, options: EditOptions): Promise<OpenDocument> {
  const bytes = await readBytes(path, options.signal);
  const isYamlFile = /\.ya?ml$/i.test(path);
  if (bytes?.[0] === 0xff && bytes[1] === 0xfe) {
    throw invalid(path, "is encoded as UTF-16", "Save it as UTF-8 and try again.");
  }
  const text = bytes === undefined ? undefined : decodeConfigText(bytes);
  const mark = bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "\uFEFF" : "";
  // A file without any of the keys gets the usual one for its name.
  const usual = /^settings\./i.test(basename(path)) ? "mcpServers" : "servers";
  if (text === undefined || text.trim() === "") {
    const empty = { dialect: usual, dialects: new Map(), entries: new Map() } as const;
    return { text, mark, ...empty, ...(isYamlFile ? await yamlEdits() : JSON_EDITS) };
  }
  if (/^---[ \t]*\r?\n/.test(text) && !isYamlFile) {
    throw invalid(path, "is a skill file, which Trunkline does not edit", "Edit its front matter by hand.");
  }
  const parsed = await parseConfigText(text, path);
  if (!parsed.ok) throw invalid(`${path}:${parsed.at.line}:${parsed.at.column}`, `cannot be edited: ${parsed.reason}`);
  const { sections, malformed } = findSections(parsed.root);
  if (malformed !== undefined) {
    throw invalid(`${path}:${malformed.at.line}:${malformed.at.column}`, `cannot be edited: ${malformed.message}`);
  }
  const dialects = new Map<string, Dialect>();
  const values = new Map<string, unknown>();
  for (const { dialect, entries } of sections) {
    for (const { key, value } of entries) {
      if (dialects.has(key)) continue;
      dialects.set(key, dialect);
      values.set(key, plainValue(value));
    }
  }
  const isJson = !isYamlFile && parseJson(text).ok;
  const dialect = sections[0]?.dialect ?? usual;
  return { text, mark, dialect, dialects, entries: values, ...(isJson ? JSON_EDITS : await yamlEdits()) };
}

/** Adds input definitions next to the servers, skipping existing ones. */
async function addInputs(
  text: string,
  path: string,
  document: OpenDocument,
  edit: Extract<ConfigEdit, { op: "set" }>,
): Promise<string> {
  const wanted = edit.inputs ?? [];
  if (wanted.length === 0) return text;
  const parsed = await parseConfigText(text, path);
  const existing = parsed.ok ? memberOf(parsed.root, "inputs") : undefined;
  const items = existing?.kind === "list" ? existing.items : [];
  const ids = new Set(items.map((item) => textOf(memberOf(item, "id"))));
  const missing = wanted.filter(({ id }) => !ids.has(id));
  if (missing.length === 0) return text;
  return document.set(text, ["inputs"], [...items.map(plainValue), ...missing]);
}

export function plainValue(node: ConfigNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
}

async function readBytes(path: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
  try {
    return await readRegularFile(path, { signal });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function invalid(
  where: string,
  what: string,
  hint = "Fix the file and try again; nothing was written.",
): TrunklineError {
  return new TrunklineError("CONFIG_INVALID", `${where} ${what}.`, { hint });
}
