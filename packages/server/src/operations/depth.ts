// How deep parameters may be nested. Everything that walks through them does so by calling itself.
import { TrunklineError } from "@trunkline/core";

/** Deeper than any parameters that mean something. */
export const MOST_DEPTH = 100;

/** Throws `INVALID_ARGUMENT` for what is nested too deeply. */
export function requireShallow(value: unknown, parameter: string): void {
  if (!isDeep(value)) return;
  throw new TrunklineError("INVALID_ARGUMENT", `${parameter} is nested more than ${MOST_DEPTH} levels deep.`, {
    hint: "Give large or deep content as a text, or as $hash: of what is stored.",
    data: { parameter },
  });
}

/** Level by level, so that no depth is too much for it. */
function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) return true;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      for (const inner of Array.isArray(each) ? each : Object.values(each)) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
