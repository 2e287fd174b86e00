// The one way to run an operation: rules, parameters, the work, and one line in the journal.
import {
  type Clock,
  isRecord,
  isTrunklineError,
  type Logger,
  silentLogger,
  systemClock,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import type { Journal } from "../journal/journal.js";
import type { Policies } from "../service.js";
import type { Operation, OperationContext, OperationOutcome, Params } from "./operation.js";
import { verdictOn } from "./policy.js";

/** What operations are run with. */
export interface RunnerOptions {
  readonly policies?: Policies | undefined;
  /** What to say beside a refusal by these rules; undefined leaves it at the usual. */
  readonly denialHint?: (() => Promise<string | undefined>) | undefined;
  readonly journal?: Journal | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** Runs an operation. Rejects with a `TrunklineError`; what an upstream tool itself reports is an outcome with `isError`. */
export type RunOperation = (
  operation: Operation,
  params: Params,
  context: OperationContext,
) => Promise<OperationOutcome>;

/** An error as answers carry it. */
export interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The parameter that is at fault: `limit`, `documents[0].hash`. */
  readonly path?: string;
}

/** Makes the way to run operations. */
export function createRunner(options: RunnerOptions): RunOperation {
  const { policies, denialHint, journal, logger = silentLogger, clock = systemClock } = options;
  return async (operation, params, context) => {
    const atMs = clock.now();
    const started = clock.monotonicMs();
    const note = (outcome: "ok" | "error" | "cancelled", sizeBytes: number, code?: string): void => {
      const durationMs = Math.round(clock.monotonicMs() - started);
      const fields = {
        operation: operation.name,
        durationMs,
        sizeBytes,
        outcome,
        ...(code === undefined ? {} : { code }),
      };
      journal?.record({ ...fields, atMs, client: context.exchange.caller.name });
      logger.debug("operation", { ...fields, client: context.exchange.caller.name });
    };
    try {
      const outcome = await run(operation, params, { context, policies, denialHint });
      const failed = outcome.isError === true;
      note(
        failed ? "error" : "ok",
        sizeOf(outcome.value) + sizeOf(outcome.blocks ?? []),
        failed ? "UPSTREAM" : undefined,
      );
      return outcome;
    } catch (error) {
      const known = toTrunklineError(error);
      note(known.code === "ABORTED" ? "cancelled" : "error", 0, known.code);
      throw known;
    }
  };
}

async function run(
  operation: Operation,
  params: Params,
  { context, policies, denialHint }: Pick<RunnerOptions, "policies" | "denialHint"> & { context: OperationContext },
): Promise<OperationOutcome> {
  const verdict = verdictOn(operation.name, typeof policies === "function" ? await policies() : policies);
  if (verdict === "deny") {
    throw new TrunklineError("DENIED", `The configuration does not allow ${operation.name}.`, {
      hint: (await denialHint?.()) ?? 'See "policy" in the configuration.',
    });
  }
  const checked = operation.validate(params);
  // Nobody is bothered with a call that could not run anyway.
  if (verdict === "ask") await ask(operation, checked, context);
  return await operation.run(checked, context);
}

/** Throws unless a person says yes. */
async function ask(operation: Operation, params: Params, { exchange, signal }: OperationContext): Promise<void> {
  const { channel } = exchange;
  if (channel.elicit === undefined || !(channel.elicitationModes ?? ["form"]).includes("form")) {
    throw new TrunklineError("DENIED", `${operation.name} has to be confirmed each time, and this client cannot ask.`, {
      hint: "Use a client with elicitation, or allow the operation in the policy of your own configuration.",
    });
  }
  const message = `May ${operation.name} run?${shownParams(params)}`;
  const requestedSchema = {
    type: "object",
    properties: { run: { type: "boolean", title: "Run it", description: operation.summary, default: false } },
    required: ["run"],
  };
  const answer = await channel
    .elicit(
      { mode: "form", message, requestedSchema, raw: { mode: "form", message, requestedSchema } },
      { server: operation.server ?? "trunkline", tool: operation.name, signal },
    )
    .catch((error: unknown) => {
      if (isTrunklineError(error, "ABORTED")) throw error;
      throw new TrunklineError("DENIED", `${operation.name} has to be confirmed, and nobody answered.`, {
        cause: error,
      });
    });
  if (answer.action === "accept" && answer.content?.run === true) return;
  throw new TrunklineError("DENIED", `The user did not allow ${operation.name}.`, {
    hint: "Do something else, or ask the user what to do.",
  });
}

const LONGEST_VALUE = 200;
const LONGEST_MESSAGE = 2000;
const SECRET_NAME = /token|secret|passw|credential|authori[sz]ation|cookie|api_?-?key|private_?-?key/i;

/** What would be run, for a person to judge: shortened, and without what looks like a secret. */
function shownParams(params: Params): string {
  const lines = Object.entries(params)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `\n${name}: ${SECRET_NAME.test(name) ? "***" : shortened(withoutSecrets(value))}`);
  const text = lines.join("");
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

function withoutSecrets(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, (name, inner: unknown) => (SECRET_NAME.test(name) ? "***" : inner)) ?? "";
}

function shortened(text: string): string {
  const characters = [...text.slice(0, LONGEST_VALUE * 2)];
  if (text.length <= LONGEST_VALUE) return text;
  return `${characters.slice(0, LONGEST_VALUE).join("")}… (${text.length} characters)`;
}

/** About how many bytes a value has as JSON, without making the JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item) + 1, 2);
  if (isRecord(value)) {
    let sum = 2;
    for (const name in value) if (value[name] !== undefined) sum += name.length + 4 + sizeOf(value[name]);
    return sum;
  }
  return value === undefined ? 0 : String(value).length;
}

/** Any error in the shape that answers carry. */
export function errorAnswer(error: unknown): ErrorAnswer {
  const { code, message, hint, data } = toTrunklineError(error);
  const path = data?.parameter;
  return {
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(typeof path === "string" ? { path } : {}),
  };
}
