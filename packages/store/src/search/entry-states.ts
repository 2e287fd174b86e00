// What is known of all entries at once, kept until a document changes. Background indexers write the same database all
// the time; they change nothing here.
import type { Db } from "../engine/sqlite/database.js";

/** By entry id: there is none, it is an older version that a snapshot shows, or it is the current one. */
export const ABSENT = 0;
const HIDDEN = 1;
export const LIVE = 2;

/** All entries as they are at one moment. */
export interface Entries {
  /** Equal for two moments between which no document changed. */
  readonly key: string;
  /** By entry id. */
  readonly states: Uint8Array;
  readonly count: number;
}

const kept = new WeakMap<Db, Entries>();

/** The entries of the index now. */
export function entriesOf(index: Db): Entries {
  const facts = index.all<{ key: string; value: string | number }>(
    "SELECT key, value FROM facts WHERE key IN ('seq', 'vectors_made')",
  );
  const last = index.one<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM entries").last;
  // An index that was made anew gives its numbers out again, and reaches the same sequence number.
  const key = [...facts.map((fact) => fact.value), last].join("/");
  const known = kept.get(index);
  if (known?.key === key) return known;
  const states = new Uint8Array(last + 1);
  const all = index.column<number>("SELECT id FROM entries");
  for (const id of all) states[id] = LIVE;
  for (const id of index.column<number>("SELECT id FROM entries WHERE live = 0")) states[id] = HIDDEN;
  const entries = { key, states, count: all.length };
  kept.set(index, entries);
  return entries;
}
