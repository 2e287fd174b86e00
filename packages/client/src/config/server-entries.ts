// Checks one entry without expanding it. A malformed entry becomes diagnostics that name the field.

import { withoutUndefined } from "@trunkline/core";
import { type CheckedAuth, readAuth } from "./auth-fields.js";
import { FieldReader, type Leaf } from "./field-reader.js";
import { transportOf } from "./fields.js";
import {
  DEFAULT_CALL_TIMEOUT_MS,
  DEFAULT_CONNECT_TIMEOUT_MS,
  type Diagnostic,
  type Dialect,
  type EntryOrigin,
  type EntrySettings,
  type RejectedServer,
  type ToolFilter,
} from "./loaded-config.js";
import { readRegistryOrigin } from "./registry-origin.js";
import { isShare, type Share } from "./sharing.js";
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

/** The longest timer Node supports. */
const MAX_TIMER_SECONDS = 2_147_483;
const LEAST_MESSAGE_BYTES = 64 * 1024;
/** A longer text does not fit into a JavaScript string. */
const MOST_MESSAGE_BYTES = 512_000_000;
/** The characters RFC 9110 allows in a header name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function checkEntry(member: Member, origin: EntryOrigin): EntryOutcome {
  const { key: name, value: node } = member;
  const fields = new FieldReader(node, { file: origin.file, server: name, at: member.at });
  const reject = (): EntryOutcome => {
    const type = fields.string("type", { quiet: true })?.text;
    return {
      rejected: { name, scope: origin.scope, file: origin.file, ...(type === undefined ? {} : { type }) },
      diagnostics: fields.diagnostics,
    };
  };
  if (name.trim() === "") {
    fields.fail("", "the server name must not be empty");
    return reject();
  }
  if (!fields.isObject()) return reject();
  fields.remarkOnUnknown();

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
  const enabled = fields.boolean("enabled");
  if (enabled === false) fields.note("enabled", 'interpreted as "disabled": true');
  const disabled = fields.boolean("disabled") === true || enabled === false;
  const lazy = fields.boolean("lazy") ?? origin.dialect === "metadata.mcp";
  const asks = fields.boolean("asks");
  const readOnly = readReadOnly(fields);
  const pin = readPin(fields);
  const connectTimeoutMs = readTimeout(fields);
  const callTimeoutMs = readCallTimeout(fields);
  const maxMessageBytes = readMaxMessageBytes(fields);
  const share = readShare(fields);
  const idleStopMs = readIdleStop(fields);
  const tools = readTools(fields);
  const auth = type === "stdio" ? undefined : readAuth(fields);
  const registry = readRegistryOrigin(fields);
  if (fields.failed || type === undefined) return reject();
  const entry: CheckedEntry = {
    ...{ name, ...origin, at: member.at, type, args, env, headers, disabled, lazy, connectTimeoutMs, callTimeoutMs },
    ...(type === "stdio" && command !== undefined ? { command } : {}),
    ...(type !== "stdio" && url !== undefined ? { url } : {}),
    ...(envFile === undefined || envFile.text === "" ? {} : { envFile }),
    ...(cwd === undefined || cwd.text === "" ? {} : { cwd }),
    ...(tools === undefined ? {} : { tools }),
    ...(asks === undefined ? {} : { asks }),
    ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(pin === undefined ? {} : { pin }),
    ...(share === undefined ? {} : { share }),
    ...(idleStopMs === undefined ? {} : { idleStopMs }),
    ...(auth === undefined ? {} : { auth }),
    ...(registry === undefined ? {} : { registry }),
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

function readTimeout(fields: FieldReader): number {
  const seconds = fields.number("timeout");
  if (seconds === undefined || seconds === 0) return DEFAULT_CONNECT_TIMEOUT_MS;
  if (seconds > 600) {
    fields.warn("timeout", `${seconds} is more than 600 seconds (the unit is not milliseconds); 600 is used`);
  } else if (seconds < 1) {
    fields.warn("timeout", `${seconds} is less than 1 second; 1 is used`);
  }
  return Math.round(Math.min(600, Math.max(1, seconds)) * 1000);
}

function readCallTimeout(fields: FieldReader): number {
  const seconds = fields.number("callTimeout");
  if (seconds === undefined || seconds === 0) return DEFAULT_CALL_TIMEOUT_MS;
  if (seconds < 0) {
    fields.warn("callTimeout", `${seconds} is not a valid time; ${DEFAULT_CALL_TIMEOUT_MS / 1000} seconds are used`);
    return DEFAULT_CALL_TIMEOUT_MS;
  }
  if (seconds > MAX_TIMER_SECONDS)
    fields.warn("callTimeout", `${seconds} seconds are too many; ${MAX_TIMER_SECONDS} is used`);
  return Math.max(1, Math.round(Math.min(MAX_TIMER_SECONDS, seconds) * 1000));
}

function readMaxMessageBytes(fields: FieldReader): number | undefined {
  const bytes = fields.number("maxMessageBytes");
  if (bytes === undefined) return undefined;
  if (bytes >= LEAST_MESSAGE_BYTES && bytes <= MOST_MESSAGE_BYTES) return Math.floor(bytes);
  const used = bytes > MOST_MESSAGE_BYTES ? MOST_MESSAGE_BYTES : LEAST_MESSAGE_BYTES;
  fields.warn(
    "maxMessageBytes",
    `${bytes} is not between ${LEAST_MESSAGE_BYTES} and ${MOST_MESSAGE_BYTES}; ${used} is used`,
  );
  return used;
}

/** Reads globs, or `true` for all tools. */
function readReadOnly(fields: FieldReader): readonly string[] | undefined {
  if (fields.isList("readOnly")) return fields.list("readOnly")?.map(({ text }) => text);
  const all = fields.boolean("readOnly");
  return all === undefined ? undefined : all ? ["*"] : [];
}

/** An unknown value holds: a typo must not switch a safeguard off. */
function readPin(fields: FieldReader): "hold" | "notice" | "off" | undefined {
  const text = fields.string("pin")?.text;
  if (text === undefined || text === "hold" || text === "notice" || text === "off") return text;
  fields.warn("pin", `"${text}" is not known; use "hold", "notice" or "off". "hold" is assumed`);
  return "hold";
}

/** An unknown value rejects the entry: a typo must not share a connection that was meant to be private. */
function readShare(fields: FieldReader): Share | undefined {
  const text = fields.string("share")?.text;
  if (text === undefined || isShare(text)) return text;
  fields.fail("share", `"${text}" is not known; use "workspace", "user" or "client"`);
  return undefined;
}

function readIdleStop(fields: FieldReader): number | undefined {
  const seconds = fields.number("idleStop");
  if (seconds === undefined) return undefined;
  if (seconds < 0) {
    fields.warn("idleStop", `${seconds} is not a valid time; the default is used`);
    return undefined;
  }
  if (seconds > MAX_TIMER_SECONDS)
    fields.warn("idleStop", `${seconds} seconds are too many; ${MAX_TIMER_SECONDS} is used`);
  return Math.round(Math.min(MAX_TIMER_SECONDS, seconds) * 1000);
}

function readTools(fields: FieldReader): ToolFilter | undefined {
  const globs = (field: string) => fields.list(field)?.map(({ text }) => text);
  const allow = fields.isList("tools") ? globs("tools") : globs("tools.allow");
  const deny = fields.isList("tools") ? undefined : globs("tools.deny");
  if (!fields.isList("tools")) fields.checkObject("tools", ["allow", "deny"]);
  const allowed = collect(allow, ["includeTools", "enabledTools", "enabled_tools"], globs);
  const denied = collect(deny, ["excludeTools", "disabledTools", "disabled_tools"], globs);
  if (allowed === undefined && denied === undefined) return undefined;
  return withoutUndefined({ allow: allowed, deny: denied });
}

function collect(
  own: string[] | undefined,
  aliases: readonly string[],
  globs: (field: string) => string[] | undefined,
): string[] | undefined {
  const lists = [own, ...aliases.map(globs)].filter((list) => list !== undefined);
  return lists.length === 0 ? undefined : [...new Set(lists.flat())];
}
