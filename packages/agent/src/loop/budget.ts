// What agents may spend together. One budget is handed down from an agent to those it starts.
import { type Clock, systemClock } from "@trunkline/core";
import type { TokenUsage } from "../model/model.js";

/** What an agent may spend. It is shared with the agents that it starts. */
export interface BudgetLimits {
  /** Turns of a model. The last word, when the budget has ended, comes on top. */
  readonly maxTurns?: number | undefined;
  /** Input and output tokens together. */
  readonly maxTokens?: number | undefined;
  readonly maxTimeMs?: number | undefined;
}

/** What a budget can run out of. */
export type BudgetKind = "turns" | "tokens" | "time";

/** Counts what is spent; time runs from its making. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #startMs: number;
  #turns = 0;
  #tokens = 0;

  constructor(limits: BudgetLimits = {}, { clock = systemClock }: { clock?: Clock } = {}) {
    this.limits = limits;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  /** Turns taken so far. */
  get turns(): number {
    return this.#turns;
  }

  /** Tokens spent so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Counts a turn that begins. */
  takeTurn(): void {
    this.#turns++;
  }

  /** Counts what a turn cost. */
  spend(usage: TokenUsage): void {
    this.#tokens += usage.inputTokens + usage.outputTokens;
  }

  /** How much time is left; infinite without a limit. */
  get remainingMs(): number {
    const { maxTimeMs = Number.POSITIVE_INFINITY } = this.limits;
    return Math.max(0, maxTimeMs - (this.#clock.monotonicMs() - this.#startMs));
  }

  /** What has run out, if anything. */
  get spent(): BudgetKind | undefined {
    const { maxTurns = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = this.limits;
    if (this.#turns >= maxTurns) return "turns";
    if (this.#tokens >= maxTokens) return "tokens";
    return this.remainingMs === 0 ? "time" : undefined;
  }
}
