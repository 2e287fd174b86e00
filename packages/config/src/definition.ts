// Turns a checked entry into a server definition: expands variables, resolves paths and reads the env file.
import { createHash } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { redactedUrl, secretsInArgs, secretsInUrl } from "@trunkline/core";
import { authSettings } from "./auth-fields.js";
import { entrySettings } from "./entry-fields.js";
import {
  type Deferred,
  type ExpandScope,
  type Expansion,
  expandText,
  type Finding,
  renderParts,
  secretsIn,
} from "./expand.js";
import { fieldDiagnostic, type Leaf } from "./field-reader.js";
import { withHome } from "./home-path.js";
import type { ConfiguredServer, Diagnostic, ServerDefinition } from "./loaded-config.js";
import { type SecretReference, secretLabel } from "./secrets/secret-reference.js";
import { headerSecrets, type SecretCandidate, secretsAmong, withoutHost } from "./secrets.js";
import { type CheckedEntry, urlProblem } from "./server-entries.js";

interface EntryPlaces {
  readonly scope: ExpandScope;
  /** The base of relative paths in `cwd` and `envFile`. */
  readonly baseFolder: string;
}

/** An env file that was read, or the reason why it could not be. */
export interface EnvFile {
  readonly path: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly problem?: string;
}

interface DefineOptions extends EntryPlaces {
  /** The default working directory. */
  readonly defaultCwd?: string;
  readonly trusted: boolean;
  readonly trustsWorkspace: boolean;
  /** Why the server cannot be started, as far as is known before expansion. */
  readonly unusable?: { readonly message: string; readonly hint?: string };
  /** The content of the entry's env file. Absent if the entry names none. */
  readonly envFile?: EnvFile;
}

/** The definition, its diagnostics, and possible secrets. */
export interface DefinedServer {
  readonly definition: ServerDefinition;
  readonly diagnostics: readonly Diagnostic[];
  readonly candidates: readonly SecretCandidate[];
}

/** Returns the strings of an entry in which variables are expanded, depending on its transport. */
export function expandableLeaves(entry: CheckedEntry): readonly Leaf[] {
  const { command, args, env, envFile, cwd, url, headers } = entry;
  const leaves =
    entry.type === "stdio"
      ? [command, ...args, ...env, envFile, cwd]
      : [url, ...headers, ...Object.values(entry.auth?.texts ?? {})];
  return leaves.filter((leaf) => leaf !== undefined);
}

/** Returns the strings in which secrets work. What runs, and where, must be known before. */
function secretLeaves(entry: CheckedEntry): ReadonlySet<Leaf> {
  const { command, cwd, envFile } = entry;
  return new Set(expandableLeaves(entry).filter((leaf) => leaf !== command && leaf !== cwd && leaf !== envFile));
}

/** Returns the secrets that an entry refers to. */
export function secretsOf(entry: CheckedEntry): SecretReference[] {
  const found = [...secretLeaves(entry)].flatMap(({ text }) => secretsIn(text));
  return [...new Map(found.map((reference) => [secretLabel(reference), reference])).values()];
}

/**
 * Returns the path of an entry's env file. The file is read before the server starts, so deferred variables are looked
 * up now.
 */
export function envFilePath({ type, envFile }: CheckedEntry, places: EntryPlaces): string | undefined {
  if (envFile === undefined) return undefined;
  const { env } = places.scope;
  const parts = type === "stdio" ? expandText(envFile.text, places.scope).parts : [envFile.text];
  return pathOf(
    renderParts(parts, ({ name, fallback, shown, secret }) =>
      secret === undefined ? (env(name) ?? fallback ?? shown) : shown,
    ),
    places,
  );
}

/** Never throws because of the file's content: an entry that cannot be used is marked `unusable`, with a reason. */
export function defineServer(entry: CheckedEntry, options: DefineOptions): DefinedServer {
  const { scope } = options;
  const diagnostics: Diagnostic[] = [];
  const say = (severity: Diagnostic["severity"], message: string, { field, at }: Leaf) => {
    // Missing variables are normal for a disabled server.
    const level = entry.disabled ? "note" : severity;
    diagnostics.push(fieldDiagnostic(level, message, { file: entry.file, server: entry.name, field, at }));
  };
  const expansions = new Map<Leaf, Expansion>();
  const candidates: SecretCandidate[] = [];
  const { maySee: _, ...withoutSecrets } = scope;
  const forSecrets = secretLeaves(entry);
  for (const leaf of expandableLeaves(entry)) {
    const isForSecrets = forSecrets.has(leaf);
    const expansion = expandText(leaf.text, isForSecrets ? scope : withoutSecrets);
    if (!isForSecrets && secretsIn(leaf.text).length > 0)
      say("warning", "secrets do not work in this field; the reference is left unchanged", leaf);
    expansions.set(leaf, expansion);
    candidates.push(
      ...(leaf === entry.url ? withoutHost(expansion.values, renderParts(expansion.parts)) : expansion.values),
    );
    for (const finding of distinct(expansion.findings)) say(...remarkOn(finding, entry.dialect), leaf);
  }
  const unset = new Set(
    [...expansions.values()].flatMap(({ findings }) =>
      findings.filter((finding) => isUnset(finding, entry.dialect)).map(({ name }) => name),
    ),
  );
  const { path, variables: fileEnv = {}, problem: unread } = options.envFile ?? {};
  if (entry.envFile !== undefined && unread !== undefined)
    say("warning", `${path} ${unread}; the server gets none of its variables`, entry.envFile);

  const build = (lookUp?: (deferred: Deferred) => string) =>
    assemble(entry, options, {
      fileEnv,
      unset: [...unset],
      text: (leaf) => renderParts(expansions.get(leaf)?.parts ?? [leaf.text], lookUp),
    });
  const definition = build();
  candidates.push(...ownSecrets(definition));
  // Values in fields the transport does not use are just as secret.
  for (const leaf of entry.type === "stdio" ? entry.headers : entry.env) candidates.push({ value: leaf.text });

  const isDeferred = [...expansions.values()].some(({ parts }) => parts.some((part) => typeof part !== "string"));
  if (!isDeferred) {
    const isDynamic = (leaf: Leaf | undefined) => leaf !== undefined && expansions.get(leaf)?.dynamic === true;
    const problem = problemOf(definition, { isDynamic: isDynamic(entry.command ?? entry.url) });
    return { definition: withProblem(definition, problem), diagnostics, candidates };
  }
  const references = [...expansions.values()].flatMap(({ parts }) =>
    parts.flatMap((part) => (typeof part === "string" || part.secret === undefined ? [] : [part.secret])),
  );
  const secretReferences = [...new Map(references.map((reference) => [secretLabel(reference), reference])).values()];
  const atLaunch = (values: ReadonlyMap<string, string> = new Map()) => {
    const missing = new Set<string>();
    const found: SecretCandidate[] = [];
    const launched = build(({ name, fallback, shown, secret }) => {
      if (secret !== undefined) return values.get(secretLabel(secret)) ?? shown;
      const value = scope.env(name);
      if (value !== undefined) found.push({ name, value });
      else if (fallback === undefined) missing.add(name);
      return value ?? fallback ?? shown;
    });
    const problem = problemOf(launched, { isDynamic: true });
    const referenced = launched.type === "stdio" ? found : withoutHost(found, launched.url);
    // A value from a keychain is a secret whatever it looks like, and so is each of its lines: stderr is read by lines.
    const kept = [...values.values()].flatMap((value) => [value, ...value.split(/\r?\n/).filter(isTellingLine)]);
    const secrets = [...secretsAmong([...referenced, ...ownSecrets(launched)]), ...kept];
    return { definition: withProblem(launched, problem), missing: [...missing], secrets };
  };
  const known = secretReferences.length === 0 ? {} : { secretReferences };
  return { definition: { ...definition, ...known, atLaunch }, diagnostics, candidates };
}

/** The first and last line of a private key are the same in all of them. */
function isTellingLine(line: string): boolean {
  return !line.startsWith("-----");
}

interface Filled {
  readonly fileEnv: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
  readonly text: (leaf: Leaf) => string;
}

function assemble(entry: CheckedEntry, options: DefineOptions, { fileEnv, unset, text }: Filled): ConfiguredServer {
  const { name, scope, dialect, file, at } = entry;
  const common = {
    ...{ name, scope, dialect, file, line: at.line, ...entrySettings(entry) },
    identity: identityOf(entry),
    trusted: options.trusted,
    trustsWorkspace: options.trustsWorkspace,
    ...(unset.length === 0 ? {} : { unset }),
    unusable: options.unusable,
  };
  const pairs = (leaves: CheckedEntry["env"]) => leaves.map((leaf): [string, string] => [leaf.name, text(leaf)]);
  if (entry.type !== "stdio") {
    const url = entry.url === undefined ? "" : text(entry.url).trim();
    const headers = Object.fromEntries(pairs(entry.headers));
    const auth = entry.auth === undefined ? {} : { auth: authSettings(entry.auth, text) };
    return { ...common, type: entry.type, url, headers, ...auth };
  }
  const { userHome } = options.scope;
  const cwd = entry.cwd === undefined ? "" : text(entry.cwd);
  const cwdPath = cwd === "" ? options.defaultCwd : pathOf(cwd, options);
  return {
    ...common,
    type: "stdio",
    command: entry.command === undefined ? "" : withHome(text(entry.command), userHome),
    // VS Code expands args; elsewhere they are passed to the program unchanged.
    args: entry.args.map((leaf) => (dialect === "servers" ? withHome(text(leaf), userHome) : text(leaf))),
    env: Object.fromEntries([...Object.entries(fileEnv), ...pairs(entry.env)]),
    ...(entry.envFile === undefined ? {} : { envFile: pathOf(text(entry.envFile), options) }),
    cwd: cwdPath,
  };
}

/**
 * The same for the same entry, with variables as written: a server keeps its pinned definitions in every workspace. A
 * project's relative paths mean something else in another project, so its file counts too.
 */
function identityOf({ type, command, args, url, scope, file }: CheckedEntry): string {
  const runs = type === "stdio" ? [command?.text ?? "", ...args.map(({ text }) => text)] : [url?.text ?? ""];
  const where = scope === "user" ? [] : [file];
  return createHash("sha256")
    .update(JSON.stringify([type, runs, where]))
    .digest("hex");
}

function pathOf(text: string, options: EntryPlaces): string {
  const path = withHome(text, options.scope.userHome);
  return isAbsolute(path) ? path : resolve(options.baseFolder, path);
}

/** Returns the values of an entry that are secrets, or contain some, wherever they come from. */
function ownSecrets(definition: ConfiguredServer): SecretCandidate[] {
  const valuesOf = (values: readonly string[]) => values.map((value) => ({ value }));
  if (definition.type !== "stdio") {
    const { url } = definition;
    const inUrl = redactedUrl(url) === url ? [] : valuesOf([url, ...secretsInUrl(url)]);
    const { clientSecret, privateKey } = definition.auth ?? {};
    const own = valuesOf([clientSecret, privateKey].filter((value) => value !== undefined));
    return [...Object.values(definition.headers).flatMap(headerSecrets), ...own, ...inUrl];
  }
  const inArgs = valuesOf(secretsInArgs([definition.command, ...definition.args]));
  return [...Object.entries(definition.env).map(([name, value]) => ({ name, value })), ...inArgs];
}

/** Finds problems that only show after expansion. */
function problemOf(definition: ConfiguredServer, { isDynamic }: { isDynamic: boolean }): string | undefined {
  if (!isDynamic) return undefined;
  if (definition.type === "stdio") {
    return definition.command.trim() === "" ? "its command is empty after expansion" : undefined;
  }
  // A URL loses line breaks without a word, and a header with one could become two.
  const hasBreak = [definition.url, ...Object.values(definition.headers)].some((text) => /[\r\n\0]/.test(text));
  if (hasBreak) return "a secret or variable in its url or headers has a line break";
  const problem = urlProblem(definition.url);
  return problem === undefined ? undefined : `its url is invalid after expansion: ${problem}`;
}

function withProblem(definition: ServerDefinition, problem: string | undefined): ServerDefinition {
  if (problem === undefined || definition.unusable !== undefined) return definition;
  const message = `Server "${definition.name}" cannot be started: ${problem}.`;
  return {
    ...definition,
    unusable: { message, hint: `Set or fix the variables in ${definition.file}.` },
  };
}

/** Whether a variable is missing from the environment; in a skill, `${NAME}` is not looked up there. */
function isUnset({ kind }: Finding, dialect: CheckedEntry["dialect"]): boolean {
  return kind === "empty" || (kind === "unset" && dialect !== "metadata.mcp");
}

function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.kind} ${finding.name}`, finding])).values()];
}

function remarkOn({ kind, name }: Finding, dialect: CheckedEntry["dialect"]): [Diagnostic["severity"], string] {
  switch (kind) {
    case "unset":
      if (dialect === "metadata.mcp") {
        return [
          "warning",
          `the caller's context has no ${name}; for the environment use \\\${${name}} or \${env:${name}}`,
        ];
      }
      return ["warning", `the variable ${name} is not set; \${${name}} is left unchanged`];
    case "empty":
      return ["warning", `the variable ${name} is not set; \${env:${name}} is empty`];
    case "literal":
      return ["note", `\${${name}} is left unchanged under "servers"; use \${env:${name}} for the environment`];
    case "extension":
      return ["note", `a default for ${name} is an extension: VS Code does not know \${NAME:-default}`];
    case "unknown":
      return ["warning", `\${${name}} is unknown and is left unchanged`];
    case "input":
      return ["warning", `\${input:${name}} only works under "servers"; it is left unchanged`];
  }
}
