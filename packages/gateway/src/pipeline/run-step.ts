// Runs one step: resolves its references and runs its operation, once or for each item.
import {
  abortError,
  type ContentStore,
  isRecord,
  type LargeValue,
  type ToolProgress,
  TrunklineError,
  wholeOf,
} from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";
import {
  type ContentBlock,
  ExchangeContext,
  type Operation,
  type OperationContext,
  type OperationRegistry,
  type Params,
} from "../interfaces/operation.js";
import type { CallLog } from "../journal/journal.js";
import type { RunStep, StepRun } from "../operations/run-operation.js";
import { type AnswerError, answerError, type ErrorPlace, upstreamFailure } from "./answer-error.js";
import { documentsBefore, withDocuments } from "./implicit-documents.js";
import type { Step } from "./read-steps.js";
import { mayRefer, type ReferenceRules, resolveReferences } from "./references.js";
import { scopeOf, type Trail } from "./step-trail.js";

interface StepEnvironment {
  readonly registry: OperationRegistry;
  readonly run: RunStep;
  /** For steps that fail before their operation runs; `run` journals the others. */
  readonly log: CallLog;
  readonly store: () => Promise<ContentStore>;
  readonly exchange: Exchange;
  /** The id that the journal has with each step. */
  readonly request: string;
  /** Whether every reference has to resolve; otherwise only those without which a step would read more. */
  readonly mustResolve: boolean;
  /** Throws if the tool does not accept this operation. */
  readonly admit: (operation: Operation) => void;
  /** Wraps each operation. `isPending` says whether its parameters depend on a step that was only described. */
  readonly around?: (
    step: Omit<StepRun, "params" | "around"> & { readonly isPending: () => boolean },
  ) => StepRun["around"];
}

export interface StepOutcome {
  readonly operation: Operation | undefined;
  /** The full value; for a failed step, what references in later steps can still see. */
  readonly value: unknown;
  readonly blocks: readonly (ContentBlock | LargeValue)[];
  readonly error: AnswerError | undefined;
  readonly warnings: readonly string[];
}

/** Maximum number of `for_each` items that run concurrently. */
const MOST_AT_ONCE = 16;
/** Each item is a call, and its answer is kept for the steps that follow. */
const MOST_ITEMS = 1_000;

/** Runs a step. Never rejects: failures are part of the outcome. */
export async function runStep(
  step: Step,
  env: StepEnvironment,
  { trail, place, onProgress }: { trail: Trail; place: ErrorPlace; onProgress?: OperationContext["onProgress"] },
): Promise<StepOutcome> {
  let operation: Operation | undefined;
  try {
    requireOngoing(env.exchange, step.op);
    operation = trail.found.get(step.op) ?? (await env.registry.find(step.op, { signal: env.exchange.signal }));
    if (operation.release !== undefined) operation = await operation.release(new ExchangeContext(env.exchange));
    trail.found.set(step.op, operation);
    env.admit(operation);
    const run = { step, env, trail, place, operation, onProgress };
    return step.forEach === undefined ? await runOnce(run, undefined) : await runForEach(run);
  } catch (error) {
    env.log.note(operation?.name, env.exchange.caller, { asked: step.op, error, request: env.request });
    return failed(operation, answerError(error, { ...place, op: step.op }));
  }
}

interface Run {
  readonly step: Step;
  readonly env: StepEnvironment;
  readonly trail: Trail;
  readonly place: ErrorPlace;
  readonly operation: Operation;
  readonly onProgress: OperationContext["onProgress"];
}

function failed(operation: Operation | undefined, error: AnswerError, warnings: readonly string[] = []): StepOutcome {
  return { operation, value: { error }, blocks: [], error, warnings };
}

async function runOnce(run: Run, item: { readonly value: unknown } | undefined): Promise<StepOutcome> {
  const { env, operation, place } = run;
  const context: OperationContext = new ExchangeContext(env.exchange, run.onProgress);
  let warnings: readonly string[] = [];
  const scope = scopeOf(run.env, run.trail, item);
  const resolve = async () => {
    const resolved = await resolveReferences(run.step.params, scope, rulesFor(run));
    warnings = resolved.warnings;
    const given = objectOf(resolved.value);
    const documents = documentsBefore(run);
    if (documents === undefined) return given;
    // The step looks like a search of everything.
    if (operation.name === "grep") {
      const what = documents.length === 1 ? "1 document" : `${documents.length} documents`;
      warnings = [...warnings, `grep searched only the ${what} of the step before it; use paths to search others.`];
    }
    return await withDocuments(run, given, documents);
  };
  try {
    const params = takesNothing(run) ? run.step.params : resolve;
    const around = env.around?.({ operation, context, isPending: () => scope.isPending });
    const outcome = await env.run({ operation, params, context, request: env.request, around });
    const blocks = outcome.blocks ?? [];
    if (outcome.isError !== true)
      return { operation, value: outcome.value ?? null, blocks, error: undefined, warnings };
    const error = upstreamFailure(outcome.value, { place, operation });
    return { operation, value: { error }, blocks, error, warnings };
  } catch (error) {
    return failed(operation, answerError(error, { ...place, op: operation.name }), warnings);
  }
}

/** Whether the parameters are complete as written: most steps take nothing from earlier ones. */
function takesNothing(run: Run): run is Run & { readonly step: { readonly params: Params } } {
  return isRecord(run.step.params) && !mayRefer(run.step.params) && documentsBefore(run) === undefined;
}

function rulesFor({ env, operation, trail }: Run): ReferenceRules {
  const narrows = (parameter: string) => operation.narrows?.(parameter) ?? false;
  return {
    mustResolve: (parameter) => env.mustResolve || parameter === undefined || narrows(parameter) !== false,
    narrows,
    stepNames: trail.stepNames,
    isOwn: operation.server === undefined,
  };
}

function objectOf(params: unknown): Params {
  if (isRecord(params)) return params;
  throw new TrunklineError("INVALID_ARGUMENT", "The reference given as params is not an object.");
}

/** Runs the step for each item, in order and with limited concurrency. A failed item has its error in its place. */
async function runForEach(run: Run): Promise<StepOutcome> {
  const { operation, step, env, trail } = run;
  const rules = { ...rulesFor(run), allowsGaps: true, mustResolve: () => true, narrows: () => false as const };
  const { value: items, warnings } = await resolveReferences(step.forEach, scopeOf(env, trail, undefined), rules);
  if (!Array.isArray(items)) {
    const what = typeof step.forEach === "string" ? step.forEach : "for_each";
    throw new TrunklineError("INVALID_ARGUMENT", `for_each needs a list, but ${what} is ${kindOf(items)}.`, {
      hint: warnings[0] ?? 'Use a list from an earlier step, such as "$prev.results[*]".',
    });
  }
  if (items.length > MOST_ITEMS) {
    const [count, most] = [items.length, MOST_ITEMS].map((number) => number.toLocaleString("en-US"));
    throw new TrunklineError("INVALID_ARGUMENT", `for_each has ${count} items, and a step runs for at most ${most}.`, {
      hint: `Take a part of the list, such as "$prev.results[0:${MOST_ITEMS}]", and the others in another query.`,
    });
  }
  const outcomes: StepOutcome[] = [];
  let next = 0;
  let done = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      requireOngoing(env.exchange, step.op);
      outcomes[index] = await runOnce({ ...run, onProgress: undefined }, { value: items[index] });
      run.onProgress?.({ progress: ++done, total: items.length });
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, items.length) }, worker));
  const failures = outcomes.filter(({ error }) => error !== undefined);
  return {
    operation,
    // The items of a list have to be together.
    value: await Promise.all(outcomes.map(({ value }) => wholeOf(value))),
    blocks: outcomes.flatMap(({ blocks }) => blocks),
    // The step fails only if every item fails.
    error: failures.length > 0 && failures.length === items.length ? failures[0]?.error : undefined,
    warnings: [...new Set([...warnings, ...outcomes.flatMap((outcome) => outcome.warnings)])],
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  return isRecord(value) ? "an object" : `a ${typeof value}`;
}

/** Maps the progress of one step to the progress of the whole. Never goes backwards. */
export function stepProgress(
  onProgress: ((progress: ToolProgress) => void) | undefined,
  total: number,
): (index: number) => OperationContext["onProgress"] {
  if (onProgress === undefined) return () => undefined;
  if (total === 1) return () => onProgress;
  let last = -1;
  return (index) => (progress) => {
    const part =
      progress.total === undefined || progress.total <= 0 ? 0 : Math.min(1, progress.progress / progress.total);
    if (index + part <= last) return;
    last = index + part;
    onProgress({ progress: last, total, ...(progress.message === undefined ? {} : { message: progress.message }) });
  };
}

/** Throws if the client has cancelled its request or is gone. */
function requireOngoing(exchange: Exchange, op: string): void {
  const { ending } = exchange;
  if (ending === undefined ? exchange.signal.aborted : ending.hasPassed)
    throw abortError(ending ?? exchange.signal, op);
}
