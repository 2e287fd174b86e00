// What commands are added to, the options that several of them share, and how their values are read.
import { TrunklineError } from "@trunkline/core";
import { type Command, Option } from "commander";
import type { CommandContext } from "../terminal/context.js";

/** `inOrder`: the command ended as it should although it was asked to stop. */
export type SetExitCode = (code: number, options?: { inOrder: boolean }) => void;

/** What each `command.ts` adds its command to. The work is in `run.ts`, which is loaded when the command runs. */
export interface Cli {
  readonly program: Command;
  readonly context: CommandContext;
  readonly setExitCode: SetExitCode;
}

/** Values of an option that may be repeated. */
export type Repeated = readonly string[] | undefined;

/** Options that narrow search, grep and list alike. */
export interface FilterOptions {
  collection?: string;
  snapshot?: string;
  tag?: Repeated;
  matchAllTags?: boolean;
  metadata?: Repeated;
  session?: string;
}

/** The filters under the names that the store has for them. */
export function filterParams({ collection, snapshot, tag, matchAllTags, metadata, session }: FilterOptions) {
  return { collection, snapshot, tags: tag, matchAllTags: matchAllTags, metadata, session };
}

/** An option that may be given several times. Not variadic: that would swallow the arguments after it. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (may be repeated)`).argParser((value: string, earlier: Repeated) => [
    ...(earlier ?? []),
    value,
  ]);
}

/** An option whose value is a whole number. */
export function wholeNumberOption(flags: string, description: string, bounds: { from?: number; to?: number } = {}) {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = bounds;
  const option = new Option(flags, description);
  return option.argParser((text: string) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isSafeInteger(value) && value >= from && value <= to) return value;
    const range = bounds.to === undefined ? `of at least ${from}` : `from ${from} to ${to}`;
    throw new TrunklineError("USAGE", `"${text}" is no value for ${option.long ?? flags}.`, {
      hint: `Give a whole number ${range}.`,
    });
  });
}

/** `--store`, which works before and after the command's name. */
export function storeOption(): Option {
  return new Option("--store <path>", "the store's folder");
}

/** What `--store` says; the nearer one wins. */
export function storePathOf(command: Command): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const { store } = at.opts<{ store?: string }>();
    if (store !== undefined) return store;
  }
  return undefined;
}

/** The options that every `store` command ends with. */
export function withCommonOptions(command: Command, formats: readonly string[] = ["text", "json"]): Command {
  return command
    .addOption(new Option("--format <format>", "how to print the result").choices(formats).default("text"))
    .option("--json", "the same as --format json")
    .addOption(storeOption());
}

/** Adds the options that narrow what is looked at. */
export function withFilters(command: Command): Command {
  return command
    .option("--collection <name>", "only this collection")
    .option("--snapshot <id>", "the documents as they were in this snapshot (id or label)")
    .addOption(repeatable("--tag <tag>", "only documents with this tag"))
    .option("--match-all-tags", "with every --tag, not only one of them")
    .addOption(repeatable("--metadata <key=value>", "only documents with this metadata"))
    .option("--session <id>", "only documents of this session");
}

/** Adds the options that describe what is stored. */
export function withDescription(command: Command): Command {
  return command
    .option("--collection <name>", "the collection it goes to", "default")
    .addOption(repeatable("--tag <tag>", "a tag for each document"))
    .addOption(repeatable("--metadata <key=value>", "metadata for each document"))
    .option("--session <id>", "it belongs to this session");
}

/** The default command of a group gets what none of the others is called. */
export function refuseWord(group: Command, word: string | undefined): void {
  if (word === undefined) return;
  throw new TrunklineError("USAGE", `There is no command "${group.name()} ${word}".`, {
    hint: `There are ${group.commands.map((candidate) => candidate.name()).join(", ")}.`,
  });
}

export function mcpOption(): Option {
  return new Option("--mcp <path>", "use this configuration file and no other");
}

export function secondsOption(description: string): Option {
  return new Option("--timeout <seconds>", description).argParser((text) => {
    const seconds = Number(text);
    if (seconds > 0 && seconds <= 86_400) return seconds;
    throw new TrunklineError("USAGE", `"${text}" is not a number of seconds.`);
  });
}

export function formatOption(description = "how to print the result"): Option {
  return new Option("--format <format>", description).choices(["text", "json"]).default("text");
}

/** `--mcp` works before and after the command; the nearer one wins. */
export function mcpPathOf(command: Command): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const { mcp } = at.opts<{ mcp?: string }>();
    if (mcp !== undefined) return mcp;
  }
  return undefined;
}
