// How much each entry of a search counts: supporting files count less, unless the search is about them.
import type { Db } from "../engine/sqlite/database.js";
import { baseNameOf } from "../engine/sqlite/documents.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { entriesOf } from "./entry-states.js";
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

/** Returns the factors for a query in a scope. */
export function demotionOf(env: ReadEnvironment, { query, scope }: { query: string; scope: Scope }): Demotion {
  const kinds = kindsOf(env);
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

/** By index: the kinds of its entries, by entry id. An entry keeps its path, so only new entries are looked up. */
const kept = new WeakMap<Db, { readonly made: string; readonly kinds: Uint8Array }>();

function kindsOf({ truth, index }: ReadEnvironment): Uint8Array {
  const { states } = entriesOf(index);
  // A rebuilt index reuses its ids.
  const made = index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'vectors_made'")?.value ?? "";
  const known = kept.get(index);
  const before = known?.made === made ? known.kinds : new Uint8Array(0);
  if (before.length >= states.length) return before;
  const kinds = new Uint8Array(states.length);
  kinds.set(before);
  const entries = [...index.tuples<[number, number]>("SELECT id, document FROM entries WHERE id >= ?", before.length)];
  // Also the documents of other principals: all readers share the kinds.
  const documents = truth.tuples<[number, string, string | null]>(
    "SELECT d.id, d.path, d.root FROM json_each(?) j CROSS JOIN main.documents d ON d.id = j.value",
    JSON.stringify([...new Set(entries.map(([, document]) => document))]),
  );
  const byDocument = new Map([...documents].map(([id, path, root]) => [id, supportingKind(pathBelow(root, path))]));
  for (const [id, document] of entries) kinds[id] = byDocument.get(document) ?? 0;
  kept.set(index, { made, kinds });
  return kinds;
}

/** Returns the path below the root. Without a root only the name counts: folders further up say nothing. */
function pathBelow(root: string | null, path: string): string {
  return root !== null && path.startsWith(root) ? path.slice(root.length) : baseNameOf(path);
}
