// Checks one entry without expanding it. A malformed entry becomes diagnostics that name the field.

import { withoutUndefined } from "@trunkline/core";
import { type CheckedAuth, readAuth } from "./auth-fields.js";
import { type EntrySettings, readEntrySettings, remarkOnField } from "./entry-fields.js";
import { FieldReader, type Leaf } from "./field-reader.js";
import type { Diagnostic, Dialect, EntryOrigin, RejectedServer } from "./loaded-config.js";
import type { Member, Position } from "./tree.js";

/** A well-formed entry. Its strings are as in the file. */
export interface CheckedEntry extends EntryOrigin, EntrySettings {
  readonly name: string;
  readonly at: Position;
  readonly type: "stdio" | "http" | "sse";
  /** Present if `type` is `stdio`. */
  readonly command?: Leaf;
  readonly args: readonly Leaf[];
  readonly env: readonly (Leaf & { readonly name: string })[];
  readonly envFile?: Leaf;
  readonly cwd?: Leaf;
  /** Present if `type` is `http` or `sse`. */
  readonly url?: Leaf;
  readonly headers: readonly (Leaf & { readonly name: string })[];
  /** Present if `type` is `http` or `sse` and the entry has sign-in settings. */
  readonly auth?: CheckedAuth;
}

/** The entry, or that it was rejected; both with diagnostics. */
type EntryOutcome = { readonly diagnostics: readonly Diagnostic[] } & (
  | { readonly entry: CheckedEntry }
  | { readonly rejected: RejectedServer }
);

/** The characters RFC 9110 allows in a header name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function checkEntry(member: Member, origin: EntryOrigin): EntryOutcome {
  const { key: name, value: node } = member;
  const fields = new FieldReader(node, { file: origin.file, server: name, at: member.at });
  const reject = (): EntryOutcome => {
    const type = fields.string("type", { quiet: true })?.text;
    return {
      rejected: { name, scope: origin.scope, file: origin.file, type },
      diagnostics: fields.diagnostics,
    };
  };
  if (name.trim() === "") {
    fields.fail("", "the server name must not be empty");
    return reject();
  }
  if (!fields.isObject()) return reject();
  fields.remarkOnUnknown(remarkOnField);

  const { command, args } = readCommand(fields);
  const { url, impliedType } = readUrl(fields);
  const type = chooseType(fields, { dialect: origin.dialect, command, url, impliedType });
  const env = fields.texts("env");
  const headers = fields.texts("headers");
  for (const header of headers) {
    if (!HEADER_NAME.test(header.name)) fields.fail(header.field, "it is not a valid header name");
  }
  const envFile = fields.string("envFile");
  const cwd = fields.string("cwd");
  const settings = readEntrySettings(fields, origin);
  const auth = type === "stdio" ? undefined : readAuth(fields);
  if (fields.failed || type === undefined) return reject();
  const entry: CheckedEntry = {
    ...{ name, ...origin, at: member.at, type, args, env, headers, ...settings },
    ...withoutUndefined({
      command: type === "stdio" ? command : undefined,
      url: type === "stdio" ? undefined : url,
      envFile: envFile?.text === "" ? undefined : envFile,
      cwd: cwd?.text === "" ? undefined : cwd,
      auth,
    }),
  };
  return { entry, diagnostics: fields.diagnostics };
}

/** Reads the command. It can be a list, as in opencode: the program and its first arguments. */
function readCommand(fields: FieldReader): { command: Leaf | undefined; args: readonly Leaf[] } {
  const args = fields.list("args") ?? [];
  if (!fields.isList("command")) {
    const command = fields.string("command");
    if (command !== undefined && command.text.trim() === "") fields.fail("command", "it is empty");
    return { command, args };
  }
  const [command, ...first] = fields.list("command") ?? [];
  if (command === undefined) fields.fail("command", "it is empty");
  else fields.note("command", "a list: its first item is used as the command, the rest as args");
  return { command, args: [...first, ...args] };
}

function readUrl(fields: FieldReader): { url: Leaf | undefined; impliedType: "http" | undefined } {
  const own = fields.string("url");
  for (const alias of ["httpUrl", "serverUrl"] as const) {
    const leaf = fields.string(alias);
    if (leaf === undefined) continue;
    fields.note(alias, own === undefined ? 'interpreted as "url"' : '"url" is also set and is used');
    if (own === undefined)
      return { url: checkUrl(fields, leaf), impliedType: alias === "httpUrl" ? "http" : undefined };
  }
  return { url: own === undefined ? undefined : checkUrl(fields, own), impliedType: undefined };
}

/** Checks a URL, unless it has variables: those can only be checked after expansion. */
function checkUrl(fields: FieldReader, leaf: Leaf): Leaf {
  const problem = leaf.text.includes("${") ? undefined : urlProblem(leaf.text);
  if (problem !== undefined) fields.fail(leaf.field, problem);
  return leaf;
}

/** Explains why a text is not a valid server URL; returns undefined if it is. */
export function urlProblem(text: string): string | undefined {
  if (text.trim() === "") return "it is empty";
  if (!URL.canParse(text)) return "it is not a valid URL";
  const { protocol } = new URL(text);
  if (protocol === "http:" || protocol === "https:") return undefined;
  return `it must start with http:// or https://, not ${protocol}`;
}

interface TypeChoice {
  readonly dialect: Dialect;
  readonly command: Leaf | undefined;
  readonly url: Leaf | undefined;
  readonly impliedType: "http" | undefined;
}

function chooseType(fields: FieldReader, choice: TypeChoice): "stdio" | "http" | "sse" | undefined {
  const { dialect, command, url } = choice;
  const given = readType(fields);
  if (given === "invalid" || fields.failed) return undefined;
  const both = command !== undefined && url !== undefined;
  const urlWins = dialect === "metadata.mcp" && url !== undefined;
  const type = given ?? (command !== undefined && !urlWins ? "stdio" : url === undefined ? undefined : "http");
  if (type === undefined) {
    fields.fail("", 'it needs "command" (a local program) or "url" (a remote server)', "command");
    return undefined;
  }
  if (both && (dialect !== "metadata.mcp" || given === "stdio")) {
    const [used, unused] = type === "stdio" ? ["command", "url"] : ["url", "command"];
    fields.warn(unused ?? "", `both "command" and "url" are set; "${used}" is used`);
  }
  const needed = type === "stdio" ? "command" : "url";
  if ((type === "stdio" ? command : url) === undefined) {
    fields.fail("", `type "${type}" needs "${needed}"`, needed);
    return undefined;
  }
  if (dialect === "servers" && given === undefined && type === "http" && choice.impliedType === undefined) {
    fields.note("url", '"type" is missing; assuming "http"');
  }
  return type;
}

function readType(fields: FieldReader): "stdio" | "http" | "sse" | "invalid" | undefined {
  for (const field of ["type", "transport", "transportType"] as const) {
    const leaf = fields.string(field);
    if (leaf === undefined) continue;
    const type = transportOf(leaf.text);
    if (type === undefined) {
      fields.fail(field, `"${leaf.text}" is not a transport; use "stdio", "http" or "sse"`);
      return "invalid";
    }
    if (field !== "type" || leaf.text !== type)
      fields.note(field, `"${leaf.text}" is interpreted as "type": "${type}"`);
    return type;
  }
  return undefined;
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
function transportOf(word: string): "stdio" | "http" | "sse" | undefined {
  return TRANSPORTS.get(word.toLowerCase().replace(/[-_ +]/g, ""));
}
