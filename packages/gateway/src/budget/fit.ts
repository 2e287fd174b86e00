// Fits an answer into its budget. Values that are too large are stored, and the answer contains a part of them and a
// handle. The results of earlier steps are replaced first.
import {
  type ContentStore,
  headOf,
  isRecord,
  isTrunklineError,
  jsonBytes,
  LargeValue,
  messageOf,
} from "@trunkline/core";
import { type AnswerPart, CuttablePart } from "./cut-part.js";
import { storeValue } from "./stored-value.js";
import { isWithinBytes, tokensWithin } from "./tokens.js";

/** The maximum budget: counting more tokens than this would delay other clients. */
export const MOST_MAX_TOKENS = 200_000;

/** What an answer includes regardless of its budget. */
export interface Essence {
  /** The error. Its code is dropped last. */
  readonly error?: { readonly code: string; readonly message: string; readonly stepIndex?: number };
  /** Numbers that summarize the answer. */
  readonly counts?: Readonly<Record<string, number>>;
}

export interface FitOptions {
  readonly parts: readonly AnswerPart[];
  /** Builds the whole answer with these values in place of the parts. */
  readonly frame: (values: readonly unknown[]) => unknown;
  readonly essence?: Essence;
  readonly maxTokens: number;
  /** The budget that the caller set, as hints name it. */
  readonly budget?: number;
  /** Opens the store for large values; undefined if they are not stored. */
  readonly store: (() => Promise<ContentStore>) | undefined;
  readonly signal?: AbortSignal;
}

/** An answer that fits. `text` is the JSON of `value`. */
export interface FittedAnswer {
  readonly value: unknown;
  readonly text: string;
}

/** The length of the longest token: a text with more bytes than this per token of the budget can never fit. */
const MOST_BYTES_PER_TOKEN = 128;
const FIRST_BYTES_PER_TOKEN = 3.5;
const MOST_TRIES = 7;
/** An attempt that uses this share of the budget is good enough. */
const GOOD_USE = 0.9;
/** Digits shown of a handle if there is no room for anything else. */
const SHORT_ID = 16;

/** Builds an answer of at most `maxTokens` tokens. If a value cannot be stored, the answer says so. */
export async function fitAnswer(options: FitOptions): Promise<FittedAnswer> {
  const { parts, frame } = options;
  const maxTokens = Math.min(options.maxTokens, MOST_MAX_TOKENS);
  const hasLarge = parts.some(({ value }) => value instanceof LargeValue);
  const isTooLong = hasLarge || (options.budget === undefined && parts.some(exceedsOwnBudget));
  const whole = frame(parts.map(standIn));
  if (!isTooLong && jsonBytes(whole, maxTokens * MOST_BYTES_PER_TOKEN) <= maxTokens * MOST_BYTES_PER_TOKEN) {
    const text = JSON.stringify(whole);
    if (isWithinBytes(text, maxTokens) || (await tokensWithin(text, maxTokens)) !== undefined) {
      return { value: whole, text };
    }
  }
  const { budget } = options;
  const canStore = options.store !== undefined;
  const cuttable = parts.map((part) => new CuttablePart(part, { isStorable: canStore && part.isStorable, budget }));
  // Many small parts are truncated as one: a handle for each would take more room than the parts themselves.
  const op = parts[0]?.op ?? "answer";
  const joined = new CuttablePart(
    {
      op,
      value: hasLarge ? frame(await Promise.all(cuttable.map((part) => part.inJoined()))) : whole,
      isStorable: true,
    },
    { isStorable: canStore && parts.some(({ isStorable }) => isStorable), budget },
  );
  const [first] = parts;
  const isFramed = parts.length > 1 || first === undefined || whole !== standIn(first);
  const levels = essenceLevels(options.essence);
  for (;;) {
    const fitted =
      (await fitParts(cuttable, frame, maxTokens)) ??
      (isFramed ? await fitJoined(joined, levels, maxTokens) : undefined) ??
      (await bareHandle(isFramed ? joined : cuttable[0], levels, maxTokens));
    // A part that is only in the joined one by its handle has to be stored too.
    const inJoined = fitted.stored.includes(joined)
      ? cuttable.filter(({ isLarge, isStorable }) => isLarge && isStorable)
      : [];
    const problem = await storeCut([...fitted.stored, ...inJoined], options);
    if (problem === undefined) return { value: fitted.value, text: fitted.text };
  }
}

function exceedsOwnBudget({ value, budget }: AnswerPart): boolean {
  return budget !== undefined && jsonBytes(value, budget.wholeBytes) > budget.wholeBytes;
}

/** Takes the place of a large value where only the frame around it counts. */
const LARGE_STAND_IN = {};

function standIn({ value }: AnswerPart): unknown {
  return value instanceof LargeValue ? LARGE_STAND_IN : value;
}

interface Candidate extends FittedAnswer {
  /** Whether every part has all the room it may have. */
  readonly isFull: boolean;
  /** Parts that the answer has handles for. */
  readonly stored: readonly CuttablePart[];
}

/** Stores the parts that the answer has handles for. A part that cannot be stored gets no handle. */
async function storeCut(parts: readonly CuttablePart[], options: FitOptions): Promise<unknown> {
  const { store, signal } = options;
  for (const part of parts) {
    if (store === undefined) return undefined;
    try {
      await storeValue(await store(), await part.serialized(), { op: part.op, signal });
    } catch (error) {
      if (isTrunklineError(error, "ABORTED")) throw error;
      part.refuse(messageOf(error));
      return error;
    }
  }
  return undefined;
}

/** Finds the size at which the answer makes good use of its budget. */
async function fitParts(
  parts: readonly CuttablePart[],
  frame: FitOptions["frame"],
  maxTokens: number,
): Promise<Candidate | undefined> {
  for (const withHint of [true, false]) {
    let best: Candidate | undefined;
    let fits = 0;
    let tooLarge = Number.POSITIVE_INFINITY;
    let bytes = maxTokens * FIRST_BYTES_PER_TOKEN;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const candidate = await build(parts, frame, { bytes, withHint });
      const tokens = await tokensWithin(candidate.text, maxTokens);
      if (tokens === undefined) {
        tooLarge = bytes;
        bytes = fits === 0 ? bytes * 0.6 : (fits + tooLarge) / 2;
      } else {
        best = candidate;
        fits = bytes;
        if (candidate.isFull || tokens >= maxTokens * GOOD_USE) break;
        const larger = bytes * Math.min(4, (maxTokens * 0.97) / Math.max(1, tokens));
        bytes = larger < tooLarge ? larger : (fits + tooLarge) / 2;
      }
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

/** Truncates all parts as one, with as much of the essence as fits. */
async function fitJoined(
  joined: CuttablePart,
  levels: readonly Readonly<Record<string, unknown>>[],
  maxTokens: number,
): Promise<Candidate | undefined> {
  // If only the shortest level fits, there is no room for the beginning of a value.
  for (const level of levels.slice(0, Math.max(1, levels.length - 1))) {
    const frame: FitOptions["frame"] = ([value]) => (isRecord(value) ? { ...value, ...level } : value);
    const fitted = await fitParts([joined], frame, maxTokens);
    if (fitted !== undefined) return fitted;
  }
  return undefined;
}

const BRIEF_MESSAGE_BYTES = 120;

/** Shortens the essence step by step: drops the message before the counts, and keeps the code. */
function essenceLevels({ error, counts = {} }: Essence = {}): readonly Readonly<Record<string, unknown>>[] {
  if (error === undefined) return Object.keys(counts).length === 0 ? [{}] : [counts, {}];
  const { code, message, stepIndex } = error;
  const place = stepIndex === undefined ? {} : { stepIndex };
  return [
    { ...counts, error: { code, message, ...place } },
    { ...counts, error: { code, message: headOf(message, BRIEF_MESSAGE_BYTES), ...place } },
    { ...counts, error: { code } },
    { error: { code } },
  ];
}

async function build(
  parts: readonly CuttablePart[],
  frame: FitOptions["frame"],
  { bytes, withHint }: { bytes: number; withHint: boolean },
): Promise<Candidate> {
  const around = jsonBytes(frame(parts.map(() => null)), bytes);
  const wanted = parts.map((part) => part.wantedBytes(bytes));
  const shares = latestFirst(
    wanted.map((want, index) => ({ want, least: Math.min(want, parts[index]?.leastBytes ?? 0) })),
    bytes - around,
  );
  const isCut = parts.map((part, index) => !part.isWholeWithin(shares[index] ?? 0));
  const lastCut = isCut.lastIndexOf(true);
  const stored: CuttablePart[] = [];
  const values: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    if (isCut[index] !== true) values.push(part.value);
    else {
      // One hint is enough: the other handles work the same way.
      const cut = await part.cut(shares[index] ?? 0, withHint && index === lastCut);
      if (cut.isStored) stored.push(part);
      values.push(cut.value);
    }
  }
  const value = frame(values);
  const isFull = wanted.every((want, index) => (shares[index] ?? 0) >= want);
  return { value, text: JSON.stringify(value), stored, isFull };
}

/** Divides `total`: each part gets the least it needs, and the last ones get the rest. */
function latestFirst(parts: readonly { readonly want: number; readonly least: number }[], total: number): number[] {
  let left = parts.reduce((rest, { least }) => rest - least, total);
  const shares = parts.map(({ least }) => least);
  for (let index = parts.length - 1; index >= 0 && left > 0; index--) {
    const { want, least } = parts[index] as (typeof parts)[number];
    const more = Math.min(want - least, left);
    shares[index] = least + more;
    left -= more;
  }
  return shares;
}

/** Builds the minimal answer if the budget is too small for the beginning of a value. */
async function bareHandle(
  part: CuttablePart | undefined,
  levels: readonly Readonly<Record<string, unknown>>[],
  maxTokens: number,
): Promise<Candidate> {
  const handle = await part?.handle();
  for (const level of levels) {
    if (part !== undefined && handle?.hash !== undefined) {
      const short = handle.hash.slice(0, SHORT_ID);
      for (const value of [
        { ...level, truncated: true, ...handle },
        { ...level, truncated: true, size: handle.size, hash: short },
        { ...level, truncated: true, hash: short },
      ]) {
        const text = JSON.stringify(value);
        if ((await tokensWithin(text, maxTokens)) !== undefined) return { value, text, stored: [part], isFull: true };
      }
    }
    const value = { ...level, truncated: true };
    const text = JSON.stringify(value);
    if ((await tokensWithin(text, maxTokens)) !== undefined) return { value, text, stored: [], isFull: true };
  }
  const least = levels.at(-1) ?? {};
  const value = Object.keys(least).length === 0 ? { truncated: true } : least;
  return { value, text: JSON.stringify(value), stored: [], isFull: true };
}
