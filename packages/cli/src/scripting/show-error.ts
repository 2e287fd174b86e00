// An error that a script did not catch, as a person reads it.
import { inspect } from "node:util";
import { isTrunklineError } from "@trunkline/core";

/** The stack, what lies underneath, and what to do about it. */
export function shownError(error: unknown): string {
  if (!(error instanceof Error)) return `Uncaught ${inspect(error)}`;
  // Its fields are for programs; the stack says the rest.
  const shown = isTrunklineError(error) ? [stackOf(error), ...causesOf(error)].join("\n") : withoutNode(inspect(error));
  return isTrunklineError(error) && error.hint !== undefined ? `${shown}\n  ${error.hint}` : shown;
}

function stackOf(error: Error): string {
  const stack = withoutNode(error.stack ?? String(error));
  return isTrunklineError(error) ? stack.replace(/^TrunklineError/, `TrunklineError [${error.code}]`) : stack;
}

function* causesOf(error: Error): Generator<string> {
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) yield `caused by ${stackOf(cause)}`;
}

/** Node's own frames lead nowhere that a reader could go. */
function withoutNode(stack: string): string {
  return stack.replace(/\n\s+at [^\n]*\bnode:internal[^\n]*/g, "");
}
