// The filter of the list: words and conditions, all of which a row must meet.
import type { TrafficRow } from "./call-list.js";

export type CallFilter = (row: TrafficRow) => boolean;

type Condition = (row: TrafficRow) => boolean;

const UNITS: Readonly<Record<string, { readonly of: "durationMs" | "sizeBytes"; readonly factor: number }>> = {
  ms: { of: "durationMs", factor: 1 },
  s: { of: "durationMs", factor: 1_000 },
  min: { of: "durationMs", factor: 60_000 },
  b: { of: "sizeBytes", factor: 1 },
  kb: { of: "sizeBytes", factor: 1e3 },
  mb: { of: "sizeBytes", factor: 1e6 },
};

const STATES: Readonly<Record<string, Condition>> = {
  ok: ({ outcome }) => outcome === "ok",
  failed: ({ outcome }) => outcome === "error",
  cancelled: ({ outcome }) => outcome === "cancelled",
  recorded: ({ isRecorded, steps }) => isRecorded === true || steps?.some((step) => step.isRecorded === true) === true,
  pipeline: ({ steps }) => steps !== undefined && steps.length > 1,
};

/** What can be typed, for the help. */
export const FILTER_HELP: readonly (readonly [string, string])[] = [
  ["git", "in the client, operation, outcome or code"],
  ["client:cursor", "the client's name contains it"],
  ["op:git.*", "the operation; * matches anything"],
  ["code:TIMEOUT", "the error code"],
  ["failed", "also: ok, cancelled, pipeline, recorded"],
  [">100ms", "the duration, with < or >, in ms, s or min"],
  [">10kB", "the size, with < or >, in B, kB or MB"],
];

/** Reads a filter. Undefined: everything is shown. */
export function readFilter(text: string): CallFilter | undefined {
  const conditions = text.trim().toLowerCase().split(/\s+/).filter(Boolean).map(conditionOf);
  if (conditions.length === 0) return undefined;
  return (row) => conditions.every((condition) => condition(row));
}

function conditionOf(word: string): Condition {
  const state = STATES[word];
  if (state !== undefined) return state;
  const [, sign, amount, unit = ""] = /^([<>])(\d+(?:\.\d+)?)([a-z]+)$/.exec(word) ?? [];
  const measure = UNITS[unit];
  if (sign !== undefined && measure !== undefined) {
    const limit = Number(amount) * measure.factor;
    return sign === ">" ? (row) => row[measure.of] > limit : (row) => row[measure.of] < limit;
  }
  const [, field, pattern = ""] = /^(client|op|code):(.*)$/.exec(word) ?? [];
  const fits = remembered(matcherOf(field === undefined ? word : pattern));
  switch (field) {
    case "client":
      return ({ client }) => fits(client);
    case "op":
      return anyStep(({ operation }) => fits(operation));
    case "code":
      return anyStep(({ code }) => fits(code ?? ""));
    default:
      return anyStep(
        ({ client, operation, outcome, code }) =>
          fits(operation) || fits(client) || fits(outcome) || (code !== undefined && fits(code)),
      );
  }
}

/** A pipeline fits if one of its steps does. */
function anyStep(fits: (call: Pick<TrafficRow, "client" | "operation" | "outcome" | "code">) => boolean): Condition {
  return (row) => (row.steps === undefined ? fits(row) : row.steps.some(fits));
}

/** With `*` the whole name has to fit, otherwise a part of it. */
function matcherOf(pattern: string): (text: string) => boolean {
  if (!pattern.includes("*")) return (text) => text.includes(pattern);
  const source = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.+?()[\]{}|/-]/g, "\\$&"));
  const whole = new RegExp(`^${source.join(".*")}$`, "s");
  return (text) => whole.test(text);
}

const MAX_REMEMBERED = 10_000;

/** There are few names in many calls, so each is compared once. */
function remembered(fits: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    let answer = known.get(text);
    if (answer === undefined) {
      if (known.size >= MAX_REMEMBERED) known.clear();
      answer = fits(text.toLowerCase());
      known.set(text, answer);
    }
    return answer;
  };
}
