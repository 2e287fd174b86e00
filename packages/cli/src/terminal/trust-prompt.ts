// Trust at the command line: shows what a project's files would run and asks the user to approve it.
import { type ConfigFile, type LoadedConfig, TrustStore, type TrustSubject } from "@trunkline/config";
import { printable } from "@trunkline/core";
import { askApproval } from "./approval-question.js";
import { type CommandContext, isAtTerminal } from "./context.js";
import { askYesNo } from "./questions.js";

/** A project file that would run something. */
export type RunnableFile = ConfigFile & TrustSubject;

/** Returns the project files that would run something. */
export function runnableFiles(config: LoadedConfig): RunnableFile[] {
  return config.files.filter(
    (file): file is RunnableFile =>
      file.scope === "project" && file.exists && file.fingerprint !== undefined && file.wouldRun.length > 0,
  );
}

/**
 * For commands that start servers. At a terminal, asks once about the project's unapproved files and returns whether
 * they are approved now; if so, the caller has to reload the config. Without a terminal, prints one notice and returns
 * false.
 */
export async function confirmProjectFiles(context: CommandContext, config: LoadedConfig): Promise<boolean> {
  const files = runnableFiles(config).filter(({ path }) =>
    config.servers.some(({ file, trusted }) => file === path && !trusted),
  );
  if (files.length === 0) return false;
  if (!isAtTerminal(context)) {
    const notice = untrustedNotice(config);
    if (notice !== undefined) context.note(notice);
    return false;
  }
  context.note("This project would start programs or connect to servers that you have not approved yet.");
  // Not redacted: a project that repeats its command in env must not hide it from the user who approves it.
  for (const line of describeFiles(files)) context.noteInFull(line);
  if (!(await askApproval(context, "project"))) return false;
  await new TrustStore(context.home).confirm(...files);
  return true;
}

/**
 * For commands that start servers. At a terminal, asks whether the user's own servers may use this workspace, if one of
 * them needs it. Returns whether that is approved now. Without a terminal the server's error names the command.
 */
export async function confirmWorkspace(
  context: CommandContext,
  config: LoadedConfig,
  wanted: (server: string) => boolean = () => true,
): Promise<boolean> {
  const names = workspaceServers(config).filter(wanted);
  if (names.length === 0 || !isAtTerminal(context)) return false;
  context.noteInFull(workspaceQuestion(config.workspaceFolder, names));
  if (!(await askApproval(context, "workspace"))) return false;
  await new TrustStore(context.home).confirmWorkspace(config.workspaceFolder);
  return true;
}

/**
 * For commands that start servers. At a terminal, asks whether a file may have the secrets that its servers ask for, by
 * name. Returns whether one was granted. Without a terminal the server's error names the command.
 */
export async function confirmSecrets(
  context: CommandContext,
  config: LoadedConfig,
  wanted: (server: string) => boolean = () => true,
): Promise<boolean> {
  if (!isAtTerminal(context)) return false;
  let isGranted = false;
  for (const { file, names, servers } of wantedSecrets(config, wanted)) {
    for (const line of describeSecrets(file, servers)) context.noteInFull(line);
    const which = names.map(printable).join(", ");
    if (!(await askYesNo(context, `Give ${names.length === 1 ? "the secret" : "the secrets"} ${which} to them?`)))
      continue;
    await new TrustStore(context.home).grantSecrets(file, names);
    isGranted = true;
  }
  return isGranted;
}

interface WantedSecrets {
  readonly file: SecretFile;
  /** The labels of the secrets. */
  readonly names: readonly string[];
  readonly servers: readonly string[];
}

type SecretFile = ConfigFile & TrustSubject;

/** Returns the secrets that files ask for and have not been granted, if their servers would start with them. */
export function wantedSecrets(
  config: LoadedConfig,
  wanted: (server: string) => boolean = () => true,
): readonly WantedSecrets[] {
  return config.files.flatMap((file) => {
    const asking = config.servers.filter(
      (server) => server.file === file.path && server.trusted && !server.disabled && wanted(server.name),
    );
    const names = [...new Set(asking.flatMap(({ needsSecrets = [] }) => needsSecrets))];
    if (names.length === 0 || file.fingerprint === undefined) return [];
    const servers = asking.filter(({ needsSecrets }) => needsSecrets !== undefined).map(({ name }) => printable(name));
    return [{ file: { ...file, wouldRun: file.wouldRun, fingerprint: file.fingerprint }, names, servers }];
  });
}

/** Says which servers would get secrets, and what they run or contact. */
export function* describeSecrets({ path, wouldRun }: SecretFile, servers: readonly string[]): Generator<string> {
  yield `Servers in ${printable(path)} ask for secrets that you keep elsewhere:`;
  for (const { name, what } of wouldRun) if (servers.includes(name)) yield `  ${name}: ${what}`;
}

/** Returns the user's own servers that do not start because the workspace is not approved. */
export function workspaceServers(config: LoadedConfig): string[] {
  return config.servers
    .filter(({ needsWorkspace, disabled }) => needsWorkspace && !disabled)
    .map(({ name }) => printable(name));
}

/** Explains what the approval of a workspace means. */
export function workspaceQuestion(folder: string, names: readonly string[]): string {
  const which = names.length === 0 ? "" : ` These servers need it: ${names.join(", ")}.`;
  return `Your own servers may run programs from ${printable(folder)} and read its .env once you approve it.${which}`;
}

/**
 * Returns one line about the servers that are not started because they are not approved; undefined if there are none.
 */
export function untrustedNotice(config: LoadedConfig): string | undefined {
  const names = config.servers
    .filter(({ trusted, disabled }) => !trusted && !disabled)
    .map(({ name }) => printable(name));
  if (names.length === 0) return undefined;
  return `${quantity(names.length, "server")} of this project ${names.length === 1 ? "is" : "are"} not started because you have not approved what would run: ${names.join(", ")}. Run \`trunkline trust\` to review and approve it.`;
}

/** Lists what the files would run. */
export function* describeFiles(files: readonly Pick<ConfigFile, "path" | "wouldRun">[]): Generator<string> {
  for (const { path, wouldRun } of files) {
    yield printable(path);
    for (const { name, what } of wouldRun) yield `  ${name}: ${what}`;
  }
}

/** `1 server`, `2 servers`. */
export function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
