// Entries that a person adds, enables, disables or removes in the configuration files, in a terminal or the console.
import {
  adviceOnRelativeWords,
  type ConfigEdit,
  type EditOutcome,
  type LoadedConfig,
  normalizeName,
  readEditableConfig,
  type ServerEntry,
} from "@trunkline/config";
import { isTrunklineError, nearestNames, printable, redactedArgs, redactedUrl, TrunklineError } from "@trunkline/core";
import { commandLine } from "../terminal/command-line.js";
import type { CommandContext } from "../terminal/context.js";
import { type WriteTarget, writeConfig } from "./write-config.js";

export interface EntryOptions {
  name: string;
  /** A URL, or the words of a command. */
  target: readonly string[];
  header: readonly string[];
  env: readonly string[];
  transport?: "http" | "sse";
}

/** Builds the entry from the command line. */
export function readEntry(options: EntryOptions): ServerEntry {
  const { name, target, header, env, transport } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TrunklineError("USAGE", `"${printable(name)}" is not a valid server name.`, {
      hint: `A name consists of 1 to 64 letters, digits, "_" or "-", for example ${normalizeName(name)}.`,
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
    // `"npx -y some-server"` in quotes. A path may contain spaces.
    const words = first.trim().split(/\s+/);
    if (rest.length === 0 && words.length > 1 && !/[/\\]/.test(words[0] ?? "")) {
      throw new TrunklineError("USAGE", "The command is one word, because it is in quotes.", {
        hint: `Write it without: -- ${commandLine(redactedArgs(words))}`,
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
  checkServerUrl(first);
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

/** Throws `USAGE` unless a server can have this URL. */
export function checkServerUrl(text: string): void {
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

/** Whether a file has a server with this name. */
export async function isTaken(context: CommandContext, { path }: WriteTarget, name: string): Promise<boolean> {
  const { names } = await readEditableConfig(path, { signal: context.signal });
  return names.includes(name);
}

export function takenError(name: string, { path }: WriteTarget, hint: string): TrunklineError {
  return new TrunklineError("USAGE", `${path} already has a server "${name}".`, { hint });
}

/** What the person should know about an entry that they add. */
export function notesOn(
  config: LoadedConfig,
  target: WriteTarget,
  { name, entry }: { name: string; entry: ServerEntry },
): string[] {
  const relative = target.scope === "user" ? adviceOnRelativeWords(entry, config.workspaceFolder) : undefined;
  const other = config.servers.find((server) => server.name === name && server.file !== target.path);
  const shadow =
    other === undefined
      ? []
      : target.scope === "user"
        ? [`In this folder the project's "${name}" in ${other.file} is used instead.`]
        : [`It is used instead of "${name}" in ${other.file}.`];
  return [...(relative === undefined ? [] : [`note: ${relative}`]), ...shadow];
}

interface EditedServer {
  readonly target: WriteTarget;
  /** Further files with a server of this name. They were not changed. */
  readonly others: readonly WriteTarget[];
  readonly outcome: EditOutcome;
}

/** Removes, enables or disables a server in the first of these files that has it. */
export async function editServer(
  context: CommandContext,
  files: readonly WriteTarget[],
  edit: Extract<ConfigEdit, { op: "remove" | "enable" | "disable" }>,
): Promise<EditedServer> {
  const { name } = edit;
  const known = new Set<string>();
  const holders: WriteTarget[] = [];
  for (const file of files) {
    const names = await namesIn(context, file.path);
    for (const each of names) known.add(each);
    if (names.includes(name)) holders.push(file);
  }
  const [target, ...others] = holders;
  if (target === undefined) throw notFound(name, [...known]);
  return { target, others, outcome: await writeConfig(context, target, [edit]) };
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
  return new TrunklineError("SERVER_NOT_FOUND", `No server is named "${printable(name)}".`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline servers list` lists them.",
  });
}
