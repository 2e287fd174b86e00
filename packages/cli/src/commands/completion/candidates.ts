// Completion candidates, from the registered commands, options and arguments.
import { hasControls } from "@trunkline/core";
import type { Argument, Command, Option } from "commander";
import { defaultCommand, type Position } from "./position.js";

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** What the shell should offer: words, plus file or folder names if those are expected. */
export interface Candidates {
  readonly words: readonly Candidate[];
  readonly paths?: "files" | "folders";
}

/** A place for a value: an argument, or an option's value. */
export interface Slot {
  /** The names of the option or argument and of its value; the first known one is used. */
  readonly names: readonly string[];
  readonly position: Position;
}

/** Values the commands themselves do not know, such as server names. */
type FindValues = (slot: Slot) => Promise<Candidates>;

/** Returns all candidates that start with the word at the cursor. */
export async function candidatesAt(position: Position, findValues: FindValues): Promise<Candidates> {
  const { current, prefix } = position;
  const found = await allAt(position, findValues);
  const words = found.words
    .filter(({ value }) => value.startsWith(current) && isShowable(value))
    .map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
  return { ...found, words };
}

async function allAt(position: Position, findValues: FindValues): Promise<Candidates> {
  const { command, option, current, given, isAfterDashes } = position;
  if (option !== undefined) return await valuesOf(option, position, findValues);
  const isDefault = given.length === 0 ? defaultCommand(command) : undefined;
  if (!isAfterDashes && current.startsWith("-")) {
    const own = optionsOf(command);
    return { words: uniqueByValue([...own, ...(isDefault === undefined ? [] : optionsOf(isDefault))]) };
  }
  const subcommands = given.length === 0 && !isAfterDashes ? subcommandsOf(command) : [];
  const argument = argumentAt(isDefault ?? command, given.length);
  if (argument === undefined) return { words: subcommands };
  const values = await valuesOf(argument, position, findValues);
  return { ...values, words: [...subcommands, ...values.words] };
}

function subcommandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), about: each.description() }));
}

function optionsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? "", about: description }));
}

function argumentAt(command: Command, index: number): Argument | undefined {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : undefined);
}

async function valuesOf(place: Option | Argument, position: Position, findValues: FindValues): Promise<Candidates> {
  if (place.argChoices !== undefined) return { words: place.argChoices.map((value) => ({ value, about: "" })) };
  const found = await findValues({ names: namesOf(place), position });
  // A command would take such a name for an option, and a project's file can have any name.
  const words = found.words.filter(({ value }) => position.isAfterDashes || !value.startsWith("-"));
  return { ...found, words };
}

function namesOf(place: Option | Argument): string[] {
  if (!("flags" in place)) return [place.name()];
  const [, placeholder] = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(place.flags) ?? [];
  return placeholder === undefined ? [place.name()] : [place.name(), placeholder];
}

/**
 * Whether a name can be offered. Server names from a project's file can contain control characters; such names have to
 * be typed.
 */
function isShowable(value: string): boolean {
  return !hasControls(value);
}

function uniqueByValue(candidates: readonly Candidate[]): Candidate[] {
  return [...new Map(candidates.map((candidate) => [candidate.value, candidate])).values()];
}
