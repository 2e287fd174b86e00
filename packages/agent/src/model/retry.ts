// Retries turns. A turn can start over as long as nothing has run: text already shown is discarded. Once a tool call
// has been handed out, a failure is final.
import {
  abortError,
  formatMs,
  isTrunklineError,
  type Logger,
  silentLogger,
  sleep,
  TrunklineError,
} from "@trunkline/core";
import type { Model, ModelEvent, ModelRequest } from "./model.js";

export interface RetryOptions {
  /** Attempts in total. Default 5. */
  maxAttempts?: number | undefined;
  /** The first delay; it doubles with each retry. Default 500. */
  baseDelayMs?: number | undefined;
  /** The longest delay we choose ourselves. Default 20,000. */
  maxDelayMs?: number | undefined;
  /** The longest delay a provider can ask for; if it asks for more, the error is final. Default 60,000. */
  maxRetryAfterMs?: number | undefined;
  /** Default: a timer. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** A number in [0, 1) for the jitter. Default `Math.random`. */
  random?: (() => number) | undefined;
  logger?: Logger | undefined;
}

/**
 * Wraps a model so that it retries `retryable` errors. Emits `restart` with the reason before each delay. Aborting ends
 * the delay at once.
 */
export function retryModel(model: Model, options: RetryOptions = {}): Model {
  const { maxAttempts = 5, logger = silentLogger } = options;
  const wait = options.sleep ?? sleep;
  return {
    provider: model.provider,
    id: model.id,
    async *stream(request) {
      for (let attempt = 1; ; attempt++) {
        let handedOut = false;
        try {
          for await (const event of model.stream(request)) {
            if (event.type === "tool-call") handedOut = true;
            yield event;
          }
          return;
        } catch (error) {
          const delayMs =
            handedOut || attempt >= maxAttempts || request.signal?.aborted
              ? undefined
              : delayOf(error, attempt, options);
          if (delayMs === undefined) throw attempt > 1 ? withAttempts(error, attempt) : error;
          const reason = error instanceof TrunklineError ? error.message : String(error);
          logger.warn("asking a model again", { provider: model.provider, attempt, delayMs, reason });
          yield restart(reason, delayMs);
          await waitFor(delayMs, { wait, request, model });
        }
      }
    },
  };
}

function restart(reason: string, delayMs: number): ModelEvent {
  const sentence = /[.!?…]$/.test(reason) ? reason : `${reason}.`;
  return { type: "restart", reason: `${sentence} Trying again in ${formatMs(delayMs)}.` };
}

async function waitFor(
  delayMs: number,
  { wait, request, model }: { wait: NonNullable<RetryOptions["sleep"]>; request: ModelRequest; model: Model },
): Promise<void> {
  try {
    await wait(delayMs, request.signal);
  } catch (error) {
    if (request.signal?.aborted) throw abortError(request.signal, `Asking ${model.provider} (${model.id})`);
    throw error;
  }
}

/** Returns how long to wait, or undefined if a retry makes no sense. */
function delayOf(error: unknown, attempt: number, options: RetryOptions): number | undefined {
  if (!isTrunklineError(error) || !error.retryable) return undefined;
  const { baseDelayMs = 500, maxDelayMs = 20_000, maxRetryAfterMs = 60_000, random = Math.random } = options;
  const asked = error.data?.retryAfterMs;
  if (typeof asked === "number") {
    // Slightly more than asked for, so that many clients do not come back at the same moment.
    return asked > maxRetryAfterMs ? undefined : asked + Math.floor(random() * Math.min(baseDelayMs, 250));
  }
  const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
  return Math.floor(ceiling / 2 + random() * (ceiling / 2));
}

function withAttempts(error: unknown, attempts: number): unknown {
  if (!isTrunklineError(error) || !error.retryable) return error;
  return new TrunklineError(error.code, `${error.message} (${attempts} attempts)`, {
    retryable: true,
    data: { ...error.data, attempts },
    hint: error.hint,
    cause: error.cause,
  });
}
