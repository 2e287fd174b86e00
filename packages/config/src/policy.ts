// Policy rules: which operations run, which ask each time, and which are refused.
import { matchesGlob } from "@trunkline/core";
import { ownersOf, plainName, prefixedName } from "./names/name-styles.js";

/** Run the operation, ask the user each time, or refuse it. */
export type PolicyVerdict = "allow" | "ask" | "deny";

/** The rules of one file, by glob over operation names. */
export type PolicyRules = Readonly<Record<string, PolicyVerdict>>;

const STRICTNESS: Readonly<Record<PolicyVerdict, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * Returns the verdict on an operation: the most specific rule of each set, then the strictest of the sets. `servers` are
 * the names of all servers. With servers `a` and `a.b`, the name `a.b.pay` can mean two tools: rules that allow it may
 * have been written for the other one and do not count.
 */
export function verdictOn(
  operation: string,
  policies: readonly PolicyRules[] | undefined,
  servers: readonly string[] = [],
): PolicyVerdict {
  const owners = ownersOf(operation, servers);
  return (policies ?? []).reduce<PolicyVerdict>((strictest, rules) => {
    const verdict = verdictOf(operation, rules, owners);
    return STRICTNESS[verdict] > STRICTNESS[strictest] ? verdict : strictest;
  }, "allow");
}

function verdictOf(operation: string, rules: PolicyRules, owners: readonly string[]): PolicyVerdict {
  let best: { verdict: PolicyVerdict; letters: number } | undefined;
  for (const [glob, verdict] of Object.entries(rules)) {
    if (verdict === "allow" && owners.length > 1) continue;
    if (!spellings(operation, glob, owners).some((name) => matchesGlob(glob, name))) continue;
    const letters = /[*?]/.test(glob) ? glob.replace(/[*?]/g, "").length : Number.POSITIVE_INFINITY;
    const isStricter = best !== undefined && letters === best.letters && STRICTNESS[verdict] > STRICTNESS[best.verdict];
    if (best === undefined || letters > best.letters || isStricter) best = { verdict, letters };
  }
  return best?.verdict ?? "allow";
}

/** Returns the operation's name (`github.create_issue`), or other programs' spelling of it if the rule uses that. */
function spellings(operation: string, glob: string, owners: readonly string[]): string[] {
  if (!glob.startsWith("mcp__")) return [operation];
  const dot = operation.indexOf(".");
  const servers = owners.length > 0 ? owners : dot === -1 ? [] : [operation.slice(0, dot)];
  return servers.flatMap((server) => {
    const key = { server, tool: operation.slice(server.length + 1) };
    // The full name and the one in use, which is cut if it is long.
    return [plainName("prefixed", key), prefixedName(key)];
  });
}
