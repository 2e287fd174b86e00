// `query`: a pipeline of read-only operations.
import { firstChars, isRecord, TrunklineError } from "@trunkline/core";
import type { BlockNotes } from "../budget/fit-result.js";
import type { Exchange } from "../interfaces/exchange.js";
import type { Operation, Params } from "../interfaces/operation.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import type { AnswerError } from "../pipeline/answer-error.js";
import { readArguments, readMaxTokens, readSteps, type Step } from "../pipeline/read-steps.js";
import { runStep, type StepOutcome, stepProgress } from "../pipeline/run-step.js";
import { emptyTrail, recordOf, type Trail } from "../pipeline/step-trail.js";
import {
  type Answer,
  type CompositeEnvironment,
  type EnvironmentOf,
  listedWarnings,
  partOf,
  sendAnswer,
  sendError,
  stepsSchema,
} from "./composite-answer.js";

const PARAMETERS = ["steps", "max_tokens"];

const DEFINITION: ServedTool["definition"] = {
  name: "query",
  description:
    "Read-only pipeline over the store and all MCP servers. " +
    "Op describe lists operations; {target} shows one, {find} searches. " +
    "Steps see earlier results uncut: $prev.results[0].hash, $x after as: x, $item with for_each: $prev.results[*].",
  inputSchema: {
    type: "object",
    properties: { steps: stepsSchema(["op"]), max_tokens: { type: "integer" } },
    required: ["steps"],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
};

export function queryTool(envOf: EnvironmentOf): ServedTool {
  return { definition: DEFINITION, call: (args, exchange) => query(envOf(exchange), args, exchange) };
}

async function query(env: CompositeEnvironment, args: Params, exchange: Exchange): Promise<ToolResult> {
  const { signal } = exchange;
  let maxTokens: number | undefined;
  let hasBegun = false;
  try {
    const read = readArguments(args, PARAMETERS, "steps");
    maxTokens = readMaxTokens(read.max_tokens);
    const steps = readSteps(read.steps, "steps");
    hasBegun = true;
    const { outcomes, trail } = await runSteps(env, steps, exchange);
    return await sendAnswer(env, answerOf(steps, outcomes, trail), { maxTokens, signal });
  } catch (error) {
    if (!hasBegun) env.log.note("query", exchange.caller, { error });
    return await sendError(env, error, { maxTokens, signal, op: "query" });
  }
}

/** Runs steps in order until one fails. */
async function runSteps(
  env: CompositeEnvironment,
  steps: readonly Step[],
  exchange: Exchange,
): Promise<{ readonly outcomes: readonly StepOutcome[]; readonly trail: Trail }> {
  const trail = emptyTrail(steps);
  const progress = stepProgress(exchange.onProgress, steps.length);
  const stepEnv = { ...env, exchange, mustResolve: false, admit: admitRead };
  const outcomes: StepOutcome[] = [];
  for (const [index, step] of steps.entries()) {
    const place = { stepIndex: index, step: `steps[${index}]` };
    const outcome = await runStep(step, stepEnv, { trail, place, onProgress: progress(index) });
    outcomes.push(outcome);
    if (outcome.error !== undefined) break;
    const record = recordOf(env, step.op, { outcome, signal: exchange.signal });
    trail.steps.push(record);
    if (step.as !== undefined) trail.names.set(step.as, record);
  }
  return { outcomes, trail };
}

function admitRead({ name, kind }: Operation): void {
  if (kind === "read") return;
  const tool = kind === "write" ? "execute" : "session";
  throw new TrunklineError("INVALID_ARGUMENT", `${name} may change data, but query is read-only.`, {
    hint:
      kind === "write"
        ? `Use the ${tool} tool: {"operations": [{"op": "${name}", "params": {…}}]}.`
        : `Use the ${tool} tool: {"action": "${name}"}.`,
  });
}

function answerOf(steps: readonly Step[], outcomes: readonly StepOutcome[], trail: Trail): Answer {
  const parts = outcomes.map((outcome, index) => {
    const { value, error } = outcome;
    const shown = error === undefined ? value : Array.isArray(value) ? { error, results: value } : { error };
    const isUsed = trail.steps[index]?.isUsed === true;
    return partOf(steps[index]?.op ?? "query", outcome, { value: shown, isUsed });
  });
  const blocks = outcomes.map((outcome) => outcome.blocks);
  const isError = outcomes.some(({ error }) => error !== undefined);
  const use = steps.every(({ op }) => op === "describe") ? "schemas" : "results";
  const [only] = outcomes;
  if (steps.length === 1 && only !== undefined) {
    const frame: Answer["frame"] = ([value], [notes]) => withNotes(value, only.warnings, notes);
    return { parts, frame, isError, blocks, use, essence: { error: only.error } };
  }
  const error = outcomes.at(-1)?.error;
  const failure = error === undefined ? undefined : { ...error, stepIndex: outcomes.length - 1 };
  const counts = {
    totalSteps: steps.length,
    completedSteps: outcomes.filter((outcome) => outcome.error === undefined).length,
  };
  const frame: Answer["frame"] = (values, notes) => ({
    steps: outcomes.map((outcome, index) => ({
      stepIndex: index,
      op: steps[index]?.op,
      result: values[index],
      isError: outcome.error !== undefined,
      ...notes[index],
      ...listedWarnings(outcome.warnings),
    })),
    ...counts,
    ...(failure === undefined ? {} : { error: briefly(failure) }),
  });
  return { parts, frame, isError, blocks, use, essence: { error: failure, counts } };
}

/** Adds warnings and blocks to the fields of the operation's result. */
function withNotes(value: unknown, warnings: readonly string[], { blocks }: BlockNotes = {}): unknown {
  const isTaken = isRecord(value) && Object.hasOwn(value, "blocks");
  const isCut = blocks?.some(({ truncated }) => truncated === true) === true;
  const notes = {
    // Handles have to be included even if the value has its own `blocks`.
    ...(blocks === undefined || (isTaken && !isCut) ? {} : { [isTaken ? "contentBlocks" : "blocks"]: blocks }),
    ...listedWarnings(warnings),
  };
  if (Object.keys(notes).length === 0) return value;
  return isRecord(value) ? { ...value, ...notes } : { result: value, ...notes };
}

const LONGEST_BRIEF = 300;

/** Shortens the error, because the step has it in full. */
function briefly({ code, message, hint, stepIndex }: AnswerError): AnswerError {
  return {
    code,
    message: firstChars(message, LONGEST_BRIEF),
    ...(hint === undefined ? {} : { hint: firstChars(hint, LONGEST_BRIEF) }),
    ...(stepIndex === undefined ? {} : { stepIndex }),
  };
}
