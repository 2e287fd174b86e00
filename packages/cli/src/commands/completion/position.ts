// Finds the cursor position in an unfinished command line, parsing it as commander would.
import type { Command, Option } from "commander";

export interface Position {
  /** The command that the words before the cursor lead to. */
  readonly command: Command;
  /** The command's arguments so far. */
  readonly given: readonly string[];
  /** Option values so far, of all commands on the way. The last value wins. */
  readonly values: ReadonlyMap<string, string>;
  /** The word at the cursor; after `--option=`, the part after it. */
  readonly current: string;
  /** The part of the word before `current`. */
  readonly prefix: string;
  /** The option whose value is being typed. */
  readonly option?: Option;
  /** Whether our options have ended: anything that follows is an argument, or belongs to another program. */
  readonly isAfterDashes: boolean;
}

/** Commander internals without a public accessor. */
interface CommandInternals {
  readonly _defaultCommandName: string | null;
  readonly _passThroughOptions: boolean;
}

/** Parses the words up to the cursor; the last word is the one at the cursor. */
export function positionOf(program: Command, words: readonly string[]): Position {
  const earlier = words.slice(0, -1);
  const last = words.at(-1) ?? "";
  const given: string[] = [];
  const values = new Map<string, string>();
  let command = program;
  let option: Option | undefined;
  let isAfterDashes = false;

  for (const word of earlier) {
    if (option !== undefined && takesValue(option, word)) {
      values.set(option.attributeName(), word);
      if (!option.variadic) option = undefined;
      continue;
    }
    option = undefined;
    if (isAfterDashes) given.push(word);
    else if (word === "--") isAfterDashes = true;
    else if (isOption(word)) {
      const read = readOption(command, word);
      if (read?.value !== undefined) values.set(read.option.attributeName(), read.value);
      else if (read !== undefined && (read.option.required || read.option.optional)) option = read.option;
    } else {
      const next = given.length === 0 ? subcommand(command, word) : undefined;
      command = next ?? (given.length === 0 ? (defaultCommand(command) ?? command) : command);
      if (next === undefined) given.push(word);
      if (next === undefined && internals(command)._passThroughOptions) isAfterDashes = true;
    }
  }
  const at = { command, given, values, isAfterDashes };
  if (option !== undefined && takesValue(option, last)) return { ...at, current: last, prefix: "", option };
  const equals = last.indexOf("=");
  if (!isAfterDashes && last.startsWith("--") && equals !== -1) {
    const written = findOption(command, last.slice(0, equals));
    const prefix = last.slice(0, equals + 1);
    if (written !== undefined) return { ...at, current: last.slice(equals + 1), prefix, option: written };
  }
  return { ...at, current: last, prefix: "" };
}

/** Returns the command a group runs by default. */
export function defaultCommand(group: Command): Command | undefined {
  const name = internals(group)._defaultCommandName;
  return group.commands.find((candidate) => candidate.name() === name);
}

function subcommand(command: Command, word: string): Command | undefined {
  return command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

/** Whether the word after an option is its value. A required value can start with a dash. */
function takesValue(option: Option, word: string): boolean {
  return option.required && !option.variadic ? true : !isOption(word);
}

function findOption(command: Command, flag: string): Option | undefined {
  const own = command.options.find(({ long, short }) => long === flag || short === flag);
  const fallback = defaultCommand(command);
  return own ?? (fallback === undefined ? undefined : findOption(fallback, flag));
}

/** Parses an option, and its value if both are in one word: `--limit=3`, `-n3`, `-rn3`. */
function readOption(command: Command, word: string): { option: Option; value?: string } | undefined {
  const [, flag = word, value] = /^(--[^=]*)=(.*)$/s.exec(word) ?? [];
  const option = findOption(command, flag);
  if (option !== undefined) return value === undefined ? { option } : { option, value };
  if (word.startsWith("--")) return undefined;
  for (let at = 1; at < word.length; at++) {
    const short = findOption(command, `-${word[at]}`);
    if (short === undefined) return undefined;
    if (!short.required && !short.optional) continue;
    const rest = word.slice(at + 1);
    return rest === "" ? { option: short } : { option: short, value: rest };
  }
  return undefined;
}

function internals(command: Command): CommandInternals {
  // The position test fails if commander renames these.
  return command as unknown as CommandInternals;
}
