// An agent: a way to work on a prompt in turns, with a model and tools. Agents are registered by name.
import type { Message, Model, TokenUsage } from "../model/model.js";
import type { Approver, Tool } from "../tools/tool.js";

/** What an agent may spend. It is shared with the agents that it starts. */
export interface BudgetLimits {
  /** Turns of a model. */
  readonly maxTurns?: number | undefined;
  /** Input and output tokens together. */
  readonly maxTokens?: number | undefined;
  readonly maxTimeMs?: number | undefined;
}

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
  readonly approve: Approver;
  readonly limits?: BudgetLimits | undefined;
  readonly format?:
    | { readonly type: "json"; readonly schema?: Readonly<Record<string, unknown>> | undefined }
    | undefined;
  readonly think?: boolean | undefined;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What came of it. */
export interface AgentResult {
  readonly text: string;
  /** The answer as JSON, where that was asked for. */
  readonly json?: unknown;
  /** Everything that was said, the request's own messages first: a later run can go on from it. */
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly usage: TokenUsage;
  /** `budget`: it had to stop; `text` is its last word on what it knew by then. */
  readonly ended: "answer" | "budget";
}

/** A way of working. */
export interface Agent {
  readonly name: string;
  readonly summary: string;
  run(request: AgentRequest): Promise<AgentResult>;
}
