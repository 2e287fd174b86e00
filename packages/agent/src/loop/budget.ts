// Limits shared by an agent and the sub-agents it starts.
import { type Clock, systemClock } from "@trunkline/core";
import type { TokenUsage } from "../model/model.js";

/** Limits for an agent, shared with its sub-agents. */
export interface BudgetLimits {
  /** Turns of a model, not counting the last word. */
  readonly maxTurns?: number;
  /** Input plus output tokens. */
  readonly maxTokens?: number;
  readonly maxTimeMs?: number;
}

export type BudgetKind = "turns" | "tokens" | "time";

/** Counts what is spent; the clock starts at construction. */
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

  get turns(): number {
    return this.#turns;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Counts a turn at its start. */
  takeTurn(): void {
    this.#turns++;
  }

  spend(usage: TokenUsage): void {
    this.#tokens += usage.inputTokens + usage.outputTokens;
  }

  /** Time left; infinite without a limit. */
  get remainingMs(): number {
    const { maxTimeMs = Number.POSITIVE_INFINITY } = this.limits;
    return Math.max(0, maxTimeMs - (this.#clock.monotonicMs() - this.#startMs));
  }

  /** The limit that was reached, if any. */
  get spent(): BudgetKind | undefined {
    const { maxTurns = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = this.limits;
    if (this.#turns >= maxTurns) return "turns";
    if (this.#tokens >= maxTokens) return "tokens";
    return this.remainingMs === 0 ? "time" : undefined;
  }
}
