// Rules of the configuration: which operations run, which are asked about each time, and which are refused.
import { matchesGlob } from "@trunkline/core";

/** What a rule says of an operation: run it, ask a person each time, or refuse it. */
export type PolicyVerdict = "allow" | "ask" | "deny";

/** The rules of one file, by glob over the names of operations. */
export type PolicyRules = Readonly<Record<string, PolicyVerdict>>;

const STRICTNESS: Readonly<Record<PolicyVerdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** What the rules say of an operation. Of each set the most specific rule counts; of the sets, the strictest. */
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

/** `github.create_issue`, and as other programs write it where the rule is written so. */
function spellings(operation: string, glob: string): string[] {
  if (!glob.startsWith("mcp__")) return [operation];
  const [server, ...tool] = operation.split(".");
  return tool.length === 0 ? [] : [`mcp__${server}__${tool.join("_")}`.replace(/[^A-Za-z0-9_-]/g, "_")];
}
