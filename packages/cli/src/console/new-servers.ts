// Adds servers to the configuration: one that a person describes, or those that other programs have.
import { createHash } from "node:crypto";
import { dialectNotes, type FoundImport, findImports, readEditableConfig, toDialect } from "@trunkline/config";
import type { AddedServer, AnswerOf, ImportRow, NewServer } from "@trunkline/console/contract";
import { isRecord, printable, printableLines, TrunklineError } from "@trunkline/core";
import { type App, openApp } from "../app/app.js";
import { planImports } from "../app/import-plan.js";
import { checkServerUrl, isTaken, notesOn, readEntry, takenError } from "../app/server-entry.js";
import { projectTarget, userTarget, writeConfig } from "../app/write-config.js";
import { withoutTrunkline } from "../install/other-servers.js";
import { ruleWarner } from "../install/rule-check.js";
import { shownEntry } from "../install/shown-entry.js";
import { commandLine } from "../terminal/command-line.js";
import type { CommandContext } from "../terminal/context.js";
import { asItIs } from "./as-it-is.js";

/** Adds an entry as `trunkline servers add` does. With `dryRun`, only says what would be written. */
export async function addServer(app: App, given: NewServer, { dryRun }: { dryRun: boolean }): Promise<AddedServer> {
  const server = readNewServer(given);
  const { name, url, command = "", args = [], env = {}, headers = {} } = server;
  if (url !== undefined) checkServerUrl(url);
  const entry = readEntry({
    name,
    target: url === undefined ? [command, ...args] : [url],
    env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    header: Object.entries(headers).map(([key, value]) => `${key}: ${value}`),
  });
  const { context, notes } = collecting(app.context);
  const config = await openApp(context, { config: "own" }).config();
  const target = server.scope === "user" ? userTarget(context) : projectTarget(config);
  if (await isTaken(context, target, name)) throw takenError(name, target, "Choose another name.");
  const { dialect } = await readEditableConfig(target.path, { signal: context.signal });
  const shown = JSON.stringify({ [name]: shownEntry(toDialect(entry, dialect)) }, null, 2);
  if (!dryRun) {
    const outcome = await writeConfig(context, target, [{ op: "set", name, entry }]);
    notes.push(...outcome.notes);
    await app.refreshConfig();
  }
  return {
    file: target.path,
    entry: asItIs(printableLines(shown)),
    notes: [...notes, ...notesOn(config, target, { name, entry })],
  };
}

/** What arrives over HTTP can be anything. */
function readNewServer(given: NewServer): NewServer {
  const { name, scope, command, url, args, env, headers, ...rest } = given as Readonly<
    Record<keyof NewServer, unknown>
  >;
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  const areTexts = (values: unknown) =>
    values === undefined || (isRecord(values) && Object.values(values).every((value) => typeof value === "string"));
  const areWords =
    args === undefined || (Array.isArray(args) && args.every((word: unknown) => typeof word === "string"));
  const isGood =
    typeof name === "string" &&
    (scope === "user" || scope === "project") &&
    isText(command) &&
    isText(url) &&
    areWords &&
    areTexts(env) &&
    areTexts(headers) &&
    Object.keys(rest).length === 0;
  if (!isGood) throw new TrunklineError("INVALID_ARGUMENT", "The new server is not described correctly.");
  if ((command === undefined) === (url === undefined)) {
    throw new TrunklineError("USAGE", "A server has either a command or a URL.");
  }
  return given;
}

/** Lists the servers of other programs, as `trunkline import` does. */
export async function listImports(app: App): Promise<ImportRow[]> {
  const { context } = collecting(app.context);
  const [found, config] = await Promise.all([findAll(context), openApp(context, { config: "own" }).config()]);
  const warningsOn = await ruleWarner(context);
  const taken = new Map<string, readonly string[]>();
  const rows: ImportRow[] = [];
  for (const from of found) {
    const target = from.scope === "user" ? userTarget(context) : projectTarget(config);
    const { names, dialect } = await readEditableConfig(target.path, { signal: context.signal });
    taken.set(target.path, names);
    const about = { program: from.source.title, file: from.path };
    for (const server of from.servers) {
      const { name, entry, notes } = server;
      const shown = shownEntry(entry);
      const isThere = names.includes(name);
      rows.push({
        ...about,
        id: importId(from, name),
        name: asItIs(name),
        target: asItIs(
          shown.command === undefined
            ? printable(shown.url ?? "")
            : commandLine([shown.command, ...(shown.args ?? [])]),
        ),
        entry: asItIs(printableLines(JSON.stringify(shownEntry(toDialect(entry, dialect)), null, 2))),
        goesTo: target.path,
        notes: [...notes, ...dialectNotes(name, entry, dialect), ...(isThere ? [] : warningsOn(server))],
        canImport: !isThere,
        ...(isThere ? { note: "already configured" } : {}),
      });
    }
    for (const { name, reason } of from.skipped)
      rows.push({ ...about, id: importId(from, name), name, target: "", notes: [], canImport: false, note: reason });
    if (from.problem !== undefined) {
      const note = from.problem.message;
      rows.push({ ...about, id: importId(from, ""), name: "", target: "", notes: [], canImport: false, note });
    }
  }
  return rows;
}

/** Imports exactly the entries with these ids. */
export async function importServers(app: App, ids: readonly string[]): Promise<AnswerOf<"servers/import">> {
  const { context, notes } = collecting(app.context);
  const [found, config] = await Promise.all([findAll(context), openApp(context, { config: "own" }).config()]);
  const chosen = found.map((from) => ({
    ...from,
    skipped: [],
    servers: from.servers.filter(({ name }) => ids.includes(importId(from, name))),
  }));
  const count = chosen.reduce((sum, { servers }) => sum + servers.length, 0);
  if (count < new Set(ids).size) {
    throw new TrunklineError(
      "USAGE",
      "The other program's file has changed since it was shown. Nothing was imported.",
      {
        hint: "Look at the list again.",
      },
    );
  }
  const plans = await planImports(context, chosen, { config, options: {} });
  for (const { target, servers } of plans) {
    if (servers.length === 0) continue;
    await writeConfig(
      context,
      target,
      servers.map(({ server }) => ({ op: "set", ...server })),
    );
  }
  await app.refreshConfig();
  const written = plans.filter(({ servers }) => servers.length > 0);
  return {
    added: written.flatMap(({ servers }) => servers.map(({ server }) => server.name)),
    files: written.map(({ target }) => target.path),
    skipped: [...plans.flatMap(({ skipped }) => skipped), ...notes.map((reason) => ({ name: "", reason }))],
  };
}

async function findAll({ cwd, env, signal, userHome }: CommandContext): Promise<FoundImport[]> {
  return (await findImports({ cwd, env, signal, userHome, platform: process.platform })).map(withoutTrunkline);
}

/** Depends on everything in the entry: what was shown is what is imported. */
function importId({ source, path, servers }: FoundImport, name: string): string {
  const server = servers.find((each) => each.name === name);
  return createHash("sha256")
    .update(JSON.stringify([source.id, path, name, server ?? null]))
    .digest("hex")
    .slice(0, 32);
}

/** Notes are for the person at the page, not for the clients of the workspace. */
export function collecting(context: CommandContext): { context: CommandContext; notes: string[] } {
  const notes: string[] = [];
  return { context: { ...context, note: (line) => void notes.push(line) }, notes };
}
