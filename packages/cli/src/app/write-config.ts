import { dirname, join } from "node:path";
import {
  type ConfigEdit,
  type ConfigScope,
  type EditOutcome,
  editConfigFile,
  type LoadedConfig,
  loadConfig,
  readEditableConfig,
  secretsInEntry,
  TrustStore,
  type TrustSubject,
} from "@trunkline/config";
import { isFolder, isWithin, realPathOf, resolvedPath, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

export interface ScopeOptions {
  user?: boolean;
  project?: boolean;
  /** The file given with `--mcp`. */
  mcp?: string;
}

export interface WriteTarget {
  readonly path: string;
  readonly scope: ConfigScope;
}

/** Rejects a command line with both `--user` and `--project`. */
export function checkScope({ user, project }: ScopeOptions): void {
  if (!user || !project) return;
  throw new TrunklineError("USAGE", "--user and --project are mutually exclusive.", {
    hint: "--user writes to your own settings, --project to the project's .trunkline/mcp.json.",
  });
}

/** Returns the project's `.trunkline/mcp.json`, whether it exists or not. */
export function projectTarget(config: LoadedConfig): WriteTarget {
  const found = config.files.find(
    ({ path, scope, exists }) => scope === "project" && exists && path.endsWith("mcp.json"),
  );
  return { path: found?.path ?? join(config.workspaceFolder, ".trunkline", "mcp.json"), scope: "project" };
}

export function userTarget(context: CommandContext): WriteTarget {
  return { path: join(context.home, "settings.json"), scope: "user" };
}

/**
 * Decides where to write: as the user says, or to the project if it has a `.trunkline` folder, or else to the user's
 * settings.
 */
export async function defaultTarget(
  context: CommandContext,
  config: LoadedConfig,
  options: ScopeOptions,
): Promise<WriteTarget> {
  const explicit = config.files.find(({ scope }) => scope === "explicit");
  if (options.mcp !== undefined && explicit !== undefined) return explicit;
  if (options.user) return userTarget(context);
  if (options.project) return projectTarget(config);
  const folder = join(config.workspaceFolder, ".trunkline");
  return folder !== context.home && (await isFolder(folder)) ? projectTarget(config) : userTarget(context);
}

/**
 * Writes to a file. Entries that the user adds to a project's file are approved, but nothing else: a file with
 * unapproved entries stays unapproved.
 */
export async function writeConfig(
  context: CommandContext,
  target: WriteTarget,
  edits: readonly ConfigEdit[],
): Promise<EditOutcome> {
  const { path, scope } = target;
  if (scope === "project") await rejectLinkOut(path);
  const before = scope === "user" ? undefined : await subjectOf(context, path);
  const trust = new TrustStore(context.home);
  const wasConfirmed = before === undefined || (await trust.isTrusted(before));
  const options = { mode: scope === "user" ? 0o600 : 0o644, signal: context.signal };
  const outcome = await editConfigFile(path, edits, options);
  const after = scope === "user" ? undefined : await subjectOf(context, path);
  if (after === undefined) return outcome;
  await grantWritten(trust, { before, after, edits });
  if (scope !== "project") return outcome;
  if (wasConfirmed) await trust.confirm(after);
  else if (context.env.TRUNKLINE_TRUST !== "all") {
    context.note(
      `${path} has servers you have not approved, so none of them start yet: \`trunkline trust\` shows them and asks.`,
    );
  }
  return outcome;
}

/**
 * Grants a file the secrets that the user wrote into its entries, and keeps those it had. Nothing is granted to entries
 * that the user did not write: a secret that one of those asks for as well has to be granted with `trunkline trust`.
 */
async function grantWritten(
  trust: TrustStore,
  { before, after, edits }: { before: Subject | undefined; after: Subject; edits: readonly ConfigEdit[] },
): Promise<void> {
  const had = before === undefined ? [] : await trust.grantedSecrets(before);
  const written = edits.flatMap((edit) => (edit.op === "set" ? secretsInEntry(edit.entry) : []));
  const others = before?.secrets ?? [];
  const names = [...had, ...written.filter((name) => !others.includes(name))].filter((name) =>
    after.secrets.includes(name),
  );
  if (names.length > 0) await trust.grantSecrets(after, names);
}

interface Subject extends TrustSubject {
  /** Labels of the secrets that the file asks for. */
  readonly secrets: readonly string[];
}

/** A project must not redirect what the user writes to its file to another file of the user. */
async function rejectLinkOut(path: string): Promise<void> {
  const project = dirname(dirname(path));
  if (isWithin(realPathOf(await resolvedPath(path)), realPathOf(project))) return;
  throw new TrunklineError("CONFIG_INVALID", `${path} leads out of the project through a symbolic link.`, {
    hint: "Replace the link with a file, or use --user to write to your own settings.",
  });
}

/** Returns what the user would have to approve in a file; undefined if it runs nothing. */
async function subjectOf(context: CommandContext, path: string): Promise<Subject | undefined> {
  const { cwd, home, signal, env } = context;
  const { names } = await readEditableConfig(path, { signal });
  if (names.length === 0) return undefined;
  const { files } = await loadConfig({ cwd, env, home, mcpPath: path, signal });
  const [file] = files;
  if (file?.fingerprint === undefined || file.wouldRun.length === 0) return undefined;
  const { fingerprint, disabledServers, secrets = [] } = file;
  return { path, fingerprint, disabledServers, secrets };
}
