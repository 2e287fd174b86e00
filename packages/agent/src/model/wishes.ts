// Thinking first and a form for the answer are wishes: a model that cannot do it is asked without. Which of the two an
// endpoint refuses is not told in any common way, so one after the other is left out.
import { isTrunklineError, type Logger } from "@trunkline/core";
import type { Model, ModelRequest } from "./model.js";

type Wish = "think" | "format";

const WORDS: Readonly<Record<Wish, string>> = { think: "thinking", format: "a form for the answer" };

/**
 * The same model, which asks again without `think`, then without `format`, when a request with them is refused as one that
 * can never succeed. What the model turned out not to take is left out of later requests at once.
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
          logger.warn("asking a model with less", { provider: model.provider, model: model.id, without: wish, error });
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
