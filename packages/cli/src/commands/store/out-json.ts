import { printableJson } from "@trunkline/core";
import { toWire } from "@trunkline/store/contract";
import type { CommandContext } from "../../terminal/context.js";
import { withRelativePaths } from "../../terminal/shown-path.js";

/**
 * Prints the result as one JSON document, with the names used on the wire. Each path is there twice: as it is stored, and
 * relative to the working directory.
 */
export function outJson(context: CommandContext, answer: unknown): void {
  context.out(printableJson(toWire(withRelativePaths(answer, context.cwd)), 2));
}
