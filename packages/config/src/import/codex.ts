// Codex keeps its servers in TOML and expands no variables; it has separate fields for values from the environment.
import { isRecord } from "@trunkline/core";
import type { ServerEntry } from "../entry-fields.js";
import { parseProgramText } from "../program-text.js";
import { CALL_SECONDS, CONNECT_SECONDS, type EntryReader, entryOf, toolFilter } from "./entry-reader.js";
import type { ProgramReader } from "./imported-server.js";
import { asItIs } from "./program-variables.js";
import { joinOn } from "./programs.js";
import { readServers } from "./read-servers.js";

export const codex: ProgramReader = {
  userFiles: ({ platform, userHome, env }) => [
    joinOn(platform, env.CODEX_HOME || joinOn(platform, userHome, ".codex"), "config.toml"),
  ],
  projectFiles: [".codex/config.toml"],
  parse: (text, context) => {
    const root = parseProgramText(text, "toml", context.path);
    return readServers(root.mcp_servers, { at: ["mcp_servers"], translate: asItIs, read: readEntry });
  },
};

function readEntry(reader: EntryReader): ServerEntry | { skipped: string } {
  const common = {
    disabled: reader.flag("enabled") === false,
    timeout:
      reader.seconds("startup_timeout_sec", "s", CONNECT_SECONDS) ??
      reader.seconds("startup_timeout_ms", "ms", CONNECT_SECONDS),
    callTimeout: reader.seconds("tool_timeout_sec", "s", CALL_SECONDS),
    tools: toolFilter(reader.names("enabled_tools"), reader.names("disabled_tools")),
  };
  if (reader.raw("command") !== undefined) {
    return entryOf({
      ...common,
      command: reader.text("command"),
      args: reader.texts("args"),
      env: { ...passedOn(reader), ...reader.map("env") },
      cwd: reader.text("cwd"),
    });
  }
  if (typeof reader.raw("url") !== "string") return { skipped: "it has neither a command nor a URL" };
  if (reader.raw("bearer_token") !== undefined) {
    reader.note('"bearer_token" was not imported: Codex itself rejects it; use an environment variable instead');
  }
  for (const field of ["oauth", "scopes"]) {
    if (reader.raw(field) !== undefined) reader.note(`"${field}" was not imported: sign in again here`);
  }
  return entryOf({ ...common, type: "http", url: reader.text("url"), headers: headersOf(reader) });
}

/** Reads the variables that are passed through by name. */
function passedOn(reader: EntryReader): Record<string, string> {
  const list = reader.raw("env_vars");
  if (!Array.isArray(list)) return {};
  const names = list.map((item: unknown) => (isRecord(item) ? item.name : item));
  return Object.fromEntries(names.filter((name) => typeof name === "string").map((name) => [name, `\${env:${name}}`]));
}

function headersOf(reader: EntryReader): Record<string, string> {
  const headers = reader.map("http_headers") ?? {};
  for (const [header, variable] of Object.entries(fieldsOf(reader.raw("env_http_headers")))) {
    if (typeof variable === "string") headers[header] = `\${env:${variable}}`;
  }
  const token = reader.raw("bearer_token_env_var");
  if (typeof token === "string") headers.Authorization = `Bearer \${env:${token}}`;
  return headers;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
