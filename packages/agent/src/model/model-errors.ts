// Turns provider failures into errors with codes. The library's own errors contain the whole request, so they are never
// used as a cause; only the errors below them are.
import {
  firstWords,
  isRecord,
  messageOf,
  parseJson,
  type Redactor,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { CutStreamError, StreamErrorPart } from "./from-stream.js";
import type { ProviderInfo } from "./providers.js";

/** Where an error happened, for its message. */
export interface ErrorPlace {
  readonly provider: ProviderInfo;
  readonly model: string;
  readonly endpoint: string;
  readonly redactor: Redactor;
}

const MAX_MESSAGE_LENGTH = 500;

/** Error types that providers send inside a stream, and the HTTP status each stands for. */
const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 402,
  billing_error: 402,
  timeout_error: 504,
  api_error: 500,
  server_error: 500,
  overloaded_error: 529,
};

/** Codes from the system and from fetch for a connection closed by the other side. */
const CUT_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Turns any failure of a turn into a `TrunklineError`. */
export function toModelError(error: unknown, place: ErrorPlace): TrunklineError {
  if (error instanceof TrunklineError) return error;
  const who = `${place.provider.name} (${place.model})`;
  if (error instanceof CutStreamError) {
    return new TrunklineError("CONNECTION_FAILED", `The stream from ${who} was cut off before the answer ended.`, {
      data: { provider: place.provider.name },
    });
  }
  if (error instanceof StreamErrorPart) return streamError(error.cause, place);
  if (isRecord(error) && error.name === "AI_APICallError") return callError(error, place);
  if (isRecord(error) && (error.name === "AI_JSONParseError" || error.name === "AI_TypeValidationError")) {
    return new TrunklineError("UPSTREAM", `${who} answered with something that does not match its protocol.`, {
      hint: `Check that ${place.endpoint} speaks the format of ${place.provider.name}.`,
    });
  }
  if (isRecord(error) && typeof error.name === "string" && error.name.startsWith("AI_")) {
    return new TrunklineError("INVALID_ARGUMENT", said(`${who} cannot handle this request`, messageOf(error), place));
  }
  if (error instanceof TypeError && (systemCodeOf(error) !== undefined || error.message === "terminated")) {
    return unreachable(error, place);
  }
  return new TrunklineError("UPSTREAM", said(`${who} failed`, messageOf(error), place), { cause: error });
}

export function missingKey(place: Pick<ErrorPlace, "provider">): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", `${place.provider.name} needs an API key, and none is set.`, {
    hint: keyHint(place.provider),
  });
}

function keyHint(provider: ProviderInfo): string {
  const [first] = provider.keyVariables;
  return first === undefined ? "Use a key that the endpoint accepts." : `Set the environment variable ${first}.`;
}

function refusedKeyHint(provider: ProviderInfo): string {
  const [first] = provider.keyVariables;
  return first === undefined ? keyHint(provider) : `Put a valid key in the environment variable ${first}.`;
}

/** Creates the error for a failed request or connection. */
function callError(error: Record<string, unknown>, place: ErrorPlace): TrunklineError {
  const status = typeof error.statusCode === "number" ? error.statusCode : undefined;
  // A 200 response that broke off midway is a broken connection.
  if (status === undefined || status < 400) return unreachable(error.cause ?? error, place);
  const body = typeof error.responseBody === "string" ? parseJson(error.responseBody) : undefined;
  const headers = isRecord(error.responseHeaders) ? error.responseHeaders : {};
  return statusError(
    {
      status,
      message: messageOf(error instanceof Error ? error : String(error.message)),
      words: wordsOf(body),
      retryAfterMs: retryAfterMs(headers, body),
    },
    place,
  );
}

function streamError(cause: unknown, place: ErrorPlace): TrunklineError {
  if (isRecord(cause) && typeof cause.name === "string" && cause.name.startsWith("AI_")) {
    return toModelError(cause, place);
  }
  const words = wordsOf(cause);
  const numeric = isRecord(cause) && typeof cause.code === "number" && cause.code >= 400 ? cause.code : undefined;
  // Treat unknown errors as temporary: retries are bounded, and nothing has run yet.
  const status = numeric ?? words.map((word) => STATUS_BY_TYPE[word]).find((known) => known !== undefined) ?? 500;
  const message = isRecord(cause) && typeof cause.message === "string" ? cause.message : messageOf(cause);
  return statusError({ status, message, words, retryAfterMs: undefined }, place);
}

interface Failure {
  readonly status: number;
  readonly message: string;
  /** The provider's own names for the error. */
  readonly words: readonly string[];
  readonly retryAfterMs: number | undefined;
}

function statusError(failure: Failure, place: ErrorPlace): TrunklineError {
  const { status, words } = failure;
  const { provider, model, endpoint } = place;
  const who = `${provider.name} (${model})`;
  const data = {
    provider: provider.name,
    status,
    retryAfterMs: failure.retryAfterMs,
  };
  const make = (code: "AUTH_REQUIRED" | "UPSTREAM" | "INVALID_ARGUMENT" | "TIMEOUT", what: string, hint?: string) =>
    new TrunklineError(code, said(`${who} ${what}`, failure.message, place), {
      data,
      retryable: code === "TIMEOUT" || (code === "UPSTREAM" && isPassing(failure)),
      hint,
    });
  // Google answers 400 for an unknown key.
  if (status === 401 || status === 403 || words.includes("API_KEY_INVALID")) {
    return make("AUTH_REQUIRED", "refused the API key", refusedKeyHint(provider));
  }
  if (status === 402 || words.includes("insufficient_quota") || words.includes("billing_error")) {
    return make(
      "UPSTREAM",
      "refused the request: its quota is used up or a payment is due",
      `See the billing page of ${provider.name}.`,
    );
  }
  if (status === 404) {
    const pull = provider.name === "ollama" ? ` Get it with \`ollama pull ${model}\`.` : "";
    return make("INVALID_ARGUMENT", "does not know the model or the endpoint", `Check --model and ${endpoint}.${pull}`);
  }
  if (status === 408 || status === 504) return make("TIMEOUT", "took too long", "Try again, or send less at a time.");
  if (status === 429) return make("UPSTREAM", "has reached a rate limit", "Wait a moment, or send less at a time.");
  if (status >= 500) return make("UPSTREAM", "failed internally", "Try again later.");
  if (status === 409 || status === 425)
    return make("UPSTREAM", "refused the request for now", "Try again in a moment.");
  return make("INVALID_ARGUMENT", "refused the request");
}

/** Whether the same request could succeed a little later. */
function isPassing({ status, words }: Failure): boolean {
  if (words.includes("insufficient_quota") || words.includes("billing_error")) return false;
  return status === 409 || status === 425 || status === 429 || status >= 500;
}

function unreachable(error: unknown, place: ErrorPlace): TrunklineError {
  const code = systemCodeOf(error);
  const what = code === undefined ? messageOf(error) : code;
  if (code !== undefined && CUT_CODES.has(code)) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      said(`${place.provider.name} at ${place.endpoint} closed the connection`, what, place),
      { data: { provider: place.provider.name }, cause: below(error) },
    );
  }
  return new TrunklineError(
    "CONNECTION_FAILED",
    said(`${place.provider.name} at ${place.endpoint} cannot be reached`, what, place),
    { hint: place.provider.unreachableHint, data: { provider: place.provider.name }, cause: below(error) },
  );
}

/** Returns the first error below the library's own. */
function below(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 8 && isRecord(current) && String(current.name).startsWith("AI_"); depth++) {
    current = current.cause;
  }
  return current;
}

function said(what: string, message: string, { redactor }: ErrorPlace): string {
  const line = firstWords(message.replace(/\s+/g, " ").trim(), MAX_MESSAGE_LENGTH);
  return redactor.text(line === "" ? `${what}.` : `${what}: ${line}`);
}

/**
 * Collects `type`, `code`, `status` and `reason` from anywhere in an error body: OpenAI, Anthropic and Google put them
 * in different places.
 */
function wordsOf(body: unknown, depth = 0): string[] {
  if (depth > 5) return [];
  if (Array.isArray(body)) return body.flatMap((item) => wordsOf(item, depth + 1));
  if (!isRecord(body)) return [];
  return Object.entries(body).flatMap(([key, value]) => {
    if (typeof value === "string") return ["type", "code", "status", "reason"].includes(key) ? [value] : [];
    return wordsOf(value, depth + 1);
  });
}

/**
 * Returns how long the provider asks us to wait. This comes from a header, as seconds or a date, or from the body, as
 * Google sends it.
 */
function retryAfterMs(headers: Record<string, unknown>, body: unknown): number | undefined {
  const inMs = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(inMs) && inMs >= 0) return inMs;
  const header = headers["retry-after"];
  if (typeof header === "string" && header !== "") {
    const seconds = Number(header);
    if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  }
  const details = isRecord(body) && isRecord(body.error) && Array.isArray(body.error.details) ? body.error.details : [];
  for (const detail of details) {
    const delay = isRecord(detail) && typeof detail.retryDelay === "string" ? detail.retryDelay : "";
    const match = /^(\d+(?:\.\d+)?)s$/.exec(delay);
    if (match !== null) return Number(match[1]) * 1000;
  }
  return undefined;
}
