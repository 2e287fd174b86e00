// A server as the registry describes it. Everything here was written by a stranger: texts are cleaned, sizes are
// limited, and whatever does not have the published shape is left out.
// https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/api/openapi.yaml
import { isRegistryName } from "@trunkline/config";
import { firstChars, isRecord, isString, toOneLine } from "@trunkline/core";

export interface RegistryServer {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly status: "active" | "deprecated" | "deleted";
  /** Why it is deprecated. */
  readonly statusMessage?: string;
  readonly isLatest: boolean;
  readonly packages: readonly RegistryPackage[];
  readonly remotes: readonly RegistryRemote[];
}

export interface RegistryPackage {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb`, or one that we do not know. */
  readonly type: string;
  readonly baseUrl?: string;
  readonly identifier: string;
  readonly version?: string;
  readonly sha256?: string;
  readonly runtimeHint?: string;
  readonly transport: string;
  readonly runtimeArguments: readonly RegistryArgument[];
  readonly packageArguments: readonly RegistryArgument[];
  readonly environment: readonly NamedInput[];
}

export interface RegistryRemote {
  readonly type: string;
  readonly url: string;
  readonly headers: readonly NamedInput[];
  readonly variables: Readonly<Record<string, RegistryInput>>;
}

/** A value that the publisher fixes, or that the user provides. */
export interface RegistryInput {
  readonly description?: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly format: "string" | "number" | "boolean" | "filepath";
  /** Fixed by the publisher. `{name}` stands for a variable. */
  readonly value?: string;
  readonly default?: string;
  readonly placeholder?: string;
  readonly choices: readonly string[];
  readonly variables: Readonly<Record<string, RegistryInput>>;
}

interface NamedInput extends RegistryInput {
  readonly name: string;
}

export interface RegistryArgument extends RegistryInput {
  readonly kind: "positional" | "named";
  /** The flag with its dashes; for a positional argument, its label. */
  readonly name: string;
  readonly isRepeated: boolean;
}

const META = "io.modelcontextprotocol.registry/official";
/** More than any server has. */
const MAX_ITEMS = 100;
const MAX_TEXT = 4096;
const MAX_SHOWN = 300;

/** Reads a `ServerResponse`; undefined if it is not one. */
export function readServer(answer: unknown): RegistryServer | undefined {
  if (!isRecord(answer) || !isRecord(answer.server)) return undefined;
  const { name, version, description, packages, remotes } = answer.server;
  if (!isString(name) || !isRegistryName(name) || !isString(version) || !isVersionText(version)) return undefined;
  const meta = isRecord(answer._meta) && isRecord(answer._meta[META]) ? answer._meta[META] : {};
  const { status, statusMessage, isLatest } = meta;
  return {
    name,
    version,
    description: shownText(description) ?? "",
    status: status === "deprecated" || status === "deleted" ? status : "active",
    ...present("statusMessage", shownText(statusMessage)),
    isLatest: isLatest !== false,
    packages: records(packages).flatMap(readPackage),
    remotes: records(remotes).flatMap(readRemote),
  };
}

/** What may stand in a path and on a screen. */
function isVersionText(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.+_!~-]{0,254}$/.test(text);
}

function readPackage(item: Readonly<Record<string, unknown>>): RegistryPackage[] {
  const { registryType, identifier, transport, runtimeArguments, packageArguments, environmentVariables } = item;
  if (!isText(registryType) || !isText(identifier)) return [];
  return [
    {
      type: registryType,
      identifier,
      transport: isRecord(transport) && isText(transport.type) ? transport.type : "stdio",
      ...present("baseUrl", text(item.registryBaseUrl)),
      ...present("version", text(item.version)),
      ...present("sha256", text(item.fileSha256)),
      ...present("runtimeHint", text(item.runtimeHint)),
      runtimeArguments: records(runtimeArguments).map(readArgument),
      packageArguments: records(packageArguments).map(readArgument),
      environment: records(environmentVariables).flatMap(readNamed),
    },
  ];
}

function readRemote(item: Readonly<Record<string, unknown>>): RegistryRemote[] {
  const { type, url, headers, variables } = item;
  if (!isText(type) || !isText(url)) return [];
  return [{ type, url, headers: records(headers).flatMap(readNamed), variables: readVariables(variables) }];
}

function readArgument(item: Readonly<Record<string, unknown>>): RegistryArgument {
  const kind = item.type === "named" ? "named" : "positional";
  const name = text(kind === "named" ? item.name : item.valueHint) ?? "";
  return { ...readInput(item), kind, name, isRepeated: item.isRepeated === true };
}

function readNamed(item: Readonly<Record<string, unknown>>): NamedInput[] {
  return isText(item.name) ? [{ ...readInput(item), name: item.name }] : [];
}

function readInput(item: Readonly<Record<string, unknown>>): RegistryInput {
  const { format, choices } = item;
  return {
    ...present("description", shownText(item.description)),
    isRequired: item.isRequired === true,
    isSecret: item.isSecret === true,
    format: format === "number" || format === "boolean" || format === "filepath" ? format : "string",
    // An empty value is a value: a flag without one.
    ...present("value", item.value === "" ? "" : text(item.value)),
    ...present("default", text(item.default)),
    ...present("placeholder", shownText(item.placeholder)),
    choices: Array.isArray(choices) ? choices.filter(isText).slice(0, MAX_ITEMS) : [],
    variables: readVariables(item.variables),
  };
}

function readVariables(value: unknown): Record<string, RegistryInput> {
  if (!isRecord(value)) return {};
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  // A variable has no variables of its own.
  return Object.fromEntries(
    entries.flatMap(([name, item]) =>
      isRecord(item) && /^\w[\w.-]*$/.test(name) ? [[name, readInput({ ...item, variables: undefined })]] : [],
    ),
  );
}

function records(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).filter(isRecord) : [];
}

function isText(value: unknown): value is string {
  return isString(value) && value !== "" && value.length <= MAX_TEXT;
}

/** An empty text counts as absent: publishers write `"default": ""` for "none". */
function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function shownText(value: unknown): string | undefined {
  if (!isText(value)) return undefined;
  return firstChars(toOneLine(value), MAX_SHOWN);
}

function present<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value }); // one key, as named
}
