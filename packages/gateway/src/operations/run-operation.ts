// The step runner: the one way to run an operation. It applies the policy, validates, runs and writes the journal entry.
import type { PolicyRules, PolicyVerdict } from "@trunkline/config";
import { TrunklineError, toTrunklineError } from "@trunkline/core";
import { isDeeperThan } from "@trunkline/protocol";
import type { CallRecorder } from "../interfaces/call-recorder.js";
import type { Operation, OperationContext, OperationOutcome, Params } from "../interfaces/operation.js";
import type { CallLog } from "../journal/journal.js";
import { approveOperation } from "./ask-user.js";
import type { Redact } from "./shown-arguments.js";

/**
 * Rule sets by glob. A function is called before each operation, because the configuration can be loaded late and can
 * change. It need not return a promise once the configuration is loaded.
 */
export type Policies = readonly PolicyRules[] | (() => readonly PolicyRules[] | Promise<readonly PolicyRules[]>);

export interface RunnerOptions {
  readonly policies?: Policies;
  /** The names of all servers: two of them can make the name of an operation ambiguous. */
  readonly serverNames?: () => readonly string[];
  /** The hint for a call denied by these rules; undefined uses the default. */
  readonly denialHint?: () => Promise<string | undefined>;
  /** Replaces known secrets in the values that a question shows. */
  readonly redact?: Redact;
  readonly log?: CallLog;
  readonly recorder?: CallRecorder;
  /** Called with every outcome. */
  readonly onOutcome?: (operation: Operation, outcome: OperationOutcome, context: OperationContext) => void;
}

export type RunWith = (params: Params) => Promise<OperationOutcome>;

export interface StepRun {
  readonly operation: Operation;
  /** If this is a function, it is called as part of the step: if it fails, the step fails. */
  readonly params: Params | (() => Promise<Params>);
  readonly context: OperationContext;
  /** The request that the step belongs to, as in `CallRecord.request`. */
  readonly request?: string;
  /** Wraps the operation, for example to undo it later. It need not call `run`. */
  readonly around?: (params: Params, run: RunWith) => Promise<OperationOutcome>;
}

/**
 * Runs a step and writes its only journal entry. Rejects with a `TrunklineError`; a failure reported by an upstream
 * tool is an outcome with `isError`.
 */
export type RunStep = (step: StepRun) => Promise<OperationOutcome>;

export function createRunner(options: RunnerOptions): RunStep {
  const { log, recorder, onOutcome } = options;
  return async ({ operation, params, context, request, around }) => {
    const end = log?.begin(operation.name, context.exchange.caller);
    const recorded = recorder?.begin();
    const recording = recorded?.id;
    let outcome: OperationOutcome;
    let resolved: Params | undefined;
    try {
      const run: RunWith = (given) => runOperation(operation, given, { context, options });
      resolved = typeof params === "function" ? await params() : params;
      outcome = await (around === undefined ? run(resolved) : around(resolved, run));
    } catch (error) {
      const known = toTrunklineError(error);
      end?.({ error: known, request, recording });
      recorded?.end({ params: resolved, error: known });
      throw known;
    }
    const { value, blocks = [] } = outcome;
    end?.({
      value: blocks.length === 0 ? value : [value, blocks],
      request,
      recording,
      ...(outcome.isError === true ? { code: "UPSTREAM" } : {}),
    });
    recorded?.end({ params: resolved, outcome });
    onOutcome?.(operation, outcome, context);
    return outcome;
  };
}

/** Creates a check of which operations the rules deny, for lists: a denied tool need not be listed. */
export function createDenials(options: Pick<RunnerOptions, "policies" | "serverNames">) {
  return async (operations: readonly string[]): Promise<readonly boolean[]> => {
    const { policies } = options;
    const rules = (typeof policies === "function" ? await policies() : policies) ?? [];
    if (rules.length === 0) return operations.map(() => false);
    return await Promise.all(operations.map(async (name) => (await verdictFor({ name }, rules, options)) === "deny"));
  };
}

/** Not async, because every call passes it and most configurations have no rules. */
function runOperation(
  operation: Operation,
  params: Params,
  { context, options }: { context: OperationContext; options: RunnerOptions },
): Promise<OperationOutcome> {
  const rules = typeof options.policies === "function" ? options.policies() : options.policies;
  const isFree = rules === undefined || (!(rules instanceof Promise) && rules.length === 0);
  if (!isFree) return runRuled(operation, params, { rules, context, options });
  return operation.run(validated(operation, params), context);
}

async function runRuled(
  operation: Operation,
  params: Params,
  run: {
    rules: readonly PolicyRules[] | Promise<readonly PolicyRules[]>;
    context: OperationContext;
    options: RunnerOptions;
  },
): Promise<OperationOutcome> {
  const { context, options } = run;
  const rules = await run.rules;
  const verdict = rules.length === 0 ? "allow" : await verdictFor(operation, rules, options);
  if (verdict === "deny") {
    throw new TrunklineError("DENIED", `The configuration does not allow ${operation.name}.`, {
      hint: (await options.denialHint?.()) ?? 'See "policy" in the configuration.',
    });
  }
  const checked = validated(operation, params);
  // Validate before asking the user.
  if (verdict === "ask") {
    const { exchange, signal } = context;
    await approveOperation(operation, checked, { exchange, signal, redact: options.redact });
  }
  return await operation.run(checked, context);
}

function validated(operation: Operation, params: Params): Params {
  requireShallow(params, "params");
  return operation.validate(params);
}

/** Loads the matcher only when there are rules: starting a server should not load the client. */
async function verdictFor(
  { name }: Pick<Operation, "name">,
  rules: readonly PolicyRules[],
  { serverNames }: Pick<RunnerOptions, "serverNames">,
): Promise<PolicyVerdict> {
  verdictOn ??= (await import("@trunkline/config")).verdictOn;
  return verdictOn(name, rules, serverNames?.());
}

let verdictOn: typeof import("@trunkline/config").verdictOn | undefined;

/** Deeper than any meaningful parameters. */
const MOST_DEPTH = 100;

/** Throws `INVALID_ARGUMENT` for values nested too deeply, because the code that walks parameters is recursive. */
export function requireShallow(value: unknown, parameter: string): void {
  if (!isDeeperThan(value, MOST_DEPTH + 1)) return;
  throw new TrunklineError("INVALID_ARGUMENT", `${parameter} is nested more than ${MOST_DEPTH} levels deep.`, {
    hint: "Pass large or deep content as a string, or store it and pass $hash:.",
    data: { parameter },
  });
}
