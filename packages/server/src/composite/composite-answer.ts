// Shared by the composite tools: access to operations, the store and budgets, and how an answer is sent.
import { type Clock, type ContentStore, isRecord, jsonBytes, LargeValue } from "@trunkline/core";
import { type BlockGroup, type FittedBlocks, fitBlocks, weighBlocks } from "../budget/blocks.js";
import type { AnswerPart } from "../budget/cut-part.js";
import { type Essence, fitAnswer, MOST_MAX_TOKENS } from "../budget/fit.js";
import { DEFAULT_MAX_TOKENS, stepBudget } from "../budget/step-budget.js";
import { tokensWithin } from "../budget/tokens.js";
import type { Exchange } from "../interfaces/exchange.js";
import type { ContentBlock, Operation, OperationRegistry } from "../interfaces/operation.js";
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
  readonly account?: TokenAccount | undefined;
  /** Whether answers over the budget are stored and returned as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** The folder that relative paths are resolved against. */
  readonly workspace: string;
  readonly clock?: Clock | undefined;
}

/** Creates the environment of one call. */
export type EnvironmentOf = (exchange: Exchange) => CompositeEnvironment;

/** The same with defaults applied, for one call: the store is the one that the caller's principal sees. */
export interface CompositeEnvironment {
  readonly registry: CompositeRegistry;
  readonly run: RunStep;
  readonly log: CallLog;
  readonly store: () => Promise<ContentStore>;
  readonly account: TokenAccount | undefined;
  readonly spill: boolean;
  readonly workspace: string;
  readonly clock: Clock;
}

/** The list entries for the blocks of one part. */
export interface BlockNotes {
  readonly blocks?: FittedBlocks["listed"][number];
}

/** Describes the result of a step: `value` is what the answer shows of its outcome. */
export function partOf(
  op: string,
  { error, operation }: Pick<StepOutcome, "error" | "operation">,
  { value, isUsed }: { value: unknown; isUsed: boolean },
): AnswerPart {
  if (error !== undefined) return { op, value, isStorable: false };
  const source = operation?.server !== undefined ? "server" : operation?.name === "describe" ? "describe" : "own";
  return { op, value, isStorable: true, budget: stepBudget(value, source, isUsed) };
}

/** What a caller allows: undefined tokens stand for the default. */
interface AnswerBudget {
  readonly maxTokens: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** An answer before it is fitted into its budget. */
export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly frame: (values: readonly unknown[], notes: readonly BlockNotes[]) => unknown;
  readonly isError: boolean;
  /** The non-text blocks of each part. */
  readonly blocks?: readonly (readonly (ContentBlock | LargeValue)[])[] | undefined;
  readonly essence?: Essence | undefined;
  readonly use?: TokenUse | undefined;
}

/** The JSON Schema of a list of steps. Kept short: the description of `query` explains `as` and `for_each`. */
export function stepsSchema(required: readonly ("op" | "params")[]): Readonly<Record<string, unknown>> {
  const properties = { op: { type: "string" }, params: { type: "object" } };
  return { type: "array", items: { type: "object", properties, required } };
}

const MOST_WARNINGS = 20;

/** Fits an answer into its budget and turns it into a result. Releases its large values. */
export async function sendAnswer(env: CompositeEnvironment, answer: Answer, budget: AnswerBudget): Promise<ToolResult> {
  try {
    return await fittedAnswer(env, answer, budget);
  } finally {
    for (const { value } of answer.parts) release(value);
    for (const blocks of answer.blocks ?? []) for (const block of blocks) release(block);
  }
}

function release(value: unknown): void {
  if (value instanceof LargeValue) value.release();
}

async function fittedAnswer(env: CompositeEnvironment, answer: Answer, budget: AnswerBudget): Promise<ToolResult> {
  const given = budget.maxTokens === undefined ? undefined : Math.min(budget.maxTokens, MOST_MAX_TOKENS);
  const maxTokens = given ?? DEFAULT_MAX_TOKENS;
  const hasBlocks = answer.blocks?.some((blocks) => blocks.length > 0) === true;
  const beside = hasBlocks ? await besideText(env, answer, { maxTokens, signal: budget.signal }) : undefined;
  const notes = answer.parts.map((_, index) => notesOf(beside?.listed[index]));
  const { value, text } = await fitAnswer({
    parts: answer.parts,
    frame: (values) => answer.frame(values, notes),
    essence: answer.essence,
    maxTokens: Math.max(1, maxTokens - (beside?.tokens ?? 0)),
    budget: given,
    store: env.spill ? env.store : undefined,
    now: () => env.clock.now(),
    signal: budget.signal,
  });
  env.account?.add(answer.use ?? "results", text + (beside?.text ?? ""));
  return {
    content: [{ type: "text", text }, ...(beside?.sent ?? [])],
    // Legacy revisions only allow objects here.
    ...(isRecord(value) ? { structuredContent: value } : {}),
    ...(answer.isError ? { isError: true } : {}),
  };
}

/** Rough cost of a block's list entry: with a handle, and without. */
const HANDLE_TOKENS = 130;
const ENTRY_TOKENS = 25;

/**
 * Picks the blocks to send in addition to the text. They get the budget left by the values (which take up to half) and
 * the list of blocks.
 */
async function besideText(
  env: CompositeEnvironment,
  { parts, frame, blocks = [] }: Answer,
  { maxTokens, signal }: { maxTokens: number; signal: AbortSignal | undefined },
): Promise<FittedBlocks> {
  const groups: BlockGroup[] = blocks.map((each, index) => ({ op: parts[index]?.op ?? "answer", blocks: each }));
  const weighed = weighBlocks(groups);
  const whole = frame(
    parts.map(({ value }) => (value instanceof LargeValue ? null : value)),
    parts.map(() => ({})),
  );
  const half = Math.floor(maxTokens / 2);
  const hasLarge = parts.some(({ value }) => value instanceof LargeValue);
  const bytes = hasLarge ? Number.POSITIVE_INFINITY : jsonBytes(whole, half * 128);
  const listing = Math.min(maxTokens / 2, HANDLE_TOKENS + ENTRY_TOKENS * weighed.count);
  const countsBytes = bytes + listing + weighed.textBytes <= maxTokens;
  const needed = countsBytes ? bytes : bytes > half * 128 ? half : await tokensWithin(JSON.stringify(whole), half);
  return await fitBlocks(weighed, {
    maxTokens: Math.floor(maxTokens - listing - (needed ?? half)),
    countsBytes,
    store: env.spill ? env.store : undefined,
    now: () => env.clock.now(),
    signal,
  });
}

const NO_NOTES: BlockNotes = {};

function notesOf(listed: FittedBlocks["listed"][number] | undefined): BlockNotes {
  return listed === undefined || listed.length === 0 ? NO_NOTES : { blocks: listed };
}

/** Sends the answer to a call that failed before it started. */
export async function sendError(
  env: CompositeEnvironment,
  thrown: unknown,
  options: { maxTokens?: number | undefined; signal: AbortSignal; op: string },
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
