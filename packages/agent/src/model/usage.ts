// Tokens and their cost. Prices change: the table is small, dated and replaceable; models not in it only report tokens.
import { matchesGlob } from "@trunkline/core";
import type { TokenUsage } from "./model.js";

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** Adds two usages. Missing numbers count as zero. */
export function addUsage(a: TokenUsage, b: TokenUsage | undefined): TokenUsage {
  if (b === undefined) return a;
  const cached = sum(a.cachedInputTokens, b.cachedInputTokens);
  const reasoning = sum(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: cached,
    reasoningTokens: reasoning,
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input served from the provider's cache. Default: the price of other input. */
  readonly cachedInput?: number;
}

/** Prices by `provider/model`; the model can be a glob. The longest match wins. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The date of {@link PRICES}. Long prompts, batches and cache writes cost differently. */
export const PRICES_AS_OF = "2025-12-01";

/** List prices of some models as of {@link PRICES_AS_OF}. */
export const PRICES: PriceTable = {
  "openai/gpt-4.1": { input: 2, output: 8, cachedInput: 0.5 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cachedInput: 0.1 },
  "openai/gpt-4.1-nano": { input: 0.1, output: 0.4, cachedInput: 0.025 },
  "openai/gpt-4o": { input: 2.5, output: 10, cachedInput: 1.25 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cachedInput: 0.075 },
  "openai/gpt-5": { input: 1.25, output: 10, cachedInput: 0.125 },
  "openai/gpt-5-mini": { input: 0.25, output: 2, cachedInput: 0.025 },
  "openai/gpt-5-nano": { input: 0.05, output: 0.4, cachedInput: 0.005 },
  "anthropic/claude-opus-4-5*": { input: 5, output: 25, cachedInput: 0.5 },
  "anthropic/claude-sonnet-4-5*": { input: 3, output: 15, cachedInput: 0.3 },
  "anthropic/claude-haiku-4-5*": { input: 1, output: 5, cachedInput: 0.1 },
  "google/gemini-2.5-pro": { input: 1.25, output: 10, cachedInput: 0.125 },
  "google/gemini-2.5-flash": { input: 0.3, output: 2.5, cachedInput: 0.03 },
  "google/gemini-2.5-flash-lite": { input: 0.1, output: 0.4, cachedInput: 0.01 },
};

/** Returns the cost in US dollars, or undefined if the price is unknown. */
export function costOf(
  usage: TokenUsage,
  model: { readonly provider: string; readonly id: string },
  prices: PriceTable = PRICES,
): number | undefined {
  const name = `${model.provider}/${model.id}`;
  const [best] = Object.keys(prices)
    .filter((pattern) => matchesGlob(pattern, name))
    .sort((a, b) => b.length - a.length);
  const price = best === undefined ? undefined : prices[best];
  if (price === undefined) return undefined;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const input = (usage.inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
  return (input + usage.outputTokens * price.output) / 1_000_000;
}
