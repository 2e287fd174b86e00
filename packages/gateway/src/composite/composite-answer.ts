// Shared by the composite tools: access to operations, the store and budgets, and how an answer is sent.
import { type ContentStore, type Gateway, isRecord } from "@trunkline/core";
import type { AnswerPart } from "../budget/cut-part.js";
import { fitResult, type UnfittedAnswer } from "../budget/fit-result.js";
import { withShortLines } from "../budget/long-lines.js";
import { stepBudget } from "../budget/step-budget.js";
import { wholeResult } from "../budget/whole-result.js";
import type { Exchange } from "../interfaces/exchange.js";
import type { Operation, OperationRegistry } from "../interfaces/operation.js";
import type { Reader } from "../interfaces/reader.js";
import type { ToolResult } from "../interfaces/served-tool.js";
import type { CallLog, TokenAccount, TokenUse } from "../journal/journal.js";
import type { RunStep } from "../operations/run-operation.js";
import { answerError } from "../pipeline/answer-error.js";
import type { StepOutcome } from "../pipeline/run-step.js";

/** Where the composite tools look up operations; `session` actions are separate. */
export interface CompositeRegistry extends OperationRegistry {
  /** Finds an action of the `session` tool. Rejects with `NOT_FOUND`. */
  findAction(name: string): Promise<Operation>;
}

export interface CompositeOptions {
  readonly registry: CompositeRegistry;
  /** Opens the store as a principal sees it. */
  readonly store: (principal: string) => Promise<ContentStore>;
  readonly run: RunStep;
  /** For calls that fail before an operation runs; `run` journals the others. */
  readonly log: CallLog;
  readonly account?: TokenAccount;
  /** Whether answers over the budget are stored and returned as a handle. Default true. */
  readonly spill?: boolean;
  /** The folder that relative paths are resolved against. */
  readonly workspace: string;
  /** This gateway, if it shares its store with others. */
  readonly gateway?: () => Promise<Gateway | undefined>;
}

/** Creates the environment of one call. */
export type EnvironmentOf = (exchange: Exchange) => CompositeEnvironment;

/** The same with defaults applied, for one call: the store is the one that the caller's principal sees. */
export interface CompositeEnvironment {
  readonly registry: CompositeRegistry;
  readonly run: RunStep;
  readonly log: CallLog;
  readonly store: () => Promise<ContentStore>;
  /** This gateway, if it shares its store with others. */
  readonly gateway?: () => Promise<Gateway | undefined>;
  readonly account: TokenAccount | undefined;
  readonly spill: boolean;
  /** Who the answers are for. */
  readonly reader: Reader;
  readonly workspace: string;
  /** The id that the journal has with each step of this call. */
  readonly request: string;
}

/** Describes the result of a step: `value` is what the answer shows of its outcome. */
export function partOf(
  op: string,
  { error, operation }: Pick<StepOutcome, "error" | "operation">,
  { value, isUsed }: { value: unknown; isUsed: boolean },
): AnswerPart {
  if (error !== undefined) return { op, value, isStorable: false };
  const digest = operation?.server !== undefined;
  const source = digest ? "server" : operation?.name === "describe" ? "describe" : "own";
  const shorten = source === "own" && operation?.name === "grep" ? withShortLines : undefined;
  return { op, value, isStorable: true, budget: stepBudget(value, source, isUsed), digest, shorten };
}

/** What a caller allows: undefined tokens stand for the default. */
interface AnswerBudget {
  readonly maxTokens: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** An answer before it is fitted into its budget. */
export interface Answer extends UnfittedAnswer {
  readonly isError: boolean;
  readonly use?: TokenUse;
}

/** The JSON Schema of a list of steps. Kept short: the description of `query` explains `as` and `for_each`. */
export function stepsSchema(required: readonly ("op" | "params")[]): Readonly<Record<string, unknown>> {
  const properties = { op: { type: "string" }, params: { type: "object" } };
  return { type: "array", items: { type: "object", properties, required } };
}

const MOST_WARNINGS = 20;

/** Turns an answer into a result: fitted into its budget, or whole for a program. Releases its large values. */
export async function sendAnswer(env: CompositeEnvironment, answer: Answer, budget: AnswerBudget): Promise<ToolResult> {
  const store = env.spill ? env.store : undefined;
  const { reader } = env;
  const error = answer.isError ? { isError: true } : {};
  // A program that sets a budget is held to it.
  const whole = reader === "program" && budget.maxTokens === undefined ? await wholeResult(answer) : undefined;
  if (whole !== undefined) return { ...whole, ...error };
  const { value, text, beside } = await fitResult(answer, { ...budget, reader, store });
  env.account?.add(answer.use ?? "results", beside === undefined ? text : text + beside.text);
  return {
    content: [{ type: "text", text }, ...(beside?.sent ?? [])],
    // Legacy revisions only allow objects here.
    ...(isRecord(value) ? { structuredContent: value } : {}),
    ...error,
  };
}

/** Sends the answer to a call that failed before it started. */
export async function sendError(
  env: CompositeEnvironment,
  thrown: unknown,
  options: { maxTokens?: number; signal: AbortSignal; op: string },
): Promise<ToolResult> {
  const { maxTokens, signal, op } = options;
  const error = answerError(thrown);
  const value = { error };
  const parts = [{ op, value, isStorable: false }];
  const answer = { parts, frame: ([only]: readonly unknown[]) => only, isError: true, essence: { error } };
  return await sendAnswer(env, answer, { maxTokens, signal });
}

/** Limits the number of warnings. */
export function listedWarnings(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  if (warnings.length === 0) return {};
  const more = warnings.length - MOST_WARNINGS;
  return { warnings: more <= 0 ? warnings : [...warnings.slice(0, MOST_WARNINGS), `… and ${more} more.`] };
}
