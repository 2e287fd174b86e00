// Arguments and options of a command from the parameters of an operation: names, values, bounds, choices and help come
// from the table, and what was given comes back under the names that the store's methods take.
import { type Parameter, type ParameterSet, TrunklineError } from "@trunkline/core";
import { camelCase } from "@trunkline/store/contract";
import { type Command, Option } from "commander";
import { repeatable, wholeNumberOption } from "../flags.js";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
}

/** What was given: parameters, and the arguments that are not one. */
interface GivenParams {
  readonly params: Readonly<Record<string, unknown>>;
  readonly rest: readonly string[];
}

/** Adds them to a command. The function that comes back reads what was given, once the command runs. */
export function addParameters(command: Command, params: ParameterSet): () => GivenParams {
  const readers: [name: string, read: () => unknown][] = [];
  let position = 0;
  for (const [name, parameter] of Object.entries(params)) {
    const { cli = {} } = parameter;
    if (cli === false) continue;
    const schema = parameter.schema as Schema;
    const help = cli.about ?? helpOf(schema.description ?? "");
    if (cli.argument !== undefined) {
      command.argument(cli.argument, help);
      const at = position++;
      readers.push([name, () => argumentValue(command.processedArgs[at], schema)]);
      continue;
    }
    const option = optionOf(name, parameter, help);
    if (parameter.required || cli.required === true) option.makeOptionMandatory();
    command.addOption(option);
    readers.push([name, () => command.getOptionValue(option.attributeName())]);
  }
  return () => ({
    params: Object.fromEntries(
      readers.map(([name, read]) => [camelCase(name), read()] as const).filter(([, value]) => value !== undefined),
    ),
    rest: command.processedArgs.slice(position) as string[],
  });
}

/** Words that make up one text are joined. */
function argumentValue(value: unknown, schema: Schema): unknown {
  return Array.isArray(value) && schema.type === "string" ? value.join(" ") : value;
}

function optionOf(name: string, { schema: declared, cli }: Parameter, help: string): Option {
  const schema = declared as Schema;
  const { flags: given, value } = cli === undefined || cli === false ? {} : cli;
  const dashed = name.replaceAll("_", "-");
  const { type } = schema;
  if (type === "boolean")
    return new Option(given ?? (schema.default === true ? `--no-${dashed}` : `--${dashed}`), help);
  const isNumber = type === "integer" || type === "number";
  const flags = `${given ?? `--${dashed}`} <${value ?? (isNumber ? "number" : name.split("_").at(-1))}>`;
  const about = schema.default === undefined ? help : `${help} (default: ${String(schema.default)})`;
  if (schema.enum !== undefined) return new Option(flags, about).choices(schema.enum);
  if (type === "integer") {
    const { minimum, maximum } = schema;
    return wholeNumberOption(flags, about, {
      ...(minimum === undefined ? {} : { from: minimum }),
      ...(maximum === undefined ? {} : { to: maximum }),
    });
  }
  if (type === "number") return numberOption(flags, about, schema);
  return isList(schema) ? repeatable(flags, about) : new Option(flags, about);
}

/** Several values may be given. */
function isList({ type, anyOf = [] }: Schema): boolean {
  return type === "array" || anyOf.some((each) => each.type === "array");
}

function numberOption(flags: string, help: string, { minimum = -Infinity, maximum = Infinity }: Schema): Option {
  const option = new Option(flags, help);
  return option.argParser((text: string) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (value >= minimum && value <= maximum) return value;
    throw new TrunklineError("USAGE", `"${text}" is no value for ${option.long ?? flags}.`, {
      hint: `Give a number from ${minimum} to ${maximum}.`,
    });
  });
}

/** A sentence as help shows it: `Only this collection.` becomes `only this collection`. */
export function helpOf(sentence: string): string {
  const text = sentence.replace(/\.$/, "");
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
