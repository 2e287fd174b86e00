// Loads the configuration: finds the files, reads them, merges them by name, and only then expands variables. That way
// the user is never asked for an input of a shadowed entry.
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { abortError, isAbsent, MAX_PROJECT_FILE_BYTES, messageOf } from "@trunkline/core";
import {
  type ConfigSource,
  findSources,
  foldersUpward,
  leavesFolder,
  readDotEnv,
  readText,
  realPath,
  repositoryOf,
  Sightings,
} from "./config-files.js";
import {
  type DefinedServer,
  defineServer,
  type EnvFile,
  envFilePath,
  expandableLeaves,
  secretsOf,
} from "./definition.js";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import type { ServerEntry } from "./entry-fields.js";
import { inputIdsIn, lookupIn } from "./expand.js";
import { fieldDiagnostic } from "./field-reader.js";
import { type InputPrompt, Inputs } from "./inputs.js";
import type { Diagnostic, LoadedConfig, ServerDefinition } from "./loaded-config.js";
import type { ConfigMemory } from "./memory.js";
import { openToOthers } from "./open-to-others.js";
import { type ReadSource, readSource, withProjectValues } from "./read-source.js";
import { adviceOnRelativeWords } from "./relative-words.js";
import { referenceProblem, type SecretReference, secretLabel } from "./secrets/secret-reference.js";
import { type SecretCandidate, secretsAmong } from "./secrets.js";
import type { CheckedEntry } from "./server-entries.js";
import { mergeSettings } from "./settings.js";
import type { TrustSubject } from "./trusted-files.js";
import { fieldsInWorkspace, foreignFolders } from "./workspace-reach.js";

export interface LoadConfigOptions {
  cwd: string;
  /** The environment. Never read from the process: the caller of a library decides what is visible. Default: empty. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** `TRUNKLINE_HOME` or `~/.trunkline`. Without it there are no user settings, and answers are not saved. */
  home?: string | undefined;
  /** A file the user named: it is the whole configuration, so it must exist and be valid. */
  mcpPath?: string | undefined;
  /**
   * Servers by name, as a file has them: they are the whole configuration, need no approval, and start in `cwd`.
   *
   * ```ts
   * const mcpServers = { files: { command: "npx", args: ["-y", "some-server"] }, docs: { url: "https://example.com/mcp" } };
   * const hub = await openHub(await loadConfig({ cwd: process.cwd(), mcpServers }));
   * ```
   */
  mcpServers?: Readonly<Record<string, ServerEntry>> | undefined;
  /** Values for `${NAME}` in `metadata.mcp`, by dotted path. */
  context?: unknown;
  /** Selects the servers that will be used; inputs of other servers are not asked for. Default: all. */
  wanted?: ((server: string) => boolean) | undefined;
  /** Asks the user for `${input:id}`. Without it, an entry that needs one is `unusable`. */
  prompt?: InputPrompt | undefined;
  /** Whether the user approved what a project's file would run. Default: no. Other scopes need no approval. */
  isTrusted?: ((file: TrustSubject) => boolean | Promise<boolean>) | undefined;
  /** Whether the user approved this folder, given without links, for their own servers. Default: no. */
  isWorkspaceTrusted?: ((folder: string) => boolean | Promise<boolean>) | undefined;
  /** The secrets that the user granted a file in this state, by label. Default: none. The user's own files need no grant. */
  grantedSecrets?:
    | ((file: { path: string; fingerprint: string }) => readonly string[] | Promise<readonly string[]>)
    | undefined;
  /** Treat everything as approved, except for secrets. */
  trustAll?: boolean | undefined;
  /** For callers that reload: a file that becomes unusable keeps its last usable content. */
  memory?: ConfigMemory | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Loads the configuration. Rejects with `CONFIG_INVALID` only if an explicitly named file is missing, malformed or not
 * a configuration; everything else becomes a diagnostic.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { signal } = options;
  if (signal?.aborted) throw abortError(signal, "Reading the configuration");
  const cwd = resolve(options.cwd);
  const home = options.home === undefined ? undefined : resolve(cwd, options.home);
  const processEnv = lookupIn(options.env ?? {});
  const userHome = processEnv("HOME") || processEnv("USERPROFILE") || homedir();
  const seen = new Sightings();
  const folders = await foldersUpward(cwd, seen);
  const linked: Diagnostic[] = [];
  const onLink = (path: string) => {
    const message = `${path} is a link that leaves the project, so it is not read.`;
    linked.push({ severity: "warning", message, file: path });
  };
  const dotEnv = await readDotEnv(folders, { userHome, signal, onLink, seen });
  const { mcpPath, mcpServers } = options;
  const repository = await repositoryOf(folders, seen);
  const found = await findSources({
    ...{ cwd, env: processEnv, dotEnv, folders, seen, repository, home, userHome, mcpPath, mcpServers },
  });

  const files = await Promise.all(
    found.sources.map(async (source) => {
      const read = await readSource(source, signal);
      const known = options.memory?.recall(read) ?? read;
      return await withProjectValues(known, { processEnv, dotEnv, userHome, signal });
    }),
  );
  const merged = merge(files);
  const foreign = await foreignFolders([found.workspaceFolder, repository ?? found.workspaceFolder], userHome);
  const filling: Filling = {
    ...{ processEnv, dotEnv, userHome, context: options.context, signal, foreign },
    ownDotEnv: folders.includes(userHome) ? await readDotEnv([userHome], { userHome, signal, seen }) : new Map(),
    isWorkspaceTrusted: await workspaceTrust(found.workspaceFolder, foreign, options),
    inputs: new Inputs({ prompt: options.prompt, home, signal }),
    wanted: options.wanted ?? (() => true),
    trusted: await trustOf(files, options),
    granted: await grantsOf(files, options),
  };
  const servers: ServerDefinition[] = [];
  const ofUser = files.filter(({ config }) => config.scope === "user" && config.exists);
  const diagnostics: Diagnostic[] = [
    ...linked,
    ...(await openToOthers(ofUser.map(({ config }) => config.path))),
    ...files.flatMap((file) => file.diagnostics),
    ...merged.diagnostics,
  ];
  const secrets = new Set<string>();
  const unapprovedSecrets = new Map<string, readonly string[]>();
  // In sequence, because a user can answer only one question at a time.
  for (const { entry, file } of merged.entries) {
    const defined = await fillIn(entry, file, filling);
    servers.push(defined.definition);
    diagnostics.push(...defined.diagnostics);
    const { candidates } = defined;
    const isTrusted = filling.trusted.has(file);
    if (!isTrusted) unapprovedSecrets.set(entry.name, secretsAmong(candidates));
    // Of an entry that is not approved, only values of the user's own variables are hidden everywhere.
    const isUsers = ({ name, value }: SecretCandidate) => name !== undefined && processEnv(name) === value;
    for (const secret of secretsAmong(isTrusted ? candidates : candidates.filter(isUsers))) secrets.add(secret);
    if (signal?.aborted) throw abortError(signal, "Reading the configuration");
  }
  const main = files.find(({ config }) => config.exists) ?? files[0];
  return {
    path: main?.config.path ?? resolve(cwd, ".trunkline", "mcp.json"),
    exists: main?.config.exists ?? false,
    files: files.map(({ config, settings }) => (Object.keys(settings).length === 0 ? config : { ...config, settings })),
    workspaceFolder: found.workspaceFolder,
    foreignFolders: foreign,
    servers,
    rejected: files.flatMap(({ rejected }) => rejected),
    settings: mergeSettings(files.map(({ settings, config }) => ({ ...settings, scope: config.scope }))),
    diagnostics,
    secrets: [...secrets],
    ...(unapprovedSecrets.size === 0 ? {} : { unapprovedSecrets }),
  };
}

interface MergedEntry {
  readonly entry: CheckedEntry;
  readonly file: ReadSource;
}

/** Merges by name; the stronger file wins, with a diagnostic. */
function merge(files: readonly ReadSource[]): { entries: MergedEntry[]; diagnostics: Diagnostic[] } {
  const byName = new Map<string, MergedEntry>();
  const diagnostics: Diagnostic[] = [];
  for (const file of files) {
    for (const entry of file.entries) {
      const winner = byName.get(entry.name)?.entry;
      if (winner === undefined) {
        byName.set(entry.name, { entry, file });
        continue;
      }
      const shadowing = winner.scope === "project" && entry.scope === "user";
      const message = shadowing
        ? `this project entry is used instead of your own in ${entry.file}`
        : `this entry is used instead of the one in ${entry.file}`;
      const place = { file: winner.file, server: winner.name, field: "", at: winner.at };
      diagnostics.push({ ...fieldDiagnostic("note", message, place), ...(shadowing ? { shadowing } : {}) });
    }
  }
  return { entries: [...byName.values()], diagnostics };
}

/** Returns the files whose entries are allowed to start. */
async function trustOf(files: readonly ReadSource[], options: LoadConfigOptions): Promise<ReadonlySet<ReadSource>> {
  const trusted = new Set<ReadSource>();
  for (const file of files) {
    const { path, scope, fingerprint, disabledServers } = file.config;
    const needsNone = scope !== "project" || options.trustAll === true || file.entries.length === 0;
    const isApproved = async () =>
      fingerprint !== undefined && (await options.isTrusted?.({ path, fingerprint, disabledServers })) === true;
    if (needsNone || (await isApproved())) trusted.add(file);
  }
  return trusted;
}

/** Returns the secrets that each file was granted. `trustAll` grants none: a secret is granted by its name. */
async function grantsOf(
  files: readonly ReadSource[],
  { grantedSecrets }: LoadConfigOptions,
): Promise<ReadonlyMap<ReadSource, ReadonlySet<string>>> {
  const granted = new Map<ReadSource, ReadonlySet<string>>();
  for (const file of files) {
    const { path, fingerprint, secrets = [] } = file.config;
    if (fingerprint === undefined || secrets.length === 0) continue;
    granted.set(file, new Set(await grantedSecrets?.({ path, fingerprint })));
  }
  return granted;
}

/** Whether the user's own servers may be controlled by the workspace. */
async function workspaceTrust(
  workspaceFolder: string,
  foreign: readonly string[],
  { trustAll, isWorkspaceTrusted }: LoadConfigOptions,
): Promise<boolean> {
  if (trustAll === true || foreign.length === 0) return true;
  return (await isWorkspaceTrusted?.(await realPath(workspaceFolder))) === true;
}

interface Filling {
  readonly processEnv: (name: string) => string | undefined;
  readonly dotEnv: DotEnv;
  /** The variables of the `.env` in the user's home folder. */
  readonly ownDotEnv: DotEnv;
  /** Folders whose content is not the user's own. */
  readonly foreign: readonly string[];
  readonly isWorkspaceTrusted: boolean;
  readonly userHome: string;
  readonly context: unknown;
  readonly inputs: Inputs;
  readonly wanted: (server: string) => boolean;
  readonly trusted: ReadonlySet<ReadSource>;
  readonly granted: ReadonlyMap<ReadSource, ReadonlySet<string>>;
  readonly signal: AbortSignal | undefined;
}

async function fillIn(entry: CheckedEntry, file: ReadSource, filling: Filling): Promise<DefinedServer> {
  const { userHome, context, signal } = filling;
  const { workspaceFolder, defaultCwd } = file.source;
  const trusted = filling.trusted.has(file);
  const trustsWorkspace = defaultCwd !== undefined || filling.isWorkspaceTrusted;
  const { env, withheld } = variablesFor(filling, trustsWorkspace);
  const asked = filling.wanted(entry.name)
    ? await answersFor(entry, file, { trusted, inputs: filling.inputs })
    : { answers: new Map<string, string>(), diagnostics: [] };
  const secrets = secretsFor(entry, file, filling);
  const places = {
    scope: {
      ...{ dialect: entry.dialect, env, workspaceFolder, userHome, context, inputs: asked.answers },
      maySee: secrets.maySee,
    },
    baseFolder: baseFolderOf(entry, file.source),
  };
  const path = envFilePath(entry, places);
  const defined = defineServer(entry, {
    ...places,
    defaultCwd,
    trusted,
    trustsWorkspace,
    unusable: asked.unusable ?? secrets.unusable,
    envFile: path === undefined ? undefined : await readEnvFile(path, workspaceFolder, signal),
  });
  const { atLaunch, ...definition } = defined.definition;
  const launched = atLaunch?.().definition ?? definition;
  const fields = trustsWorkspace ? [] : await fieldsInWorkspace(entry, launched, filling.foreign);
  const reached = reachOf(entry, { fields, withheld, workspaceFolder });
  const isAway = launched.type === "stdio" && (await leavesFolder(launched.cwd ?? "", workspaceFolder));
  const marks = { ...(isAway ? { unusable: linkedFolder(entry.name, launched.cwd) } : {}), ...reached.marks };
  const complete = marks.unusable === undefined ? defined.definition : { ...definition, ...marks };
  return {
    ...defined,
    definition: secrets.needed.length === 0 ? complete : { ...complete, needsSecrets: secrets.needed },
    diagnostics: [
      ...asked.diagnostics,
      ...defined.diagnostics,
      ...reached.diagnostics,
      ...(defaultCwd === undefined ? relativeWordsOf(entry, workspaceFolder) : []),
    ],
  };
}

interface EntrySecrets {
  readonly maySee: (reference: SecretReference) => boolean;
  /** Labels of the secrets that the file has to be granted first. */
  readonly needed: readonly string[];
  readonly unusable?: { readonly message: string; readonly hint?: string };
}

/**
 * Decides which secrets an entry may have. The user's own settings may have any. A server on the command line is the
 * user's too, but commands are only for settings. Any other file may have what it was granted by name.
 */
function secretsFor(entry: CheckedEntry, file: ReadSource, { granted }: Filling): EntrySecrets {
  const { scope, text } = file.source;
  const isOwn = scope === "user";
  const isGranted = (reference: SecretReference) => granted.get(file)?.has(secretLabel(reference)) === true;
  const maySee = (reference: SecretReference) =>
    referenceProblem(reference) === undefined &&
    (isOwn || (reference.kind !== "cmd" && (text !== undefined || isGranted(reference))));
  const refused = secretsOf(entry).filter((reference) => !maySee(reference));
  const [first] = refused;
  if (first === undefined) return { maySee, needed: [] };
  const who = `Server "${entry.name}"`;
  const problem = referenceProblem(first);
  if (problem !== undefined)
    return { maySee, needed: [], unusable: { message: `${who} refers to a secret that cannot exist: ${problem}.` } };
  const isCommand = ({ kind }: SecretReference) => kind === "cmd";
  if (refused.some(isCommand)) {
    const message = `${who} refers to \${cmd:…}, which only works in your own settings.`;
    return { maySee, needed: [], unusable: { message, hint: "Use ${secret:NAME} or ${env:NAME} instead." } };
  }
  const needed = refused.map(secretLabel);
  const hint = `Review it with \`trunkline trust\`, or grant it by name: trunkline trust ${needed.map((name) => `--secret ${quoted(name)}`).join(" ")}`;
  const message = `${who} asks for ${needed.length === 1 ? "the secret" : "the secrets"} ${needed.join(", ")}, which you have not granted to ${entry.file}.`;
  return { maySee, needed, unusable: { message, hint } };
}

function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : JSON.stringify(word);
}

/**
 * Looks up variables for the entries of one file. A repository's `.env` fills in the repository's own entries. In the
 * user's entries it could redirect a server that has the user's keys, so there it needs the user's approval.
 */
function variablesFor({ processEnv, dotEnv, ownDotEnv }: Filling, trustsWorkspace: boolean) {
  const withheld = new Map<string, string>();
  const env = (name: string) => {
    const own = processEnv(name);
    if (own !== undefined) return own;
    const found = dotEnv.get(name);
    if (trustsWorkspace || found === undefined) return found?.value;
    const users = ownDotEnv.get(name);
    if (users?.folder !== found.folder) withheld.set(name, join(found.folder, ".env"));
    return users?.value;
  };
  return { env, withheld };
}

/** Warns about words of the user's own entries that meant the workspace when servers still started there. */
function relativeWordsOf(entry: CheckedEntry, workspaceFolder: string): Diagnostic[] {
  if (entry.type !== "stdio" || entry.cwd !== undefined) return [];
  const words = { command: entry.command?.text, args: entry.args.map(({ text }) => text) };
  const advice = adviceOnRelativeWords(words, workspaceFolder);
  if (advice === undefined) return [];
  const place = { file: entry.file, server: entry.name, field: "", at: entry.at };
  return [fieldDiagnostic(entry.disabled ? "note" : "warning", advice, place)];
}

function linkedFolder(server: string, folder: string | undefined): { message: string; hint: string } {
  return {
    message: `Server "${server}" would run in ${folder}, which is a link that leaves the project.`,
    hint: 'Write the folder itself in "cwd".',
  };
}

/** Says what an entry does not get from a workspace that is not approved, and how to approve it. */
function reachOf(
  entry: CheckedEntry,
  { fields, withheld, workspaceFolder }: { fields: string[]; withheld: Map<string, string>; workspaceFolder: string },
): { marks: Pick<ServerDefinition, "unusable" | "needsWorkspace">; diagnostics: Diagnostic[] } {
  const place = { file: entry.file, server: entry.name, at: entry.at };
  const approve = "trunkline trust --workspace";
  const diagnostics = [...withheld].map(([name, path]) =>
    fieldDiagnostic(
      "warning",
      `the variable ${name} is set in ${path}, but your own servers ignore it until you approve this workspace: ${approve}`,
      { ...place, field: "" },
    ),
  );
  if (fields.length === 0) return { marks: {}, diagnostics };
  const names = fields.map((field) => `"${field}"`).join(" and ");
  const message = `Server "${entry.name}" is yours, but its ${names} would let ${workspaceFolder} decide what it runs.`;
  return {
    marks: { needsWorkspace: true, unusable: { message, hint: `If you trust this workspace, approve it: ${approve}` } },
    diagnostics,
  };
}

async function readEnvFile(path: string, workspaceFolder: string, signal: AbortSignal | undefined): Promise<EnvFile> {
  if (await leavesFolder(path, workspaceFolder)) {
    return { path, variables: {}, problem: "is a link that leaves the project" };
  }
  try {
    return { path, variables: parseEnvFile(await readText(path, signal, { maxBytes: MAX_PROJECT_FILE_BYTES })) };
  } catch (error) {
    if (signal?.aborted) throw error;
    const problem = isAbsent(error) ? "does not exist" : `cannot be read (${messageOf(error)})`;
    return { path, variables: {}, problem };
  }
}

/** Returns the base of relative paths: the skill's folder for a skill, otherwise the workspace. */
function baseFolderOf(entry: CheckedEntry, source: ConfigSource): string {
  return entry.dialect === "metadata.mcp" ? dirname(entry.file) : source.workspaceFolder;
}

interface Answers {
  readonly answers: ReadonlyMap<string, string>;
  readonly unusable?: { readonly message: string; readonly hint: string };
  readonly diagnostics: readonly Diagnostic[];
}

/** Collects the answers an entry needs. Asks nothing for a server that would not start. */
async function answersFor(
  entry: CheckedEntry,
  file: ReadSource,
  { trusted, inputs }: { trusted: boolean; inputs: Inputs },
): Promise<Answers> {
  const answers = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  if (entry.dialect !== "servers") return { answers, diagnostics };
  const ids = new Set(expandableLeaves(entry).flatMap((leaf) => inputIdsIn(leaf.text)));
  if (ids.size === 0 || entry.disabled) return { answers, diagnostics };
  const need = (id: string) => `Server "${entry.name}" needs the input "${id}" from ${entry.file}`;
  const say = (severity: Diagnostic["severity"], message: string) =>
    diagnostics.push(
      fieldDiagnostic(severity, message, { file: entry.file, server: entry.name, field: "", at: entry.at }),
    );
  for (const id of ids) {
    if (!trusted) {
      const message = `${need(id)}; you will be asked for it once the file is approved.`;
      return { answers, diagnostics, unusable: { message, hint: "Approve the file with `trunkline trust`." } };
    }
    const description = file.inputs.get(id);
    if (description === undefined) say("warning", `the input "${id}" is not defined under "inputs"`);
    const answer = await inputs.answer({ ...description, id, server: entry.name, file: entry.file });
    if (answer.value === undefined) {
      const reason = answer.from === "headless" ? "there is no terminal to ask on" : "no answer was given";
      const hint = `Run \`trunkline doctor\` in a terminal once; the answer is saved. Or use \${env:NAME} instead of \${input:${id}}.`;
      say("warning", `the input "${id}" is required, but ${reason}`);
      return { answers, diagnostics, unusable: { message: `${need(id)}, and ${reason}.`, hint } };
    }
    if (answer.from === "default")
      say("note", `there is no terminal to ask for the input "${id}"; its default is used`);
    if (answer.notKept !== undefined) say("warning", `the input "${id}" could not be saved: ${answer.notKept}`);
    answers.set(id, answer.value);
  }
  return { answers, diagnostics };
}
