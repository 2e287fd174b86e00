// Parameters of an operation: a JSON Schema that carries its TypeScript type, so the schema, the validator, the command
// line, the reference page and the types all come from one line. Plain data: nothing has to be loaded.

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a parameter appears on the command line if that cannot be derived from its name and type. */
interface CommandLineHint {
  /** A positional argument, such as `[query...]`. */
  readonly argument?: string;
  /** Flags instead of `--name`, such as `-o, --output`. */
  readonly flags?: string;
  /** The name of the value in the help: `glob` for `--include <glob>`. */
  readonly value?: string;
  /** The help text, if the description does not suit a terminal. */
  readonly about?: string;
  /** Required on the command line, but not elsewhere. */
  readonly required?: boolean;
}

/** Properties of a parameter beyond its type. */
export type Narrowing = boolean | "excludes";

interface ParameterOptions {
  readonly required?: boolean;
  /** Other accepted names, not advertised. */
  readonly aliases?: readonly string[];
  /** Set if the parameter names a local file or folder that is read or written. */
  readonly place?: "read" | "write" | "create";
  /**
   * Set if the operation reads or changes more without it, by selecting or by excluding. A reference that leads to nothing
   * must not leave it out, and one that is misspelt must not become a text that excludes nothing.
   */
  readonly narrows?: Narrowing;
  /** `false`: the command line has no such option. */
  readonly cli?: CommandLineHint | false;
}

/** One parameter. `T` is its TypeScript type, `R` whether it is required. */
export interface Parameter<T = unknown, R extends boolean = boolean> extends Omit<ParameterOptions, "required"> {
  readonly schema: JsonSchema;
  readonly required: R;
  /** Never set. Ties the schema to its type. */
  readonly type?: T;
}

/** The parameters of an operation by wire name. */
export type ParameterSet = Readonly<Record<string, Parameter>>;

type RequiredNames<P extends ParameterSet> = {
  [Name in keyof P]: P[Name] extends Parameter<unknown, true> ? Name : never;
}[keyof P];

type TypeOf<P> = P extends Parameter<infer T> ? T : never;

/** The parameter object of an operation. */
export type ParamsOf<P extends ParameterSet> = {
  readonly [Name in RequiredNames<P>]: TypeOf<P[Name]>;
} & {
  readonly [Name in Exclude<keyof P, RequiredNames<P>>]?: TypeOf<P[Name]> | undefined;
};

type IsRequired<O> = O extends { readonly required: true } ? true : false;

function parameter<T, const O extends ParameterOptions = ParameterOptions>(
  schema: JsonSchema,
  options?: O,
): Parameter<T, IsRequired<O>> {
  const { required = false, aliases, place, narrows, cli } = options ?? {};
  return {
    schema,
    // The same condition as in the type.
    required: required as IsRequired<O>,
    aliases,
    place,
    narrows,
    cli,
  };
}

function text<const O extends ParameterOptions & { readonly default?: string }>(
  description: string,
  options?: O,
): Parameter<string, IsRequired<O>> {
  return parameter({ type: "string", ...defaultOf(options), description }, options);
}

/** A list of texts. A single text counts as a list of one. */
function texts<const O extends ParameterOptions & { readonly min?: number }>(
  description: string,
  options?: O,
): Parameter<readonly string[], IsRequired<O>> {
  const least = options?.min === undefined ? {} : { minItems: options.min };
  return parameter({ type: "array", items: { type: "string" }, ...least, description }, options);
}

/** True or false; false by default. */
function flag<const O extends ParameterOptions & { readonly default?: boolean }>(
  description: string,
  options?: O,
): Parameter<boolean, IsRequired<O>> {
  return parameter({ type: "boolean", default: options?.default ?? false, description }, options);
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
}

/** An integer, at least 0 by default. */
function count<const O extends ParameterOptions & Bounds>(
  description: string,
  options?: O,
): Parameter<number, IsRequired<O>> {
  const { min = 0, max } = options ?? {};
  return parameter({ type: "integer", minimum: min, ...upTo(max), ...defaultOf(options), description }, options);
}

function number<const O extends ParameterOptions & Bounds>(
  description: string,
  options: O,
): Parameter<number, IsRequired<O>> {
  const { min, max } = options;
  return parameter(
    {
      type: "number",
      minimum: min,
      ...upTo(max),
      ...defaultOf(options),
      description,
    },
    options,
  );
}

function choice<const V extends string, const O extends ParameterOptions & { readonly default?: NoInfer<V> }>(
  description: string,
  values: readonly V[],
  options?: O,
): Parameter<V, IsRequired<O>> {
  return parameter({ type: "string", enum: values, ...defaultOf(options), description }, options);
}

function upTo(max: number | undefined) {
  return max === undefined ? {} : { maximum: max };
}

function defaultOf(options: { readonly default?: unknown } | undefined) {
  return options?.default === undefined ? {} : { default: options.default };
}

/**
 * Creates parameters: `param.count("Maximum number of results.", { min: 1, default: 10 })`. Defaults are documentation;
 * the operation applies them.
 */
export const param = { of: parameter, text, texts, flag, count, number, choice };

/** Builds one JSON Schema for all parameters. */
export function schemaOf(params: ParameterSet): JsonSchema {
  const entries = Object.entries(params);
  const required = entries.filter(([, each]) => each.required).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** Maps the aliases of all parameters to their names. */
export function aliasesOf(params: ParameterSet): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, { aliases = [] }]) => aliases.map((alias) => [alias, name])),
  );
}
