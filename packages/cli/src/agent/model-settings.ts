// Selects the model: from the command line, the environment, `.env` files, or whatever key is available. A project's
// `.env` is not trusted like the user's own settings: an endpoint from there never gets a key from elsewhere.
import { dirname, resolve } from "node:path";
import { type ModelOptions, PROVIDER_NAMES, type ProviderInfo, providerInfo } from "@trunkline/agent";
import { type DotEnv, foldersUpward, readDotEnv, TrustStore } from "@trunkline/config";
import {
  abortError,
  isRecord,
  isTrunklineError,
  nearestNames,
  printable,
  TrunklineError,
  withDeadline,
} from "@trunkline/core";
import { readInputFile } from "../app/input-file.js";
import type { CommandContext } from "../terminal/context.js";
import type { ModelFlags } from "./agent-options.js";

/** Default models by provider. */
const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  openai: "gpt-4.1-mini",
  anthropic: "claude-sonnet-4-5",
  google: "gemini-2.5-flash",
  echo: "echo",
};

/** Providers that a key alone selects. */
const KEYED = ["openai", "anthropic", "google"] as const;

const SET_UP =
  "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or use a local model: --provider ollama --model <model>. " +
  "Set TRUNKLINE_PROVIDER, TRUNKLINE_MODEL and TRUNKLINE_ENDPOINT to make the choice permanent.";

export interface ModelSettings {
  readonly options: ModelOptions & { model: string };
  readonly provider: ProviderInfo;
  /** The file that sets the endpoint, if it is a `.env`. */
  readonly endpointFile?: string;
}

/**
 * Reads the model settings. Throws `CONFIG_INVALID` if nothing is configured, and `USAGE` or `INVALID_ARGUMENT` for
 * invalid settings.
 */
export async function readModelSettings(context: CommandContext, flags: ModelFlags): Promise<ModelSettings> {
  const settings = await findModelSettings(context, flags);
  if (settings !== undefined) return settings;
  throw new TrunklineError("CONFIG_INVALID", "No model is configured.", { hint: SET_UP });
}

/** Reads the model settings; undefined if nothing is configured. */
export async function findModelSettings(
  context: CommandContext,
  flags: ModelFlags,
): Promise<ModelSettings | undefined> {
  const env = new Variables(context, await readDotEnv(await foldersUpward(context.cwd), context));
  const ofEnv = env.get("TRUNKLINE_PROVIDER");
  // Model, endpoint and key from the environment belong to the provider it names.
  const isOther = flags.provider !== undefined && ofEnv !== undefined && ofEnv.value !== flags.provider;
  const own = (name: string) => (isOther ? undefined : env.get(name));
  const endpoint = flags.endpoint === undefined ? own("TRUNKLINE_ENDPOINT") : given(flags.endpoint);
  const namedModel = flags.model === undefined ? own("TRUNKLINE_MODEL") : given(flags.model);
  const model = namedModel?.value;
  const name = flags.provider ?? ofEnv?.value ?? guessProvider(env, { endpoint: endpoint?.value, model });
  if (flags.script !== undefined && name !== "echo") {
    throw new TrunklineError("USAGE", "--script needs --provider echo.", { hint: "Add --provider echo." });
  }
  if (name === undefined) return undefined;
  const provider = namedProvider(name);
  const place = endpoint ?? usualEndpoint(env, provider.name);
  // Whoever names the provider also decides where a key goes that belongs to no provider.
  const telling = providerOfModel(model ?? "") === undefined ? undefined : namedModel;
  const choice = flags.provider === undefined ? (ofEnv ?? telling ?? env.first(provider.keyVariables)) : undefined;
  const ourKey = own("TRUNKLINE_API_KEY");
  const isOurKey = endpoint !== undefined || choice === undefined || isOwn(context, choice);
  const ours = isOurKey || ourKey?.file === choice?.file ? ourKey : undefined;
  const apiKey = keyFor(env, { provider, ours, onlyFrom: await onlyKeyFile(context, place) });
  if (provider.format !== "echo") requireOwnEndpoint(context, place, apiKey);
  const options = {
    provider: provider.name,
    model: model ?? DEFAULT_MODELS[provider.name] ?? "",
    ...(place === undefined || provider.format === "echo" ? {} : { endpoint: place.value }),
    ...optional("apiKey", apiKey?.value),
    ...(flags.script === undefined ? {} : { echo: { script: await readInputFile(context, flags.script) } }),
    redactor: context.redactor,
    logger: context.logger,
  };
  if (options.apiKey !== undefined) context.redactor.add(options.apiKey);
  if (options.model === "") options.model = await onlyModel(context, provider, options);
  return { options, provider, endpointFile: place?.file };
}

/** Maximum time for a local server to list its models. */
const LIST_TIMEOUT_MS = 3000;

/** Returns the endpoint's only model. Otherwise throws `CONFIG_INVALID` with the available ones. */
async function onlyModel(
  { signal }: CommandContext,
  provider: ProviderInfo,
  { endpoint = provider.endpoint, apiKey }: ModelOptions,
): Promise<string> {
  const models = endpoint === undefined ? [] : await listModels(endpoint, apiKey, signal);
  if (models === "unreachable") {
    throw new TrunklineError(
      "CONFIG_INVALID",
      `No model of ${provider.name} is chosen, and ${endpoint} cannot be reached to list them.`,
      { hint: `${provider.unreachableHint} Choose a model with --model or TRUNKLINE_MODEL.` },
    );
  }
  const [only, ...more] = models;
  if (only !== undefined && more.length === 0) return only;
  const known = models.length === 0 ? "" : ` Available: ${models.slice(0, 20).join(", ")}.`;
  throw new TrunklineError("CONFIG_INVALID", `No model of ${provider.name} is chosen.`, {
    hint: `Choose one with --model or TRUNKLINE_MODEL.${known}`,
  });
}

/** Returns the IDs of an endpoint's models; empty if it does not list them. */
async function listModels(
  endpoint: string,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<string[] | "unreachable"> {
  try {
    // Not AbortSignal.timeout: inside AbortSignal.any, Node 20 can garbage-collect it before it fires.
    const limit = { what: "Listing models", timeoutMs: LIST_TIMEOUT_MS, signal };
    const body: unknown = await withDeadline(limit, async (deadline) => {
      const response = await fetch(`${endpoint.replace(/\/+$/, "")}/models`, {
        headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
        signal: deadline,
        redirect: "error",
      });
      return response.ok ? await response.json() : undefined;
    });
    const data = isRecord(body) && Array.isArray(body.data) ? body.data : [];
    return data.flatMap((model: unknown) => (isRecord(model) && typeof model.id === "string" ? [model.id] : []));
  } catch (error) {
    if (signal.aborted) throw abortError(signal, "Listing models");
    if (error instanceof TypeError) return "unreachable";
    // Not JSON, or no response in time: the user has to choose.
    if (error instanceof SyntaxError || isTrunklineError(error, "TIMEOUT")) return [];
    throw error;
  }
}

/** A value and the `.env` file it comes from, if any. */
interface Value {
  readonly value: string;
  readonly file?: string;
}

function given(value: string): Value {
  return { value };
}

class Variables {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #dotEnv: DotEnv;

  constructor({ env }: Pick<CommandContext, "env">, dotEnv: DotEnv) {
    this.#env = env;
    this.#dotEnv = dotEnv;
  }

  /** Returns the value if set; an empty value counts as unset. */
  get(name: string): Value | undefined {
    const own = this.#env[name];
    if (own !== undefined) return own === "" ? undefined : { value: own };
    const found = this.#dotEnv.get(name);
    return found === undefined || found.value === ""
      ? undefined
      : { value: found.value, file: resolve(found.folder, ".env") };
  }

  first(names: readonly string[], fits: (value: Value) => boolean = () => true): Value | undefined {
    return names.flatMap((name) => this.get(name) ?? []).find(fits);
  }
}

/** Guesses the provider by the endpoint, the model's name, or the keys and endpoints that other programs also use. */
function guessProvider(
  env: Variables,
  { endpoint, model }: { endpoint: string | undefined; model: string | undefined },
): string | undefined {
  if (endpoint !== undefined) return providerAt(endpoint);
  const byModel = model === undefined ? undefined : providerOfModel(model);
  const keyed = KEYED.filter((name) => env.first(providerInfo(name).keyVariables) !== undefined);
  if (byModel !== undefined) return byModel;
  const [only, ...more] = keyed;
  if (more.length > 0) {
    throw new TrunklineError(
      "CONFIG_INVALID",
      `There are API keys for ${keyed.join(" and ")}, and no provider is chosen.`,
      {
        hint: "Choose one with --provider or TRUNKLINE_PROVIDER.",
      },
    );
  }
  if (only !== undefined) return only;
  if (env.get("OPENAI_BASE_URL") !== undefined) return "openai";
  return env.get("OLLAMA_HOST") === undefined ? undefined : "ollama";
}

function providerAt(endpoint: string): string {
  const host = URL.canParse(endpoint) ? new URL(endpoint).host : "";
  const known = PROVIDER_NAMES.find((name) => {
    const own = providerInfo(name).endpoint;
    return own !== undefined && new URL(own).host === host && KEYED.some((keyed) => keyed === name);
  });
  return known ?? "openai-compatible";
}

function providerOfModel(model: string): string | undefined {
  if (/^claude-/.test(model)) return "anthropic";
  if (/^gemini-/.test(model)) return "google";
  return /^(?:gpt-|o\d(?:-|$)|chatgpt-)/.test(model) ? "openai" : undefined;
}

function namedProvider(name: string): ProviderInfo {
  if (PROVIDER_NAMES.includes(name)) return providerInfo(name);
  const nearest = nearestNames(name, PROVIDER_NAMES);
  throw new TrunklineError("USAGE", `No provider is named "${name}".`, {
    hint: `${nearest.length > 0 ? `Did you mean ${nearest.join(" or ")}? ` : ""}Available: ${PROVIDER_NAMES.join(", ")}.`,
  });
}

/** Returns the provider's endpoint as other programs configure it. */
function usualEndpoint(env: Variables, provider: string): Value | undefined {
  switch (provider) {
    case "openai":
      return env.get("OPENAI_BASE_URL");
    case "ollama": {
      const host = env.get("OLLAMA_HOST");
      return host === undefined ? undefined : { ...host, value: ollamaEndpoint(host.value) };
    }
    default:
      return undefined;
  }
}

/** `OLLAMA_HOST` is what Ollama listens on: a host, a port, or a URL. */
function ollamaEndpoint(host: string): string {
  const text = /^https?:\/\//.test(host) ? host : `http://${host.replace(/^:/, "127.0.0.1:")}`;
  if (!URL.canParse(text)) {
    throw new TrunklineError("CONFIG_INVALID", "OLLAMA_HOST is not a host or a URL.", {
      hint: "For example: 127.0.0.1:11434.",
    });
  }
  const address = new URL(text);
  const isSecure = address.protocol === "https:";
  const port = address.port || (/^https?:/.test(host) ? (isSecure ? "443" : "80") : "11434");
  const name = address.hostname === "0.0.0.0" ? "127.0.0.1" : address.hostname;
  return `${address.protocol}//${name}:${port}${address.pathname.replace(/\/+$/, "") || "/v1"}`;
}

/** An endpoint that a repository's `.env` sets. */
interface ForeignEndpoint {
  readonly endpoint: string;
  readonly file: string;
}

/** Returns the endpoint that a repository's `.env` sets for the model; undefined if there is none. */
export async function foreignEndpoint(context: CommandContext): Promise<ForeignEndpoint | undefined> {
  const env = new Variables(context, await readDotEnv(await foldersUpward(context.cwd), context));
  const found = env.first(["TRUNKLINE_ENDPOINT", "OPENAI_BASE_URL"]) ?? usualEndpoint(env, "ollama");
  return found?.file === undefined || isOwn(context, found) ? undefined : { endpoint: found.value, file: found.file };
}

/** Whether a value comes from the environment, the command line or the `.env` in the user's home folder. */
function isOwn({ userHome }: CommandContext, { file }: Value): boolean {
  return file === undefined || dirname(file) === resolve(userHome);
}

/** Returns the file that the key must come from; undefined if every key will do. */
async function onlyKeyFile(context: CommandContext, place: Value | undefined): Promise<string | undefined> {
  if (place?.file === undefined || isOwn(context, place)) return undefined;
  const store = new TrustStore(context.home);
  const isTrusted =
    context.env.TRUNKLINE_TRUST === "all" || (await store.isEndpointTrusted(dirname(place.file), place.value));
  return isTrusted ? undefined : place.file;
}

/**
 * A repository that names an endpoint must bring the key for it: otherwise it would get the user's key, or at least
 * everything the user and the tools say. A local server is fine without a key.
 */
function requireOwnEndpoint(context: CommandContext, place: Value | undefined, key: Value | undefined): void {
  if (place === undefined || key !== undefined || isOwn(context, place) || isLoopback(place.value)) return;
  const host = URL.canParse(place.value) ? new URL(place.value).host : place.value;
  throw new TrunklineError(
    "CONFIG_INVALID",
    `${place.file} sends the model's input to ${printable(host)}, but has no key for it.`,
    {
      hint: "If you trust this endpoint, approve it with `trunkline trust --workspace`, or name it with --endpoint. Otherwise remove it from the file.",
    },
  );
}

function isLoopback(endpoint: string): boolean {
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Returns the key, if given only one from this file. */
function keyFor(
  env: Variables,
  options: {
    provider: ProviderInfo;
    /** `TRUNKLINE_API_KEY`, unless someone else has chosen who would get it. */
    ours: Value | undefined;
    onlyFrom: string | undefined;
  },
): Value | undefined {
  const { provider, ours, onlyFrom } = options;
  if (provider.format === "echo") return undefined;
  const fits = ({ file }: Value) => onlyFrom === undefined || file === onlyFrom;
  if (ours !== undefined && fits(ours)) return ours;
  return env.first(
    provider.keyVariables.filter((name) => name !== "TRUNKLINE_API_KEY"),
    fits,
  );
}

function optional<Key extends string, T>(key: Key, value: T | undefined): { [K in Key]?: T } {
  // One key with the type's own name, or none.
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: T };
}
