// What a project's own `.env` and env files put into what it runs. They come with the project, like the file that names
// them: if they change what a confirmed entry does, it has to be confirmed again. Values of the process's own environment
// are the user's, and do not count.
import { resolve } from "node:path";
import { contentIdOf, replaceControls } from "@trunkline/core";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import { expandText, renderParts } from "./expand.js";
import { readOptional } from "./read-config-text.js";
import type { ReadSource } from "./read-source.js";
import type { CheckedEntry } from "./server-entries.js";

/** Where variables come from. */
export interface ProjectValuesOptions {
  readonly processEnv: (name: string) => string | undefined;
  readonly dotEnv: DotEnv;
  readonly userHome: string;
  readonly signal: AbortSignal | undefined;
}

interface Borrowed {
  readonly server: string;
  /** Names with the hashes of their values: a value may be a secret, and a short hash of it is none. */
  readonly variables: readonly (readonly [name: string, hash: string])[];
  /** The names that the env file sets. Their values are the server's own business, as those of `env` are. */
  readonly fileNames: readonly string[];
  /** What a person should see of it: the program that runs, or the host that is reached. */
  readonly shown?: string;
}

/** The file with a fingerprint and a list that take in what the project's own env files contribute. */
export async function withProjectValues(file: ReadSource, options: ProjectValuesOptions): Promise<ReadSource> {
  const { config } = file;
  if (config.scope !== "project" || config.fingerprint === undefined) return file;
  const borrowed = await Promise.all(file.entries.map((entry) => borrowedBy(entry, file, options)));
  const telling = borrowed.filter(({ variables, fileNames }) => variables.length + fileNames.length > 0);
  if (telling.length === 0) return file;
  const canonical = telling
    .map(({ server, variables, fileNames }) => [server, variables, fileNames])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const shown = new Map(telling.map((each) => [each.server, each.shown]));
  return {
    ...file,
    config: {
      ...config,
      fingerprint: contentIdOf(JSON.stringify([config.fingerprint, canonical])),
      wouldRun: config.wouldRun.map(({ name, what }) => {
        const more = shown.get(name);
        return { name, what: more === undefined ? what : `${what} → ${more}` };
      }),
    },
  };
}

async function borrowedBy(entry: CheckedEntry, file: ReadSource, options: ProjectValuesOptions): Promise<Borrowed> {
  const { workspaceFolder } = file.source;
  const scope = {
    dialect: entry.dialect,
    // Only what the project itself gives: a variable of the process is left unset here.
    env: (name: string) => (options.processEnv(name) === undefined ? options.dotEnv.get(name)?.value : undefined),
    workspaceFolder,
    userHome: options.userHome,
  };
  const leaves = [entry.command, ...entry.args, entry.url, entry.cwd, entry.envFile].filter(
    (leaf) => leaf !== undefined,
  );
  const variables = new Map<string, string>();
  for (const leaf of leaves) {
    for (const { name, value } of expandText(leaf.text, scope).values)
      variables.set(name, contentIdOf(value).slice(0, 16));
  }
  const envFile = entry.envFile === undefined ? undefined : renderParts(expandText(entry.envFile.text, scope).parts);
  const text =
    envFile === undefined ? undefined : await readOptional(resolve(workspaceFolder, envFile), options.signal);
  const target = entry.type === "stdio" ? entry.command : entry.url;
  const filled = target === undefined ? undefined : expandText(target.text, scope);
  const shown =
    filled === undefined || filled.values.length === 0 ? undefined : shownTarget(entry, renderParts(filled.parts));
  return {
    server: entry.name,
    variables: [...variables].sort(([a], [b]) => (a < b ? -1 : 1)),
    fileNames: text === undefined ? [] : Object.keys(parseEnvFile(text)).sort(),
    ...(shown === undefined ? {} : { shown }),
  };
}

/** The program as it is; of an address only the host, because the rest may hold a token. */
function shownTarget(entry: CheckedEntry, text: string): string {
  const shown =
    entry.type === "stdio" ? text : URL.canParse(text) ? new URL(text).origin : "an address that cannot be read";
  return replaceControls(shown, "?");
}
