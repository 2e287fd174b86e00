// How much each entry of a search counts: supporting files count less, unless the search is about them.
import { baseNameOf } from "../engine/sqlite/documents.js";
import type { Scope } from "./search-scope.js";
import { kindsAskedFor, SUPPORTING_KINDS, supportingKind } from "./supporting-files.js";

/** The factors of one search. */
export interface Demotion {
  /** The factor for an entry's score. */
  factorOf(entry: number): number;
  /** The factor and its reason, for `explain`. Empty if the entry is not demoted. */
  explain(entry: number): { readonly demoted?: { readonly factor: number; readonly kind: string } };
}

export const NO_DEMOTION: Demotion = { factorOf: () => 1, explain: () => ({}) };

/** On the questions about fastify in bench/store, factors from 0.5 to 0.8 give the same recall@5 in hybrid search. */
const FACTOR = 0.6;
/** If more of the scope than this would be demoted, the filters or the store are about these files. */
const MOST_DEMOTED = 0.9;

/** Returns the factors for a query in a scope. `kinds` are the kinds of all entries, by entry id. */
export function demotionOf(kinds: Uint8Array, { query, scope }: { query: string; scope: Scope }): Demotion {
  const asked = kindsAskedFor(query);
  const factors = SUPPORTING_KINDS.map((_, kind) => (kind === 0 || asked.has(kind) ? 1 : FACTOR));
  let found = 0;
  let demoted = 0;
  for (let entry = 0; entry < scope.length; entry++) {
    if (scope[entry] !== 1) continue;
    found++;
    if (factors[kinds[entry] ?? 0] !== 1) demoted++;
  }
  if (demoted === 0 || demoted > found * MOST_DEMOTED) return NO_DEMOTION;
  const factorOf = (entry: number) => factors[kinds[entry] ?? 0] ?? 1;
  return {
    factorOf,
    explain: (entry) => {
      const factor = factorOf(entry);
      return factor === 1 ? {} : { demoted: { factor, kind: SUPPORTING_KINDS[kinds[entry] ?? 0] ?? "" } };
    },
  };
}

/** Returns the kind of a document, as a number: 0 for files that are not supporting ones. */
export function kindOfDocument(root: string | null, path: string): number {
  return supportingKind(pathBelow(root, path));
}

/** Returns the path below the root. Without a root only the name counts: folders further up say nothing. */
function pathBelow(root: string | null, path: string): string {
  return root !== null && path.startsWith(root) ? path.slice(root.length) : baseNameOf(path);
}
