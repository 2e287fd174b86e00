// Lists, adds, removes, enables and disables servers in the configuration files, without connecting.
import {
  adviceOnRelativeWords,
  type LoadedConfig,
  normalizeName,
  readEditableConfig,
  type ServerDefinition,
  type ServerEntry,
} from "@trunkline/client/config";
import {
  isTrunklineError,
  nearestNames,
  printable,
  printableJson,
  REDACTED,
  redactedArgs,
  redactedUrl,
  TrunklineError,
} from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { checkScope, defaultTarget, type ScopeOptions, type WriteTarget, writeConfig } from "../../app/write-config.js";
import { commandLine } from "../../terminal/command-line.js";
import type { CommandContext } from "../../terminal/context.js";
import { meaningOf, type Palette } from "../../terminal/palette.js";
import { table } from "../../terminal/table.js";
import { columnsOf } from "../../terminal/text-width.js";

export interface AddOptions extends ScopeOptions {
  name: string;
  /** A URL, or the words of a command. */
  target: readonly string[];
  header: readonly string[];
  env: readonly string[];
  transport?: "http" | "sse";
  force?: boolean;
  json?: boolean;
}

export async function addServer(context: CommandContext, options: AddOptions): Promise<number> {
  checkScope(options);
  const { name, mcp } = options;
  const entry = readEntry(options);
  const config = await openApp(context, { mcp, config: "own" }).config();
  const target = await defaultTarget(context, config, options);
  const { names } = await readEditableConfig(target.path, { signal: context.signal });
  const taken = names.includes(name);
  if (taken && !options.force) {
    throw new TrunklineError("USAGE", `${target.path} already has a server "${name}".`, {
      hint: "Choose another name, or replace the server with --force.",
    });
  }
  const outcome = await writeConfig(context, target, [{ op: "set", name, entry }]);
  for (const note of outcome.notes) context.note(note);
  if (options.json) context.out(printableJson({ name, file: target.path, scope: target.scope, replaced: taken }, 2));
  else context.out(`${taken ? "Replaced" : "Added"} "${name}" in ${target.path}.`);
  const relative = target.scope === "user" ? adviceOnRelativeWords(entry, config.workspaceFolder) : undefined;
  if (relative !== undefined) context.note(`note: ${relative}`);
  noteOtherEntry(context, config, { name, target });
  return EXIT.success;
}

/** Removes, enables or disables a server in the highest-precedence file that has it. */
export async function changeServer(
  context: CommandContext,
  op: "remove" | "enable" | "disable",
  options: ScopeOptions & { name: string; json?: boolean },
): Promise<number> {
  checkScope(options);
  const { name } = options;
  const named = options.user || options.project;
  const app = openApp(context, named ? { config: "own" } : { mcp: options.mcp });
  const config = await app.config();
  const files = config.files.filter(({ scope }) =>
    options.user ? scope === "user" : options.project ? scope === "project" : true,
  );
  const known = new Set<string>();
  const holders: WriteTarget[] = [];
  for (const file of files) {
    const names = await namesIn(context, file.path);
    for (const each of names) known.add(each);
    if (names.includes(name)) holders.push(file);
  }
  const [target, ...others] = holders;
  if (target === undefined) throw notFound(name, [...known]);
  const outcome = await writeConfig(context, target, [{ op, name }]);
  const done = { remove: "Removed", enable: "Enabled", disable: "Disabled" }[op];
  if (options.json) context.out(printableJson({ name, file: target.path, change: op, changed: outcome.changed }, 2));
  else if (outcome.changed) context.out(`${done} "${name}" in ${target.path}.`);
  else context.out(`"${name}" is already ${op}d in ${target.path}.`);
  for (const { path } of others) context.note(`${path} also has a server "${name}"; it was not changed.`);
  return EXIT.success;
}

export async function listServers(
  context: CommandContext,
  options: { json?: boolean; mcp?: string | undefined },
): Promise<number> {
  const config = await openApp(context, { mcp: options.mcp }).config();
  const listed = [...config.servers.map(listedServer), ...config.rejected.map(listedRejected)].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  for (const { severity, message, shadowing } of config.diagnostics) {
    if (severity !== "note" || shadowing) context.note(`${severity}: ${message}`, meaningOf(severity));
  }
  if (options.json) {
    context.out(printableJson(context.redactor.value(listed.map(({ what: _, ...rest }) => rest)), 2));
    return EXIT.success;
  }
  if (listed.length === 0) {
    context.note("No MCP server is configured. Add one: trunkline servers add <name> -- <command…>");
    return EXIT.success;
  }
  const { palette, redactor } = context;
  const rows = listed.map(({ name, state, what, scope, file }) => [
    palette.heading(printable(name)),
    stateColour(palette, state)(state),
    printable(redactor.text(what)),
    palette.dim(printable(`${scope}: ${file}`)),
  ]);
  const columns = columnsOf(context.io.stdout);
  for (const line of table(rows, { columns, fixed: 2 })) context.outPainted(line);
  if (listed.some(({ state }) => state === "untrusted")) {
    context.note("`trunkline trust` shows untrusted servers and asks for approval.");
  }
  return EXIT.success;
}

function stateColour(palette: Palette, state: string): (text: string) => string {
  switch (state) {
    case "enabled":
      return palette.success;
    case "untrusted":
      return palette.warning;
    case "invalid":
      return palette.error;
    default:
      return palette.dim;
  }
}

function listedServer(server: ServerDefinition) {
  const { name, disabled, trusted, type, scope, file, line, unusable } = server;
  const state = disabled ? "disabled" : trusted ? "enabled" : "untrusted";
  const place = { scope, file, ...(line === undefined ? {} : { line }) };
  const problem = unusable === undefined ? {} : { unusable: unusable.message };
  const { tools } = server;
  const rest = { ...(tools === undefined ? {} : { tools }), ...problem };
  if (server.type === "stdio") {
    const { command, cwd } = server;
    const args = redactedArgs(server.args);
    const what = commandLine([command, ...args]);
    const where = cwd === undefined ? {} : { cwd };
    return { name, state, type, ...place, command, args, env: hidden(server.env), ...where, ...rest, what };
  }
  return {
    name,
    state,
    type,
    ...place,
    url: redactedUrl(server.url),
    headers: hidden(server.headers),
    ...rest,
    what: printable(redactedUrl(server.url)),
  };
}

function listedRejected({ name, scope, file, type }: LoadedConfig["rejected"][number]) {
  return { name, state: "invalid", ...(type === undefined ? {} : { type }), scope, file, what: "(see the warnings)" };
}

/** Hides all values of env or headers, however short. */
function hidden(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));
}

/** Builds the entry from the command line. */
function readEntry(options: AddOptions): ServerEntry {
  const { name, target, header, env, transport } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TrunklineError("USAGE", `"${printable(name)}" is not a valid server name.`, {
      hint: `A name has 1 to 64 letters, digits, "_" or "-": for example ${normalizeName(name)}.`,
    });
  }
  const [first, ...rest] = target;
  if (first === undefined || first === "") {
    throw new TrunklineError("USAGE", `"${name}" needs a URL or a command.`, {
      hint: `trunkline servers add ${name} https://…, or trunkline servers add ${name} -- <command…>`,
    });
  }
  const looksLikeUrl = /^(?:[a-z][a-z0-9+.-]*:\/\/|https?:)/i.test(first);
  if (!looksLikeUrl) {
    if (rest.length === 0 && /^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/|$)/i.test(first) && first.includes("/")) {
      const shown = redactedUrl(first);
      throw new TrunklineError("USAGE", `"${shown}" is neither a URL nor a command.`, {
        hint: `For a URL use https://${shown}; for a program in this folder use ./${shown}.`,
      });
    }
    forbid(
      header.length > 0,
      "--header is for a server with a URL.",
      "Pass values to a program with --env NAME=value.",
    );
    forbid(transport !== undefined, "--transport is for a server with a URL.");
    const variables = readPairs(env, "--env", /^([^=\s]+)=(.*)$/s, "NAME=value");
    return { command: first, ...(rest.length === 0 ? {} : { args: rest }), ...present("env", variables) };
  }
  forbid(rest.length > 0, `"${name}" cannot have both a URL and a command.`, "Use one of them.");
  forbid(env.length > 0, "--env is for a server with a command.", "Pass values to a URL with --header 'Name: value'.");
  checkUrl(first);
  const headers = readPairs(header, "--header", /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*)$/, "'Name: value'");
  return { type: transport ?? "http", url: first, ...present("headers", headers) };
}

function present<Key extends "env" | "headers">(key: Key, values: Record<string, string>) {
  return Object.keys(values).length === 0 ? {} : ({ [key]: values } as Record<Key, Record<string, string>>);
}

function readPairs(texts: readonly string[], option: string, pattern: RegExp, shape: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = pattern.exec(text) ?? [];
      // Leave the text out of the message: it may contain a secret.
      if (name === undefined || value === undefined) {
        throw new TrunklineError("USAGE", `${option} takes ${shape}.`);
      }
      return [name, value];
    }),
  );
}

function checkUrl(text: string): void {
  // The values of variables are not known yet.
  const url = text.replace(/\$\{[^}]*\}/g, "x");
  if (URL.canParse(url) && /^https?:\/\//i.test(url)) return;
  throw new TrunklineError("USAGE", `"${redactedUrl(text)}" is not a valid server URL.`, {
    hint: "It must start with http:// or https://.",
  });
}

function forbid(condition: boolean, message: string, hint?: string): void {
  if (condition) throw new TrunklineError("USAGE", message, hint === undefined ? {} : { hint });
}

/** A file that cannot be edited has no names; other files are still searched. */
async function namesIn(context: CommandContext, path: string): Promise<readonly string[]> {
  try {
    return (await readEditableConfig(path, { signal: context.signal })).names;
  } catch (error) {
    if (!isTrunklineError(error, "CONFIG_INVALID")) throw error;
    context.note(`warning: ${error.message}`);
    return [];
  }
}

function notFound(name: string, known: readonly string[]): TrunklineError {
  const near = nearestNames(name, known);
  return new TrunklineError("SERVER_NOT_FOUND", `No server "${printable(name)}" is configured.`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline servers list` lists them.",
  });
}

/** Notes that an entry of the same name in another file shadows the new one, or is shadowed by it. */
function noteOtherEntry(
  context: CommandContext,
  config: LoadedConfig,
  { name, target }: { name: string; target: WriteTarget },
): void {
  const other = config.servers.find((server) => server.name === name);
  if (other === undefined || other.file === target.path) return;
  context.note(
    target.scope === "user"
      ? `In this folder the project's "${name}" in ${other.file} is used instead.`
      : `It is used instead of "${name}" in ${other.file}.`,
  );
}
