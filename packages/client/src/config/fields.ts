// The names of an entry's fields, here and in other programs.
import { nearestNames } from "@trunkline/core";

/** Fields written by commands and imports, in the order a person would write them. */
export const WRITTEN_FIELDS = [
  "type",
  "command",
  "args",
  "env",
  "envFile",
  "cwd",
  "url",
  "headers",
  "disabled",
  "timeout",
  "callTimeout",
  "tools",
] as const;

const KNOWN_FIELDS: readonly string[] = [
  ...WRITTEN_FIELDS,
  "lazy",
  "asks",
  "readOnly",
  "pin",
  "maxMessageBytes",
  "share",
  "idleStop",
  "auth",
];

/** Other programs' names for these fields. */
const ALIASES = wordSet(`transport transportType serverUrl httpUrl enabled includeTools enabledTools enabled_tools
  excludeTools disabledTools disabled_tools oauth`);

/**
 * Other programs' fields that have no effect here. They belong to files that work elsewhere, so they are not reported.
 */
const FOREIGN_FIELDS = wordSet(`$schema alwaysAllow authProviderType authorization autoApprove autoStart category
  comment default_tools_approval_mode description dev displayName gallery homepage icon icons id label meta metadata name
  note notes oauth_resource priority provider registry required sandbox sandboxEnabled scopes source
  startup_timeout_sec tags title tool_timeout_sec toolsets trust version watch`);

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}

/** Fields that Trunkline ignores although a server may need them, so the owner has to know. */
const UNSUPPORTED_FIELDS: ReadonlyMap<string, string> = new Map([
  ["headersHelper", "Trunkline does not run programs to get headers; put them under headers"],
  ["bearer_token_env_var", 'put "Authorization": "Bearer …" under headers'],
]);

/** Common wrong names for fields, beyond typos. */
const LIKELY_MEANT: ReadonlyMap<string, string> = new Map([
  ["cmd", "command"],
  ["arguments", "args"],
  ["environment", "env"],
  ["env_file", "envFile"],
  ["uri", "url"],
  ["endpoint", "url"],
  ["http_headers", "headers"],
  ["workingDirectory", "cwd"],
  ["working_directory", "cwd"],
]);

/** Returns the diagnostic for an unknown field; undefined if there is nothing to report. */
export function remarkOnField(field: string): { severity: "warning" | "note"; message: string } | undefined {
  const unsupported = UNSUPPORTED_FIELDS.get(field);
  if (unsupported !== undefined) return { severity: "warning", message: `it is not supported: ${unsupported}` };
  if (KNOWN_FIELDS.includes(field) || ALIASES.has(field)) return undefined;
  if (FOREIGN_FIELDS.has(field) || /^(?:x-|\/\/|#|_)/.test(field)) return undefined;
  const near = LIKELY_MEANT.get(field) ?? (field.length > 2 ? nearestNames(field, KNOWN_FIELDS, 1)[0] : undefined);
  if (near === undefined) return undefined;
  return { severity: "note", message: `it is not a known field. Did you mean "${near}"?` };
}

const TRANSPORTS: ReadonlyMap<string, "stdio" | "http" | "sse"> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["command", "stdio"],
  ["http", "http"],
  ["https", "http"],
  ["streamablehttp", "http"],
  ["streamable", "http"],
  ["httpstream", "http"],
  ["remote", "http"],
  ["sse", "sse"],
]);

/** Returns the transport a word stands for, in all common spellings. */
export function transportOf(word: string): "stdio" | "http" | "sse" | undefined {
  return TRANSPORTS.get(word.toLowerCase().replace(/[-_ +]/g, ""));
}
