// Who may run what changes things.
import { matchesGlob } from "@trunkline/core";
import type { Approver, Tool } from "./tool.js";

/** Allows everything: `--yes`. */
export const approveAll: Approver = async () => ({ allowed: true });

/** Refuses everything, with a reason that the model is given: nobody is there to be asked. */
export function refuseAll(reason: string): Approver {
  return async () => ({ allowed: false, reason });
}

/** Whether a tool is on an allow list: one of the globs matches its name or its title. */
export function isAllowed(tool: Pick<Tool, "name" | "title">, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(glob, tool.title) || matchesGlob(glob, tool.name));
}

/** Allows the tools that one of the globs matches, by title (`files.*`) or wire name, and asks `otherwise` about the rest. */
export function allowList(
  globs: readonly string[],
  otherwise: Approver = refuseAll("It is not on the allow list."),
): Approver {
  return async (call, options) => (isAllowed(call.tool, globs) ? { allowed: true } : await otherwise(call, options));
}

/** The same approver, asked about one call at a time: a terminal has one prompt. */
export function oneAtATime(approve: Approver): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return (call, options) => {
    const mine = last.then(async () => {
      options.signal?.throwIfAborted();
      return await approve(call, options);
    });
    // The next one waits for this one's end, whatever that is; the caller sees how it ended.
    last = mine.catch(() => {});
    return mine;
  };
}
