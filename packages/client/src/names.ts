// Tool names. The key is always the pair (server, tool); a rendered name is derived from it and looked up in a table,
// never taken apart again, because both parts may contain any separator.
import { TrunklineError } from "@trunkline/core";

/** The pair that identifies a tool. */
export interface ToolKey {
  readonly server: string;
  readonly tool: string;
}

/** `docs.lookup`: both names as they are. For the command line and for pipelines. */
export function dottedName(key: ToolKey): string {
  return `${key.server}.${key.tool}`;
}

/** Finds the tool that a dotted name stands for. An unknown one suggests the nearest; nothing is ever guessed and run. */
export function resolveToolName<T extends ToolKey>(name: string, tools: readonly T[]): T {
  const matches = tools.filter((tool) => dottedName(tool) === name);
  const [match] = matches;
  if (match !== undefined && matches.length === 1) return match;
  if (matches.length > 1) {
    throw new TrunklineError("AMBIGUOUS", `"${name}" stands for ${matches.length} tools.`);
  }
  const near = nearestNames(name, tools.map(dottedName));
  throw new TrunklineError("TOOL_NOT_FOUND", `There is no tool "${name}".`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline tools` lists what there is.",
    data: { near },
  });
}

/** The names closest to `name`, best first; none that is too far off to be a typing error. */
export function nearestNames(name: string, names: readonly string[], limit = 3): string[] {
  return names
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
