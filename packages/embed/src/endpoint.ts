// An embedder that uses an OpenAI-compatible endpoint: any server that answers POST …/embeddings.
import {
  abortError,
  type Embedder,
  isRecord,
  messageOf,
  parseJson,
  Redactor,
  sleep,
  systemCodeOf,
  TrunklineError,
  withDeadline,
} from "@trunkline/core";
import { toUnitLength } from "./inference/vectors.js";

export interface EndpointOptions {
  /** The base URL, such as `https://example.com/v1`, or the full URL ending in `/embeddings`. */
  url: string;
  /** The endpoint's name for the model. */
  model: string;
  /** Sent as a bearer token. Never part of an error. */
  apiKey?: string | undefined;
  /** Requested from the endpoint and then enforced. Default: the model's own size, which takes one call to find out. */
  dimensions?: number | undefined;
  /** Default: Node's fetch. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How long one request may take. Default 60 s. */
  timeoutMs?: number | undefined;
  /** Maximum number of attempts per request. Default 5. */
  attempts?: number | undefined;
  /** The delay before the second attempt; it doubles each time. Default 500 ms. */
  backoffMs?: number | undefined;
  /** Cancels the opening; each `embed` call has its own signal. */
  signal?: AbortSignal | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_BATCH_TEXTS = 64;
/** Endpoints limit the tokens of a request; about 4 characters are one token. */
const MAX_BATCH_CHARACTERS = 200_000;
/** Maximum delay, whatever the endpoint asks for; a less patient caller can use its signal. */
const MAX_WAIT_MS = 60_000;
const MAX_REASON_LENGTH = 300;

/**
 * Opens an endpoint. Vectors are scaled to length 1. Whether equal texts get equal vectors is up to the endpoint: with
 * some, the last digits depend on the other texts in the batch.
 */
export async function createEndpointEmbedder(options: EndpointOptions): Promise<Embedder> {
  const endpoint = new Endpoint(options);
  const { signal } = options;
  const dimensions = options.dimensions ?? (await endpoint.request(["dimensions"], signal))[0]?.length ?? 0;
  let isClosed = false;
  return {
    model: `${endpoint.name}:${options.model}:${dimensions}`,
    dimensions,
    async embed(texts, embedOptions = {}) {
      const vectors: Float32Array[] = [];
      for (const batch of batchesOf(texts)) {
        if (isClosed) throw new TrunklineError("CLOSED", "The embedder was closed.");
        const answered = await endpoint.request(batch, embedOptions.signal);
        for (const vector of answered) {
          if (vector.length !== dimensions) {
            throw new TrunklineError(
              "PROTOCOL",
              `${endpoint.name} returned vectors of ${vector.length} numbers instead of ${dimensions}.`,
            );
          }
          vectors.push(toUnitLength(vector));
        }
      }
      return vectors;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
    },
  };
}

/** The outcome of one attempt: vectors, or an error that a retry may fix. */
type Attempt = { vectors: Float32Array[] } | { error: TrunklineError; retryAfterMs?: number };

class Endpoint {
  /** For display and for the name of the vectors. Contains no query or password. */
  readonly name: string;
  readonly #url: URL;
  readonly #options: EndpointOptions;
  readonly #redactor = new Redactor();

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#url = embeddingsUrl(options.url);
    this.name = `${this.#url.host}${this.#url.pathname.replace(/\/embeddings$/, "")}`;
    // Some endpoints take their key in the query string.
    this.#redactor.add(...(options.apiKey === undefined ? [] : [options.apiKey]), ...this.#url.searchParams.values());
  }

  /** Sends one batch, with retries. */
  async request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { attempts = 5, backoffMs = 500 } = this.#options;
    for (let attempt = 1; ; attempt++) {
      if (signal?.aborted) throw abortError(signal, "Embedding");
      const outcome = await this.#attempt(texts, signal);
      if ("vectors" in outcome) return outcome.vectors;
      if (!outcome.error.retryable || attempt >= attempts) throw outcome.error;
      // Some jitter, so clients that were rejected together do not return together.
      const ownWaitMs = backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      try {
        await sleep(Math.min(outcome.retryAfterMs ?? ownWaitMs, MAX_WAIT_MS), signal);
      } catch (error) {
        if (signal?.aborted) throw abortError(signal, "Embedding");
        throw error;
      }
    }
  }

  async #attempt(texts: readonly string[], signal: AbortSignal | undefined): Promise<Attempt> {
    const { fetch = globalThis.fetch } = this.#options;
    const timeoutMs = this.#options.timeoutMs || DEFAULT_TIMEOUT_MS;
    try {
      return await withDeadline({ what: `Embedding at ${this.name}`, timeoutMs, signal }, async (deadline) => {
        const response = await fetch(this.#url, {
          method: "POST",
          headers: this.#headers(),
          body: JSON.stringify(this.#body(texts)),
          // Following a redirect would send the texts, and perhaps the key, to a host that was not configured.
          redirect: "manual",
          signal: deadline,
        });
        const body = await response.text();
        if (response.ok) return { vectors: this.#vectorsOf(body, texts.length) };
        return { error: this.#refusal(response.status, body), retryAfterMs: retryAfterMs(response.headers) };
      });
    } catch (error) {
      if (signal?.aborted) throw abortError(signal, "Embedding");
      if (error instanceof TrunklineError) return { error };
      const reason = systemCodeOf(error) ?? this.#redactor.text(messageOf(error));
      // Without the cause: fetch errors may quote the URL.
      return {
        error: new TrunklineError("CONNECTION_FAILED", `Cannot reach ${this.name} (${reason}).`, {
          hint: "Check the URL, and that the endpoint is running.",
        }),
      };
    }
  }

  #headers(): Record<string, string> {
    const { apiKey } = this.#options;
    return {
      "content-type": "application/json",
      accept: "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
  }

  #body(texts: readonly string[]): Record<string, unknown> {
    const { model, dimensions } = this.#options;
    return {
      model,
      // Some endpoints reject an empty text; all accept a space.
      input: texts.map((text) => (text === "" ? " " : text)),
      encoding_format: "float",
      dimensions,
    };
  }

  #vectorsOf(body: string, count: number): Float32Array[] {
    const answer = parseJson(body);
    const items = isRecord(answer) && Array.isArray(answer.data) ? answer.data : undefined;
    const wrong = (reason: string) =>
      new TrunklineError("PROTOCOL", `${this.name} does not respond like an embeddings endpoint: ${reason}.`, {
        hint: "Check that the URL is that of an OpenAI-compatible API.",
      });
    if (items === undefined) throw wrong("the response has no list of vectors");
    if (items.length !== count) throw wrong(`it returned ${items.length} vectors for ${count} texts`);
    const vectors: Float32Array[] = [];
    for (const [position, item] of items.entries()) {
      const { embedding, index = position } = isRecord(item) ? item : {};
      if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(Number.isFinite))
        throw wrong("a vector is not a list of numbers");
      if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count || vectors[index])
        throw wrong("the order of the vectors is unclear");
      vectors[index] = Float32Array.from(embedding);
    }
    return vectors;
  }

  #refusal(status: number, body: string): TrunklineError {
    const reason = this.#redactor.text(reasonOf(body)).slice(0, MAX_REASON_LENGTH);
    const message = `${this.name} returned ${status}${reason === "" ? "" : `: ${reason}`}`;
    const data = { status };
    if (status === 401 || status === 403) {
      return new TrunklineError("AUTH_REQUIRED", message, { data, hint: "Check the API key for this endpoint." });
    }
    const isPassing = status === 429 || status === 408 || status >= 500;
    return new TrunklineError("UPSTREAM", message, {
      data,
      retryable: isPassing,
      hint: isPassing ? "Try again later." : "Check the URL and the model name.",
    });
  }
}

/** Splits the texts, in order, into batches that an endpoint accepts. */
function* batchesOf(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === MAX_BATCH_TEXTS || characters + text.length > MAX_BATCH_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

/** The error never repeats the URL, which may contain a password. */
function embeddingsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new TrunklineError("INVALID_ARGUMENT", "The endpoint URL is not an http or https URL.", {
      hint: "For example: https://example.com/v1",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new TrunklineError("INVALID_ARGUMENT", "The endpoint URL contains a user name or password.", {
      hint: "Pass the key separately from the URL.",
    });
  }
  url.hash = "";
  if (!url.pathname.endsWith("/embeddings")) url.pathname = `${url.pathname.replace(/\/+$/, "")}/embeddings`;
  return url;
}

/** Usually `{"error": {"message": …}}`; some endpoints send `{"error": …}`, `{"message": …}` or plain text. */
function reasonOf(body: string): string {
  const answer = parseJson(body);
  if (!isRecord(answer)) return body.trim().split("\n")[0] ?? "";
  const error = isRecord(answer.error) ? answer.error.message : (answer.error ?? answer.message);
  return typeof error === "string" ? error : "";
}

/** Parses seconds or a date; undefined if missing or neither. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
