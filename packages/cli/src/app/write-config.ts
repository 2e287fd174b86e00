import { join } from "node:path";
import {
  type ConfigEdit,
  type ConfigScope,
  type EditOutcome,
  editConfigFile,
  type LoadedConfig,
  loadConfig,
  readEditableConfig,
  TrustStore,
  type TrustSubject,
} from "@trunkline/client/config";
import { isFolder, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/** Where the user wants something written. */
export interface ScopeOptions {
  user?: boolean;
  project?: boolean;
  /** The file given with `--mcp`. */
  mcp?: string | undefined;
}

/** A file to write to. */
export interface WriteTarget {
  readonly path: string;
  readonly scope: ConfigScope;
}

/** Refuses a command line that names two places. */
export function checkScope({ user, project }: ScopeOptions): void {
  if (!user || !project) return;
  throw new TrunklineError("USAGE", "--user and --project exclude each other.", {
    hint: "--user writes to your own settings, --project to the project's .trunkline/mcp.json.",
  });
}

/** The project's `.trunkline/mcp.json`, whether it is there or not. */
export function projectTarget(config: LoadedConfig): WriteTarget {
  const found = config.files.find(
    ({ path, scope, exists }) => scope === "project" && exists && path.endsWith("mcp.json"),
  );
  return { path: found?.path ?? join(config.workspaceFolder, ".trunkline", "mcp.json"), scope: "project" };
}

/** The user's own settings. */
export function userTarget(context: CommandContext): WriteTarget {
  return { path: join(context.home, "settings.json"), scope: "user" };
}

/** Where to write: as the user says, else to the project if there is a `.trunkline` in it, else to the user's settings. */
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
 * Writes to a file. What a person typed into a project's file is confirmed by that, but only what was typed: a file with
 * entries that nobody has confirmed stays unconfirmed.
 */
export async function writeConfig(
  context: CommandContext,
  target: WriteTarget,
  edits: readonly ConfigEdit[],
): Promise<EditOutcome> {
  const { path, scope } = target;
  const before = scope === "project" ? await subjectOf(context, path) : undefined;
  const trust = new TrustStore(context.home);
  const wasConfirmed = before === undefined || (await trust.isTrusted(before));
  const options = { mode: scope === "user" ? 0o600 : 0o644, signal: context.signal };
  const outcome = await editConfigFile(path, edits, options);
  const after = scope === "project" ? await subjectOf(context, path) : undefined;
  if (after === undefined) return outcome;
  if (wasConfirmed) await trust.confirm(after);
  else if (context.env.TRUNKLINE_TRUST !== "all") {
    context.note(
      `${path} has servers that nobody has confirmed, so none of it is started yet: \`trunkline trust\` shows and confirms it.`,
    );
  }
  return outcome;
}

/** What would have to be confirmed about a file; undefined where it would run nothing. */
async function subjectOf(context: CommandContext, path: string): Promise<TrustSubject | undefined> {
  const { cwd, home, signal, env } = context;
  const { names } = await readEditableConfig(path, { signal });
  if (names.length === 0) return undefined;
  const { files } = await loadConfig({ cwd, env, home, mcpPath: path, signal });
  const [file] = files;
  if (file?.fingerprint === undefined || file.wouldRun.length === 0) return undefined;
  return { path, fingerprint: file.fingerprint };
}
