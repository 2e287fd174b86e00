// What the composite tools share: where operations, store and budgets come from, and how an answer goes out.
import { type Clock, type ContentStore, isRecord } from "@trunkline/core";
import type { Backends } from "../backends.js";
import { type AnswerPart, DEFAULT_MAX_TOKENS, fitAnswer } from "../budget/fit.js";
import { serializeValue, storeValue } from "../budget/stored-value.js";
import type { TokenAccount, TokenUse } from "../journal/journal.js";
import type { ContentBlock, Operation, OperationRegistry } from "../operations/operation.js";
import type { RunOperation } from "../operations/run-operation.js";
import { answerError } from "../pipeline/errors.js";
import type { StepOutcome } from "../pipeline/run-step.js";
import type { StepRecord } from "../pipeline/scope.js";
import type { ToolResult } from "../surface/served-tool.js";

/** Where the composite tools find operations; actions of `session` are apart. */
export interface CompositeRegistry extends OperationRegistry {
  /** An action of the tool `session`. Rejects with `NOT_FOUND`. */
  findAction(name: string): Promise<Operation>;
}

/** What the composite tools are made of. */
export interface CompositeOptions {
  readonly registry: CompositeRegistry;
  readonly backends: Pick<Backends, "store">;
  /** How an operation is run. Default: its parameters are checked, then it runs. */
  readonly run?: RunOperation | undefined;
  readonly account?: TokenAccount | undefined;
  /** Whether answers over the budget are stored and given as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** The folder that relative paths are relative to. */
  readonly workspace: string;
  readonly clock?: Clock | undefined;
}

/** The same with everything filled in. */
export interface CompositeEnvironment {
  readonly registry: CompositeRegistry;
  readonly run: RunOperation;
  readonly store: () => Promise<ContentStore>;
  readonly account: TokenAccount | undefined;
  readonly spill: boolean;
  readonly workspace: string;
  readonly clock: Clock;
}

/** An answer before it is fitted. */
export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly frame: (values: readonly unknown[]) => unknown;
  readonly isError: boolean;
  /** Blocks that are not text, which go out as they are. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  readonly use?: TokenUse | undefined;
}

const MOST_WARNINGS = 20;

/** Fits an answer into its budget and makes a result of it. */
export async function sendAnswer(
  env: CompositeEnvironment,
  answer: Answer,
  { maxTokens, signal }: { maxTokens: number; signal: AbortSignal },
): Promise<ToolResult> {
  const { value, text } = await fitAnswer({
    parts: answer.parts,
    frame: answer.frame,
    maxTokens,
    store: env.spill ? env.store : undefined,
    now: () => env.clock.now(),
    signal,
  });
  env.account?.add(answer.use ?? "results", text);
  return {
    content: [{ type: "text", text }, ...(answer.blocks ?? [])],
    // What is not an object, revisions of the legacy era cannot carry there.
    ...(isRecord(value) ? { structuredContent: value } : {}),
    ...(answer.isError ? { isError: true } : {}),
  };
}

/** The answer to a call that could not even begin. */
export async function sendError(
  env: CompositeEnvironment,
  thrown: unknown,
  options: { maxTokens?: number; signal: AbortSignal; op: string },
): Promise<ToolResult> {
  const { maxTokens = DEFAULT_MAX_TOKENS, signal, op } = options;
  const error = answerError(thrown);
  const value = { error };
  const parts = [{ op, value, isStorable: false }];
  return await sendAnswer(env, { parts, frame: ([only]) => only, isError: true }, { maxTokens, signal });
}

/** A step that has run, as later references see it. */
export function recordOf(
  env: CompositeEnvironment,
  op: string,
  { outcome, entry, signal }: { outcome: StepOutcome; entry?: Readonly<Record<string, unknown>>; signal: AbortSignal },
): StepRecord {
  const { value, blocks, operation } = outcome;
  let stored: Promise<string> | undefined;
  const store = () => {
    stored ??= env
      .store()
      .then((contents) => storeValue(contents, serializeValue(value), { op, now: env.clock.now(), signal }));
    return stored;
  };
  return {
    op: operation?.name ?? op,
    value,
    blocks,
    entry,
    ...(operation?.server === undefined ? {} : { store }),
  };
}

/** What the answer says of blocks: they themselves are beside the text. */
export function listedBlocks(blocks: readonly ContentBlock[]): { readonly blocks?: readonly unknown[] } {
  if (blocks.length === 0) return {};
  return {
    blocks: blocks.map((block) => {
      const { type, mimeType, uri, name, data, resource } = block;
      const inner = isRecord(resource) ? resource : {};
      const bytes = typeof data === "string" ? data : inner.blob;
      return {
        type,
        ...(typeof (mimeType ?? inner.mimeType) === "string" ? { mimeType: mimeType ?? inner.mimeType } : {}),
        ...(typeof (uri ?? inner.uri) === "string" ? { uri: uri ?? inner.uri } : {}),
        ...(typeof name === "string" ? { name } : {}),
        ...(typeof bytes === "string" ? { size: Buffer.byteLength(bytes, "base64") } : {}),
      };
    }),
  };
}

/** Warnings, not too many of them. */
export function listedWarnings(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  if (warnings.length === 0) return {};
  const more = warnings.length - MOST_WARNINGS;
  return { warnings: more <= 0 ? warnings : [...warnings.slice(0, MOST_WARNINGS), `… and ${more} more.`] };
}
