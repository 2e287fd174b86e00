// The ways to run a server of the registry, each as a recipe: the entry with gaps, and the questions that fill them.
import { hasControls } from "@trunkline/core";
import { isHeaderAllowed, isImplied, isPackageType, PACKAGE_RULES, packageProblem } from "./package-rules.js";
import type {
  RegistryArgument,
  RegistryInput,
  RegistryPackage,
  RegistryRemote,
  RegistryServer,
} from "./registry-server.js";

/** A text of the registry, or the answer to a question. A silent question only decides whether the word is there. */
export type Part = string | { readonly ask: string; readonly isSilent?: true };

/** One word or value. Left out if a question in it has no answer. */
export interface Gap {
  /** A word of its own in front of the value. */
  readonly flag?: string;
  readonly parts: readonly Part[];
  /** Once for each answer. */
  readonly isRepeated: boolean;
}

export interface Ask {
  /** How `--input` names it. */
  readonly key: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly isRepeated: boolean;
  readonly format: RegistryInput["format"];
  readonly default?: string;
  readonly placeholder?: string;
  readonly choices: readonly string[];
}

export interface Recipe {
  /** `npm @ada/docs@1.2.3`, or the URL. */
  readonly label: string;
  readonly asks: readonly Ask[];
  readonly program?: {
    readonly type: "npm" | "pypi" | "oci" | "nuget";
    readonly command: string;
    readonly args: readonly Gap[];
    readonly env: readonly { readonly name: string; readonly gap: Gap }[];
    readonly pinned: string;
    readonly hash?: string;
  };
  readonly remote?: {
    readonly type: "http" | "sse";
    readonly url: readonly Part[];
    readonly headers: readonly { readonly name: string; readonly gap: Gap }[];
  };
}

/** A way to run a server: a recipe, or why it cannot be used. */
export type Way = { readonly label: string } & ({ readonly recipe: Recipe } | { readonly problem: string });

/** Returns all ways, in the order in which they are preferred. */
export function waysOf({ packages, remotes }: RegistryServer): readonly Way[] {
  const order = Object.keys(PACKAGE_RULES);
  const rank = ({ type }: RegistryPackage) => (isPackageType(type) ? order.indexOf(type) : order.length);
  const local = [...packages].sort((a, b) => rank(a) - rank(b)).map(packageWay);
  const distant = [...remotes].sort((a, b) => Number(a.type === "sse") - Number(b.type === "sse")).map(remoteWay);
  return [...local, ...distant];
}

function packageWay(item: RegistryPackage): Way {
  const label = packageLabel(item);
  const problem = packageProblem(item);
  if (problem !== undefined || !isPackageType(item.type)) return { label, problem: problem ?? "its type is unknown" };
  const rule = PACKAGE_RULES[item.type];
  const pin = rule.pin(item);
  if ("problem" in pin) return { label, problem: pin.problem };
  const asks = new Asks();
  const own = item.runtimeArguments.filter((argument) => !isImplied(rule.implied, argument));
  const runtime = own.map((argument) => (isMount(argument) ? asks.mount(argument) : asks.argument(argument)));
  if (runtime.includes(undefined))
    return { label, problem: "it mounts a folder of this machine that you cannot choose" };
  const env = item.environment.map((input) => ({ name: input.name, gap: asks.gap(input, input.name) }));
  const args = item.packageArguments.map((argument) => asks.argument(argument));
  const fixed = (word: string): Gap => ({ parts: [word], isRepeated: false });
  // The package is the last of its words; flags of the runner belong before it.
  const at = item.type === "oci" ? pin.words.length - 1 : pin.words.length;
  const forwarded = item.type === "oci" ? env.map(({ name, gap }) => forwardedVariable(name, gap)) : [];
  const all = [
    ...pin.words.slice(0, at).map(fixed),
    ...forwarded,
    ...runtime.filter((gap) => gap !== undefined),
    ...pin.words.slice(at).map(fixed),
    ...(args.length === 0 ? [] : pin.after.map(fixed)),
    ...args,
  ];
  const hash = pin.hash ?? (item.sha256 === undefined ? undefined : `sha256:${item.sha256}`);
  const program = { type: item.type, command: rule.runner, args: all, env, pinned: pin.pinned };
  return checked({
    label,
    asks: asks.all,
    program: hash === undefined ? program : { ...program, hash },
  });
}

function remoteWay({ type, url, headers, variables }: RegistryRemote): Way {
  const label = url;
  if (type !== "streamable-http" && type !== "sse") return { label, problem: "its transport is unknown" };
  if (headers.some(({ name }) => !isHeaderAllowed(name)))
    return { label, problem: "one of its headers is not allowed" };
  const asks = new Asks();
  // A URL with a gap leads nowhere.
  const needed = Object.entries(variables).map(([name, input]) => [name, { ...input, isRequired: true }] as const);
  const parts = asks.template(url, Object.fromEntries(needed));
  const sent = headers.map((input) => ({ name: input.name, gap: asks.gap(input, input.name) }));
  return checked({
    label,
    asks: asks.all,
    remote: { type: type === "sse" ? "sse" : "http", url: parts, headers: sent },
  });
}

/** `npm @ada/docs@1.2.3` */
export function packageLabel({ type, identifier, version }: RegistryPackage): string {
  const isNamed = version === undefined || (type === "oci" && /[:@][^/]*$/.test(identifier)) || type === "mcpb";
  return `${type} ${identifier}${isNamed ? "" : `${type === "oci" ? ":" : "@"}${version}`}`;
}

/** No text of a recipe may hide something from the person who approves it. */
function checked(recipe: Recipe): Way {
  const { label, program, remote, asks } = recipe;
  const gaps = [
    ...(program?.args ?? []),
    ...[...(program?.env ?? []), ...(remote?.headers ?? [])].map(({ gap }) => gap),
    { parts: remote?.url ?? [], isRepeated: false },
  ];
  const texts = [
    ...gaps.flatMap(({ flag = "", parts }) => [flag, ...parts.filter((part) => typeof part === "string")]),
    ...asks.flatMap((ask) => [ask.key, ask.default ?? "", ...ask.choices]),
  ];
  if (texts.some(hasControls)) return { label, problem: "it has control characters in what would run" };
  return { label, recipe };
}

const MOUNTS: ReadonlySet<string> = new Set(["-v", "--volume", "--mount"]);

function isMount({ kind, name }: RegistryArgument): boolean {
  return kind === "named" && MOUNTS.has(name);
}

/** Docker takes the value from its own environment, so it is in no argument. */
function forwardedVariable(name: string, { parts, isRepeated }: Gap): Gap {
  const asked = parts.flatMap((part): Part[] => (typeof part === "string" ? [] : [{ ask: part.ask, isSilent: true }]));
  return { flag: "-e", parts: [name, ...asked], isRepeated };
}

/** With these, the rest of a mount could name another source. */
const MOUNT_SEPARATORS = /[,:="]/;

/** Collects the questions of a recipe. Two inputs of one name get the same answer. */
class Asks {
  readonly #asks = new Map<string, Ask>();
  /** Questions about the source of a mount: the publisher has no say in the answer, whatever else uses it. */
  readonly #sources = new Set<string>();
  /** Questions about the rest of a mount. */
  readonly #inMounts = new Set<string>();

  get all(): readonly Ask[] {
    return [...this.#asks.values()].map((ask) => (this.#mayHaveDefault(ask) ? ask : withoutDefault(ask)));
  }

  #mayHaveDefault({ key, default: preset = "" }: Ask): boolean {
    return !this.#sources.has(key) && !(this.#inMounts.has(key) && MOUNT_SEPARATORS.test(preset));
  }

  gap(input: RegistryInput, key: string, isRepeated = false): Gap {
    if (input.value !== undefined) return { parts: this.template(input.value, input.variables), isRepeated };
    return { parts: [this.#ask(key, input, isRepeated)], isRepeated };
  }

  argument(argument: RegistryArgument): Gap {
    const { kind, name, isRepeated } = argument;
    const key = keyOf(argument);
    if (kind === "positional") return this.gap(argument, key, isRepeated);
    if (argument.value === "") return { parts: [name], isRepeated: false };
    const gap = this.gap(argument, key, isRepeated);
    return name.startsWith("--") ? { ...gap, parts: [`${name}=`, ...gap.parts] } : { ...gap, flag: name };
  }

  /** A mount whose source the user chooses, or that is a volume; undefined if the publisher chose a folder. */
  mount(argument: RegistryArgument): Gap | undefined {
    const { name, value, variables } = argument;
    if (value === undefined) {
      this.#sources.add(keyOf(argument));
      return this.argument(argument);
    }
    const source = mountSource(name, withFixedVariables(value, variables));
    if (source === undefined) return undefined;
    const variable = /^\{([^{}]+)\}$/.exec(source)?.[1];
    const isChosen = variable !== undefined && Object.hasOwn(variables, variable);
    const isVolume = source === "" || /^[A-Za-z0-9][\w.-]*$/.test(source);
    if (!isChosen && !isVolume) return undefined;
    for (const key of Object.keys(variables)) (key === variable ? this.#sources : this.#inMounts).add(key);
    const needed = Object.entries(variables).map(([key, input]) =>
      key === variable ? ([key, { ...input, isRequired: true }] as const) : ([key, input] as const),
    );
    return this.argument({ ...argument, variables: Object.fromEntries(needed) });
  }

  /** Splits a text at its `{variables}`. Unknown ones stay as they are. */
  template(text: string, variables: Readonly<Record<string, RegistryInput>>): Part[] {
    return text.split(/\{([^{}]+)\}/).map((piece, at): Part => {
      if (at % 2 === 0) return piece;
      const variable = Object.hasOwn(variables, piece) ? variables[piece] : undefined;
      if (variable === undefined) return `{${piece}}`;
      return variable.value ?? this.#ask(piece, variable, false);
    });
  }

  #ask(key: string, input: RegistryInput, isRepeated: boolean): Part {
    const { description, placeholder, default: preset, format, choices } = input;
    const known = this.#asks.get(key);
    this.#asks.set(key, {
      key,
      description: known?.description ?? description,
      placeholder: known?.placeholder ?? placeholder,
      default: known?.default ?? preset,
      isRequired: input.isRequired || known?.isRequired === true,
      isSecret: input.isSecret || known?.isSecret === true,
      isRepeated: isRepeated || known?.isRepeated === true,
      format: known?.format ?? format,
      choices: known?.choices ?? choices,
    });
    return { ask: key };
  }
}

/** How `--input` names the value of an argument. */
function keyOf({ kind, name }: RegistryArgument): string {
  return kind === "positional" ? name || "argument" : name.replace(/^-+/, "");
}

function withoutDefault({ default: _, ...ask }: Ask): Ask {
  return ask;
}

function withFixedVariables(text: string, variables: Readonly<Record<string, RegistryInput>>): string {
  return text.replace(/\{([^{}]+)\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name]?.value ?? whole) : whole,
  );
}

const MOUNT_FIELD = /^(?:(type|dst|destination|target)=[^"]+|readonly|ro|(?:src|source)=([^"]*))$/i;

/** Returns what a mount makes visible in the container; undefined if that is not clear. */
function mountSource(flag: string, value: string): string | undefined {
  if (flag !== "--mount") return value.includes(":") ? value.split(":")[0] : "";
  const fields = value.split(",").map((field) => MOUNT_FIELD.exec(field));
  if (fields.includes(null)) return undefined;
  const sources = fields.flatMap((field) => field?.[2] ?? []);
  return sources.length > 1 ? undefined : (sources[0] ?? "");
}
