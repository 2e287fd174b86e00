// Creates a model from a provider's name. Each provider's library is imported on the first request, so using one does
// not load the others.
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { type Logger, Redactor, silentLogger, TrunklineError, withoutUndefined } from "@trunkline/core";
import { type EchoOptions, echoModel } from "./echo.js";
import { type LibraryModelOptions, libraryModel } from "./library-model.js";
import type { Model } from "./model.js";
import { type ErrorPlace, missingKey } from "./model-errors.js";
import { type ProviderInfo, providerInfo } from "./providers.js";
import { type RetryOptions, retryModel } from "./retry.js";
import { wishfulModel } from "./wishes.js";

export interface ModelOptions {
  /** One of `PROVIDER_NAMES`. */
  provider: string;
  /** The provider's model id. Required for all providers but `echo`. */
  model?: string | undefined;
  /** The base URL, as the provider documents it; most end in `/v1`. */
  endpoint?: string | undefined;
  apiKey?: string | undefined;
  /** Extra headers; their values are redacted in every message. */
  headers?: Readonly<Record<string, string>> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** `false`: a single attempt. */
  retry?: RetryOptions | false | undefined;
  /** Maximum silence during a turn. Default: five minutes, because local models read prompts slowly. */
  idleTimeoutMs?: number | undefined;
  /** Whether a compatible endpoint accepts a JSON Schema for its answer. Default: yes. */
  structuredOutputs?: boolean | undefined;
  /** For the `echo` provider. */
  echo?: EchoOptions | undefined;
  /** The key and the header values are added to it. Default: a new redactor. */
  redactor?: Redactor | undefined;
  logger?: Logger | undefined;
}

const DEFAULT_IDLE_TIMEOUT_MS = 300_000;

/**
 * Creates a model. Throws `INVALID_ARGUMENT` for an unknown provider or a missing model or endpoint. Nothing connects
 * until the first request, so a wrong key shows up only then.
 */
export function createModel(options: ModelOptions): Model {
  const provider = providerInfo(options.provider);
  const { logger = silentLogger } = options;
  const retried = (model: Model) =>
    options.retry === false ? model : retryModel(model, { logger, ...withoutUndefined(options.retry) });
  if (provider.format === "echo") return retried(echoModel({ ...options.echo, model: options.model }));

  const { model } = options;
  if (model === undefined || model === "") {
    throw new TrunklineError("INVALID_ARGUMENT", `No model given for ${provider.name}.`, {
      hint: "Choose one with --model.",
    });
  }
  const endpoint = endpointOf(options, provider);
  const redactor = (options.redactor ?? new Redactor()).add(
    ...(options.apiKey === undefined ? [] : [options.apiKey]),
    ...Object.values(options.headers ?? {}).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]),
  );
  const place: ErrorPlace = { provider, model, endpoint: redactor.text(endpoint), redactor };
  const needsKey = provider.needsKey && options.endpoint === undefined && options.headers === undefined;
  const asked = libraryModel({
    ...formatOptions(provider, { ...options, model, endpoint }),
    place,
    missing: needsKey && (options.apiKey ?? "") === "" ? missingKey(place) : undefined,
    idleTimeoutMs: options.idleTimeoutMs || DEFAULT_IDLE_TIMEOUT_MS,
    logger,
  });
  return retried(wishfulModel(asked, logger));
}

function endpointOf(options: ModelOptions, provider: ProviderInfo): string {
  const endpoint = options.endpoint ?? provider.endpoint;
  if (endpoint === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `${provider.name} needs an endpoint.`, {
      hint: "Set it with --endpoint, for example http://127.0.0.1:8000/v1.",
    });
  }
  const protocol = URL.canParse(endpoint) ? new URL(endpoint).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") {
    throw new TrunklineError("INVALID_ARGUMENT", "The endpoint is not an http or https URL.", {
      hint: "Give a full URL, for example http://127.0.0.1:8000/v1.",
    });
  }
  const { username, password, search, hash } = new URL(endpoint);
  if (username !== "" || password !== "" || search !== "" || hash !== "") {
    throw new TrunklineError("INVALID_ARGUMENT", "The endpoint must not contain a password or a query.", {
      hint: "Pass the key as the API key or in a header.",
    });
  }
  return endpoint.replace(/\/+$/, "");
}

type Chosen = ModelOptions & { readonly model: string; readonly endpoint: string };

/** Returns the options that differ between wire formats. */
function formatOptions(
  provider: ProviderInfo,
  options: Chosen,
): Pick<LibraryModelOptions, "load" | "target" | "thinkOptions" | "alwaysOptions"> {
  const { model, endpoint: baseURL, headers = {}, apiKey = "", fetch } = options;
  const common = { baseURL, headers: { ...headers }, fetch };
  switch (provider.format) {
    case "openai":
      return {
        target: { format: "openai", returnsReasoning: provider.name !== "openai" },
        // Hand-written schemas rarely satisfy strict mode; the answer is validated anyway.
        alwaysOptions: { openaiCompatible: { strictJsonSchema: false } },
        thinkOptions: { openaiCompatible: { reasoningEffort: "medium" } },
        load: async (): Promise<LanguageModelV3> => {
          const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
          const create = createOpenAICompatible({
            ...common,
            name: provider.name,
            includeUsage: true,
            supportsStructuredOutputs: options.structuredOutputs ?? true,
            ...(apiKey === "" ? {} : { apiKey }),
            ...(provider.name === "openai" ? { transformRequestBody: forOpenAi } : {}),
          });
          return create.chatModel(model);
        },
      };
    case "anthropic":
      return {
        target: { format: "anthropic", returnsReasoning: true },
        thinkOptions: { anthropic: { thinking: anthropicThinking(model) } },
        load: async (): Promise<LanguageModelV3> => {
          const { createAnthropic } = await import("@ai-sdk/anthropic");
          // Always pass a key, even an empty one: otherwise the library reads the environment.
          return createAnthropic({ ...common, apiKey }).messages(model);
        },
      };
    case "google":
      return {
        target: { format: "google", returnsReasoning: true },
        thinkOptions: { google: { thinkingConfig: { includeThoughts: true } } },
        load: async (): Promise<LanguageModelV3> => {
          const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
          return createGoogleGenerativeAI({ ...common, apiKey }).languageModel(model);
        },
      };
    case "echo":
      throw new TrunklineError("INTERNAL", "echo needs no library.");
  }
}

/** Renames `max_tokens`: OpenAI's own models reject the older name. */
function forOpenAi(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens: limit, ...rest } = body;
  return limit === undefined ? rest : { ...rest, max_completion_tokens: limit };
}

/** Claude up to 4.5 thinks within a budget; later versions decide for themselves and reject one. */
function anthropicThinking(model: string): { type: "enabled"; budgetTokens: number } | { type: "adaptive" } {
  return /claude-(?:3|(?:opus|sonnet|haiku)-4-(?:0|1|5|20\d))/.test(model)
    ? { type: "enabled", budgetTokens: 4096 }
    : { type: "adaptive" };
}
