// Lists, adds, removes, enables and disables servers in the configuration files, without connecting.
import { entryRedactor, type LoadedConfig, type RegistryOrigin, type ServerDefinition } from "@trunkline/config";
import { printable, printableJson, REDACTED, redactedArgs, redactedUrl, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { type EntryOptions, editServer, isTaken, notesOn, readEntry, takenError } from "../../app/server-entry.js";
import { serverTarget } from "../../app/server-problem.js";
import { checkScope, defaultTarget, type ScopeOptions, writeConfig } from "../../app/write-config.js";
import { commandLine } from "../../terminal/command-line.js";
import type { CommandContext } from "../../terminal/context.js";
import { meaningOf, type Palette } from "../../terminal/palette.js";
import { table } from "../../terminal/table.js";
import { columnsOf } from "../../terminal/text-width.js";
import type { RegistryAddOptions } from "./add-from-registry.js";

export interface AddOptions extends ScopeOptions, EntryOptions {
  force?: boolean;
  json?: boolean;
}

export async function addServer(context: CommandContext, options: AddOptions & RegistryAddOptions): Promise<number> {
  if (isFromRegistry(options)) {
    const { addFromRegistry } = await import("./add-from-registry.js");
    return await addFromRegistry(context, options);
  }
  checkScope(options);
  const { name, mcp } = options;
  const entry = readEntry(options);
  const config = await openApp(context, { mcp, config: "own" }).config();
  const target = await defaultTarget(context, config, options);
  const replaces = await isTaken(context, target, name);
  if (replaces && !options.force) {
    throw takenError(name, target, "Choose another name, or replace the server with --force.");
  }
  const outcome = await writeConfig(context, target, [{ op: "set", name, entry }]);
  for (const note of outcome.notes) context.note(note);
  if (options.json) context.out(printableJson({ name, file: target.path, scope: target.scope, replaced: replaces }, 2));
  else context.out(`${replaces ? "Replaced" : "Added"} "${name}" in ${target.path}.`);
  for (const note of notesOn(config, target, { name, entry })) context.note(note);
  return EXIT.success;
}

/** A server's own name has no slash, so one with a slash is the registry's. */
function isFromRegistry(options: AddOptions & RegistryAddOptions): boolean {
  const { name, target, header, env, transport } = options;
  const { as, version, registry, input, package: type, remote, yes } = options;
  if (!name.includes("/")) {
    const given = { "--as": as, "--version": version, "--registry": registry, "--input": input, "--package": type };
    const [option] = Object.entries({ ...given, "--remote": remote, "--yes": yes }).find(([, value]) => value) ?? [];
    if (option === undefined) return false;
    throw new TrunklineError(
      "USAGE",
      `${option} only works with a registry name, and "${printable(name)}" is not one.`,
      {
        hint:
          target.length > 0
            ? `Options of the server's own program go after --: trunkline servers add ${printable(name)} -- <command…>`
            : "Registry names have a slash: io.github.ada/docs. Find them: trunkline servers search <words…>",
      },
    );
  }
  if (target.length === 0 && header.length + env.length === 0 && transport === undefined) return true;
  throw new TrunklineError(
    "USAGE",
    `"${printable(name)}" is a registry name, so its URL or command comes from the registry.`,
    {
      hint: "Leave out the rest, or give the server a name without a slash.",
    },
  );
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
  const { target, others, outcome } = await editServer(context, files, { op, name });
  const done = { remove: "Removed", enable: "Enabled", disable: "Disabled" }[op];
  if (options.json) context.out(printableJson({ name, file: target.path, change: op, changed: outcome.changed }, 2));
  else if (outcome.changed) context.out(`${done} "${name}" in ${target.path}.`);
  else context.out(`"${name}" is already ${op}d in ${target.path}.`);
  for (const { path } of others) context.note(`${path} also has a server "${name}"; it was not changed.`);
  return EXIT.success;
}

export async function listServers(context: CommandContext, options: { json?: boolean; mcp?: string }): Promise<number> {
  const config = await openApp(context, { mcp: options.mcp }).config();
  const listed = [
    ...config.servers.map((server) => listedServer(server, config)),
    ...config.rejected.map(listedRejected),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
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
  const rows = listed.map(({ name, state, what, scope, file, ...rest }) => [
    palette.heading(printable(name)),
    stateColour(palette, state)(state),
    printable(redactor.text(what)),
    palette.dim(printable(`${scope}: ${file}${originText(rest)}`)),
  ]);
  const columns = columnsOf(context.io.stdout);
  for (const line of table(rows, { columns, fixed: 2 })) context.outPainted(line);
  if (listed.some(({ state }) => state === "untrusted")) {
    context.note("`trunkline trust` shows untrusted servers and asks for approval.");
  }
  return EXIT.success;
}

function originText({ registry }: { registry?: RegistryOrigin }): string {
  return registry === undefined ? "" : `, from the registry: ${registry.name} ${registry.version}`;
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

function listedServer(server: ServerDefinition, config: LoadedConfig) {
  const own = entryRedactor(config, server.name);
  const { name, disabled, trusted, type, scope, file, line, unusable } = server;
  const state = disabled ? "disabled" : trusted ? "enabled" : "untrusted";
  const place = { scope, file, line };
  const problem = unusable === undefined ? {} : { unusable: unusable.message };
  const { tools, registry } = server;
  const known = registry === undefined ? {} : { registry };
  const rest = { tools, ...known, ...problem };
  if (server.type === "stdio") {
    const { cwd } = server;
    const command = own.text(server.command);
    const args = own.value(redactedArgs(server.args));
    const what = commandLine([command, ...args]);
    const where = cwd === undefined ? {} : { cwd };
    return { name, state, type, ...place, command, args, env: hidden(server.env), ...where, ...rest, what };
  }
  if (server.type === "in-process") return { name, state, type, ...place, ...rest, what: serverTarget(server) };
  const url = own.text(redactedUrl(server.url));
  return {
    name,
    state,
    type,
    ...place,
    url,
    headers: hidden(server.headers),
    ...rest,
    what: printable(url),
  };
}

function listedRejected({ name, scope, file, type }: LoadedConfig["rejected"][number]) {
  return {
    name,
    state: "invalid",
    type,
    scope,
    file,
    registry: undefined,
    what: "(see the warnings)",
  };
}

/** Hides all values of env or headers, however short. */
function hidden(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));
}
