// Builds a command's arguments and options from an operation's parameters: names, values, bounds, choices and help come
// from the table. The given values are returned under the names of the store's methods.
import { type Parameter, type ParameterSet, schemaOf, TrunklineError } from "@trunkline/core";
import { type ArgumentField, readArgumentFields } from "@trunkline/core/schema";
import { camelCase } from "@trunkline/store/contract";
import { type Command, Option } from "commander";
import { repeatable, wholeNumberOption } from "../flags.js";

/** Given parameters, and arguments that are not parameters. */
interface GivenParams {
  readonly params: Readonly<Record<string, unknown>>;
  readonly rest: readonly string[];
}

/** Adds the parameters to a command. Call the returned function when the command runs to read the given values. */
export function addParameters(command: Command, params: ParameterSet): () => GivenParams {
  const readers: [name: string, read: () => unknown][] = [];
  let position = 0;
  for (const field of readArgumentFields(schemaOf(params)) ?? []) {
    const { name } = field;
    const parameter = params[name] as Parameter;
    const { cli = {} } = parameter;
    if (cli === false) continue;
    const help = cli.about ?? helpOf(field.description ?? "");
    if (cli.argument !== undefined) {
      command.argument(cli.argument, help);
      const at = position++;
      readers.push([name, () => argumentValue(command.processedArgs[at], field)]);
      continue;
    }
    const option = optionFor(field, parameter, help);
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
function argumentValue(value: unknown, { kind }: ArgumentField): unknown {
  return Array.isArray(value) && (kind === "text" || kind === "choice") ? value.join(" ") : value;
}

function optionFor(field: ArgumentField, { schema, cli }: Parameter, help: string): Option {
  const { flags: given, value } = cli === undefined || cli === false ? {} : cli;
  const dashed = field.name.replaceAll("_", "-");
  if (field.kind === "boolean")
    return new Option(given ?? (field.default === true ? `--no-${dashed}` : `--${dashed}`), help);
  const flags = `${given ?? `--${dashed}`} <${value ?? (field.kind === "number" ? "number" : field.name.split("_").at(-1))}>`;
  const about = field.default === undefined ? help : `${help} (default: ${String(field.default)})`;
  if (field.kind === "choice") return new Option(flags, about).choices(field.options.map(({ title }) => title));
  if (field.kind === "number") {
    const { integer, minimum, maximum } = field;
    return integer
      ? wholeNumberOption(flags, about, { from: minimum, to: maximum })
      : numberOption(flags, about, field);
  }
  return isList(schema) ? repeatable(flags, about) : new Option(flags, about);
}

/** Whether several values can be given. */
function isList({ type, anyOf }: Parameter["schema"]): boolean {
  return type === "array" || (Array.isArray(anyOf) && anyOf.some(isList));
}

function numberOption(
  flags: string,
  help: string,
  { minimum = -Infinity, maximum = Infinity }: { readonly minimum?: number; readonly maximum?: number },
): Option {
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
