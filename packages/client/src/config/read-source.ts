// Reads and parses one configuration file, and checks its entries. Problems in a file found by searching are warnings;
// in a file the user named, they are errors.
import { resolve } from "node:path";
import { contentIdOf, messageOf, replaceControls, systemCodeOf, TrunklineError } from "@trunkline/core";
import { type ConfigSource, isMissing, readOptional, readText } from "./config-files.js";
import { findSections } from "./dialects.js";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import { expandText, renderParts } from "./expand.js";
import { fingerprintOf, wouldRunOf } from "./fingerprint.js";
import { type InputDescription, readInputs } from "./inputs.js";
import type { ConfigFile, Diagnostic, RejectedServer } from "./loaded-config.js";
import { looksLikeJson, parseJson } from "./parse-json.js";
import { type CheckedEntry, checkEntry } from "./server-entries.js";
import { type FileSettings, readSettings, UNKNOWN_RULES } from "./settings.js";
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
  let text: string;
  try {
    text = await readText(path, signal);
  } catch (error) {
    if (signal?.aborted) throw error;
    if (namedBy !== undefined) throw unreadable(source, error);
    if (isMissing(error)) return nothing(source, { exists: false });
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
      message: `Using only the configuration file named by ${namedBy}.`,
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
  return {
    source,
    config: {
      ...{ path, scope, exists: true, fingerprint: fingerprintOf(checked), wouldRun: wouldRunOf(checked) },
      ...(first === undefined ? {} : { dialect: first.dialect }),
    },
    entries: checked,
    rejected,
    inputs: readInputs(parsed.root),
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
  const what = isMissing(error) ? "does not exist" : `cannot be read: ${reasonOf(error)}`;
  return new TrunklineError("CONFIG_INVALID", `The configuration file ${path} ${what}.`, {
    cause: error,
    hint: `Check the path given with ${namedBy}.`,
    data: { file: path },
  });
}

function reasonOf(error: unknown): string {
  switch (systemCodeOf(error)) {
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    default:
      return messageOf(error);
  }
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
  /** The names that the env file sets. Their values are up to the server, like those of `env`. */
  readonly fileNames: readonly string[];
  /** What the user sees: the program that runs, or the host that is contacted. */
  readonly shown?: string;
}

/**
 * Adds the values from the project's own `.env` and env files to the file's fingerprint and list. They come with the
 * project, like the file that names them: if they change what an approved entry does, it must be approved again. Values
 * from the process environment belong to the user and do not count.
 */
export async function withProjectValues(file: ReadSource, options: ProjectValuesOptions): Promise<ReadSource> {
  const { config } = file;
  if (config.scope !== "project" || config.fingerprint === undefined) return file;
  const borrowed = await Promise.all(file.entries.map((entry) => borrowedBy(entry, file, options)));
  const telling = borrowed.filter(({ variables, fileNames }) => variables.length + fileNames.length > 0);
  if (telling.length === 0) return file;
  const canonical = telling
    .map(({ server, variables, fileNames }) => [server, variables, fileNames])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const shown = new Map(telling.map((each) => [each.server, each.shown]));
  return {
    ...file,
    config: {
      ...config,
      fingerprint: contentIdOf(JSON.stringify([config.fingerprint, canonical])),
      wouldRun: config.wouldRun.map(({ name, what }) => {
        const more = shown.get(name);
        return { name, what: more === undefined ? what : `${what} → ${more}` };
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
  const leaves = [entry.command, ...entry.args, entry.url, entry.cwd, entry.envFile].filter(
    (leaf) => leaf !== undefined,
  );
  const variables = new Map<string, string>();
  for (const leaf of leaves) {
    for (const { name, value } of expandText(leaf.text, scope).values)
      variables.set(name, contentIdOf(value).slice(0, 16));
  }
  const envFile = entry.envFile === undefined ? undefined : renderParts(expandText(entry.envFile.text, scope).parts);
  const text =
    envFile === undefined ? undefined : await readOptional(resolve(workspaceFolder, envFile), options.signal);
  const target = entry.type === "stdio" ? entry.command : entry.url;
  const filled = target === undefined ? undefined : expandText(target.text, scope);
  const shown =
    filled === undefined || filled.values.length === 0 ? undefined : shownTarget(entry, renderParts(filled.parts));
  return {
    server: entry.name,
    variables: [...variables].sort(([a], [b]) => (a < b ? -1 : 1)),
    fileNames: text === undefined ? [] : Object.keys(parseEnvFile(text)).sort(),
    ...(shown === undefined ? {} : { shown }),
  };
}

/** Shows the program as it is, but only the host of a URL, because the rest can contain a token. */
function shownTarget(entry: CheckedEntry, text: string): string {
  const shown = entry.type === "stdio" ? text : URL.canParse(text) ? new URL(text).origin : "an unreadable URL";
  return replaceControls(shown, "?");
}
