// Thinking and a response format are optional: if a model rejects them, ask again without them. There is no standard
// way for endpoints to say which option they reject, so the options are dropped one by one.
import { isTrunklineError, type Logger } from "@trunkline/core";
import type { Model, ModelRequest } from "./model.js";

type Wish = "think" | "format";

const WORDS: Readonly<Record<Wish, string>> = { think: "thinking", format: "a response format" };

/**
 * Wraps a model so that a rejected request is repeated without `think`, then without `format`. Later requests leave out
 * rejected options from the start.
 */
export function wishfulModel(model: Model, logger: Logger): Model {
  const refused = new Set<Wish>();
  return {
    provider: model.provider,
    id: model.id,
    async *stream(request) {
      const left: Wish[] = (["think", "format"] as const).filter(
        (wish) => hasWish(request, wish) && !refused.has(wish),
      );
      const dropped = new Set(refused);
      for (;;) {
        let begun = false;
        try {
          for await (const event of model.stream(without(request, dropped))) {
            begun = true;
            yield event;
          }
          for (const wish of dropped) refused.add(wish);
          return;
        } catch (error) {
          const wish = begun || !isRefusal(error) ? undefined : left.shift();
          if (wish === undefined) throw error;
          dropped.add(wish);
          logger.warn("repeating a model request with fewer options", {
            provider: model.provider,
            model: model.id,
            without: wish,
            error,
          });
          yield { type: "restart", reason: `${model.id} refused the request. Asking again without ${WORDS[wish]}.` };
        }
      }
    },
  };
}

function hasWish(request: ModelRequest, wish: Wish): boolean {
  return wish === "think" ? request.think === true : request.format !== undefined;
}

function without(request: ModelRequest, wishes: ReadonlySet<Wish>): ModelRequest {
  return {
    ...request,
    ...(wishes.has("think") ? { think: undefined } : {}),
    ...(wishes.has("format") ? { format: undefined } : {}),
  };
}

function isRefusal(error: unknown): boolean {
  return isTrunklineError(error, "INVALID_ARGUMENT") && (error.data?.status === 400 || error.data?.status === 422);
}
