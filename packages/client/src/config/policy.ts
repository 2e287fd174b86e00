// Policy rules: which operations run, which ask each time, and which are refused.
import { matchesGlob } from "@trunkline/core";

/** Run the operation, ask the user each time, or refuse it. */
export type PolicyVerdict = "allow" | "ask" | "deny";

/** The rules of one file, by glob over operation names. */
export type PolicyRules = Readonly<Record<string, PolicyVerdict>>;

const STRICTNESS: Readonly<Record<PolicyVerdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Returns the verdict on an operation: the most specific rule of each set, then the strictest of the sets. */
export function verdictOn(operation: string, policies: readonly PolicyRules[] | undefined): PolicyVerdict {
  return (policies ?? []).reduce<PolicyVerdict>((strictest, rules) => {
    const verdict = verdictOf(operation, rules);
    return STRICTNESS[verdict] > STRICTNESS[strictest] ? verdict : strictest;
  }, "allow");
}

function verdictOf(operation: string, rules: PolicyRules): PolicyVerdict {
  let best: { verdict: PolicyVerdict; letters: number } | undefined;
  for (const [glob, verdict] of Object.entries(rules)) {
    if (!spellings(operation, glob).some((name) => matchesGlob(glob, name))) continue;
    const letters = /[*?]/.test(glob) ? glob.replace(/[*?]/g, "").length : Number.POSITIVE_INFINITY;
    const isStricter = best !== undefined && letters === best.letters && STRICTNESS[verdict] > STRICTNESS[best.verdict];
    if (best === undefined || letters > best.letters || isStricter) best = { verdict, letters };
  }
  return best?.verdict ?? "allow";
}

/** Returns the operation's name (`github.create_issue`), or other programs' spelling of it if the rule uses that. */
function spellings(operation: string, glob: string): string[] {
  if (!glob.startsWith("mcp__")) return [operation];
  const [server, ...tool] = operation.split(".");
  return tool.length === 0 ? [] : [`mcp__${server}__${tool.join("_")}`.replace(/[^A-Za-z0-9_-]/g, "_")];
}
