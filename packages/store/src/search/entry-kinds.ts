// The kinds of all entries, for demotion.
import type { Db } from "../engine/sqlite/database.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { kindOfDocument } from "./demotion.js";
import { entriesOf } from "./entry-states.js";

/** By index: the kinds of its entries, by entry id. An entry keeps its path, so only new entries are looked up. */
const kept = new WeakMap<Db, { readonly made: string; readonly kinds: Uint8Array }>();

export function kindsOf({ truth, index }: ReadEnvironment): Uint8Array {
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
  const byDocument = new Map([...documents].map(([id, path, root]) => [id, kindOfDocument(root, path)]));
  for (const [id, document] of entries) kinds[id] = byDocument.get(document) ?? 0;
  kept.set(index, { made, kinds });
  return kinds;
}
