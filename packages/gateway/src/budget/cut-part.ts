// A result that does not fit its answer: what of it is shown, and its handle.
import {
  headOf,
  isContentId,
  isRecord,
  isTrunklineError,
  jsonBytes,
  LargeValue,
  LEFT_OUT,
  messageOf,
  type SerializedValue,
  type Shrunk,
  shrink,
} from "@trunkline/core";
import type { StepBudget } from "./step-budget.js";
import { serializeValue } from "./stored-value.js";

/** A part of an answer that can be truncated: the result of one step. */
export interface AnswerPart {
  readonly op: string;
  readonly value: unknown;
  /** Whether the part can be stored and replaced by a handle. Errors cannot. */
  readonly isStorable: boolean;
  /** Its own budget, which only counts if the caller has set none. */
  readonly budget?: StepBudget;
  /**
   * Whether a digest is shown if it is too large: tables and the ends of texts. Our own operations keep the shape of
   * their results, which is documented. Default false.
   */
  readonly digest?: boolean;
  /** Shortens the value for a model, whatever the budget. A person gets it as it is. */
  readonly shorten?: (value: unknown) => unknown;
  /** The tool that reads stored results, if the answer comes from another one. */
  readonly through?: "query";
}

/** The size of `{"truncated":true,"size":…,"hash":"…"}`. */
const HANDLE_BYTES = 120;
/** An error keeps at least this much. */
const LEAST_ERROR_BYTES = 400;

/** A part with everything needed to truncate it, computed only once. */
export class CuttablePart {
  readonly op: string;
  readonly value: unknown;
  readonly #isFailure: boolean;
  readonly #limit: string;
  readonly #budget: StepBudget | undefined;
  readonly #through: AnswerPart["through"];
  readonly #digest: boolean;
  #isStorable: boolean;
  #problem: string | undefined;
  #serialized: Promise<SerializedValue> | undefined;

  constructor(part: AnswerPart, { isStorable, budget }: { isStorable: boolean; budget: number | undefined }) {
    this.op = part.op;
    this.value = part.value;
    this.#isFailure = !part.isStorable;
    this.#isStorable = isStorable;
    this.#limit = budget === undefined ? "" : `Cut to max_tokens (${budget}). `;
    this.#through = part.through;
    this.#digest = part.digest === true;
    this.#budget = budget === undefined ? part.budget : undefined;
  }

  /** Whether the value is on another thread. */
  get isLarge(): boolean {
    return this.value instanceof LargeValue;
  }

  /** Whether the part is stored if it does not fit. */
  get isStorable(): boolean {
    return this.#isStorable;
  }

  /** The least that is shown of the part if it does not fit. */
  get leastBytes(): number {
    return this.#isFailure ? LEAST_ERROR_BYTES : HANDLE_BYTES;
  }

  /** How much of the answer the part may take; stops counting after the limit. */
  wantedBytes(limit: number): number {
    const budget = this.#budget;
    const bytes = this.#bytesWithin(Math.max(limit, budget?.wholeBytes ?? 0));
    return budget === undefined || bytes <= budget.wholeBytes ? bytes : Math.min(bytes, budget.cutBytes);
  }

  isWholeWithin(share: number): boolean {
    return !this.isLarge && this.#bytesWithin(share) <= share;
  }

  #bytesWithin(limit: number): number {
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
    try {
      const { bytes, id } = await this.serialized();
      return { size: bytes.length, ...(this.#isStorable ? { hash: id } : {}) };
    } catch (error) {
      if (!(this.value instanceof LargeValue) || !isTrunklineError(error, "RESULT_TOO_LARGE")) throw error;
      this.refuse(messageOf(error));
      return { size: this.value.sizeBytes };
    }
  }

  /** Returns the beginning of the value within `maxBytes`, marked as truncated. */
  async cut(maxBytes: number, withHint: boolean): Promise<{ value: unknown; isStored: boolean }> {
    const failure = this.#isFailure ? cutError(this.value, maxBytes) : undefined;
    if (failure !== undefined) return { value: failure, isStored: false };
    const own = this.#ownContent(maxBytes, withHint);
    if (own !== undefined) return { value: own, isStored: false };
    const handle = await this.handle();
    const around = { truncated: true, ...handle, ...(withHint ? { hint: await this.#hint([], {}) } : {}) };
    const { head, cuts } = await this.#head(maxBytes - jsonBytes(around, maxBytes) - (withHint ? 60 : 0));
    const hint = withHint ? { hint: await this.#hint(cuts, head) } : {};
    return { value: { ...head, truncated: true, ...handle, ...hint }, isStored: handle.hash !== undefined };
  }

  /** The rest of a document can be read by the document's own hash, so nothing has to be stored a second time. */
  #ownContent(maxBytes: number, withHint: boolean): unknown {
    const { value } = this;
    if (!isRecord(value) || typeof value.content !== "string") return undefined;
    if (typeof value.hash !== "string" || !isContentId(value.hash) || !Object.hasOwn(value, "versions"))
      return undefined;
    const hint = `${this.#limit}Continue with get {"hash": "${value.hash.slice(0, 12)}", "lines" or "bytes"}, or grep {"pattern": "…", "hash": "${value.hash.slice(0, 12)}"}.`;
    const marks = { truncated: true, ...(withHint ? { hint } : {}) };
    const { value: head, cuts } = shrink(value, maxBytes - jsonBytes(marks, maxBytes));
    if (!isRecord(head) || cuts.some((cut) => !cut.startsWith("content:"))) return undefined;
    return { ...head, ...marks };
  }

  async #head(maxBytes: number): Promise<{ head: Readonly<Record<string, unknown>>; cuts: readonly string[] }> {
    if (maxBytes < 16) return { head: {}, cuts: [] };
    const { value, cuts }: Shrunk =
      this.value instanceof LargeValue
        ? await shrinkLarge(this.value, maxBytes - 10)
        : shrink(this.value, maxBytes - (isRecord(this.value) ? 0 : 10), { digest: this.#digest });
    if (isRecord(value)) return { head: value, cuts };
    return { head: typeof value === "string" ? { text: value } : { head: value }, cuts };
  }

  async #hint(cuts: readonly string[], head: Readonly<Record<string, unknown>>): Promise<string> {
    const shown = cuts.length === 0 ? "" : ` Here: ${cuts.slice(0, 2).join("; ")}.`;
    if (!this.#isStorable) {
      const why = this.#problem === undefined ? "" : ` It could not be stored: ${this.#problem}`;
      return `${this.#limit}Ask for less, or for more max_tokens.${why}${shown}`;
    }
    const { id, lines, bytes, extension } = await this.serialized();
    const hash = `"hash": "${id.slice(0, 12)}"`;
    const line = extension === "txt" ? linesShown(head) : 1;
    const range = lines > 1 && bytes.length / lines < 2_000 ? `"lines": "${line}-${line + 199}"` : '"bytes": "0-9999"';
    const get =
      this.#through === undefined
        ? `get {${hash}, ${range}}`
        : `${this.#through} {"steps": [{"op": "get", "params": {${hash}, ${range}}}]}`;
    return `${this.#limit}The full result is stored: ${get} or grep {"pattern": "…", ${hash}}.${shown}`;
  }
}

/** A value whose thread has failed shows nothing of itself: the results of other steps must not be lost with it. */
async function shrinkLarge(large: LargeValue, maxBytes: number): Promise<Shrunk> {
  try {
    return await large.shrink(maxBytes);
  } catch (error) {
    if (!isTrunklineError(error, "RESULT_TOO_LARGE")) throw error;
    return { value: {}, cuts: ["nothing of it"] };
  }
}

/** The line at which the beginning of a text ends: reading continues there. */
function linesShown(head: Readonly<Record<string, unknown>>): number {
  const [text] = Object.values(head);
  const [beginning = ""] = typeof text === "string" ? text.split(LEFT_OUT, 1) : [];
  return beginning.split("\n").length;
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
