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
