// Normalizes steps as models write them. Anything unambiguous is accepted; the rest is rejected with a message that
// says what was expected. Two spellings of one thing are always an error: an approver and a runner might otherwise each
// pick another one.
import { isRecord, nearestNames, parseJson, repeatedKey, TrunklineError } from "@trunkline/core";
import type { Params } from "../interfaces/operation.js";
import { requireShallow } from "../operations/run-operation.js";
import { RESERVED_NAMES } from "./references.js";

export interface Step {
  readonly op: string;
  /** An object, or a reference to one. */
  readonly params: Params | string;
  readonly as: string | undefined;
  readonly forEach: unknown;
}

/** The parameter that contains the steps, for each of the two tools that run them. */
type StepsName = "steps" | "operations";

const OTHER_NAME: Readonly<Record<StepsName, StepsName>> = { steps: "operations", operations: "steps" };
const STEP_FIELDS = ["op", "params", "as", "for_each"];
/** A step's fields by their plain names. The alternative names are not a parameter of any operation. */
const FIELD_NAMES: ReadonlyMap<string, string> = new Map([
  ...spellings(STEP_FIELDS),
  ["operation", "op"],
  ["parameters", "params"],
  ["arguments", "params"],
  ["args", "params"],
]);
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Returns a tool's parameters under their canonical names. Throws `INVALID_ARGUMENT` for an unknown one. */
export function readArguments(args: Params, known: readonly string[], list: StepsName): Record<string, unknown> {
  requireShallow(args, list);
  const names = argumentNames(known, list);
  const read = unique(args, (given) => canonical(names, given), "");
  if (Object.keys(args).every((given) => canonical(names, given) !== undefined)) return read;
  const stepEntries = Object.entries(args).filter(([given]) => canonical(names, given) === undefined);
  const [unknown] = stepEntries as [[string, unknown]];
  // A single step written without a list: `{op, params}`.
  const hasOp = stepEntries.some(([given]) => fieldName(given) === "op");
  if (!hasOp || Object.hasOwn(read, list)) throw unknownField(unknown[0], known, "");
  return { ...read, [list]: [Object.fromEntries(stepEntries)] };
}

/** By the list of a tool's parameters, which is the same for all of its calls. */
const knownArguments = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

function argumentNames(known: readonly string[], list: StepsName): ReadonlyMap<string, string> {
  let names = knownArguments.get(known);
  if (names === undefined) {
    names = new Map([...spellings(known), [OTHER_NAME[list], list]]);
    knownArguments.set(known, names);
  }
  return names;
}

/** Reads these parameters in any spelling. Throws `INVALID_ARGUMENT` for one that is given twice. */
export function readNamed(args: Params, known: readonly string[]): Record<string, unknown> {
  const names = new Map(spellings(known));
  return unique(args, (given) => canonical(names, given), "");
}

/**
 * Collects the values that have a name and leaves out null, which models write for omitted parameters. Throws
 * `INVALID_ARGUMENT` for a name that is given twice, in whatever spelling.
 */
function unique(values: Params, nameOf: (given: string) => string | undefined, place: string): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  const names: string[] = [];
  const givenAs: string[] = [];
  for (const given of Object.keys(values)) {
    const name = nameOf(given);
    if (name === undefined) continue;
    const other = givenAs[names.indexOf(name)];
    if (other !== undefined) throw sameTwice(other, given, place);
    names.push(name);
    givenAs.push(given);
    const value = values[given];
    if (value !== null && value !== undefined) read[name] = value;
  }
  return read;
}

function sameTwice(first: string, second: string, place: string): TrunklineError {
  const where = place === "" ? "" : ` in ${place}`;
  return invalid(`"${first}" and "${second}"${where} mean the same.`, {
    hint: "Use only one of them. A parameter of the operation with that name belongs in params.",
    parameter: place === "" ? second : `${place}.${second}`,
  });
}

/** Reads the steps of a call. Throws `INVALID_ARGUMENT`; `data.parameter` has the location. */
export function readSteps(given: unknown, list: StepsName): readonly Step[] {
  const value = typeof given === "string" && /^\s*[[{]/.test(given) ? parseText(given, list) : given;
  if (value !== given) requireShallow(value, list);
  const items: unknown = isRecord(value) ? [value] : value;
  if (!Array.isArray(items) || items.length === 0) {
    throw invalid(`${list} has to be a list with at least one step.`, {
      hint: `For example {"${list}": [{"op": "${list === "steps" ? "describe" : "add"}"${list === "steps" ? "" : ', "params": {"path": "notes.md"}'}}]}.`,
      parameter: list,
    });
  }
  let names: Map<string, number> | undefined;
  return items.map((item: unknown, index) => {
    const step = readStep(item, `${list}[${index}]`);
    if (step.forEach !== undefined && list === "operations") {
      throw invalid("for_each is only available in query.", {
        hint: "Write one operation for each item.",
        parameter: `${list}[${index}].for_each`,
      });
    }
    if (step.as === undefined) return step;
    names ??= new Map();
    const taken = names.get(step.as);
    if (taken !== undefined) {
      throw invalid(`Step ${taken} is already named "${step.as}".`, {
        hint: "Give each step a different name.",
        parameter: `${list}[${index}].as`,
      });
    }
    names.set(step.as, index);
    return step;
  });
}

function readStep(item: unknown, place: string): Step {
  const given = typeof item === "string" && /^\s*\{/.test(item) ? parseText(item, place) : item;
  if (given !== item) requireShallow(given, place);
  if (typeof given === "string") return { op: opOf(given, place), params: {}, as: undefined, forEach: undefined };
  if (!isRecord(given)) {
    throw invalid(`${place} has to be an object.`, {
      hint: 'Write a step as {"op": "search", "params": {…}}.',
      parameter: place,
    });
  }
  const fields = unique(given, fieldName, place);
  const inline = inlineParams(given);
  // Assigning it would change the prototype of the parameters, which nobody sees.
  if (Object.hasOwn(inline, "__proto__")) throw unknownField("__proto__", STEP_FIELDS, place);
  if (fields.op === undefined) nameOperation(fields, inline);
  else if (typeof inline.tool === "string") throw sameTwice("op", "tool", place);
  const [unknown, ...others] = Object.keys(inline);
  if (unknown !== undefined && fields.params !== undefined) throw unknownField(unknown, STEP_FIELDS, place);
  // An object of parameters under a misspelled name is not a parameter itself.
  if (unknown !== undefined && others.length === 0 && isRecord(inline[unknown])) {
    if (nearestNames(unknown, STEP_FIELDS)[0] === "params") throw unknownField(unknown, STEP_FIELDS, place);
  }
  return {
    op: opOf(fields.op, place),
    params: fields.params === undefined ? inline : paramsOf(fields.params, place),
    as: nameOf(fields.as, place),
    forEach: fields.for_each,
  };
}

/** The fields of a step that are not the step's own. */
function inlineParams(step: Params): Record<string, unknown> {
  const isOwn = (key: string) => fieldName(key) !== undefined;
  if (Object.keys(step).every(isOwn)) return {};
  return Object.fromEntries(Object.entries(step).filter(([key]) => !isOwn(key)));
}

/** Handles other ways to name the operation: `{tool, …}`, `{name, arguments}`, `{search: {query}}`. */
function nameOperation(fields: Record<string, unknown>, inline: Record<string, unknown>): void {
  for (const key of ["tool", "name"]) {
    if (typeof inline[key] !== "string" || (key === "name" && fields.params === undefined)) continue;
    fields.op = inline[key];
    delete inline[key];
    return;
  }
  const entries = Object.entries(inline);
  const [only] = entries;
  if (entries.length !== 1 || only === undefined || fields.params !== undefined || !isRecord(only[1])) return;
  [fields.op, fields.params] = only;
  delete inline[only[0]];
}

function fieldName(given: string): string | undefined {
  return canonical(FIELD_NAMES, given);
}

/** Parses a part of a call that was written as text; undefined if it is not JSON. Repeated keys are an error. */
export function parseText(text: string, parameter: string): unknown {
  const key = repeatedKey(text);
  if (key === undefined) return parseJson(text);
  throw invalid(`${parameter} repeats the key "${key}".`, { hint: "Write each key once.", parameter });
}

function opOf(op: unknown, place: string): string {
  if (typeof op === "string" && op.trim() !== "") return op.trim();
  throw invalid(`${place} needs an op.`, {
    hint: '{"op": "describe"} lists the operations.',
    parameter: `${place}.op`,
  });
}

function paramsOf(given: unknown, place: string): Params | string {
  if (isRecord(given)) return given;
  if (typeof given === "string") {
    if (given.trim() === "") return {};
    if (given.startsWith("$")) return given;
    const parsed = parseText(given, `${place}.params`);
    requireShallow(parsed, `${place}.params`);
    if (isRecord(parsed)) return parsed;
  }
  throw invalid(`params of ${place} has to be an object.`, {
    hint: 'Write a step as {"op": "search", "params": {"query": "…"}}.',
    parameter: `${place}.params`,
  });
}

function nameOf(given: unknown, place: string): string | undefined {
  if (given === undefined) return undefined;
  const name = typeof given === "string" ? given.replace(/^\$/, "") : "";
  if (NAME.test(name) && !RESERVED_NAMES.has(name)) return name;
  throw invalid(`"${String(given)}" is not a valid step name.`, {
    hint: `A name consists of letters, digits, _ and -, and cannot be ${[...RESERVED_NAMES].join(", ")}.`,
    parameter: `${place}.as`,
  });
}

/** Every name by itself and by its plain form. */
function spellings(names: readonly string[]): [string, string][] {
  return names.flatMap((name): [string, string][] => [
    [name, name],
    [plain(name), name],
  ]);
}

/** Finds a name in any spelling. Most are written as they are, so that is tried first. */
function canonical(names: ReadonlyMap<string, string>, given: string): string | undefined {
  return names.get(given) ?? names.get(plain(given));
}

/** `dryRun`, `dry-run` and `dry_run` are the same name. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

function unknownField(given: string, known: readonly string[], place: string): TrunklineError {
  const [nearest] = nearestNames(given, known);
  const listed = `Available: ${known.join(", ")}.`;
  const where = place === "" ? "" : ` in ${place}`;
  return invalid(`Unknown parameter "${given}"${where}.`, {
    hint: nearest === undefined ? listed : `Did you mean ${nearest}? ${listed}`,
    parameter: place === "" ? given : `${place}.${given}`,
  });
}

function invalid(message: string, { hint, parameter }: { hint: string; parameter: string }): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, { hint, data: { parameter } });
}

/** Reads a boolean, quoted or not. Throws `INVALID_ARGUMENT`. */
export function readFlag(value: unknown, name: string): boolean {
  if (value === undefined || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  throw invalid(`${name} has to be true or false.`, { hint: "Omit it for false.", parameter: name });
}

/** Reads the budget of an answer. Throws `INVALID_ARGUMENT`. */
export function readMaxTokens(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= 1) return number;
  throw invalid("max_tokens has to be a positive integer.", {
    hint: "Omit it for the default.",
    parameter: "max_tokens",
  });
}
