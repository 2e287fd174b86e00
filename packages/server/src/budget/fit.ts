// Fits an answer into its budget. Values that are too large are stored, and the answer contains their beginning and a
// handle.
import {
  type ContentStore,
  headOf,
  isContentId,
  isRecord,
  isTrunklineError,
  jsonBytes,
  LargeValue,
  messageOf,
  type SerializedValue,
  type Shrunk,
  shareOut,
  shrink,
} from "@trunkline/core";
import { serializeValue, storeValue } from "./stored-value.js";
import { isWithinBytes, tokensWithin } from "./tokens.js";

/** The budget of an answer if the caller sets none. */
export const DEFAULT_MAX_TOKENS = 8_000;

/** The maximum budget: counting more tokens than this would delay other clients. */
export const MOST_MAX_TOKENS = 200_000;

/** A part of an answer that can be truncated: the result of one step. */
export interface AnswerPart {
  readonly op: string;
  readonly value: unknown;
  /** Whether the part can be stored and replaced by a handle. Errors cannot. */
  readonly isStorable: boolean;
}

/** What an answer includes regardless of its budget. */
export interface Essence {
  /** The error. Its code is dropped last. */
  readonly error?: { readonly code: string; readonly message: string; readonly stepIndex?: number } | undefined;
  /** Numbers that summarize the answer. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

export interface FitOptions {
  readonly parts: readonly AnswerPart[];
  /** Builds the whole answer with these values in place of the parts. */
  readonly frame: (values: readonly unknown[]) => unknown;
  readonly essence?: Essence | undefined;
  readonly maxTokens: number;
  /** The caller's budget, as hints name it. Default: `maxTokens`, which may be what other blocks have left of it. */
  readonly budget?: number | undefined;
  /** Opens the store for large values; undefined if they are not stored. */
  readonly store: (() => Promise<ContentStore>) | undefined;
  readonly now: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that fits. `text` is the JSON of `value`. */
interface FittedAnswer {
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
  const whole = frame(parts.map(standIn));
  if (!hasLarge && jsonBytes(whole, maxTokens * MOST_BYTES_PER_TOKEN) <= maxTokens * MOST_BYTES_PER_TOKEN) {
    const text = JSON.stringify(whole);
    if (isWithinBytes(text, maxTokens) || (await tokensWithin(text, maxTokens)) !== undefined) {
      return { value: whole, text };
    }
  }
  const budget = Math.min(options.budget ?? maxTokens, MOST_MAX_TOKENS);
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
    const inJoined = fitted.stored.includes(joined) ? cuttable.filter(({ isLarge }) => isLarge) : [];
    const problem = await storeCut([...fitted.stored, ...inJoined], options);
    if (problem === undefined) return { value: fitted.value, text: fitted.text };
  }
}

/** Takes the place of a large value where only the frame around it counts. */
const LARGE_STAND_IN = {};

function standIn({ value }: AnswerPart): unknown {
  return value instanceof LargeValue ? LARGE_STAND_IN : value;
}

interface Candidate extends FittedAnswer {
  /** Parts that the answer has handles for. */
  readonly stored: readonly CuttablePart[];
}

/** Stores the parts that the answer has handles for. A part that cannot be stored gets no handle. */
async function storeCut(parts: readonly CuttablePart[], options: FitOptions): Promise<unknown> {
  const { store, now, signal } = options;
  for (const part of parts) {
    if (store === undefined) return undefined;
    try {
      await storeValue(await store(), await part.serialized(), { op: part.op, now: now(), signal });
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
        if (tokens >= maxTokens * GOOD_USE) break;
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
  const shares = shareOut(
    parts.map((part) => part.bytesWithin(bytes)),
    bytes - around,
  );
  const stored: CuttablePart[] = [];
  const values: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    const share = shares[index] ?? 0;
    if (!part.isLarge && part.bytesWithin(share) <= share) values.push(part.value);
    else {
      const cut = await part.cut(share, withHint);
      if (cut.isStored) stored.push(part);
      values.push(cut.value);
    }
  }
  const value = frame(values);
  return { value, text: JSON.stringify(value), stored };
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
        if ((await tokensWithin(text, maxTokens)) !== undefined) return { value, text, stored: [part] };
      }
    }
    const value = { ...level, truncated: true };
    const text = JSON.stringify(value);
    if ((await tokensWithin(text, maxTokens)) !== undefined) return { value, text, stored: [] };
  }
  const least = levels.at(-1) ?? {};
  const value = Object.keys(least).length === 0 ? { truncated: true } : least;
  return { value, text: JSON.stringify(value), stored: [] };
}

/** A part with everything needed to truncate it, computed only once. */
class CuttablePart {
  readonly op: string;
  readonly value: unknown;
  readonly #isFailure: boolean;
  readonly #limit: string;
  #isStorable: boolean;
  #problem: string | undefined;
  #serialized: Promise<SerializedValue> | undefined;

  constructor(part: AnswerPart, { isStorable, budget }: { isStorable: boolean; budget: number }) {
    this.op = part.op;
    this.value = part.value;
    this.#isFailure = !part.isStorable;
    this.#isStorable = isStorable;
    this.#limit = `Cut to max_tokens (${budget}).`;
  }

  /** Whether the value is on another thread. */
  get isLarge(): boolean {
    return this.value instanceof LargeValue;
  }

  bytesWithin(limit: number): number {
    return this.value instanceof LargeValue ? this.value.sizeBytes : jsonBytes(this.value, limit);
  }

  /** The part as it appears in the joined value: a large one by its handle. */
  async inJoined(): Promise<unknown> {
    return this.isLarge ? { truncated: true, ...(await this.handle()) } : this.value;
  }

  serialized(): Promise<SerializedValue> {
    this.#serialized ??= serializeValue(this.value);
    return this.#serialized;
  }

  /** From now on, the part gets no handle. */
  refuse(problem: string): void {
    this.#isStorable = false;
    this.#problem = problem;
  }

  async handle(): Promise<{ size: number; hash?: string }> {
    const { bytes, id } = await this.serialized();
    return { size: bytes.length, ...(this.#isStorable ? { hash: id } : {}) };
  }

  /** Returns the beginning of the value within `maxBytes`, marked as truncated. */
  async cut(maxBytes: number, withHint: boolean): Promise<{ value: unknown; isStored: boolean }> {
    const failure = this.#isFailure ? cutError(this.value, maxBytes) : undefined;
    if (failure !== undefined) return { value: failure, isStored: false };
    const own = this.#ownContent(maxBytes, withHint);
    if (own !== undefined) return { value: own, isStored: false };
    const handle = await this.handle();
    const around = { truncated: true, ...handle, ...(withHint ? { hint: await this.#hint([]) } : {}) };
    const { head, cuts } = await this.#head(maxBytes - jsonBytes(around, maxBytes) - (withHint ? 60 : 0));
    const hint = withHint ? { hint: await this.#hint(cuts) } : {};
    return { value: { ...head, truncated: true, ...handle, ...hint }, isStored: handle.hash !== undefined };
  }

  /** The rest of a document can be read by the document's own hash, so nothing has to be stored a second time. */
  #ownContent(maxBytes: number, withHint: boolean): unknown {
    const { value } = this;
    if (!isRecord(value) || typeof value.content !== "string") return undefined;
    if (typeof value.hash !== "string" || !isContentId(value.hash) || !Object.hasOwn(value, "versions"))
      return undefined;
    const hint = `${this.#limit} Continue with get {"hash": "${value.hash.slice(0, 12)}", "lines" or "bytes"}, or grep {"pattern": "…", "hash": "${value.hash.slice(0, 12)}"}.`;
    const marks = { truncated: true, ...(withHint ? { hint } : {}) };
    const { value: head, cuts } = shrink(value, maxBytes - jsonBytes(marks, maxBytes));
    if (!isRecord(head) || cuts.some((cut) => !cut.startsWith("content:"))) return undefined;
    return { ...head, ...marks };
  }

  async #head(maxBytes: number): Promise<{ head: Readonly<Record<string, unknown>>; cuts: readonly string[] }> {
    if (maxBytes < 16) return { head: {}, cuts: [] };
    const { value, cuts }: Shrunk =
      this.value instanceof LargeValue
        ? await this.value.shrink(maxBytes - 10)
        : shrink(this.value, maxBytes - (isRecord(this.value) ? 0 : 10));
    if (isRecord(value)) return { head: value, cuts };
    return { head: typeof value === "string" ? { text: value } : { head: value }, cuts };
  }

  async #hint(cuts: readonly string[]): Promise<string> {
    const shown = cuts.length === 0 ? "" : ` Here: ${cuts.slice(0, 2).join("; ")}.`;
    if (!this.#isStorable) {
      const why = this.#problem === undefined ? "" : ` It could not be stored: ${this.#problem}`;
      return `${this.#limit} Ask for less, or raise it.${why}${shown}`;
    }
    const { id, lines, bytes } = await this.serialized();
    const range = lines > 1 && bytes.length / lines < 2_000 ? '"lines": "1-200"' : '"bytes": "0-9999"';
    const short = id.slice(0, 12);
    return `${this.#limit} The full result is stored: get {"hash": "${short}", ${range}} or grep {"pattern": "…", "hash": "${short}"}.${shown}`;
  }
}

/** Truncates a failed step to `maxBytes`: always keeps the code, then the location, then the message, then the rest. */
function cutError(value: unknown, maxBytes: number): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(value) || !isRecord(value.error)) return undefined;
  const { error, ...beside } = value;
  const { code, message, hint, stepIndex, path, ...more } = error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  const cut: Record<string, unknown> = { code };
  let left = maxBytes - jsonBytes({ error: cut, truncated: true }, maxBytes);
  const take = (key: string, part: unknown): void => {
    const bytes = key.length + 4 + jsonBytes(part, Math.max(0, left));
    if (part === undefined || bytes > left) return;
    cut[key] = part;
    left -= bytes;
  };
  take("stepIndex", stepIndex);
  take("path", path);
  const hintBytes = jsonBytes(hint, maxBytes) + 8;
  const forMessage = hintBytes < left / 2 ? left - hintBytes : left;
  const head = headOf(message, forMessage - '"message":"",'.length);
  if (head !== "") take("message", head);
  take("hint", hint);
  for (const [key, part] of Object.entries(more)) if (left > 100) take(key, shrink(part, left - key.length - 8).value);
  const shown = left > 100 && Object.keys(beside).length > 0 ? shrink(beside, left - 8).value : {};
  return { ...(isRecord(shown) ? shown : {}), error: cut, truncated: true };
}
