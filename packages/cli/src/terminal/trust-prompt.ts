// Trust at the command line: what a project's files would run is shown, and confirmed by a person.
import { type ConfigFile, type LoadedConfig, TrustStore, type TrustSubject } from "@trunkline/client/config";
import { printable } from "@trunkline/core";
import { type CommandContext, isAtTerminal } from "./context.js";
import { askYesNo } from "./questions.js";

/** A project's file that would run something. */
export type RunnableFile = ConfigFile & TrustSubject;

/** The files of the project that would run something. */
export function runnableFiles(config: LoadedConfig): RunnableFile[] {
  return config.files.filter(
    (file): file is RunnableFile =>
      file.scope === "project" && file.exists && file.fingerprint !== undefined && file.wouldRun.length > 0,
  );
}

/**
 * For commands that start servers. At a terminal: asks once for the project's files that nobody has confirmed, and returns
 * whether they are confirmed now; the configuration has to be read again then. Elsewhere: one notice, and false.
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
  context.note("This project would start programs or reach servers that you have not confirmed yet.");
  // Past the redactor: a project that puts its command into env as well must not have it hidden from who confirms it.
  for (const line of describeFiles(files)) context.io.stderr.write(`${line}\n`);
  if (!(await askYesNo(context, "Confirm them?"))) {
    context.note("Not confirmed. `trunkline trust` asks again.");
    return false;
  }
  await new TrustStore(context.home).confirm(...files);
  return true;
}

/** One line about the servers that are not started because nobody has confirmed them; undefined where there are none. */
export function untrustedNotice(config: LoadedConfig): string | undefined {
  const names = config.servers
    .filter(({ trusted, disabled }) => !trusted && !disabled)
    .map(({ name }) => printable(name));
  if (names.length === 0) return undefined;
  return `${quantity(names.length, "server")} of this project ${names.length === 1 ? "is" : "are"} not started, because nobody has confirmed what would run: ${names.join(", ")}. \`trunkline trust\` shows and confirms it.`;
}

/** The lines that show what files would run. */
export function* describeFiles(files: readonly ConfigFile[]): Generator<string> {
  for (const { path, wouldRun } of files) {
    yield path;
    for (const { name, what } of wouldRun) yield `  ${name}: ${what}`;
  }
}

/** `1 server`, `2 servers`. */
export function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
