// An agent: a way to work on a prompt in turns, with a model and tools. Agents are registered by name.
import type { Message, Model, TokenUsage } from "../model/model.js";
import type { Approver, Tool } from "../tools/tool.js";
import type { Budget, BudgetLimits } from "./budget.js";

/** What happens while an agent works, for whoever shows it. */
export type AgentEvent =
  | { readonly type: "turn"; readonly turn: number; readonly depth: number }
  | { readonly type: "text"; readonly text: string; readonly depth: number }
  | { readonly type: "reasoning"; readonly text: string; readonly depth: number }
  /** What was shown of this turn is void. */
  | { readonly type: "restart"; readonly reason: string; readonly depth: number }
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly title: string;
      readonly args: unknown;
      readonly depth: number;
    }
  | {
      readonly type: "tool-result";
      readonly id: string;
      readonly title: string;
      readonly text: string;
      readonly isError: boolean;
      readonly durationMs: number;
      readonly depth: number;
    }
  /** Something that a person should know: a repaired answer, a retry, a budget that runs out. */
  | { readonly type: "note"; readonly message: string; readonly depth: number }
  | { readonly type: "usage"; readonly usage: TokenUsage; readonly depth: number };

/** What one run needs. */
export interface AgentRequest {
  readonly model: Model;
  /** The conversation so far, the prompt last. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Asked about one call at a time, also where sub-agents work beside one another. */
  readonly approve: Approver;
  readonly limits?: BudgetLimits | undefined;
  readonly format?:
    | { readonly type: "json"; readonly schema?: Readonly<Record<string, unknown>> | undefined }
    | undefined;
  readonly think?: boolean | undefined;
  /** What this run spends from, in place of `limits`: that of an agent that started it, or of runs that share one. */
  readonly budget?: Budget | undefined;
  /** Gives the model a tool `delegate` that starts sub-agents. They share tools, approval and budget. Default: no. */
  readonly delegate?: boolean | undefined;
  /** How many agents stand above this one. Default 0. */
  readonly depth?: number | undefined;
  /** How many agents may stand above one another. Default 2. */
  readonly maxDepth?: number | undefined;
  /** How many tools that only read run at the same time. Default 4. */
  readonly maxParallelCalls?: number | undefined;
  /** The key of the frames around tool output (`createFrameKey`). Default: a new one; a chat keeps one for all its runs. */
  readonly frameKey?: string | undefined;
  /** How much of one result the model is given, in characters; what is left out is said. Default 100,000. */
  readonly maxResultChars?: number | undefined;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  /**
   * Each message that is added to the conversation, as soon as it is whole: a call always comes with its result. What was
   * reported stays said, even if the run fails later.
   */
  readonly onMessage?: ((message: Message) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What came of it. */
export interface AgentResult {
  readonly text: string;
  /** The answer as JSON, where that was asked for. */
  readonly json?: unknown;
  /** Everything that was said, the request's own messages first: a later run can go on from it. */
  readonly messages: readonly Message[];
  /** Turns of the model, those of sub-agents and the last word included. */
  readonly turns: number;
  readonly usage: TokenUsage;
  /**
   * `budget`: it had to stop; `text` is its last word on what it knew by then. `stuck`: it was stopped because it made the
   * same failing call again and again; `text` is its last word too.
   */
  readonly ended: "answer" | "budget" | "stuck";
}

/** A way of working. */
export interface Agent {
  readonly name: string;
  readonly summary: string;
  /**
   * Works until there is an answer or the budget ends. Rejects with what the model rejects with, with `ABORTED`, and with
   * `UPSTREAM` where the model does not keep to the form that was asked for.
   */
  run(request: AgentRequest): Promise<AgentResult>;
}
