// Where the cursor stands in a command line that is still being written: read as commander would read it, as far as it goes.
import type { Command, Option } from "commander";

/** Where the cursor stands. */
export interface Position {
  /** The command that the words before the cursor lead to. */
  readonly command: Command;
  /** The arguments that it has been given so far. */
  readonly given: readonly string[];
  /** Values of options so far, of all commands on the way. The last one counts. */
  readonly values: ReadonlyMap<string, string>;
  /** The word at the cursor; after `--option=` what stands behind that. */
  readonly current: string;
  /** What stands in front of `current` in the same word. */
  readonly prefix: string;
  /** The option whose value is being written. */
  readonly option?: Option;
  /** Options of ours are over: what follows is an argument, or another program's business. */
  readonly isAfterDashes: boolean;
}

/** Commander keeps these to itself, and nothing public tells them. */
interface CommandInternals {
  readonly _defaultCommandName: string | null;
  readonly _passThroughOptions: boolean;
}

/** Reads the words before the cursor and the one at it, which is the last. */
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

/** The command that a group runs when none of its own is named. */
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

/** Whether a word behind an option is its value. A value that must be there may begin with a dash. */
function takesValue(option: Option, word: string): boolean {
  return option.required && !option.variadic ? true : !isOption(word);
}

function findOption(command: Command, flag: string): Option | undefined {
  const own = command.options.find(({ long, short }) => long === flag || short === flag);
  const fallback = defaultCommand(command);
  return own ?? (fallback === undefined ? undefined : findOption(fallback, flag));
}

/** An option, and its value where that stands in the same word: `--limit=3`, `-n3`, `-rn3`. */
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
  // Checked by the test of the position: a commander that calls them otherwise fails it.
  return command as unknown as CommandInternals;
}
