// `execute`: a batch of operations that can change data.
import { isRecord, TrunklineError } from "@trunkline/core";
import type { BlockNotes } from "../budget/fit-result.js";
import { builtResult } from "../budget/whole-result.js";
import type { Exchange } from "../interfaces/exchange.js";
import type { Operation, OperationOutcome, Params } from "../interfaces/operation.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import type { RunWith, StepRun } from "../operations/run-operation.js";
import { type AnswerError, answerError } from "../pipeline/answer-error.js";
import { dryRun } from "../pipeline/dry-run.js";
import { readArguments, readFlag, readMaxTokens, readSteps, type Step } from "../pipeline/read-steps.js";
import { hasReferences } from "../pipeline/references.js";
import { runStep, type StepOutcome, stepProgress } from "../pipeline/run-step.js";
import { emptyTrail, recordOf } from "../pipeline/step-trail.js";
import { requireNoSnapshot, requireUndoable, UndoLog } from "../pipeline/undo.js";
import {
  type Answer,
  type CompositeEnvironment,
  type CompositeRegistry,
  type EnvironmentOf,
  listedWarnings,
  partOf,
  sendAnswer,
  sendError,
  stepsSchema,
} from "./composite-answer.js";
import { IdempotentBatches } from "./idempotency.js";

const PARAMETERS = ["operations", "continueOnError", "atomic", "dry_run", "idempotency_key", "max_tokens"];

interface Batch {
  readonly operations: readonly Step[];
  readonly continueOnError: boolean;
  readonly atomic: boolean;
  readonly dryRun: boolean;
  readonly key: string | undefined;
}

interface Executed {
  readonly outcomes: readonly StepOutcome[];
  /** The steps that others have read, by index. */
  readonly used: readonly boolean[];
  /** Whether any operation that changes data was started. */
  readonly hasRun: boolean;
  /** Why nothing was run. */
  readonly refusal?: AnswerError;
  /** With `atomic`, after a failure: what could not be undone. */
  readonly undone?: { readonly problems: readonly string[] };
}

const DEFINITION: ServedTool["definition"] = {
  name: "execute",
  description: "Run add, update, delete, server.tool in order; $prev works.",
  inputSchema: {
    type: "object",
    properties: {
      operations: stepsSchema(["op", "params"]),
      continueOnError: { type: "boolean" },
      atomic: { type: "boolean" },
      dry_run: { type: "boolean" },
      idempotency_key: { type: "string" },
      max_tokens: { type: "integer" },
    },
    required: ["operations"],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
};

export function executeTool(envOf: EnvironmentOf, registry: CompositeRegistry): ServedTool {
  // A key belongs to a principal: clients can claim any name.
  const keyed = new Map<string, IdempotentBatches>();
  const call: ServedTool["call"] = async (args, exchange) => {
    const { principal } = exchange.caller;
    const env = envOf(exchange);
    let batches = keyed.get(principal);
    if (batches === undefined) {
      batches = new IdempotentBatches({ principal, store: env.store, gateway: env.gateway });
      keyed.set(principal, batches);
    }
    return await execute(env, { args, exchange, batches });
  };
  return {
    definition: DEFINITION,
    canonical: (args, { signal }) => canonicalArguments(registry, args, signal),
    call,
  };
}

/** Returns a batch as it will run: every operation under its own name, every field in its one spelling. */
async function canonicalArguments(registry: CompositeRegistry, args: Params, signal: AbortSignal): Promise<Params> {
  const read = readArguments(args, PARAMETERS, "operations");
  const { operations, continueOnError, atomic, dryRun: isDry, key } = readBatch(read);
  const steps = [];
  for (const { op, params, as } of operations) {
    const { name } = await registry.find(op, { signal });
    steps.push({ op: name, params, ...(as === undefined ? {} : { as }) });
  }
  return {
    operations: steps,
    ...(continueOnError ? { continueOnError } : {}),
    ...(atomic ? { atomic } : {}),
    ...(isDry ? { dry_run: true } : {}),
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(read.max_tokens === undefined ? {} : { max_tokens: read.max_tokens }),
  };
}

async function execute(
  env: CompositeEnvironment,
  { args, exchange, batches }: { args: Params; exchange: Exchange; batches: IdempotentBatches },
): Promise<ToolResult> {
  const { signal } = exchange;
  const end = env.log.begin("execute", exchange.caller);
  let maxTokens: number | undefined;
  let hasBegun = false;
  try {
    const read = readArguments(args, PARAMETERS, "operations");
    maxTokens = readMaxTokens(read.max_tokens);
    const batch = readBatch(read);
    const run = async () => {
      hasBegun = true;
      const executed = await runBatch(env, batch, exchange);
      if (executed.refusal !== undefined) end({ code: executed.refusal.code });
      // The result of a finished batch is sent even if the client has stopped waiting, because another call can request
      // it with the same key.
      const result = await sendAnswer(env, answerOf(batch, executed), { maxTokens, signal: undefined });
      return { result, hasRun: executed.hasRun };
    };
    if (batch.key === undefined || batch.dryRun) return (await run()).result;
    const { key, operations, atomic, continueOnError } = batch;
    const identity = { key, batch: { operations, atomic, continueOnError }, signal };
    const { result, isRepeated } = await batches.once(identity, run);
    if (!isRepeated) return result;
    end({ value: result.structuredContent });
    return await sendAgain(env, result, { maxTokens, signal });
  } catch (error) {
    if (!hasBegun) end({ error });
    return await sendError(env, error, { maxTokens, signal, op: "execute" });
  }
}

/** Fits a stored answer into the budget of another call. */
async function sendAgain(
  env: CompositeEnvironment,
  kept: ToolResult,
  budget: { maxTokens: number | undefined; signal: AbortSignal },
): Promise<ToolResult> {
  const result = builtResult(kept);
  const [, ...blocks] = result.content;
  const parts = [{ op: "execute", value: result.structuredContent, isStorable: true }];
  // The answer already lists its blocks, so only report those that do not fit this time.
  const frame: Answer["frame"] = ([only], [notes]) => {
    const cut = notes?.blocks?.filter(({ truncated }) => truncated === true) ?? [];
    return cut.length === 0 || !isRecord(only) ? only : { ...only, blocks: cut };
  };
  const { totalOps, succeeded, failed } = isRecord(result.structuredContent) ? result.structuredContent : {};
  const counts = { totalOps: Number(totalOps), succeeded: Number(succeeded), failed: Number(failed) };
  const answer: Answer = { parts, frame, isError: result.isError === true, blocks: [blocks], essence: { counts } };
  return await sendAnswer(env, answer, budget);
}

function readBatch(read: Readonly<Record<string, unknown>>): Batch {
  const { idempotency_key: key } = read;
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 200)) {
    throw invalid("idempotency_key has to be a string of 1 to 200 characters.", "idempotency_key");
  }
  const batch: Batch = {
    operations: readSteps(read.operations, "operations"),
    continueOnError: readFlag(read.continueOnError, "continueOnError"),
    atomic: readFlag(read.atomic, "atomic"),
    dryRun: readFlag(read.dry_run, "dry_run"),
    key,
  };
  if (batch.atomic && batch.continueOnError) throw invalid("atomic and continueOnError cannot be combined.", "atomic");
  return batch;
}

function invalid(message: string, parameter: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, { data: { parameter } });
}

async function runBatch(env: CompositeEnvironment, batch: Batch, exchange: Exchange): Promise<Executed> {
  const { operations } = batch;
  if (batch.atomic) {
    const refusal = await requireAllUndoable(env, operations, exchange.signal);
    if (refusal !== undefined) return { outcomes: [], used: [], hasRun: false, refusal };
  }
  const log = batch.atomic && !batch.dryRun ? new UndoLog(await env.store(), env.workspace) : undefined;
  const trail = emptyTrail(operations);
  const progress = stepProgress(exchange.onProgress, operations.length);
  const outcomes: StepOutcome[] = [];
  let hasRun = false;
  for (let index = 0; index < operations.length; index++) {
    const step = operations[index] as Step;
    const isLast = index === operations.length - 1;
    const around =
      ({ operation, context, isPending }: DescribedRun): StepRun["around"] =>
      (params, run) => {
        if (batch.dryRun) {
          const isCertain = !hasReferences(step.params, (name) => trail.names.has(name));
          return dryRun(operation, params, { run, store: env.store, context, isCertain, isPending: isPending() });
        }
        if (log === undefined) {
          hasRun ||= operation.kind !== "read";
          return run(params);
        }
        const begin: RunWith = (given) => {
          hasRun ||= operation.kind !== "read";
          return run(given);
        };
        return recorded(log, params, { operation, context, isLast, env, run: begin });
      };
    const stepEnv = { ...env, around, exchange, mustResolve: true, admit: admitAny };
    const place = { stepIndex: index, step: `operations[${index}]` };
    const outcome = await runStep(step, stepEnv, { trail, place, onProgress: progress(index) });
    outcomes.push(outcome);
    if (outcome.error !== undefined && log !== undefined) {
      return { outcomes, used: [], hasRun, undone: { problems: await log.undo() } };
    }
    if (outcome.error !== undefined && !batch.continueOnError) break;
    const entry = entryOf(step.op, outcome, { value: outcome.value });
    const isPending = batch.dryRun && isRecord(outcome.value) && outcome.value.dry_run === true;
    const record = recordOf(env, step.op, { outcome, entry, isPending, signal: exchange.signal });
    trail.steps.push(record);
    if (step.as !== undefined) trail.names.set(step.as, record);
  }
  return { outcomes, used: trail.steps.map(({ isUsed }) => isUsed), hasRun };
}

type DescribedRun = Pick<StepRun, "operation" | "context"> & { readonly isPending: () => boolean };

/** Runs an operation of an atomic batch and records how to undo it. */
async function recorded(
  log: UndoLog,
  params: Params,
  step: Pick<StepRun, "operation" | "context"> & { isLast: boolean; env: CompositeEnvironment; run: RunWith },
): Promise<OperationOutcome> {
  const { operation, context, isLast, env, run } = step;
  if (!isLast) {
    await requireNoSnapshot(operation, operation.validate(params), {
      ...env,
      isTrusted: context.exchange.caller.trusted === true,
    });
  }
  await log.before(operation, operation.validate(params), context.signal);
  const outcome = await run(params);
  log.after(operation, operation.validate(params), outcome.value);
  return outcome;
}

/** Rejects a batch with operations that `atomic` cannot undo, before anything runs. */
async function requireAllUndoable(
  env: CompositeEnvironment,
  operations: readonly Step[],
  signal: AbortSignal,
): Promise<AnswerError | undefined> {
  for (const [index, step] of operations.entries()) {
    try {
      requireUndoable(await env.registry.find(step.op, { signal }), step.params, index === operations.length - 1);
    } catch (error) {
      return answerError(error, { stepIndex: index, step: `operations[${index}]`, op: step.op });
    }
  }
  return undefined;
}

function admitAny({ name, kind }: Operation): void {
  if (kind !== "session") return;
  throw new TrunklineError("INVALID_ARGUMENT", `"${name}" is an action of the session tool.`, {
    hint: `Call session with {"action": "${name}"}.`,
  });
}

/**
 * Builds the result entry of an operation: its fields next to `op` and `success`. The value of an upstream tool is in
 * `result`.
 */
function entryOf(
  op: string,
  outcome: StepOutcome,
  { value, blocks = {} }: { value: unknown; blocks?: BlockNotes },
): Readonly<Record<string, unknown>> {
  const notes = { ...blocks, ...listedWarnings(outcome.warnings) };
  if (outcome.error !== undefined) return { op, success: false, ...(isRecord(value) ? value : {}), ...notes };
  const isPlain = isRecord(value) && (outcome.operation?.server === undefined || value.dry_run === true);
  return { op, success: true, ...(isPlain ? value : { result: value }), ...notes };
}

function answerOf({ operations, continueOnError }: Batch, { outcomes, used, undone, refusal }: Executed): Answer {
  if (refusal !== undefined) {
    const part = { op: "execute", value: { error: refusal }, isStorable: false };
    return { parts: [part], frame: ([only]) => only, isError: true, essence: { error: refusal } };
  }
  const parts = outcomes.map((outcome, index) => {
    const value = outcome.error === undefined ? outcome.value : { error: outcome.error };
    return partOf(operations[index]?.op ?? "execute", outcome, { value, isUsed: used[index] === true });
  });
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  const succeeded = undone === undefined ? outcomes.length - failed : 0;
  const problems = undone?.problems ?? [];
  const notRun = operations.length - outcomes.length;
  const counts = { totalOps: operations.length, succeeded, failed, ...(notRun === 0 ? {} : { notRun }) };
  const frame: Answer["frame"] = (values, notes) => ({
    results: outcomes.map((outcome, index) => {
      const op = operations[index]?.op ?? "";
      if (undone === undefined || outcome.error !== undefined) {
        return entryOf(op, outcome, { value: values[index], blocks: notes[index] });
      }
      return { op, success: false, undone: true };
    }),
    ...counts,
    ...(undone === undefined ? {} : { undone: problems.length === 0 }),
    ...listedWarnings(problems.map((problem) => `Not undone: ${problem}`)),
  });
  return {
    parts,
    frame,
    isError: failed > 0 && !(continueOnError && succeeded > 0),
    blocks: undone === undefined ? outcomes.map(({ blocks }) => blocks) : [],
    essence: { counts, error: outcomes.find(({ error }) => error !== undefined)?.error },
  };
}
