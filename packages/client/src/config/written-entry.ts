// An entry as it is written into a file, and how the dialects differ in what they make of it. Whoever writes entries, a
// command or an import, says what it means in one dialect, `mcpServers`; the file's own dialect is taken care of here.
import { inputIdsIn } from "./expand.js";
import type { Dialect } from "./loaded-config.js";

/** What a file says about one server. Values are unexpanded, in the `mcpServers` dialect. */
export interface ServerEntry {
  readonly type?: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
  /** Seconds to connect. */
  readonly timeout?: number;
  /** Seconds that a call may go without an answer. */
  readonly callTimeout?: number;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
}

/** Something the user is asked for, as VS Code defines it under `inputs`. */
export interface InputDefinition {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** The entry as a file of this dialect has to have it in order to mean the same. */
export function toDialect(entry: ServerEntry, dialect: Dialect): ServerEntry {
  return mapTexts(entry, dialect === "servers" ? environmentByPrefix : inputsFromEnvironment);
}

/** The ids of the inputs that an entry uses. */
export function inputsOf(entry: ServerEntry): string[] {
  const ids = new Set<string>();
  mapTexts(entry, (text) => {
    for (const id of inputIdsIn(text)) ids.add(id);
    return text;
  });
  return [...ids];
}

/** A name for an environment variable: `github-token` becomes `GITHUB_TOKEN`. */
export function variableName(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

/** What looks like a variable of the environment and is none, in any dialect. */
const CONSTANTS: ReadonlySet<string> = new Set([
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
]);

// Both leave alone what stands behind `:-`: a default is plain text.

/** In the `servers` dialect `${NAME}` is plain text, and the environment needs its prefix. */
function environmentByPrefix(text: string): string {
  return text.replace(/(\\?)(?<!:-)\$\{([A-Za-z_]\w*)\}/g, (match, backslash: string, name: string) =>
    backslash !== "" || CONSTANTS.has(name) ? match : `\${env:${name}}`,
  );
}

/** Only the `servers` dialect can ask; elsewhere the environment is the nearest thing to an answer. */
function inputsFromEnvironment(text: string): string {
  return text.replace(/(?<!:-)\$\{input:([^}]+)\}/g, (_, id: string) => `\${env:${variableName(id)}}`);
}

/** A copy with every text that expansion covers passed through `change`. */
function mapTexts(entry: ServerEntry, change: (text: string) => string): ServerEntry {
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item)]));
  };
  // `tools` holds globs, which are never expanded.
  const { tools, ...expanded } = entry;
  return { ...(deep(expanded) as ServerEntry), ...(tools === undefined ? {} : { tools }) };
}
