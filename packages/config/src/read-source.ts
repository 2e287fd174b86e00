// Reads and parses one configuration file, and checks its entries. Problems in a file found by searching are warnings;
// in a file the user named, they are errors.
import { resolve } from "node:path";
import {
  contentIdOf,
  fileReason,
  isAbsent,
  isSecretName,
  isWithin,
  MAX_PROJECT_FILE_BYTES,
  maskedSecret,
  messageOf,
  printable,
  replaceControls,
  TrunklineError,
  valueForApproval,
} from "@trunkline/core";
import { type ConfigSource, leavesFolder, readOptional, readText, realPath } from "./config-files.js";
import { secretsOf } from "./definition.js";
import { findSections } from "./dialects.js";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import { type ExpandScope, expandText, renderParts } from "./expand.js";
import type { Leaf } from "./field-reader.js";
import { assigned, commandLeaves, fingerprintOf, wouldRunOf } from "./fingerprint.js";
import { type InputDescription, readInputs } from "./inputs.js";
import type { ConfigFile, Diagnostic, RejectedServer } from "./loaded-config.js";
import { looksLikeJson, parseJson } from "./parse-json.js";
import { secretLabel } from "./secrets/secret-reference.js";
import { type CheckedEntry, checkEntry } from "./server-entries.js";
import type { FileSettings } from "./setting-fields.js";
import { readSettings, UNKNOWN_RULES } from "./settings.js";
import type { ParseOutcome, Position } from "./tree.js";

/** A file's content before merging and expansion. */
export interface ReadSource {
  readonly source: ConfigSource;
  readonly config: ConfigFile;
  readonly entries: readonly CheckedEntry[];
  readonly rejected: readonly RejectedServer[];
  readonly inputs: ReadonlyMap<string, InputDescription>;
  readonly settings: FileSettings;
  readonly diagnostics: readonly Diagnostic[];
}

export async function readSource(source: ConfigSource, signal: AbortSignal | undefined): Promise<ReadSource> {
  const { path, scope, namedBy } = source;
  const [workspaceFolder, real, boundary] = await Promise.all([
    realPath(source.workspaceFolder),
    scope === "project" ? realPath(path) : undefined,
    scope === "project" && source.boundary !== undefined ? realPath(source.boundary) : undefined,
  ]);
  if (real !== undefined && !isWithin(real, boundary ?? workspaceFolder)) return outsideProject(source);
  let text: string;
  try {
    // The user's `--mcp <(…)` is a pipe.
    const limits = scope === "project" ? { maxBytes: MAX_PROJECT_FILE_BYTES } : {};
    text = source.text ?? (await readText(path, signal, { mayBePipe: scope === "explicit", ...limits }));
  } catch (error) {
    if (signal?.aborted) throw error;
    if (namedBy !== undefined) throw unreadable(source, error);
    if (isAbsent(error)) return nothing(source, { exists: false });
    const message = `${path} cannot be read: ${reasonOf(error)}.`;
    return unusable(source, { severity: "warning", message, file: path });
  }
  const parsed = await parse(text, path);
  if (!parsed.ok) return malformed(source, parsed.at, parsed.reason);
  const found = findSections(parsed.root);
  if (found.malformed !== undefined) return malformed(source, found.malformed.at, found.malformed.message);
  const { settings, diagnostics: ownRemarks } = readSettings(parsed.root, { file: path, scope });
  if (found.absent !== undefined) {
    // A file with other settings does not need servers.
    if (namedBy === undefined && Object.keys(settings).length > 0)
      return { ...nothing(source, { exists: true }), settings, diagnostics: ownRemarks };
    const missing = absent(source, found.absent);
    return { ...missing, settings, diagnostics: [...ownRemarks, ...missing.diagnostics] };
  }

  const diagnostics: Diagnostic[] = parsed.remarks.map(({ at, message }) => ({
    severity: "warning",
    message: `${path}: ${message}.`,
    file: path,
    ...at,
  }));
  if (namedBy?.endsWith(".env")) {
    diagnostics.push({
      severity: "note",
      message: `Using the configuration file named by ${namedBy} instead of the project's own.`,
      file: path,
    });
  }
  diagnostics.push(...ownRemarks);
  const names = found.sections.map(({ dialect }) => `"${dialect}"`);
  if (names.length > 1) {
    const message = `${path} has ${names.join(" and ")}; both are used, and for equal names the one under ${names[0]} wins.`;
    diagnostics.push({ severity: "note", message, file: path });
  }
  const entries = new Map<string, CheckedEntry>();
  const rejected: RejectedServer[] = [];
  for (const { dialect, entries: members } of found.sections) {
    for (const member of members) {
      const outcome = checkEntry(member, { file: path, scope, dialect });
      diagnostics.push(...outcome.diagnostics);
      if ("rejected" in outcome) rejected.push(outcome.rejected);
      else if (!entries.has(member.key)) entries.set(member.key, outcome.entry);
      else {
        const message = `Server "${member.key}" is defined under two keys; the one under "${dialect}" is ignored.`;
        diagnostics.push({ severity: "warning", message, file: path, server: member.key, ...member.at });
      }
    }
  }
  const checked = [...entries.values()];
  const [first] = found.sections;
  const surroundings = { workspaceFolder, inputs: readInputs(parsed.root) };
  const secrets =
    scope === "user" || source.text !== undefined ? [] : [...new Set(checked.flatMap(secretsOf).map(secretLabel))];
  const disabledServers = checked.filter(({ disabled }) => disabled).map(({ name }) => name);
  let wouldRun: ConfigFile["wouldRun"] | undefined;
  return {
    source,
    config: {
      ...{ path, scope, exists: true, fingerprint: fingerprintOf(checked, surroundings) },
      // Described on request: only questions about approval show it, and finding literal secrets takes time.
      get wouldRun() {
        wouldRun ??= wouldRunOf(checked, surroundings);
        return wouldRun;
      },
      ...(first === undefined ? {} : { dialect: first.dialect }),
      ...(secrets.length === 0 ? {} : { secrets }),
      ...(disabledServers.length === 0 ? {} : { disabledServers }),
    },
    entries: checked,
    rejected,
    inputs: surroundings.inputs,
    settings,
    diagnostics,
  };
}

/** Loaded on demand: most files are JSON, and loading the YAML parser takes longer than reading any of them. */
async function parse(text: string, path: string): Promise<ParseOutcome> {
  const json = looksLikeJson(text) ? parseJson(text) : undefined;
  if (json?.ok) return json;
  const { parseConfigText } = await import("./parse-file.js");
  return await parseConfigText(text, path);
}

function nothing(
  source: ConfigSource,
  { exists, diagnostic }: { exists: boolean; diagnostic?: Diagnostic },
): ReadSource {
  const { path, scope } = source;
  return {
    source,
    config: { path, scope, exists, wouldRun: [] },
    entries: [],
    rejected: [],
    inputs: new Map(),
    settings: {},
    diagnostics: diagnostic === undefined ? [] : [diagnostic],
  };
}

/** The file's policy is unknown, so every upstream tool is denied until the file is readable. */
function unusable(source: ConfigSource, diagnostic: Diagnostic): ReadSource {
  const message = `${diagnostic.message} Until it is fixed, its policy counts as "deny" for every upstream tool.`;
  const read = nothing(source, { exists: true, diagnostic: { ...diagnostic, message } });
  return { ...read, config: { ...read.config, unusable: diagnostic.message }, settings: { policy: UNKNOWN_RULES } };
}

/** Refuses a project's file that is really somewhere else: what was approved there was approved for another folder. */
function outsideProject(source: ConfigSource): ReadSource {
  const { path, namedBy } = source;
  if (namedBy === undefined) {
    const message = `${path} is a link that leaves the project, so it is not used.`;
    return unusable(source, { severity: "warning", message, file: path });
  }
  throw new TrunklineError("CONFIG_INVALID", `${namedBy} is a file outside the project: ${path}`, {
    hint: "If you trust that file, name it with --mcp.",
    data: { file: path },
  });
}

function malformed(source: ConfigSource, at: Position, reason: string): ReadSource {
  const { path, namedBy } = source;
  const message = `${path}:${at.line}:${at.column} cannot be used: ${reason}.`;
  if (namedBy === undefined) return unusable(source, { severity: "warning", message, file: path, ...at });
  const toml = path.toLowerCase().endsWith(".toml");
  throw new TrunklineError("CONFIG_INVALID", message, {
    hint: toml
      ? "Trunkline does not read TOML; `trunkline import` copies servers from it."
      : "Fix the file and try again.",
    data: { file: path, ...at },
  });
}

/** Settings files can exist for other purposes, so this is only a note. */
function absent(source: ConfigSource, message: string): ReadSource {
  const { path, kind, namedBy } = source;
  if (namedBy !== undefined) {
    throw new TrunklineError("CONFIG_INVALID", `${path} is not an MCP server configuration. ${message}`, {
      hint: `Name another file with ${namedBy}, or fix this one.`,
      data: { file: path },
    });
  }
  const severity = kind === "settings" ? "note" : "warning";
  const at = { line: 1, column: 1 };
  return nothing(source, { exists: true, diagnostic: { severity, message: `${path}: ${message}`, file: path, ...at } });
}

function unreadable(source: ConfigSource, error: unknown): TrunklineError {
  const { path, namedBy } = source;
  const what = isAbsent(error) ? "does not exist" : `cannot be read: ${reasonOf(error)}`;
  return new TrunklineError("CONFIG_INVALID", `The configuration file ${path} ${what}.`, {
    cause: error,
    hint: `Check the path given with ${namedBy}.`,
    data: { file: path },
  });
}

function reasonOf(error: unknown): string {
  return fileReason(error) ?? messageOf(error);
}

interface ProjectValuesOptions {
  readonly processEnv: (name: string) => string | undefined;
  readonly dotEnv: DotEnv;
  readonly userHome: string;
  readonly signal: AbortSignal | undefined;
}

interface Borrowed {
  readonly server: string;
  /** Names with hashes of their values: a value can be a secret, but a short hash of it is not. */
  readonly variables: readonly (readonly [name: string, hash: string])[];
  /** The names that the env file sets, with hashes of the values that can change what runs. */
  readonly fileValues: readonly (readonly [name: string, hash: string])[];
  /** What the user sees: the program that runs or the host that is contacted, and the values. */
  readonly shown: readonly string[];
}

/**
 * Adds the values from the project's own `.env` and env files to the file's fingerprint and list. They come with the
 * project, like the file that names them: if they change what an approved entry does, it must be approved again. Values
 * from the process environment belong to the user and do not count.
 */
export async function withProjectValues(file: ReadSource, options: ProjectValuesOptions): Promise<ReadSource> {
  const { config } = file;
  // A file named with --mcp needs no approval, but `servers add` approves what it wrote to a project's file.
  if (config.scope === "user" || config.fingerprint === undefined) return file;
  const borrowed = await Promise.all(file.entries.map((entry) => borrowedBy(entry, file, options)));
  const telling = borrowed.filter(({ variables, fileValues }) => variables.length + fileValues.length > 0);
  if (telling.length === 0) return file;
  const canonical = telling
    .map(({ server, variables, fileValues }) => JSON.stringify([server, variables, fileValues]))
    .sort((a, b) => (a < b ? -1 : 1));
  return {
    ...file,
    config: {
      ...config,
      fingerprint: contentIdOf(`[${JSON.stringify(config.fingerprint)},[${canonical.join(",")}]]`),
      // One line per entry, in the same order.
      wouldRun: config.wouldRun.map(({ name, what }, index) => {
        const more = borrowed[index]?.shown ?? [];
        return { name, what: more.length === 0 ? what : `${what} → ${more.join(", ")}` };
      }),
    },
  };
}

async function borrowedBy(entry: CheckedEntry, file: ReadSource, options: ProjectValuesOptions): Promise<Borrowed> {
  const { workspaceFolder } = file.source;
  const scope = {
    dialect: entry.dialect,
    // Only values from the project itself: variables set in the process are left unset here.
    env: (name: string) => (options.processEnv(name) === undefined ? options.dotEnv.get(name)?.value : undefined),
    workspaceFolder,
    userHome: options.userHome,
  };
  const commandTexts = commandLeaves(entry);
  const variables = new Map<string, string>();
  const values = new Map<string, string>();
  const inCommand = new Set<string>();
  const cover = (leaf: Leaf | undefined, into: { name?: string } = {}) => {
    for (const { name, value } of leaf === undefined ? [] : expandText(leaf.text, scope).values) {
      if (isMereSecret(into.name ?? "", value)) continue;
      variables.set(name, hashOf(value));
      if (leaf !== entry.url) values.set(name, value);
      if (leaf !== undefined && commandTexts.includes(leaf)) inCommand.add(name);
    }
  };
  for (const leaf of commandTexts) cover(leaf);
  for (const leaf of entry.env) cover(leaf, leaf);
  for (const [name, leaf] of Object.entries(entry.auth?.texts ?? {})) cover(leaf, { name });
  const fileValues = await envFileValues(entry, scope, { workspaceFolder, signal: options.signal });
  const target = entry.type === "stdio" ? entry.command : entry.url;
  const filled = target === undefined ? undefined : expandText(target.text, scope);
  const telling = fileValues.filter(([name, value]) => !isMereSecret(name, value));
  return {
    server: entry.name,
    variables: [...variables].sort(([a], [b]) => (a < b ? -1 : 1)),
    fileValues: fileValues.map(([name, value]) => [name, isMereSecret(name, value) ? "" : hashOf(value)]),
    shown: [
      ...(filled === undefined || filled.values.length === 0 ? [] : [shownTarget(entry, renderParts(filled.parts))]),
      ...[...values, ...telling].map(([name, text]) => {
        if (canBeCode(text)) return assigned({ name, text });
        // A password, or the name of a package: its length shows that something is not shown.
        return inCommand.has(name) ? `${printable(name)}=${maskedSecret(text)}` : printable(name);
      }),
    ],
  };
}

/** Reads the variables of an entry's env file, sorted by name. */
async function envFileValues(
  { envFile }: CheckedEntry,
  scope: ExpandScope,
  { workspaceFolder, signal }: { workspaceFolder: string; signal: AbortSignal | undefined },
): Promise<[string, string][]> {
  if (envFile === undefined) return [];
  const path = resolve(workspaceFolder, renderParts(expandText(envFile.text, scope).parts));
  const limits = { maxBytes: MAX_PROJECT_FILE_BYTES };
  const text = (await leavesFolder(path, workspaceFolder)) ? undefined : await readOptional(path, signal, limits);
  return Object.entries(parseEnvFile(text ?? "")).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Whether a value is a key or token under the name of one. Such a value changes neither what runs nor where data goes,
 * and tokens are replaced too often to approve each.
 */
function isMereSecret(name: string, value: string): boolean {
  return isSecretName(name) && /^\w[\w.+=~/-]*$/.test(value) && valueForApproval(name, value) !== value;
}

/** Whether a value looks like an option, a path or several words. Of other values in `.env` files the name must do. */
function canBeCode(value: string): boolean {
  return /^-|[/\\\s]|\.[a-z\d]{1,4}$/i.test(value);
}

function hashOf(value: string): string {
  return contentIdOf(value).slice(0, 16);
}

/** Shows the program as it is, but only the host of a URL, because the rest can contain a token. */
function shownTarget(entry: CheckedEntry, text: string): string {
  const shown = entry.type === "stdio" ? text : URL.canParse(text) ? new URL(text).origin : "an unreadable URL";
  return replaceControls(shown, "?");
}
