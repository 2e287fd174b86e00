// Adds a server by its name in the registry: chooses how to run it, asks for what it needs, shows what would run and
// where data would go, and writes the entry with everything pinned.

import { withoutForeignPrograms } from "@trunkline/client/internal";
import {
  isRegistryName,
  normalizeName,
  type RegistryOrigin,
  readEditableConfig,
  type ServerEntry,
  secretEnvironment,
  shownVariable,
  toDialect,
} from "@trunkline/config";
import { npmCommand, printable, TrunklineError, urlForApproval } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { keepSecret, keychainName } from "../../app/kept-secrets.js";
import { isTaken, notesOn, takenError } from "../../app/server-entry.js";
import { checkScope, defaultTarget, type ScopeOptions, type WriteTarget, writeConfig } from "../../app/write-config.js";
import { shownEntry } from "../../install/shown-entry.js";
import { hasProgram } from "../../registry/find-program.js";
import { npmIntegrity } from "../../registry/npm-integrity.js";
import { registryAddress } from "../../registry/registry-address.js";
import { fillRecipe } from "../../registry/registry-answers.js";
import { findInRegistry } from "../../registry/registry-client.js";
import { type Recipe, type Way, waysOf } from "../../registry/registry-recipe.js";
import type { RegistryServer } from "../../registry/registry-server.js";
import { commandLine } from "../../terminal/command-line.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import { askInputs } from "./ask-inputs.js";

/** The options of `servers add` that only make sense with a registry name. */
export interface RegistryAddOptions {
  as?: string;
  version?: string;
  registry?: string;
  package?: string;
  remote?: boolean;
  input?: readonly string[];
  yes?: boolean;
}

interface AddOptions extends ScopeOptions, RegistryAddOptions {
  name: string;
  force?: boolean;
  json?: boolean;
}

interface AddOutcome {
  name: string;
  added: boolean;
  replaced: boolean;
  registry?: RegistryOrigin;
  file?: string;
  scope?: string;
  entry?: ServerEntry;
}

export async function addFromRegistry(context: CommandContext, options: AddOptions): Promise<number> {
  checkScope(options);
  if (!isRegistryName(options.name)) {
    throw new TrunklineError("USAGE", `"${printable(options.name)}" is not a valid registry name.`, {
      hint: "Such names look like io.github.ada/docs. Find them: trunkline servers search <words…>",
    });
  }
  const name = localName(options);
  const outcome: AddOutcome = { name, added: false, replaced: false };
  return await reporting(context, { json: options.json, outcome }, (shown) =>
    addNamed(shown, { ...options, local: name }, outcome),
  );
}

async function addNamed(
  context: CommandContext,
  options: AddOptions & { local: string },
  outcome: AddOutcome,
): Promise<number> {
  const { local } = options;
  const { signal } = context;
  const registry = await registryAddress(options.registry, context);
  const config = await openApp(context, { mcp: options.mcp, config: "own" }).config();
  const target = await defaultTarget(context, config, options);
  outcome.replaced = await isTaken(context, target, local);
  if (outcome.replaced && !options.force)
    throw takenError(local, target, "Choose another name with --as, or replace the server with --force.");
  const server = await findInRegistry(registry, { name: options.name, version: options.version ?? "latest", signal });
  if (server.status === "deleted")
    throw new TrunklineError("NOT_FOUND", `"${server.name}" ${server.version} was deleted from ${registry.host}.`);
  const programs = withoutForeignPrograms(secretEnvironment(context.env), config.foreignFolders ?? []);
  const { recipe, others } = await chooseWay(server, options, programs);
  const mayAsk = !options.yes && isAtTerminal(context);
  const { input = [] } = options;
  const { answers, secrets } = await askInputs(context, recipe.asks, { server: local, input, mayAsk });
  const { dialect } = await readEditableConfig(target.path, { signal });
  const hash = recipe.program?.hash ?? (await hashOf(context, recipe, programs));
  const origin = { name: server.name, version: server.version, url: registry.href, ...(hash && { hash }) };
  const entry = fillRecipe(recipe, answers, { dialect, origin });
  for (const line of describe(server, { entry, recipe, target, local, others, replaces: outcome.replaced }))
    context.out(line);
  Object.assign(outcome, { registry: origin, file: target.path, scope: target.scope });
  outcome.entry = shownEntry(toDialect(entry, dialect));
  if (!options.yes && !isAtTerminal(context)) {
    throw new TrunklineError("USAGE", "Nothing was written: there is no terminal to ask on.", {
      hint: "Write it with --yes.",
    });
  }
  if (!options.yes && !(await askYesNo(context, `Add "${local}"?`))) {
    context.note("Nothing was written.");
    return EXIT.success;
  }
  for (const secret of secrets) await keepSecret(context, secret.name, secret.value);
  if (secrets.length > 0) context.out(`Saved ${secrets.map(({ name }) => name).join(", ")} in ${keychainName}.`);
  const written = await writeConfig(context, target, [{ op: "set", name: local, entry }]);
  outcome.added = true;
  for (const note of written.notes) context.note(note);
  context.out(`${outcome.replaced ? "Replaced" : "Added"} "${local}" in ${target.path}.`);
  for (const note of notesOn(config, target, { name: local, entry })) context.note(note);
  return EXIT.success;
}

/** `docs` for `io.github.ada/docs`, and `stripe` for `com.stripe/mcp`. */
function localName({ name, as }: AddOptions): string {
  if (as !== undefined) {
    if (/^[A-Za-z0-9_-]{1,64}$/.test(as)) return as;
    throw new TrunklineError("USAGE", `"${printable(as)}" is not a valid server name.`, {
      hint: `A name consists of 1 to 64 letters, digits, "_" or "-", for example --as ${normalizeName(as)}.`,
    });
  }
  const [space = "", last = ""] = name.split("/");
  const isTelling = !/^(?:mcp|server|mcp[._-]?server|server[._-]?mcp)$/i.test(last);
  return normalizeName(isTelling ? last : (space.split(".").at(-1) ?? last));
}

/** Chooses the first way that this machine can run; `--package` and `--remote` choose another. */
async function chooseWay(
  server: RegistryServer,
  { package: wanted, remote }: RegistryAddOptions,
  env: Readonly<Record<string, string>>,
): Promise<{ recipe: Recipe; others: readonly string[] }> {
  if (wanted !== undefined && remote)
    throw new TrunklineError("USAGE", "--package and --remote are mutually exclusive.");
  const all = waysOf(server);
  const usable = all.flatMap((way) => ("recipe" in way ? [way.recipe] : []));
  const isWanted = ({ program }: Recipe) =>
    wanted === undefined ? !remote || program === undefined : program?.type === wanted;
  const matching = usable.filter(isWanted);
  const absent = new Set<string>();
  for (const recipe of matching) {
    const { command } = recipe.program ?? {};
    if (command === undefined || (await hasProgram(command, { env, platform: process.platform })))
      return { recipe, others: usable.filter((each) => each !== recipe).map(({ label }) => label) };
    absent.add(command);
  }
  if (absent.size > 0) {
    throw new TrunklineError(
      "NOT_FOUND",
      `"${server.name}" needs ${[...absent].join(" or ")}, which is not installed.`,
      {
        hint: "Install it and try again.",
      },
    );
  }
  throw new TrunklineError("CONFIG_INVALID", `"${server.name}" ${server.version} cannot be added from the registry.`, {
    hint: reasons(all, usable.length > 0),
  });
}

function reasons(all: readonly Way[], isOther: boolean): string {
  if (isOther) return "It can be run in another way: leave out --package and --remote.";
  const lines = all.flatMap((way) => ("problem" in way ? [`${printable(way.label)}: ${way.problem}`] : []));
  return lines.length === 0 ? "It names no package and no URL." : `${lines.join("; ")}.`;
}

/** npm reports the hash of a package; without a network or npm there is none. */
async function hashOf(
  context: CommandContext,
  { program }: Recipe,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (program?.type !== "npm") return undefined;
  const hash = await npmIntegrity(program.pinned, {
    npm: npmCommand(),
    env: { ...env, NO_UPDATE_NOTIFIER: "1" },
    cwd: context.userHome,
    signal: context.signal,
  });
  if (hash === undefined) context.note(`npm does not report a hash for ${program.pinned}; only its version is pinned.`);
  return hash;
}

interface Description {
  readonly entry: ServerEntry;
  readonly recipe: Recipe;
  readonly target: WriteTarget;
  readonly local: string;
  readonly others: readonly string[];
  readonly replaces: boolean;
}

/** Shows exactly what would run or be contacted, and what it would get. */
function* describe(server: RegistryServer, details: Description): Generator<string> {
  const { entry, recipe, target, local, others, replaces } = details;
  const { command, args = [], url, env = {}, headers = {}, registry } = entry;
  yield `${server.name} ${server.version}${server.description === "" ? "" : `: ${printable(server.description)}`}`;
  if (server.status === "deprecated") yield `  deprecated: ${printable(server.statusMessage ?? "no reason is given")}`;
  if (command !== undefined) yield `  runs:       ${commandLine([command, ...args])}`;
  if (url !== undefined) yield `  sends to:   ${printable(urlForApproval(url))}`;
  for (const [name, value] of Object.entries(env)) yield `  env:        ${printable(name)}=${shownValue(name, value)}`;
  for (const [name, value] of Object.entries(headers))
    yield `  header:     ${printable(name)}: ${shownValue(name, value)}`;
  if (registry?.hash !== undefined) yield `  hash:       ${registry.hash}`;
  yield `  registry:   ${registry?.url}`;
  yield `  written to: ${target.path}, as "${local}"${replaces ? ", replacing the existing one" : ""}`;
  if (recipe.program !== undefined) yield "  It runs with your account and can do everything that you can do.";
  if (others.length > 0) yield `  Other ways, with --package <type> or --remote: ${printable(others.join(", "))}`;
}

function shownValue(name: string, text: string): string {
  return printable(shownVariable({ name, text }));
}
