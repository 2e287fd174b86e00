// A model on top of the model library: one request, its stream, its errors. Retries are in retry.ts.
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { abortError, isRecord, type Logger, startDeadline, TrunklineError } from "@trunkline/core";
import { CutStreamError, fromStream } from "./from-stream.js";
import type { Model, ModelRequest } from "./model.js";
import { type ErrorPlace, toModelError } from "./model-errors.js";
import { type PromptTarget, toFunctionTools, toPrompt } from "./to-prompt.js";

export interface LibraryModelOptions {
  /** Imports the provider's library and creates its model; called once, on the first request. */
  readonly load: () => Promise<LanguageModelV3>;
  readonly place: ErrorPlace;
  readonly target: PromptTarget;
  /** Options that make this provider's models think. */
  readonly thinkOptions: LanguageModelV3CallOptions["providerOptions"];
  /** Options for every request. */
  readonly alwaysOptions?: LanguageModelV3CallOptions["providerOptions"];
  /** Thrown on every request if something is missing. */
  readonly missing?: TrunklineError;
  /** Maximum silence during a turn. */
  readonly idleTimeoutMs: number;
  readonly logger: Logger;
}

/** Creates a model that calls a provider over the network. */
export function libraryModel(options: LibraryModelOptions): Model {
  const { place, logger } = options;
  let loading: Promise<LanguageModelV3> | undefined;
  const load = () => {
    loading ??= options.load();
    return loading;
  };
  return {
    provider: place.provider.name,
    id: place.model,
    async *stream(request) {
      if (options.missing !== undefined) throw options.missing;
      const what = `Asking ${place.provider.name} (${place.model})`;
      using deadline = startDeadline({ timeoutMs: options.idleTimeoutMs, signal: request.signal, what });
      const { signal } = deadline;
      try {
        signal.throwIfAborted();
        const library = await load();
        const { stream, response } = await library.doStream(callOptions(request, options, signal));
        try {
          for await (const event of fromStream(watched(stream, { logger, onPart: () => deadline.extend() }))) {
            // The time limit is for the provider, not for a slow reader.
            deadline.pause();
            yield event;
            deadline.resume();
          }
        } catch (error) {
          if (error instanceof CutStreamError && error.empty) throw noStream(response?.headers, place) ?? error;
          throw error;
        }
      } catch (error) {
        if (signal.aborted) throw abortError(signal, what);
        throw toModelError(error, place);
      }
    },
  };
}

function callOptions(
  request: ModelRequest,
  options: LibraryModelOptions,
  abortSignal: AbortSignal,
): LanguageModelV3CallOptions {
  const { tools = [], format, maxOutputTokens, think = false } = request;
  const providerOptions = { ...options.alwaysOptions };
  if (think) {
    for (const [name, values] of Object.entries(options.thinkOptions ?? {})) {
      providerOptions[name] = { ...providerOptions[name], ...values };
    }
  }
  return {
    prompt: toPrompt(request.messages, options.target),
    abortSignal,
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
    maxOutputTokens,
    ...(tools.length === 0
      ? {}
      : { tools: toFunctionTools(tools), toolChoice: { type: request.toolChoice ?? "auto" } as const }),
    ...(format === undefined
      ? {}
      : {
          responseFormat: {
            type: "json" as const,
            // Like a tool's schema: the library's type covers less than JSON Schema.
            ...(format.schema === undefined ? {} : { schema: format.schema as NonNullable<JsonFormat["schema"]> }),
          },
        }),
  };
}

type JsonFormat = Extract<NonNullable<LanguageModelV3CallOptions["responseFormat"]>, { type: "json" }>;

/** Yields the parts as they arrive. Leaving early cancels the stream and the request. */
async function* watched(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  { logger, onPart }: { logger: Logger; onPart: () => void },
): AsyncGenerator<LanguageModelV3StreamPart> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      onPart();
      if (value.type === "stream-start") {
        for (const warning of value.warnings)
          logger.debug("the model library warns", { warning: warningText(warning) });
      }
      yield value;
    }
  } catch (error) {
    ended = true;
    throw error;
  } finally {
    if (!ended) await reader.cancel().catch((error: unknown) => logger.debug("cancelling a stream failed", { error }));
    reader.releaseLock();
  }
}

function warningText(warning: unknown): string {
  if (!isRecord(warning)) return String(warning);
  return [warning.type, warning.feature, warning.message, warning.details].filter((x) => x !== undefined).join(": ");
}

/** An HTML page instead of a stream usually means a wrong endpoint. */
function noStream(headers: Record<string, string> | undefined, place: ErrorPlace): TrunklineError | undefined {
  const type = headers?.["content-type"];
  if (type === undefined || type.startsWith("text/event-stream")) return undefined;
  return new TrunklineError("UPSTREAM", `${place.endpoint} answered with ${type} instead of a stream.`, {
    hint: `Check that the endpoint speaks the format of ${place.provider.name}; most end in /v1.`,
  });
}
