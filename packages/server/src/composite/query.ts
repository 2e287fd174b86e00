// `query`: a pipeline of operations that change nothing.
import { isRecord, TrunklineError } from "@trunkline/core";
import { DEFAULT_MAX_TOKENS } from "../budget/fit.js";
import type { Exchange } from "../exchange.js";
import type { Operation, Params } from "../operations/operation.js";
import { readArguments, readMaxTokens, readSteps, type Step } from "../pipeline/read-steps.js";
import { emptyTrail, runStep, type StepOutcome, stepProgress } from "../pipeline/run-step.js";
import type { ServedTool, ToolResult } from "../surface/served-tool.js";
import { queryDefinition } from "./definitions.js";
import {
  type Answer,
  type CompositeEnvironment,
  listedBlocks,
  listedWarnings,
  recordOf,
  sendAnswer,
  sendError,
} from "./environment.js";

const PARAMETERS = ["steps", "max_tokens"];

/** The tool. */
export function queryTool(env: CompositeEnvironment): ServedTool {
  return { definition: queryDefinition, call: (args, exchange) => query(env, args, exchange) };
}

async function query(env: CompositeEnvironment, args: Params, exchange: Exchange): Promise<ToolResult> {
  const { signal } = exchange;
  let maxTokens = DEFAULT_MAX_TOKENS;
  try {
    const read = readArguments(args, PARAMETERS, "steps");
    maxTokens = readMaxTokens(read.max_tokens, DEFAULT_MAX_TOKENS);
    const steps = readSteps(read.steps, "steps");
    const outcomes = await runSteps(env, steps, exchange);
    return await sendAnswer(env, answerOf(steps, outcomes), { maxTokens, signal });
  } catch (error) {
    return await sendError(env, error, { maxTokens, signal, op: "query" });
  }
}

/** Runs steps in order up to the first that fails. */
async function runSteps(
  env: CompositeEnvironment,
  steps: readonly Step[],
  exchange: Exchange,
): Promise<readonly StepOutcome[]> {
  const trail = emptyTrail();
  const progress = stepProgress(exchange.onProgress, steps.length);
  const stepEnv = { ...env, exchange, admit: admitRead };
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
  return outcomes;
}

function admitRead({ name, kind }: Operation): void {
  if (kind === "read") return;
  const tool = kind === "write" ? "execute" : "session";
  throw new TrunklineError("INVALID_ARGUMENT", `${name} may change something, and query only reads.`, {
    hint:
      kind === "write"
        ? `Use the tool ${tool}: {"operations": [{"op": "${name}", "params": {…}}]}.`
        : `Use the tool ${tool}: {"action": "${name}"}.`,
  });
}

function answerOf(steps: readonly Step[], outcomes: readonly StepOutcome[]): Answer {
  const parts = outcomes.map(({ value, error }, index) => ({
    op: steps[index]?.op ?? "query",
    value: error === undefined ? value : Array.isArray(value) ? { error, results: value } : { error },
    isStorable: error === undefined,
  }));
  const blocks = outcomes.flatMap((outcome) => outcome.blocks);
  const isError = outcomes.some(({ error }) => error !== undefined);
  const use = steps.every(({ op }) => op === "describe") ? "schemas" : "results";
  const [only] = outcomes;
  if (steps.length === 1 && only !== undefined) {
    return { parts, frame: ([value]) => withNotes(value, only), isError, blocks, use };
  }
  const last = outcomes.at(-1);
  const frame = (values: readonly unknown[]) => ({
    steps: outcomes.map((outcome, index) => ({
      stepIndex: index,
      op: steps[index]?.op,
      result: values[index],
      isError: outcome.error !== undefined,
      ...listedBlocks(outcome.blocks),
      ...listedWarnings(outcome.warnings),
    })),
    totalSteps: steps.length,
    completedSteps: outcomes.filter(({ error }) => error === undefined).length,
    ...(last?.error === undefined
      ? {}
      : {
          error: {
            code: last.error.code,
            message: brief(last.error.message),
            hint: brief(last.error.hint),
            stepIndex: outcomes.length - 1,
          },
        }),
  });
  return { parts, frame, isError, blocks, use };
}

/** The operation's own result; warnings and blocks are put beside its fields. */
function withNotes(value: unknown, { warnings, blocks }: StepOutcome): unknown {
  const notes = {
    ...(isRecord(value) && Object.hasOwn(value, "blocks") ? {} : listedBlocks(blocks)),
    ...listedWarnings(warnings),
  };
  if (Object.keys(notes).length === 0) return value;
  return isRecord(value) ? { ...value, ...notes } : { result: value, ...notes };
}

const LONGEST_BRIEF = 300;

/** The whole message is with the step. */
function brief(text: string): string {
  return text.length <= LONGEST_BRIEF ? text : `${text.slice(0, LONGEST_BRIEF).replace(/[\ud800-\udbff]$/, "")}…`;
}
