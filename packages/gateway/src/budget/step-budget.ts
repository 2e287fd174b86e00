// How much of each step an answer shows if the caller sets no `max_tokens`. The limits are in bytes, about 3.2 to a
// token, because they are checked on the way of every call and counting tokens takes time.
import { isRecord } from "@trunkline/core";

/** The most tokens of an answer whose caller sets no budget. */
export const DEFAULT_MAX_TOKENS = 8_000;

/** A result larger than `wholeBytes` is cut to about `cutBytes`. */
export interface StepBudget {
  readonly wholeBytes: number;
  readonly cutBytes: number;
}

/** Where a result comes from: a server's tool, one of our own operations, or `describe`. */
type ResultSource = "server" | "own" | "describe";

/**
 * A result of up to 5,000 tokens is sent whole: reading it in two turns costs more if the model needs three quarters of
 * it or more. Of a larger one, 1,000 tokens show what it is. A text shows as much in 600.
 */
export const WHOLE_BYTES = 16_000;
const VALUE: StepBudget = { wholeBytes: WHOLE_BYTES, cutBytes: 3_200 };
const TEXT: StepBudget = { wholeBytes: WHOLE_BYTES, cutBytes: 2_000 };
/** A later step used it, so the model has its result without reading it. */
const USED: StepBudget = { wholeBytes: 1_200, cutBytes: 500 };
/** Our own operations have pages and ranges: a large page was asked for. */
const OWN: StepBudget = { wholeBytes: Number.POSITIVE_INFINITY, cutBytes: 6_400 };

/** The budget of a step's result; undefined if only the budget of the whole answer counts. */
export function stepBudget(value: unknown, source: ResultSource, isUsed: boolean): StepBudget | undefined {
  if (source === "describe") return undefined;
  if (isUsed) return USED;
  if (source === "own") return OWN;
  return isText(value) ? TEXT : VALUE;
}

function isText(value: unknown): boolean {
  if (!isRecord(value)) return typeof value === "string";
  const fields = Object.values(value);
  return fields.length === 1 && typeof fields[0] === "string";
}
