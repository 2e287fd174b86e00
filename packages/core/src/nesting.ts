// A configuration may name Trunkline itself as a server, and each one started so would start the next. How many stand one
// behind the other is told from one to the next by a variable, which only entries get that name it.
import { TrunklineError } from "./errors.js";

const VARIABLE = "TRUNKLINE_NESTING";
/** One behind another may be meant, with a configuration of its own. */
const DEEPEST = 2;

/** The variable for a server that may be Trunkline; nothing for others. */
export function nestingVariable(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  ours: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (![command, ...args].some((part) => /trunkline/i.test(part))) return {};
  return { [VARIABLE]: String(nestingOf(ours) + 1) };
}

/** Throws `CONFIG_INVALID` in a process that too many Trunklines stand before. */
export function requireNoChain(ours: Readonly<Record<string, string | undefined>>): void {
  if (nestingOf(ours) <= DEEPEST) return;
  throw new TrunklineError("CONFIG_INVALID", "Trunkline is configured as a server behind itself.", {
    hint: "Take its entry out of the configuration: trunkline servers list, then trunkline servers remove <name>.",
  });
}

function nestingOf(env: Readonly<Record<string, string | undefined>>): number {
  const depth = Number(env[VARIABLE] ?? 0);
  return Number.isFinite(depth) ? depth : 0;
}
