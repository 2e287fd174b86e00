// The fields of a server's entry. Adding a field is one entry in this table: the reader, what commands write, imports,
// the approval's fingerprint, the key of a shared connection, hints about typos and the reference page derive from it.
import { nearestNames, withoutUndefined } from "@trunkline/core";
import type { FieldReader } from "./field-reader.js";
import type { Diagnostic, EntryOrigin } from "./loaded-config.js";
import { type RegistryOrigin, readRegistryOrigin } from "./registry-origin.js";
import { isShare, type Share } from "./sharing.js";

/** Who may set a field: the user's own files, a project's files, and other programs' files when they are imported. */
export type SetBy = "user" | "project" | "programs";

const ANYONE: readonly SetBy[] = ["user", "project", "programs"];
const OUR_FILES: readonly SetBy[] = ["user", "project"];

export interface EntryField<Value = unknown> {
  /** For the reference page. */
  readonly about: string;
  readonly type: string;
  readonly default?: string;
  readonly setBy: readonly SetBy[];
  /** Whether a change needs a new approval: the field decides what runs, where data goes or what is asked. */
  readonly isApproved: boolean;
  /** Whether servers that differ in this setting cannot share a connection. */
  readonly isConnection?: boolean;
  /** Whether variables are expanded in its strings. */
  readonly isExpanded?: boolean;
  /** Other programs' names for the field, accepted everywhere. */
  readonly aliases?: readonly string[];
  /** Names that people write by mistake: suggested, not accepted. */
  readonly mistakes?: readonly string[];
  /** The setting's name in a definition, if it has another unit there. */
  readonly as?: string;
  /** Reads a setting that needs no expansion. What runs and where is read together, in server-entries.ts. */
  readonly read?: (fields: FieldReader, origin: EntryOrigin) => Value;
}

/** Which of a server's tools are used: globs over tool names. `deny` wins over `allow`. */
export interface ToolFilter {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
/** The longest timer Node supports. */
const MAX_TIMER_SECONDS = 2_147_483;
const LEAST_MESSAGE_BYTES = 64 * 1024;
/** A longer text does not fit into a JavaScript string. */
const MOST_MESSAGE_BYTES = 512_000_000;

const ALLOW_ALIASES: readonly string[] = ["includeTools", "enabledTools", "enabled_tools"];
const DENY_ALIASES: readonly string[] = ["excludeTools", "disabledTools", "disabled_tools"];

/** Types a field by what a file contains for it. */
function field<Written>() {
  return <const Spec extends EntryField>(spec: Spec): Spec & { readonly written?: Written } => spec;
}

/** In the order a person would write them. */
export const ENTRY_FIELDS = {
  type: field<"stdio" | "http" | "sse">()({
    about:
      "the transport. If missing, `command` implies `stdio` and `url` implies `http`; in a skill with both, `url` wins",
    type: "`stdio`, `http` or `sse`",
    setBy: ANYONE,
    isApproved: true,
    aliases: ["transport", "transportType"],
  }),
  command: field<string>()({
    about: "the program of a local server",
    type: "string, or a list with its first arguments",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["cmd"],
  }),
  args: field<readonly string[]>()({
    about: "the program's arguments",
    type: "list of strings",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["arguments"],
  }),
  env: field<Readonly<Record<string, string>>>()({
    about: "the program's environment variables",
    type: "names and strings",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["environment"],
  }),
  envFile: field<string>()({
    about: "a file with `NAME=value` lines; `env` takes precedence",
    type: "path",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["env_file"],
  }),
  cwd: field<string>()({
    about: "the program's working directory",
    type: "path",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["workingDirectory", "working_directory"],
  }),
  url: field<string>()({
    about: "the URL of a remote server",
    type: "URL",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    aliases: ["httpUrl", "serverUrl"],
    mistakes: ["uri", "endpoint"],
  }),
  headers: field<Readonly<Record<string, string>>>()({
    about: "sent with every request to the URL",
    type: "names and strings",
    setBy: ANYONE,
    isApproved: true,
    isExpanded: true,
    mistakes: ["http_headers"],
  }),
  auth: field<Readonly<Record<string, unknown>>>()({
    about:
      "how to [sign in](../guides/sign-in.md), if the server does not say so itself: `client_id`, `client_secret`, `scope` …",
    type: "object",
    setBy: OUR_FILES,
    isApproved: true,
    isExpanded: true,
    aliases: ["oauth"],
  }),
  disabled: field<boolean>()({
    about: "if true, the server is listed but not started",
    type: "true or false",
    default: "false",
    setBy: ANYONE,
    // The approval itself records what was disabled.
    isApproved: false,
    aliases: ["enabled"],
    read: readDisabled,
  }),
  timeout: field<number>()({
    about: "how long connecting may take, from 1 to 600 seconds; 0 is the default",
    type: "seconds",
    default: String(DEFAULT_CONNECT_TIMEOUT_MS / 1000),
    setBy: ANYONE,
    isApproved: false,
    isConnection: true,
    as: "connectTimeoutMs",
    read: readTimeout,
  }),
  callTimeout: field<number>()({
    about: "how long a call may take without an answer or progress; 0 is the default",
    type: "seconds",
    default: String(DEFAULT_CALL_TIMEOUT_MS / 1000),
    setBy: ANYONE,
    isApproved: false,
    isConnection: true,
    as: "callTimeoutMs",
    read: readCallTimeout,
  }),
  tools: field<ToolFilter>()({
    about: "globs of tools to allow, or `allow` and `deny` with globs; `deny` wins",
    type: 'list, or `{ "allow": […], "deny": […] }`',
    default: "all tools",
    setBy: ANYONE,
    isApproved: true,
    aliases: [...ALLOW_ALIASES, ...DENY_ALIASES],
    read: readTools,
  }),
  lazy: field<boolean>()({
    about: "if true, connect on first use",
    type: "true or false",
    default: "true in a skill, false elsewhere",
    setBy: OUR_FILES,
    isApproved: false,
    read: (fields, { dialect }) => fields.boolean("lazy") ?? dialect === "metadata.mcp",
  }),
  asks: field<boolean>()({
    about:
      "whether the server asks questions during calls: with true clients take turns from the start, with false never",
    type: "true or false",
    default: "clients take turns once it has asked",
    setBy: OUR_FILES,
    isApproved: true,
    isConnection: true,
    read: (fields) => fields.boolean("asks"),
  }),
  readOnly: field<boolean | readonly string[]>()({
    about:
      "globs of tools that only read even though the server does not say so, or true for all; `query` may then use them",
    type: "list, or true or false",
    setBy: OUR_FILES,
    isApproved: true,
    read: readReadOnly,
  }),
  pin: field<"hold" | "notice" | "off">()({
    about:
      "what to do when the server [changes its tools](../guides/connect-your-servers.md#when-a-server-changes-its-tools): `hold` holds every change, `notice` only notes it, `off` ignores it",
    type: "`hold`, `notice` or `off`",
    default: "changes that could mislead a model are held",
    setBy: OUR_FILES,
    isApproved: true,
    read: readPin,
  }),
  maxMessageBytes: field<number>()({
    about: "the size limit for one answer of the server",
    type: "bytes",
    default: "67108864 (64 MB)",
    setBy: OUR_FILES,
    isApproved: true,
    isConnection: true,
    read: readMaxMessageBytes,
  }),
  share: field<Share>()({
    about:
      "who [shares one connection](../guides/connect-your-servers.md#who-shares-a-server) to the server; a project's entry is shared within the project at most",
    type: "`workspace`, `user` or `client`",
    default: "by kind of server",
    setBy: OUR_FILES,
    isApproved: true,
    read: readShare,
  }),
  idleStop: field<number>()({
    about: "how long a shared local server may be unused before it is stopped until its next call; 0 for never",
    type: "seconds",
    default: "1800",
    setBy: OUR_FILES,
    isApproved: false,
    as: "idleStopMs",
    read: readIdleStop,
  }),
  registry: field<RegistryOrigin>()({
    about:
      "where the entry [came from](../guides/connect-your-servers.md#find-a-server-in-the-registry); it has no effect",
    type: "object",
    setBy: OUR_FILES,
    isApproved: false,
    read: readRegistryOrigin,
  }),
} as const;

type Fields = typeof ENTRY_FIELDS;
type FieldName = keyof Fields;
type Readable = { [Name in FieldName]: Fields[Name] extends { read: unknown } ? Name : never }[FieldName];
type SettingName<Name extends FieldName> = Fields[Name] extends { as: infer As extends string } ? As : Name;
type SettingValue<Name extends FieldName> = Fields[Name] extends { read: (...args: never) => infer Value }
  ? Value
  : never;
type Given = { [Name in Readable]: undefined extends SettingValue<Name> ? never : Name }[Readable];

/** An entry's settings that apply to every transport and need no expansion. */
export type EntrySettings = { readonly [Name in Given as SettingName<Name>]: SettingValue<Name> } & {
  readonly [Name in Exclude<Readable, Given> as SettingName<Name>]?: Exclude<SettingValue<Name>, undefined>;
};

/** A file's entry for one server. Values are unexpanded, in the `mcpServers` dialect. */
export type ServerEntry = { readonly [Name in FieldName]?: NonNullable<Fields[Name]["written"]> };

const FIELDS: readonly (readonly [string, EntryField])[] = Object.entries(ENTRY_FIELDS);

const settingName = ([name, { as = name }]: readonly [string, EntryField]): string => as;

/** Settings that decide neither what runs nor where data goes: they may change without a new approval. */
export const UNAPPROVED_SETTINGS: readonly string[] = FIELDS.filter(([, { isApproved }]) => !isApproved).map(
  settingName,
);

/** Fields with strings in which variables are expanded. */
export const EXPANDED_FIELDS: ReadonlySet<string> = new Set(
  FIELDS.filter(([, { isExpanded }]) => isExpanded).map(([name]) => name),
);

/** Fields that are taken over from other programs, in the order a person would write them. */
export const IMPORTED_FIELDS = (Object.keys(ENTRY_FIELDS) as FieldName[]).filter((name) =>
  ENTRY_FIELDS[name].setBy.includes("programs"),
);

const CONNECTION_SETTINGS = FIELDS.filter(([, { isConnection }]) => isConnection).map(settingName);

/** Returns the settings that have to be equal for two servers to share a connection. */
export function connectionSettings(settings: EntrySettings): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = settings;
  return Object.fromEntries(CONNECTION_SETTINGS.map((name) => [name, all[name]]));
}

/** Picks the settings out of an entry that has more than those. */
export function entrySettings(entry: EntrySettings): EntrySettings {
  const all: Readonly<Record<string, unknown>> = { ...entry };
  const names = FIELDS.filter(([, { read }]) => read !== undefined).map(settingName);
  return withoutUndefined(Object.fromEntries(names.map((name) => [name, all[name]]))) as unknown as EntrySettings;
}

/** Reads the settings of an entry. A field that the file's owner may not set is ignored with a warning. */
export function readEntrySettings(
  fields: FieldReader,
  origin: EntryOrigin,
  table: Readonly<Record<string, EntryField>> = ENTRY_FIELDS,
): EntrySettings {
  const owner: SetBy = origin.scope === "project" ? "project" : "user";
  const settings = Object.entries(table).flatMap(([name, entryField]): [string, unknown][] => {
    if (entryField.read === undefined) return [];
    if (!entryField.setBy.includes(owner)) {
      if (fields.has(name)) fields.warn(name, "it has an effect only in your own settings, not in a project's");
      return [];
    }
    return [[settingName([name, entryField]), entryField.read(fields, origin)]];
  });
  // The types of the table's own fields are those of the settings.
  return withoutUndefined(Object.fromEntries(settings)) as unknown as EntrySettings;
}

const KNOWN_NAMES: ReadonlySet<string> = new Set(FIELDS.flatMap(([name, { aliases = [] }]) => [name, ...aliases]));
const LIKELY_MEANT: ReadonlyMap<string, string> = new Map(
  FIELDS.flatMap(([name, { mistakes = [] }]) => mistakes.map((mistake) => [mistake, name] as const)),
);

/** Other programs' fields that have no effect here. They belong to files that work elsewhere, so they are not reported. */
const FOREIGN_FIELDS: ReadonlySet<string> = new Set(
  `$schema alwaysAllow authProviderType authorization autoApprove autoStart category comment
  default_tools_approval_mode description dev displayName gallery homepage icon icons id label meta metadata name note
  notes oauth_resource priority provider registry required sandbox sandboxEnabled scopes source startup_timeout_sec tags
  title tool_timeout_sec toolsets trust version watch`.split(/\s+/),
);

/** Fields that Trunkline ignores although a server may need them, so the owner has to know. */
const UNSUPPORTED_FIELDS: ReadonlyMap<string, string> = new Map([
  ["headersHelper", "Trunkline does not run programs to get headers; put them under headers"],
  ["bearer_token_env_var", 'put "Authorization": "Bearer …" under headers'],
]);

/** Returns the diagnostic for an unknown field; undefined if there is nothing to report. */
export function remarkOnField(name: string): Pick<Diagnostic, "severity" | "message"> | undefined {
  const unsupported = UNSUPPORTED_FIELDS.get(name);
  if (unsupported !== undefined) return { severity: "warning", message: `it is not supported: ${unsupported}` };
  if (KNOWN_NAMES.has(name) || FOREIGN_FIELDS.has(name) || /^(?:x-|\/\/|#|_)/.test(name)) return undefined;
  const near =
    LIKELY_MEANT.get(name) ?? (name.length > 2 ? nearestNames(name, Object.keys(ENTRY_FIELDS), 1)[0] : undefined);
  if (near === undefined) return undefined;
  return { severity: "note", message: `it is not a known field. Did you mean "${near}"?` };
}

function readDisabled(fields: FieldReader): boolean {
  const enabled = fields.boolean("enabled");
  if (enabled === false) fields.note("enabled", 'interpreted as "disabled": true');
  return fields.boolean("disabled") === true || enabled === false;
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
  const allowed = collect(allow, ALLOW_ALIASES, globs);
  const denied = collect(deny, DENY_ALIASES, globs);
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
