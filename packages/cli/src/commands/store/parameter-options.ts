// Builds a command's arguments and options from an operation's parameters: names, values, bounds, choices and help come
// from the table. The given values are returned under the names of the store's methods.
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

/** Given parameters, and arguments that are not parameters. */
interface GivenParams {
  readonly params: Readonly<Record<string, unknown>>;
  readonly rest: readonly string[];
}

/** Adds the parameters to a command. Call the returned function when the command runs to read the given values. */
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

/** Joins the words of a text argument. */
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

/** Whether several values can be given. */
function isList({ type, anyOf = [] }: Schema): boolean {
  return type === "array" || anyOf.some((each) => each.type === "array");
}

function numberOption(flags: string, help: string, { minimum = -Infinity, maximum = Infinity }: Schema): Option {
  const option = new Option(flags, help);
  return option.argParser((text: string) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (value >= minimum && value <= maximum) return value;
    throw new TrunklineError("USAGE", `"${text}" is not a valid value for ${option.long ?? flags}.`, {
      hint: `Use a number from ${minimum} to ${maximum}.`,
    });
  });
}

/** Converts a sentence to help style: `Only this collection.` becomes `only this collection`. */
export function helpOf(sentence: string): string {
  const text = sentence.replace(/\.$/, "");
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
