// A configuration can name Trunkline itself as a server, so each instance would start the next. An environment variable
// counts the nesting depth; only entries that name Trunkline get it.
import { TrunklineError } from "./errors.js";

const VARIABLE = "TRUNKLINE_NESTING";
/** One Trunkline inside another can be intentional, with its own configuration. */
const DEEPEST = 2;

/** The variable to set for a server that may be Trunkline; empty for others. */
export function nestingVariable(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  ours: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (![command, ...args].some((part) => /trunkline/i.test(part))) return {};
  return { [VARIABLE]: String(nestingOf(ours) + 1) };
}

/** Throws `CONFIG_INVALID` if this process is nested too deeply in other Trunklines. */
export function requireNoChain(ours: Readonly<Record<string, string | undefined>>): void {
  if (nestingOf(ours) <= DEEPEST) return;
  throw new TrunklineError("CONFIG_INVALID", "Trunkline is configured as its own server.", {
    hint: "Remove its entry from the configuration: trunkline servers list, then trunkline servers remove <name>.",
  });
}

function nestingOf(env: Readonly<Record<string, string | undefined>>): number {
  const depth = Number(env[VARIABLE] ?? 0);
  return Number.isFinite(depth) ? depth : 0;
}
