// The keywords that limit a value: bounds, lengths, formats and patterns. Fields of forms have them, too.
import { canonicalJson } from "../json.js";
import { isQuickPattern, MAX_MATCHED_CHARS } from "./quick-pattern.js";

interface LimitOptions {
  /** Whether every `pattern` may be run, not only those that are certain to be quick. */
  readonly trusted?: boolean;
}

/** Returns which limits a value breaks, to be read after its name: `must be at least 3`. */
export function limitProblems(limits: object, value: unknown, { trusted = false }: LimitOptions = {}): string[] {
  const get = (name: string): unknown => (limits as Readonly<Record<string, unknown>>)[name];
  const broken = (rules: readonly Rule[]) =>
    rules.flatMap(([name, holds, words]) => {
      const limit = get(name);
      return typeof limit === "number" && !holds(limit) ? [`must ${words(limit)}`] : [];
    });
  if (typeof value === "number") return broken(numberRules(value));
  if (typeof value === "string") {
    const pattern = get("pattern");
    const matched = typeof pattern !== "string" || matches(pattern, value, trusted);
    return [
      ...broken(sizeRules(value, "Length")),
      ...(matched ? [] : [`must match the pattern "${pattern.slice(0, 200)}"`]),
    ];
  }
  if (!Array.isArray(value)) return [];
  const hasDuplicates = get("uniqueItems") === true && new Set(value.map(canonicalJson)).size < value.length;
  return [...broken(sizeRules(value, "Items")), ...(hasDuplicates ? ["must not contain duplicates"] : [])];
}

/** The keyword, whether it holds, and how it is said. */
type Rule = readonly [name: string, holds: (limit: number) => boolean, words: (limit: number) => string];

function numberRules(value: number): readonly Rule[] {
  return [
    ["minimum", (limit) => value >= limit, (limit) => `be at least ${limit}`],
    ["maximum", (limit) => value <= limit, (limit) => `be at most ${limit}`],
    ["exclusiveMinimum", (limit) => value > limit, (limit) => `be more than ${limit}`],
    ["exclusiveMaximum", (limit) => value < limit, (limit) => `be less than ${limit}`],
    ["multipleOf", (limit) => isMultiple(value, limit), (limit) => `be a multiple of ${limit}`],
  ];
}

function isMultiple(value: number, step: number): boolean {
  return step <= 0 || Math.abs(value / step - Math.round(value / step)) < 1e-9;
}

function sizeRules(value: string | readonly unknown[], what: "Length" | "Items"): readonly Rule[] {
  // JSON Schema counts code points.
  const size = typeof value === "string" ? [...value].length : value.length;
  const noun = what === "Length" ? "character" : "item";
  const counted = (limit: number) => `${limit} ${noun}${limit === 1 ? "" : "s"}`;
  return [
    [`min${what}`, (limit) => size >= limit, (limit) => `have at least ${counted(limit)}`],
    [`max${what}`, (limit) => size <= limit, (limit) => `have at most ${counted(limit)}`],
  ];
}

/** Whether a text matches a pattern. One that could take very long, or is not JavaScript's, is left to the server. */
function matches(pattern: string, text: string, trusted: boolean): boolean {
  if (!trusted && (text.length > MAX_MATCHED_CHARS || !isQuickPattern(pattern))) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}
