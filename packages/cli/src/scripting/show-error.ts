// Formats an error that a script did not catch.
import { inspect } from "node:util";
import { isTrunklineError } from "@trunkline/core";

/** Stack frames of Node and of the command around the script, which do not help the reader. */
const AROUND =
  /\n\s+at [^\n]*(?:\bnode:(?:internal|diagnostics_channel)|\/dist\/scripting\/|\/bundle\/(?:cli-scripting-|hooks-thread\.))[^\n]*/g;
/** From here down, the frames belong to the command that runs the script. */
const BELOW =
  /\n\s+at [^\n]*\/(?:dist\/commands\/run\/run\.js|bundle\/cli-commands-run-run-[^/]*\.cjs):[\s\S]*?(?=\n(?!\s+at )|$)/g;

/** Formats the stack, the causes and the hint. */
export function shownError(error: unknown): string {
  if (!(error instanceof Error)) return `Uncaught ${inspect(error)}`;
  if (isTrunklineError(error)) {
    // Its fields are for programs; the stack says the rest.
    const shown = [stackOf(error), ...causesOf(error)].join("\n");
    return error.hint === undefined ? shown : `${shown}\n  ${error.hint}`;
  }
  return error instanceof SyntaxError ? stackOf(error) : trimmed(inspect(error));
}

function stackOf(error: Error): string {
  const stack = trimmed(error.stack ?? String(error));
  return isTrunklineError(error) ? stack.replace(/^TrunklineError/, `TrunklineError [${error.code}]`) : stack;
}

function* causesOf(error: Error): Generator<string> {
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) yield `caused by ${stackOf(cause)}`;
}

function trimmed(stack: string): string {
  // The brace after the last frame opens the error's fields, which stay.
  const brace = (frames: string) => (frames.endsWith(" {") ? " {" : "");
  return stack.replace(BELOW, brace).replace(AROUND, brace);
}
