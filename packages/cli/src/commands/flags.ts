// The type that commands are added to, options that several commands share, and how their values are parsed.
import { TrunklineError } from "@trunkline/core";
import { type Command, Option } from "commander";
import type { CommandContext } from "../terminal/context.js";
import { COLOUR_MODES, type ColourMode } from "../terminal/palette.js";
import type { ProgramIo } from "../terminal/program-io.js";

/** `inOrder`: the command ended cleanly although it was asked to stop. */
export type SetExitCode = (code: number, options?: { inOrder: boolean }) => void;

/** What each `command.ts` adds its command to. The work is in `run.ts`, which is loaded when the command runs. */
export interface Cli {
  readonly program: Command;
  readonly context: CommandContext;
  readonly setExitCode: SetExitCode;
  /** Runs another command line, for the broker. */
  readonly runProgram: (args: readonly string[], io: ProgramIo) => Promise<number>;
}

/** `--no-broker`, accepted before and after the command name. It takes effect before the command line is parsed. */
export function noBrokerOption(): Option {
  return new Option("--no-broker", "do not use the broker; TRUNKLINE_BROKER=off does the same");
}

/** Values of a repeatable option. */
export type Repeated = readonly string[] | undefined;

/** Creates a repeatable option. Not variadic: that would swallow the following arguments. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`).argParser((value: string, earlier: Repeated) => [
    ...(earlier ?? []),
    value,
  ]);
}

/** Creates an integer option. */
export function wholeNumberOption(flags: string, description: string, bounds: { from?: number; to?: number } = {}) {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = bounds;
  const option = new Option(flags, description);
  return option.argParser((text: string) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isSafeInteger(value) && value >= from && value <= to) return value;
    const range = bounds.to === undefined ? `of at least ${from}` : `from ${from} to ${to}`;
    throw new TrunklineError("USAGE", `"${text}" is not a valid value for ${option.long ?? flags}.`, {
      hint: `Give a whole number ${range}.`,
    });
  });
}

/** `--store`, accepted before and after the command name. */
export function storeOption(): Option {
  return new Option("--store <path>", "the store: its folder, or postgres://user@host/database");
}

/** Returns the value of `--store`; the nearest one wins. */
export function storePathOf(command: Command): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const { store } = at.opts<{ store?: string }>();
    if (store !== undefined) return store;
  }
  return undefined;
}

/** Rejects an unknown word: a group's default command receives words that match no other command. */
export function refuseWord(group: Command, word: string | undefined): void {
  if (word === undefined) return;
  throw new TrunklineError("USAGE", `There is no command "${group.name()} ${word}".`, {
    hint: `Commands: ${group
      .createHelp()
      .visibleCommands(group)
      .map((candidate) => candidate.name())
      .filter((name) => name !== "help")
      .join(", ")}.`,
  });
}

/** What to say if a command is given options that belong to another program, by command. */
const unknownOptionHints = new WeakMap<Command, (words: readonly string[]) => string | undefined>();

/** Sets the hint for an unknown option. It gets all words that are not options of the command. */
export function hintOnUnknownOption(command: Command, hint: (words: readonly string[]) => string | undefined): void {
  unknownOptionHints.set(command, hint);
}

export function unknownOptionHint(command: Command): string | undefined {
  return unknownOptionHints.get(command)?.(command.args);
}

export function mcpOption(): Option {
  return new Option("--mcp <path>", "use only this configuration file");
}

/** `--color`, accepted before and after every command. */
export function colorOption({ setColourMode }: Pick<CommandContext, "setColourMode">): Option {
  const option = new Option("--color <when>", "use colours").choices([...COLOUR_MODES]);
  const check = option.parseArg as (text: string, earlier: unknown) => ColourMode;
  // Takes effect while the command line is read, so that errors in the rest of it have their colours too.
  return option.argParser((text: string, earlier: unknown) => {
    const mode = check(text, earlier);
    setColourMode(mode);
    return mode;
  });
}

/** One day. */
const MAX_SECONDS = 86_400;

/** Creates an option for a time. 0 means the default, as everywhere. */
export function secondsOption(description: string, flags = "--timeout <seconds>"): Option {
  const option = new Option(flags, description);
  return option.argParser((text) => {
    const seconds = text.trim() === "" ? Number.NaN : Number(text);
    if (seconds === 0) return option.defaultValue;
    if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
    throw new TrunklineError("USAGE", `"${text}" is not a valid value for ${option.long ?? flags}.`, {
      hint: `Give a number of seconds up to ${MAX_SECONDS}, or 0 for the default.`,
    });
  });
}

/**
 * Adds `--json`, the one spelling of machine output. Its former spellings, `--format json` and `--raw`, still work but
 * are hidden. `also` lists formats that have no other spelling.
 */
export function withJson(command: Command, about = "print the result as JSON", also: readonly string[] = []): Command {
  const format = new Option("--format <format>", `print it as ${also.join(" or ")}`).choices(["text", "json", ...also]);
  command
    .option("--json", about)
    .addOption(also.length === 0 ? format.hideHelp() : format)
    .addOption(new Option("--raw").hideHelp().implies({ json: true }));
  return command.on("option:format", (value: string) => {
    if (value === "json") command.setOptionValue("json", true);
  });
}

/** Adds the options that describe a server on the command line. The command itself comes after `--`. */
export function withTypedServer(command: Command): Command {
  return command
    .option("--url <url>", "use only the server at this URL; no configuration is read")
    .addOption(repeatable("--header <header>", "with --url: 'Name: value'"))
    .addOption(repeatable("--env <variable>", "with -- <command>: NAME=value for the server"))
    .addOption(new Option("--transport <transport>", "with --url: how to reach it").choices(["http", "sse"]));
}

/** Splits a command's words at `--`. `after` is undefined if there is none. */
export function wordsAround(command: Command): { before: readonly string[]; after: readonly string[] | undefined } {
  let root = command;
  while (root.parent !== null) root = root.parent;
  // Commander removes the `--`, and has no public accessor for the line as it was written.
  const { rawArgs } = root as unknown as { readonly rawArgs: readonly string[] };
  const dashes = rawArgs.indexOf("--");
  if (dashes === -1) return { before: command.args, after: undefined };
  const after = rawArgs.slice(dashes + 1);
  return { before: command.args.slice(0, command.args.length - after.length), after };
}

/** Returns the value of `--mcp`, which works before and after the command; the nearest one wins. */
export function mcpPathOf(command: Command): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const { mcp } = at.opts<{ mcp?: string }>();
    if (mcp !== undefined) return mcp;
  }
  return undefined;
}
