import type { Hub } from "@trunkline/client";
import type { CommandContext } from "../terminal/context.js";
import { EXIT } from "./exit-codes.js";

/**
 * Reports on stderr which servers a list lacks, and why. Returns a failure code only if the list is empty for that
 * reason.
 */
export function reportUnlisted(
  context: CommandContext,
  hub: Hub,
  { server, isEmpty }: { server: string | undefined; isEmpty: boolean },
): number {
  const missing = hub
    .status()
    .filter(({ name, state }) => state !== "connected" && state !== "disabled" && (server ?? name) === name);
  for (const { name, state, error } of missing) {
    if (state !== "untrusted") context.note(`${name}: ${error?.message ?? state}`);
  }
  if (missing.some(({ state }) => state !== "untrusted")) context.note("`trunkline doctor` says what to do.");
  if (!isEmpty || missing.length === 0) return EXIT.success;
  return missing.some(({ state }) => state === "needs-auth") ? EXIT.signIn : EXIT.failure;
}
