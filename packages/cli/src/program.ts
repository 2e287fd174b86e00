// The command line: which commands exist, how they run, and how failures are reported.
import { isTrunklineError, messageOf, toTrunklineError } from "@trunkline/core";
import { Command, CommanderError, type OutputConfiguration } from "commander";
import { EXIT, exitCodeOf } from "./app/exit-codes.js";
import {
  type Cli,
  colorOption,
  mcpOption,
  noBrokerOption,
  type SetExitCode,
  unknownOptionHint,
} from "./commands/flags.js";
import { formatHelp } from "./commands/help-screen.js";
import { INSTEAD, OUTLINE } from "./commands/outline.js";
import { spelledForShell } from "./commands/shell-spelling.js";
import { type CommandContext, createContext } from "./terminal/context.js";
import type { OutputStream, ProgramIo } from "./terminal/program-io.js";

/** The commands, in help order. Only the one that runs is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<(cli: Cli) => void>>> = {
  setup: async () => (await import("./commands/setup/command.js")).addSetup,
  servers: async () => (await import("./commands/servers/command.js")).addServers,
  import: async () => (await import("./commands/import/command.js")).addImport,
  trust: async () => (await import("./commands/trust/command.js")).addTrust,
  auth: async () => (await import("./commands/auth/command.js")).addAuth,
  secrets: async () => (await import("./commands/secrets/command.js")).addSecrets,
  serve: async () => (await import("./commands/serve/command.js")).addServe,
  tokens: async () => (await import("./commands/tokens/command.js")).addTokens,
  install: async () => (await import("./commands/install/command.js")).addInstall,
  tools: async () => (await import("./commands/tools/command.js")).addTools,
  call: async () => (await import("./commands/call/command.js")).addCall,
  resources: async () => (await import("./commands/resources/command.js")).addResources,
  prompts: async () => (await import("./commands/prompts/command.js")).addPrompts,
  query: async () => (await import("./commands/query/command.js")).addQuery,
  ask: async () => (await import("./commands/ask/command.js")).addAsk,
  chat: async () => (await import("./commands/chat/command.js")).addChat,
  agent: async () => (await import("./commands/agent/command.js")).addAgent,
  run: async () => (await import("./commands/run/command.js")).addRun,
  generate: async () => (await import("./commands/generate/command.js")).addGenerate,
  init: async () => (await import("./commands/init/command.js")).addInit,
  store: async () => (await import("./commands/store/command.js")).registerStore,
  embed: async () => (await import("./commands/embed/command.js")).addEmbed,
  models: async () => (await import("./commands/models/command.js")).addModels,
  console: async () => (await import("./commands/console/command.js")).addConsole,
  doctor: async () => (await import("./commands/doctor/command.js")).addDoctor,
  log: async () => (await import("./commands/log/command.js")).addLog,
  stats: async () => (await import("./commands/stats/command.js")).addStats,
  broker: async () => (await import("./commands/broker/command.js")).addBroker,
  completion: async () => (await import("./commands/completion/command.js")).addCompletion,
};
/** The first word of a command line that only needs the list of commands. */
export const OUTLINE_ONLY = "--help";

/** Commands that are added together with another command. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ["execute", "query"],
  ["uninstall", "install"],
]);

/**
 * Runs one command line and returns its exit code. Never throws.
 *
 * All access to the outside world goes through `io`, and two runs share nothing, so a process can run several, even at
 * once. `run` is the exception. A script takes over the whole process: it is loaded with the process's module hooks,
 * reads `process.argv`, and ends the process itself.
 */
export async function runProgram(args: readonly string[], io: ProgramIo): Promise<number> {
  const context = createContext(io);
  const code = await runCommand(args, context, io);
  const { lookForUpdate } = io;
  if (lookForUpdate === undefined || context.signal.aborted || !isForPerson(args, io)) return code;
  try {
    const { showUpdateNotice } = await import("./updates/update-notice.js");
    await showUpdateNotice(context, lookForUpdate);
  } catch (error) {
    // The command has done its work; a notice that cannot be shown is not a failure.
    context.logger.debug("no update notice", { error: messageOf(error) });
  }
  return code;
}

/** Commands whose output belongs to a program or a script. */
const NOT_FOR_PEOPLE: ReadonlySet<string> = new Set(["serve", "run", "__complete"]);

/** Whether someone reads the output of a command, and wants to hear about updates. */
function isForPerson(args: readonly string[], { stdout, stderr, env }: ProgramIo): boolean {
  if (env.TRUNKLINE_NO_UPDATE_NOTICE || (env.CI && env.CI !== "false")) return false;
  if (NOT_FOR_PEOPLE.has(commandWord(args) ?? "")) return false;
  return stdout.isTTY === true && stderr.isTTY === true;
}

async function runCommand(args: readonly string[], context: CommandContext, io: ProgramIo): Promise<number> {
  const { signal } = context;
  let exitCode: number = EXIT.success;
  let stoppedInOrder = false;
  const setExitCode: SetExitCode = (code, options) => {
    exitCode = code;
    stoppedInOrder = options?.inOrder ?? false;
  };
  const program = await buildProgram(context, setExitCode, commandWord(args) ?? OUTLINE_ONLY);
  const used: UsedCommand = { command: program, words: program.name() };
  eachCommand(program, (command, words) => {
    command.exitOverride((error) => {
      Object.assign(used, { command, words });
      throw error;
    });
    command.hook("preAction", () => void Object.assign(used, { command, words }));
  });
  try {
    if (namesNoCommand(program, args)) {
      const { showStanding } = await import("./commands/standing/run.js");
      const helper = program.createHelp();
      helper.prepareContext({ helpWidth: widthOf(io.stdout) });
      return await showStanding(context, { mcp: program.opts<{ mcp?: string }>().mcp, helper });
    }
    await program.parseAsync(args, { from: "user" });
    return signal.aborted && !stoppedInOrder ? interruptedCode(signal) : exitCode;
  } catch (error) {
    const code = report(error, context, used);
    // A command that uses exit code 1 for something else has set its own failure code.
    return code === EXIT.failure && exitCode !== EXIT.success ? exitCode : code;
  }
}

/** Finds the first word that is not an option of the program itself: the command, if there is one. */
export function commandWord(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--mcp" || word === "--color") at++;
    else if (!/^--(?:mcp|color)=/.test(word)) return word;
  }
  return undefined;
}

/**
 * Builds the commands with all their options. If `first`, the word from {@link commandWord}, names a command, only
 * that one is registered: loading them all takes longer than running most of them. For `OUTLINE_ONLY` they are
 * registered by name only.
 */
export async function buildProgram(
  context: CommandContext,
  setExitCode: SetExitCode,
  first?: string,
): Promise<Command> {
  const program = new Command("trunkline")
    .description("One line from an AI agent to every MCP server, and to everything it has read.")
    .version(context.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .addOption(mcpOption())
    .addOption(colorOption(context))
    .addOption(noBrokerOption())
    // `--version` after a command belongs to that command: `store get` has one.
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .configureHelp({
      sortSubcommands: false,
      showGlobalOptions: false,
      minWidthToWrap: 20,
      styleTitle: (title) => context.palette.heading(title),
      formatHelp,
    })
    .exitOverride()
    .configureOutput(outputOf(context));
  if (first === OUTLINE_ONLY) {
    for (const name of Object.keys(OUTLINE)) program.command(name);
  } else {
    const name = first === undefined ? undefined : (BESIDE.get(first) ?? first);
    const isKnown = name !== undefined && Object.hasOwn(COMMANDS, name);
    const wanted = isKnown ? [COMMANDS[name]] : Object.values(COMMANDS);
    for (const add of await Promise.all(wanted.map((load) => load?.())))
      add?.({ program, context, setExitCode, runProgram });
    eachCommand(program, (command) => {
      if (command !== program)
        command.addOption(colorOption(context).hideHelp()).addOption(noBrokerOption().hideHelp());
    });
  }
  for (const command of program.commands) {
    command.exitOverride();
    const about = OUTLINE[command.name()];
    if (about !== undefined) command.description(about);
  }
  return program;
}

/** Whether the command line has no word at all, or only options of the program itself. */
function namesNoCommand(program: Command, args: readonly string[]): boolean {
  if (!args.every((word, index) => word.startsWith("-") || args[index - 1]?.startsWith("--"))) return false;
  const { operands, unknown } = program.parseOptions([...args]);
  return operands.length === 0 && unknown.length === 0;
}

/** Width of the help text without a terminal. */
const DEFAULT_COLUMNS = 80;

function widthOf({ isTTY, columns }: OutputStream): number {
  return isTTY === true && columns ? columns : DEFAULT_COLUMNS;
}

/** Tells commander where to write its help. We report errors ourselves. */
function outputOf(context: CommandContext): OutputConfiguration {
  const { io } = context;
  return {
    writeOut: (text) => void io.stdout.write(text),
    writeErr: (text) => void io.stderr.write(text),
    getOutHelpWidth: () => widthOf(io.stdout),
    getErrHelpWidth: () => widthOf(io.stderr),
    getOutHasColors: () => context.palette.hasColours,
    getErrHasColors: () => context.notePalette.hasColours,
    outputError: () => {},
  };
}

/** Visits a command and its subcommands, with the words that lead there. */
function eachCommand(command: Command, visit: (command: Command, words: string) => void, words = command.name()): void {
  visit(command, words);
  for (const child of command.commands) eachCommand(child, visit, `${words} ${child.name()}`);
}

/** The command that ran, or whose help explains the usage error. */
interface UsedCommand {
  command: Command;
  /** With the commands it belongs to: `trunkline store graph`. */
  words: string;
}

function report(error: unknown, context: CommandContext, { command, words }: UsedCommand): number {
  if (error instanceof CommanderError) {
    // Help and version arrive here too, as successes.
    if (error.exitCode === 0) return EXIT.success;
    // A command group without a subcommand: its help has been shown.
    if (error.code === "commander.help") return EXIT.usage;
    const instead = insteadOf(error, command);
    noteError(
      context,
      error.message
        .replace(/^error: /, "")
        .split("\n", instead === undefined ? undefined : 1)
        .join("\n"),
    );
    const hint = error.code === "commander.unknownOption" ? unknownOptionHint(command) : instead;
    context.note(`  ${hint ?? `See \`${words} --help\`.`}`);
    return EXIT.usage;
  }
  if (context.signal.aborted) return interruptedCode(context.signal);
  const known = toTrunklineError(error);
  noteError(context, spelledForShell(known.message, command));
  if (known.hint !== undefined) context.note(`  ${spelledForShell(known.hint, command)}`);
  if (!isTrunklineError(error))
    context.logger.debug("unexpected error", { stack: error instanceof Error ? error.stack : String(error) });
  return exitCodeOf(known.code);
}

/** What a word that is no command is meant for. */
function insteadOf({ code, message }: CommanderError, command: Command): string | undefined {
  if (code !== "commander.unknownCommand" || command.parent !== null) return undefined;
  const [, word = ""] = /unknown command '([^']*)'/.exec(message) ?? [];
  return Object.hasOwn(INSTEAD, word) ? `Use \`${INSTEAD[word]}\`.` : undefined;
}

function noteError({ note }: CommandContext, message: string): void {
  note(`trunkline: ${message}`, "error");
}

/** By convention, the exit code shows which signal ended a process. */
function interruptedCode(signal: AbortSignal): number {
  if (signal.reason === "SIGTERM") return EXIT.terminated;
  return signal.reason === "SIGHUP" ? EXIT.hungUp : EXIT.interrupted;
}
