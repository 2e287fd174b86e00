// Fits the values and content blocks of an answer into one budget.
import { type ContentStore, jsonBytes, LargeValue } from "@trunkline/core";
import type { ContentBlock } from "../interfaces/operation.js";
import type { Reader } from "../interfaces/reader.js";
import { type BlockGroup, type FittedBlocks, fitBlocks, weighBlocks } from "./blocks.js";
import type { AnswerPart } from "./cut-part.js";
import { type Essence, type FittedAnswer, fitAnswer, MOST_MAX_TOKENS } from "./fit.js";
import { DEFAULT_MAX_TOKENS } from "./step-budget.js";
import { tokensWithin } from "./tokens.js";

/** The list entries for the blocks of one part. */
export interface BlockNotes {
  readonly blocks?: FittedBlocks["listed"][number];
}

export interface UnfittedAnswer {
  readonly parts: readonly AnswerPart[];
  readonly frame: (values: readonly unknown[], notes: readonly BlockNotes[]) => unknown;
  /** The non-text blocks of each part. */
  readonly blocks?: readonly (readonly (ContentBlock | LargeValue)[])[];
  readonly essence?: Essence;
}

interface FitResultOptions {
  /** The caller's budget; undefined for the default. */
  readonly maxTokens: number | undefined;
  /** Opens the store for what does not fit; undefined if nothing is stored. */
  readonly store: (() => Promise<ContentStore>) | undefined;
  /** Default: a model. */
  readonly reader?: Reader;
  readonly signal?: AbortSignal;
}

/** An answer for a person is sent whole up to this size. */
const PERSON_BYTES = 8 * 1024 * 1024;

interface FittedResult extends FittedAnswer {
  /** The blocks sent in addition to the text, if the answer has any. */
  readonly beside: FittedBlocks | undefined;
}

/** Fits an answer, and releases its large values. */
export async function fitResult(answer: UnfittedAnswer, options: FitResultOptions): Promise<FittedResult> {
  try {
    const given = options.maxTokens === undefined ? undefined : Math.min(options.maxTokens, MOST_MAX_TOKENS);
    const maxTokens = given ?? DEFAULT_MAX_TOKENS;
    const hasBlocks = answer.blocks?.some((blocks) => blocks.length > 0) === true;
    const beside = hasBlocks ? await besideText(answer, maxTokens, options) : undefined;
    const notes = answer.parts.map((_, index) => notesOf(beside?.listed[index]));
    const whole = options.reader === "person" ? wholeOf(answer, notes) : undefined;
    if (whole !== undefined) return { ...whole, beside };
    const fitted = await fitAnswer({
      parts: answer.parts.map(shortened),
      frame: (values) => answer.frame(values, notes),
      essence: answer.essence,
      maxTokens: Math.max(1, maxTokens - (beside?.tokens ?? 0)),
      budget: given,
      store: options.store,
      signal: options.signal,
    });
    return { value: fitted.value, text: fitted.text, beside };
  } finally {
    releaseAnswer(answer);
  }
}

function shortened(part: AnswerPart): AnswerPart {
  return part.shorten === undefined ? part : { ...part, value: part.shorten(part.value) };
}

/** The answer as it is; undefined if that is too large even for a person. */
function wholeOf({ parts, frame }: UnfittedAnswer, notes: readonly BlockNotes[]): FittedAnswer | undefined {
  if (parts.some(({ value }) => value instanceof LargeValue)) return undefined;
  const value = frame(
    parts.map((part) => part.value),
    notes,
  );
  return jsonBytes(value, PERSON_BYTES) <= PERSON_BYTES ? { value, text: JSON.stringify(value) } : undefined;
}

/** Releases the large values of an answer. */
export function releaseAnswer({ parts, blocks = [] }: UnfittedAnswer): void {
  for (const { value } of parts) release(value);
  for (const each of blocks) for (const block of each) release(block);
}

function release(value: unknown): void {
  if (value instanceof LargeValue) value.release();
}

/** Rough cost of a block's list entry: with a handle, and without. */
const HANDLE_TOKENS = 130;
const ENTRY_TOKENS = 25;

/**
 * Picks the blocks to send in addition to the text. They get the budget left by the values (which take up to half) and
 * the list of blocks.
 */
async function besideText(
  { parts, frame, blocks = [] }: UnfittedAnswer,
  maxTokens: number,
  { store, signal }: FitResultOptions,
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
  const left = Math.floor(maxTokens - listing - (needed ?? half));
  return await fitBlocks(weighed, { maxTokens: left, countsBytes, store, signal });
}

const NO_NOTES: BlockNotes = {};

function notesOf(listed: FittedBlocks["listed"][number] | undefined): BlockNotes {
  return listed === undefined || listed.length === 0 ? NO_NOTES : { blocks: listed };
}
