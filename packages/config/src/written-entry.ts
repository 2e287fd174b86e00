// An entry as written to a file, and how the dialects differ. Commands and imports always write the `mcpServers`
// dialect; this file converts entries to the file's own dialect.

import { EXPANDED_FIELDS, type ServerEntry } from "./entry-fields.js";
import { inputIdsIn, secretsIn } from "./expand.js";
import type { Dialect } from "./loaded-config.js";
import { secretLabel } from "./secrets/secret-reference.js";

/** An input to ask the user for, as VS Code defines it under `inputs`. */
export interface InputDefinition {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Converts an entry to the given dialect without changing its meaning. */
export function toDialect(entry: ServerEntry, dialect: Dialect): ServerEntry {
  return mapTexts(entry, dialect === "servers" ? environmentByPrefix : inputsFromEnvironment);
}

export function inputsOf(entry: ServerEntry): string[] {
  const ids = new Set<string>();
  mapTexts(entry, (text) => {
    for (const id of inputIdsIn(text)) ids.add(id);
    return text;
  });
  return [...ids];
}

/** Returns the labels of the secrets that an entry refers to. */
export function secretsInEntry(entry: ServerEntry): string[] {
  const labels = new Set<string>();
  mapTexts(entry, (text) => {
    for (const reference of secretsIn(text)) labels.add(secretLabel(reference));
    return text;
  });
  return [...labels];
}

/** Turns a text into the name of an environment variable: `github-token` becomes `GITHUB_TOKEN`. */
export function variableName(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

/** Names that look like environment variables but are not, in any dialect. */
const CONSTANTS: ReadonlySet<string> = new Set([
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
]);

// Both functions leave everything after `:-` alone: a default is plain text.

/** In the `servers` dialect `${NAME}` is plain text, and the environment needs its prefix. */
function environmentByPrefix(text: string): string {
  return text.replace(/(\\?)(?<!:-)\$\{([A-Za-z_]\w*)\}/g, (match, backslash: string, name: string) =>
    backslash !== "" || CONSTANTS.has(name) ? match : `\${env:${name}}`,
  );
}

/** Only the `servers` dialect can ask for inputs; elsewhere the environment is the closest equivalent. */
function inputsFromEnvironment(text: string): string {
  return text.replace(/(?<!:-)\$\{input:([^}]+)\}/g, (_, id: string) => `\${env:${variableName(id)}}`);
}

/** Copies the entry, passing every expandable string through `change`. */
function mapTexts(entry: ServerEntry, change: (text: string) => string): ServerEntry {
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item)]));
  };
  return Object.fromEntries(
    Object.entries(entry).map(([field, value]) => [field, EXPANDED_FIELDS.has(field) ? deep(value) : value]),
  );
}
