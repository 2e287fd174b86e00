// Converts errors to the form that answers include.
import { firstChars, isRecord, signatureOf, type TrunklineError, toTrunklineError } from "@trunkline/core";
import type { Operation } from "../interfaces/operation.js";

/** The error of a failed call, step or item. */
export interface AnswerError {
  readonly code: string;
  readonly message: string;
  /** What to do about it, if known. */
  readonly hint?: string;
  /** Where in the call the mistake is. */
  readonly path?: string;
  readonly stepIndex?: number;
  /** What an upstream tool returned besides text. */
  readonly details?: unknown;
}

/** Where an error occurred. */
export interface ErrorPlace {
  readonly op?: string;
  readonly stepIndex?: number;
  /** The step as written in the call: `steps[1]`. */
  readonly step?: string;
}

const LONGEST_MESSAGE = 4_000;

/** Converts any thrown value. */
export function answerError(thrown: unknown, place: ErrorPlace = {}): AnswerError {
  const error = toTrunklineError(thrown);
  const parameter = error.data?.parameter;
  const hint = error.hint ?? hintFor(error, place.op);
  const path = typeof parameter === "string" ? pathTo(parameter, place.step) : undefined;
  return {
    code: error.code,
    message: firstChars(error.message, LONGEST_MESSAGE),
    ...(hint === undefined ? {} : { hint }),
    ...(path === undefined ? {} : { path }),
    ...(place.stepIndex === undefined ? {} : { stepIndex: place.stepIndex }),
  };
}

function pathTo(parameter: string, step: string | undefined): string {
  if (step === undefined) return parameter;
  return parameter === "op" ? `${step}.op` : `${step}.params.${parameter}`;
}

/** A server reports wrong parameters in its own words, without a code. Other failures need no hint about them. */
const ABOUT_PARAMETERS =
  /-32602|\b(?:arguments?|parameters?|propert(?:y|ies)|required|expected|invalid|missing|schema)\b/i;

/** A longer signature costs more than a call of `describe` would, most of the time. */
const LONGEST_SIGNATURE = 400;

/** How to call an operation, or how to find out. */
function callHint({ name, schema }: Pick<Operation, "name" | "schema">): string {
  const signature = signatureOf(schema);
  return signature.length <= LONGEST_SIGNATURE
    ? `Call it as ${name}${signature}.`
    : `describe {"target": "${name}"} shows its parameters.`;
}

/** Converts a failure reported by an upstream tool. */
export function upstreamFailure(
  value: unknown,
  { place, operation }: { place: ErrorPlace; operation: Pick<Operation, "name" | "schema"> },
): AnswerError {
  const said = isRecord(value) && typeof value.text === "string" ? value.text : undefined;
  const isAll = said !== undefined && Object.keys(value as object).length === 1;
  const message = said === undefined || said === "" ? `${operation.name} failed.` : firstChars(said, LONGEST_MESSAGE);
  return {
    code: "UPSTREAM",
    message,
    ...(ABOUT_PARAMETERS.test(message) ? { hint: callHint(operation) } : {}),
    ...(place.stepIndex === undefined ? {} : { stepIndex: place.stepIndex }),
    ...(isAll ? {} : { details: value }),
  };
}

function hintFor(error: TrunklineError, op: string | undefined): string | undefined {
  switch (error.code) {
    case "INVALID_ARGUMENT":
      return op === undefined
        ? 'describe lists the operations: {"steps": [{"op": "describe"}]}.'
        : `describe {"target": "${op}"} shows its parameters.`;
    case "ABORTED":
      return "The call was cancelled.";
    case "INTERNAL":
      return "This is a bug in Trunkline. See its log on stderr.";
    case "SERVER_NOT_FOUND":
    case "SERVER_UNAVAILABLE":
    case "SPAWN_FAILED":
    case "SERVER_EXITED":
    case "PROTOCOL":
    case "CONFIG_INVALID":
      return "Run trunkline doctor to check the servers.";
    default:
      return error.retryable ? "Try the same call again." : undefined;
  }
}
