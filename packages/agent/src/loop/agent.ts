// An agent: a way to work on a prompt in turns, with a model and tools. Agents are registered by name.
import type { Message, Model, TokenUsage } from "../model/model.js";
import type { Approver, Tool } from "../tools/tool.js";
import type { Budget, BudgetLimits } from "./budget.js";

/** Events during a run, for displays. */
export type AgentEvent =
  | { readonly type: "turn"; readonly turn: number; readonly depth: number }
  | { readonly type: "text"; readonly text: string; readonly depth: number }
  | { readonly type: "reasoning"; readonly text: string; readonly depth: number }
  /** Discard what was shown of this turn. */
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
  /** Something the user should know: a repaired answer, a retry, a budget that is running out. */
  | { readonly type: "note"; readonly message: string; readonly depth: number }
  | { readonly type: "usage"; readonly usage: TokenUsage; readonly depth: number };

export interface AgentRequest {
  readonly model: Model;
  /** The conversation so far, ending with the prompt. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /**
   * Returns tools that became available during the run, such as those of a server after a sign-in. Called before each
   * turn; tools whose name is already in use are ignored.
   */
  readonly moreTools?: () => readonly Tool[];
  /** Called for one tool call at a time, even when sub-agents run in parallel. */
  readonly approve: Approver;
  readonly limits?: BudgetLimits;
  readonly format?: { readonly type: "json"; readonly schema?: Readonly<Record<string, unknown>> };
  readonly think?: boolean;
  /** Spend from this budget instead of `limits`: the budget of a parent agent, or one shared by several runs. */
  readonly budget?: Budget;
  /** Adds a tool `delegate` that starts sub-agents. They share tools, approval and budget. Default: no. */
  readonly delegate?: boolean;
  /** How many agents are above this one. Default 0. */
  readonly depth?: number;
  /** Maximum nesting depth of agents. Default 2. */
  readonly maxDepth?: number;
  /** Maximum number of read-only tools that run in parallel. Default 4. */
  readonly maxParallelCalls?: number;
  /**
   * The key of the frames around tool output (`createFrameKey`). Default: a new one per run; a chat keeps one for all
   * its runs.
   */
  readonly frameKey?: string;
  /** Maximum number of characters of a result that the model gets; a note says how much was cut. Default 100,000. */
  readonly maxResultChars?: number;
  readonly onEvent?: (event: AgentEvent) => void;
  /**
   * Called for each message added to the conversation, once it is complete: a call always comes with its result. A
   * reported message is final, even if the run fails later.
   */
  readonly onMessage?: (message: Message) => void;
  readonly signal?: AbortSignal;
}

export interface AgentResult {
  readonly text: string;
  /** The answer as JSON, if JSON was requested. */
  readonly json?: unknown;
  /** The whole conversation, starting with the request's own messages; a later run can continue from it. */
  readonly messages: readonly Message[];
  /** Turns of the model, including those of sub-agents and the last word. */
  readonly turns: number;
  readonly usage: TokenUsage;
  /**
   * `budget`: the budget ran out, and `text` is the last word on what was known by then. `stuck`: stopped after
   * repeating the same failing call; `text` is the last word too.
   */
  readonly ended: "answer" | "budget" | "stuck";
}

export interface Agent {
  readonly name: string;
  readonly summary: string;
  /**
   * Works until there is an answer or the budget runs out. Rejects with the model's error, with `ABORTED`, or with
   * `UPSTREAM` if the model does not produce the requested format.
   */
  run(request: AgentRequest): Promise<AgentResult>;
}
